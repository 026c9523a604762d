/** Milestones of projects and groups. What is in a project may be planned for its milestones and those of groups above. */

import { byId } from '../../records/by-id.ts';
import type { MilestoneRecord, MilestoneState } from '../../records/milestones.ts';
import { AlreadyExists, LimitReached, Missing, Stale } from '../../store/errors.ts';
import { followChange, followDeletion } from '../../store/labels/uses.ts';
import { MAX_MILESTONES, type MilestoneChange } from '../../store/milestones/milestones.ts';
import { cutPage, type Page, type PageRequest } from '../../store/table/paging.ts';
import { listSource, mergeKeys } from '../../store/table/sorted-sources.ts';
import type { Put } from '../../store/table/write.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { conflict, type FieldProblems, recordNotFound, refused, resourceNotFound } from '../errors.ts';
import { prepareActivity } from '../events/record.ts';
import { above, type ContainerAccess, containerOf, sameContainer, withAbove } from '../labels/containers.ts';
import { inRuby } from '../ruby-notation.ts';

/** Characters. */
const MAX_TITLE = 255;
/** Bytes of UTF-8: whatever is planned for a milestone shows it whole. */
const MAX_DESCRIPTION = 32 * 1024;

type SignedIn = Extract<Actor, { kind: 'user' }>;

export interface MilestoneQuery extends PageRequest {
  readonly state: MilestoneState | 'all';
  readonly inherited: boolean;
  readonly iids?: readonly number[] | undefined;
  readonly title?: string | undefined;
  /** Part of the title or of the description, case-insensitive. */
  readonly search?: string | undefined;
}

/** The earliest due date first, those without one at the end; the newest first among them. */
export async function listMilestones(
  deps: Deps,
  access: ContainerAccess,
  query: MilestoneQuery,
): Promise<Page<MilestoneRecord>> {
  const { milestones } = deps.store;
  const containers = query.inherited ? withAbove(access) : [containerOf(access)];
  const term = query.search?.trim().toLowerCase() ?? '';
  const matches = ({ title, description }: MilestoneRecord) =>
    title.toLowerCase().includes(term) || (description?.toLowerCase().includes(term) ?? false);
  const states: readonly MilestoneState[] = query.state === 'all' ? ['active', 'closed'] : [query.state];
  const title = query.title?.trim() ?? '';
  const iids = query.iids ?? [];
  if (title === '' && iids.length === 0)
    return milestones.page(containers, states, query, term === '' ? undefined : matches);
  const ids =
    title === '' ? await milestones.numbered(containers, iids) : await milestones.titled(containers, title);
  const found = (await milestones.getMany([...new Set(ids)])).filter((milestone) => milestone !== undefined);
  const kept = found
    .filter((milestone) => states.includes(milestone.state) && matches(milestone))
    .filter(({ iid }) => iids.length === 0 || iids.includes(iid));
  const keptById = byId(kept);
  const keys = kept.map(({ dueDate, id }) => ({ sort: dueDate ?? '~', id: -id }));
  const sorted = mergeKeys([listSource(keys, 'asc')], 'asc', query.rows?.after);
  const page = await cutPage(sorted, query, { load: async (ids) => ids.map((id) => keptById.get(-id)) });
  return { ...page, total: kept.length };
}

/** A milestone of the project or group itself. @throws `404 Not found` */
export async function getMilestone(
  deps: Deps,
  access: ContainerAccess,
  id: number,
): Promise<MilestoneRecord> {
  const milestone = await deps.store.milestones.get(id);
  if (milestone === undefined || !sameContainer(milestone.container, containerOf(access)))
    throw recordNotFound();
  return milestone;
}

/** A milestone that what is in the project or group may be planned for; undefined if it is none. */
export async function milestoneFor(
  deps: Deps,
  access: ContainerAccess,
  id: number,
): Promise<MilestoneRecord | undefined> {
  const milestone = await deps.store.milestones.get(id);
  const usable = withAbove(access).some(
    (container) => milestone !== undefined && sameContainer(container, milestone.container),
  );
  return usable ? milestone : undefined;
}

export interface MilestoneInput {
  readonly title: string;
  readonly description?: string | null | undefined;
  readonly startDate?: string | null | undefined;
  readonly dueDate?: string | null | undefined;
}

/** @throws 400 `Failed to create milestone {...}`; 409 for concurrent creations */
export async function createMilestone(
  deps: Deps,
  actor: SignedIn,
  access: ContainerAccess,
  input: MilestoneInput,
): Promise<MilestoneRecord> {
  const at = deps.now().toISOString();
  const milestone = {
    id: await deps.store.milestones.nextId(),
    container: containerOf(access),
    title: input.title.trim(),
    description: textOf(input.description),
    state: 'active',
    startDate: input.startDate ?? null,
    dueDate: input.dueDate ?? null,
    createdAt: at,
    updatedAt: at,
    version: 1,
  } as const;
  requireValid('create', milestone);
  const toEvent = await eventOf(deps, actor, 'created');
  try {
    return await deps.store.milestones.create(milestone, above(access), (created) => ({
      writes: toEvent(created),
    }));
  } catch (error) {
    throw failed('create', error, milestone);
  }
}

/** @throws 400 `Failed to update milestone {...}`; `404 Not found`; 409 for a concurrent change */
export async function changeMilestone(
  deps: Deps,
  actor: SignedIn,
  access: ContainerAccess,
  id: number,
  input: Partial<MilestoneInput> & { readonly state?: MilestoneState | undefined },
): Promise<MilestoneRecord> {
  const milestone = await getMilestone(deps, access, id);
  const change: MilestoneChange = {
    ...(input.title === undefined ? {} : { title: input.title.trim() }),
    ...(input.description === undefined ? {} : { description: textOf(input.description) }),
    ...(input.startDate === undefined ? {} : { startDate: input.startDate }),
    ...(input.dueDate === undefined ? {} : { dueDate: input.dueDate }),
    ...(input.state === undefined ? {} : { state: input.state }),
  };
  requireValid('update', { ...milestone, ...change });
  const { state = milestone.state, title = milestone.title } = change;
  const { startDate, dueDate } = { ...milestone, ...change };
  const follows =
    title !== milestone.title || startDate !== milestone.startDate || dueDate !== milestone.dueDate;
  const action = state === 'closed' ? 'closed' : 'reopened';
  const toEvent = state === milestone.state ? undefined : await eventOf(deps, actor, action);
  try {
    return await deps.store.milestones.change(milestone, change, above(access), deps.now(), {
      writes: toEvent?.({ ...milestone, ...change }) ?? [],
      messages: follows ? [followChange({ facet: 'milestone', ...milestone })] : [],
    });
  } catch (error) {
    throw failed('update', error, milestone);
  }
}

/**
 * What is planned for it is then planned for no milestone.
 * @param unchanged called with the time of the last change; throws if that is later than the caller allows
 * @throws `404 Not found`; 409 for a concurrent change
 */
export async function removeMilestone(
  deps: Deps,
  actor: SignedIn,
  access: ContainerAccess,
  id: number,
  unchanged: (changed: string) => void,
): Promise<void> {
  const milestone = await getMilestone(deps, access, id);
  unchanged(milestone.updatedAt);
  const toEvent = await eventOf(deps, actor, 'destroyed');
  try {
    await deps.store.milestones.remove(milestone, {
      writes: toEvent(milestone),
      messages: [followDeletion({ facet: 'milestone', ...milestone })],
    });
  } catch (error) {
    throw failed('update', error, milestone);
  }
}

/** Makes the event of a milestone for the feeds of its project; none for one of a group. */
async function eventOf(
  deps: Deps,
  actor: SignedIn,
  action: 'created' | 'closed' | 'reopened' | 'destroyed',
): Promise<(milestone: MilestoneRecord) => Put[]> {
  const toActivity = await prepareActivity(deps);
  return ({ id, iid, title, container }) => {
    if (container.kind === 'group') return [];
    const target = { type: 'Milestone', id, iid, title } as const;
    return [toActivity({ authorId: actor.user.id, projectId: container.id, action, target })];
  };
}

/** Whether its due date has passed. */
export const isExpired = ({ dueDate }: MilestoneRecord, now: Date): boolean =>
  dueDate !== null && dueDate < now.toISOString().slice(0, 10);

function requireValid(doing: 'create' | 'update', milestone: Omit<MilestoneRecord, 'iid'>): void {
  const found = problemsOf(milestone);
  if (found !== undefined) throw failedTo(doing, found);
}

/** What is wrong with a title, a description and a period, by field. @returns undefined where nothing is */
export function problemsOf({
  title,
  description,
  startDate,
  dueDate,
}: Pick<MilestoneRecord, 'title' | 'description' | 'startDate' | 'dueDate'>): FieldProblems | undefined {
  const problems = {
    title: [
      ...(title === '' ? ["can't be blank"] : []),
      ...([...title].length > MAX_TITLE ? [`is too long (maximum is ${MAX_TITLE} characters)`] : []),
    ],
    description:
      Buffer.byteLength(description ?? '') > MAX_DESCRIPTION
        ? [`is too long (maximum is ${MAX_DESCRIPTION} bytes)`]
        : [],
    due_date: startDate !== null && dueDate !== null && dueDate < startDate ? [NOT_BEFORE_START] : [],
  };
  const found = Object.entries(problems).filter(([, texts]) => texts.length > 0);
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

const NOT_BEFORE_START = 'must be greater than start date';

const failedTo = (doing: 'create' | 'update', problems: FieldProblems) =>
  refused(`Failed to ${doing} milestone ${inRuby(problems)}`);

/** A description as it is stored: null for one without a character. */
export const textOf = (description: string | null | undefined): string | null =>
  description?.trim() ? description : null;

function failed(
  doing: 'create' | 'update',
  error: unknown,
  { container }: Pick<MilestoneRecord, 'container'>,
): unknown {
  if (error instanceof AlreadyExists) return failedTo(doing, { title: ['has already been taken'] });
  if (error instanceof Missing) return resourceNotFound(container);
  if (error instanceof Stale) return conflict('milestones are being changed: try again');
  if (error instanceof LimitReached)
    return failedTo(doing, { base: [`there are ${MAX_MILESTONES} milestones already`] });
  return error;
}
