/** Labels of projects and groups. A user who sees a project sees its labels, and those of all groups above it. */

import type { LabelRecord } from '../../records/labels.ts';
import { AlreadyExists, LimitReached, Missing, Stale } from '../../store/errors.ts';
import { type LabelChange, MAX_LABELS } from '../../store/labels/labels.ts';
import { followChange, followDeletion } from '../../store/labels/uses.ts';
import { MAINTENANCE, message, type OutboxMessage } from '../../store/outbox/outbox.ts';
import type { Page, PageRequest } from '../../store/table/paging.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { conflict, type DomainError, invalid, notFound, refused, resourceNotFound } from '../errors.ts';
import { type Below, containersBelow } from './below.ts';
import { colorOf, DEFAULT_COLOR } from './colors.ts';
import { above, type ContainerAccess, containerOf, sameContainer, withAbove } from './containers.ts';

/** Removes what a deleted label left behind. */
export const LABEL_REMOVED_JOB = 'label.removed';
/** Merges labels of projects into one of their group. */
export const LABEL_PROMOTED_JOB = 'label.promoted';

/** Characters. */
const MAX_TITLE = 255;
const MAX_DESCRIPTION = 10_000;

/**
 * @param query.search part of the title or of the description, case-insensitive
 * @param query.below of a group: whether its subgroups, and its projects, have theirs listed too
 */
export async function listLabels(
  deps: Deps,
  actor: Actor,
  access: ContainerAccess,
  query: PageRequest & {
    readonly inherited: boolean;
    readonly search?: string | undefined;
    readonly below?: Below | undefined;
  },
): Promise<Page<LabelRecord>> {
  const { below } = query;
  const containers = [
    ...(query.inherited ? withAbove(access) : [containerOf(access)]),
    ...(below === undefined || 'project' in access ? [] : await containersBelow(deps, actor, access, below)),
  ];
  const term = query.search?.trim().toLowerCase() ?? '';
  const matches = ({ title, description }: LabelRecord) =>
    title.toLowerCase().includes(term) || (description?.toLowerCase().includes(term) ?? false);
  return deps.store.labels.page(containers, query, term === '' ? undefined : matches);
}

/**
 * Finds a label by its id or else by its title.
 * @param options.inherited whether labels of the groups above count
 * @throws `404 Label Not Found`
 */
export async function getLabel(
  deps: Deps,
  access: ContainerAccess,
  idOrTitle: string,
  { inherited }: { readonly inherited: boolean },
): Promise<LabelRecord> {
  const { labels } = deps.store;
  const containers = inherited ? withAbove(access) : [containerOf(access)];
  const title = idOrTitle.trim();
  const [byId, [idOfTitle]] = await Promise.all([
    /^\d{1,12}$/.test(title) ? labels.get(Number(title)) : undefined,
    labels.idsOf(containers, [title]),
  ]);
  if (byId !== undefined && containers.some((container) => sameContainer(container, byId.container)))
    return byId;
  const found = idOfTitle === undefined ? undefined : await labels.get(idOfTitle);
  if (found === undefined) throw notFound('Label');
  return found;
}

export interface LabelInput {
  readonly title: string;
  readonly color: string;
  readonly description?: string | null | undefined;
  /** HTML of the description; null: it has no markup. */
  readonly descriptionHtml?: string | null | undefined;
  readonly priority?: number | null | undefined;
}

/** @throws 400 by field; 409 when the project or group has a label with this title, or inherits one */
export async function createLabel(
  deps: Deps,
  access: ContainerAccess,
  input: LabelInput,
): Promise<LabelRecord> {
  const color = await colorOf(input.color);
  const title = input.title.trim();
  requireValid({ title, color, description: input.description });
  const at = deps.now().toISOString();
  const label: LabelRecord = {
    id: await deps.store.labels.nextId(),
    container: containerOf(access),
    title,
    description: textOf(input.description),
    ...(input.descriptionHtml == null ? {} : { descriptionHtml: input.descriptionHtml }),
    color: color!,
    priority: input.priority ?? null,
    createdAt: at,
    updatedAt: at,
    version: 1,
  };
  try {
    await deps.store.labels.create(label, above(access));
  } catch (error) {
    throw failed(error, label);
  }
  return label;
}

/**
 * Of a label of a group above it a project changes the priority alone, which holds in the project.
 * @throws 400 by field; `404 Label Not Found`; 409 for a concurrent change
 */
export async function changeLabel(
  deps: Deps,
  access: ContainerAccess,
  idOrTitle: string,
  input: Partial<LabelInput>,
): Promise<LabelRecord> {
  const { priority, descriptionHtml: _, ...others } = input;
  const ranks = priority !== undefined && Object.values(others).every((value) => value === undefined);
  const inherited = ranks && 'project' in access;
  const label = await getLabel(deps, access, idOrTitle, { inherited });
  if (inherited && label.container.kind === 'group') return ranked(deps, access, label, priority);
  const color = input.color === undefined ? label.color : await colorOf(input.color);
  const title = input.title === undefined ? label.title : input.title.trim();
  requireValid({ title, color, description: input.description });
  const change: LabelChange = {
    title,
    color: color!,
    ...(input.description === undefined
      ? {}
      : { description: textOf(input.description), descriptionHtml: input.descriptionHtml ?? null }),
    ...(input.priority === undefined ? {} : { priority: input.priority }),
  };
  try {
    const messages = title === label.title ? [] : [followChange({ facet: 'label', ...label })];
    return await deps.store.labels.change(label, change, above(access), deps.now(), { messages });
  } catch (error) {
    if (error instanceof AlreadyExists) throw invalid({ title: ['has already been taken'] });
    throw failed(error, label);
  }
}

/** @throws `404 Label Not Found` where it, or the project, is deleted meanwhile */
async function ranked(
  { store }: Deps,
  { project }: ProjectAccess,
  label: LabelRecord,
  priority: number | null,
): Promise<LabelRecord> {
  try {
    await store.labels.prioritize(label, project.id, priority);
  } catch (error) {
    throw error instanceof Missing ? notFound('Label') : error;
  }
  return { ...label, priority };
}

/**
 * What has the label loses it: at once in answers, and soon in the rows that filters use.
 * @param unchanged called with the time of the last change; throws if that is later than the caller allows
 * @throws `404 Label Not Found`; 409 for a concurrent change
 */
export async function removeLabel(
  deps: Deps,
  access: ContainerAccess,
  idOrTitle: string,
  unchanged: (changed: string) => void,
): Promise<void> {
  const label = await getLabel(deps, access, idOrTitle, { inherited: false });
  unchanged(label.updatedAt);
  try {
    await deps.store.labels.remove(label, { messages: removed(label) });
  } catch (error) {
    throw failed(error, label);
  }
}

/** The messages that remove what a deleted label leaves behind. @param successorId the label that takes its place */
export const removed = (label: LabelRecord, successorId?: number): OutboxMessage[] => [
  message(MAINTENANCE, LABEL_REMOVED_JOB, {
    labelId: label.id,
    ...(successorId === undefined ? {} : { successorId }),
  }),
  followDeletion({ facet: 'label', ...label }, successorId),
];

/** @returns for each label whether the caller is subscribed to it there */
export const subscribedTo = (
  deps: Deps,
  { user }: Extract<Actor, { kind: 'user' }>,
  access: ContainerAccess,
  labels: readonly LabelRecord[],
): Promise<boolean[]> =>
  deps.store.labels.subscribed(
    labels.map(({ id }) => id),
    user.id,
    containerOf(access),
  );

/** @returns the label; undefined when nothing changes. @throws `404 Label Not Found` */
export async function setSubscription(
  deps: Deps,
  { user }: Extract<Actor, { kind: 'user' }>,
  access: ContainerAccess,
  idOrTitle: string,
  subscribed: boolean,
): Promise<LabelRecord | undefined> {
  const { labels } = deps.store;
  const label = await getLabel(deps, access, idOrTitle, { inherited: true });
  const subscription = { labelId: label.id, userId: user.id, at: containerOf(access) };
  try {
    const changed = subscribed
      ? await labels.subscribe(subscription)
      : await labels.unsubscribe(subscription);
    return changed ? label : undefined;
  } catch (error) {
    throw error instanceof Missing ? notFound('Label') : error;
  }
}

/**
 * Finds the labels of a project or group with these titles, among its own and inherited ones, and creates those that are missing
 * if the caller may. Titles are trimmed; blank ones and repetitions are left out.
 * @param options.first what has to succeed before one is created
 * @returns the labels in the order of the titles; without the missing ones for callers who may not create labels
 * @throws 400 by field for a title that no label may have; 400 above the limit of labels
 */
export async function findOrCreateLabels(
  deps: Deps,
  access: ContainerAccess,
  titles: readonly string[],
  options: { readonly create: boolean; readonly first?: (() => Promise<unknown>) | undefined },
): Promise<LabelRecord[]> {
  const { labels } = deps.store;
  const wanted = [...new Set(titles.map((title) => title.trim()).filter((title) => title !== ''))];
  if (wanted.length === 0) return [];
  for (const title of options.create ? wanted : []) requireValid({ title, color: DEFAULT_COLOR });
  const ids = await labels.idsOf(withAbove(access), wanted);
  const found = await labels.getMany(ids.filter((id) => id !== undefined));
  const byTitle = new Map(found.flatMap((label) => (label === undefined ? [] : [[label.title, label]])));
  const result: LabelRecord[] = [];
  if (options.create && wanted.some((title) => !byTitle.has(title))) await options.first?.();
  for (const title of wanted) {
    const label =
      byTitle.get(title) ?? (options.create ? await createdByTitle(deps, access, title) : undefined);
    if (label !== undefined) result.push(label);
  }
  return result;
}

/** Creates a label by its title alone, or finds the one that another request has just created. */
async function createdByTitle(
  deps: Deps,
  access: ContainerAccess,
  title: string,
): Promise<LabelRecord | undefined> {
  try {
    return await createLabel(deps, access, { title, color: DEFAULT_COLOR });
  } catch (error) {
    if ((error as DomainError).code !== 'conflict') throw error;
    const [id] = await deps.store.labels.idsOf(withAbove(access), [title]);
    return id === undefined ? undefined : deps.store.labels.get(id);
  }
}

/** @throws 400 by field */
function requireValid({
  title,
  color,
  description,
}: {
  readonly title: string;
  readonly color: string | undefined;
  readonly description?: string | null | undefined;
}): void {
  const problems = {
    title: [
      ...(title === '' ? ["can't be blank"] : []),
      ...(title === '' || title.includes(',') ? ['is invalid'] : []),
      ...tooLong(title, MAX_TITLE),
    ],
    description: tooLong(description ?? '', MAX_DESCRIPTION),
    color: color === undefined ? ['must be a valid color code'] : [],
  };
  const found = Object.entries(problems).filter(([, texts]) => texts.length > 0);
  if (found.length > 0) throw invalid(Object.fromEntries(found));
}

const tooLong = (text: string, limit: number): string[] =>
  [...text].length > limit ? [`is too long (maximum is ${limit} characters)`] : [];

const textOf = (description: string | null | undefined): string | null =>
  description?.trim() ? description : null;

function failed(error: unknown, { container }: LabelRecord): unknown {
  if (error instanceof AlreadyExists) return conflict('Label already exists');
  if (error instanceof Missing) return resourceNotFound(container);
  if (error instanceof Stale) return conflict('the label was changed by another request: try again');
  return error instanceof LimitReached
    ? refused(`There are ${MAX_LABELS} labels already, which is the limit`)
    : error;
}
