/** Lists of epics: of a group, by default with all groups below it. */

import { awardedName } from '../../records/award-emoji.ts';
import type { EpicRecord } from '../../records/epics.ts';
import { ISSUE_CLASSES, type IssueState } from '../../records/issues.ts';
import type { LabelRecord } from '../../records/labels.ts';
import type { EpicQuery } from '../../store/epics/epics.ts';
import type { Page, PageRequest } from '../../store/table/paging.ts';
import type { GroupAccess } from '../access/types.ts';
import { maySeeEpic } from '../access/visible-epics.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { groupAccesses } from '../groups/details.ts';
import { labelsOf } from '../labels/of-records.ts';
import { type FoundEpic, lineOf } from './related.ts';

type Choice<T> = T | 'none' | 'any';

/** Filters that may also be negated: then none of the values may hold. */
export interface EpicSelection {
  readonly authorId?: number | undefined;
  /** Titles, all of which the epic has to have. */
  readonly labels?: Choice<readonly string[]> | undefined;
  /** An emoji that the caller awarded; of who is nobody only `none` finds epics. */
  readonly reaction?: string | undefined;
}

export interface EpicFilter extends EpicSelection {
  readonly not?: EpicSelection | undefined;
  readonly state?: IssueState | undefined;
  readonly search?: string | undefined;
  readonly createdAfter?: Date | undefined;
  readonly createdBefore?: Date | undefined;
  readonly updatedAfter?: Date | undefined;
  readonly updatedBefore?: Date | undefined;
  readonly above: boolean;
  readonly below: boolean;
}

/** At most 5,000 epics of the top-level group are looked at for a page. */
export async function listEpics(
  deps: Deps,
  actor: Actor,
  { group }: GroupAccess,
  filter: EpicFilter,
  page: PageRequest & Pick<EpicQuery, 'order' | 'direction'>,
): Promise<Page<FoundEpic>> {
  const accesses = new Map<number, GroupAccess | undefined>();
  const isListed = (listed: GroupAccess) =>
    listed.group.id === group.id ||
    (filter.below && listed.group.ancestorIds.includes(group.id)) ||
    (filter.above && group.ancestorIds.includes(listed.group.id));
  const shows: EpicQuery['shows'] = async (epics) => {
    const unknown = [...new Set(epics.map(({ container }) => container.id))].filter(
      (id) => !accesses.has(id),
    );
    const [found, reactions, labels] = await Promise.all([
      unknown.length === 0 ? [] : groupAccesses(deps, actor, unknown),
      filter.reaction === undefined && filter.not?.reaction === undefined
        ? []
        : reactionsTo(deps, actor, epics),
      filter.labels === undefined && filter.not?.labels === undefined
        ? new Map<number, LabelRecord>()
        : labelsOf(deps, epics),
    ]);
    for (const [i, id] of unknown.entries()) accesses.set(id, found[i]);
    const verdicts: boolean[] = [];
    for (const [i, epic] of epics.entries()) {
      const access = accesses.get(epic.container.id);
      const visible = access !== undefined && isListed(access) && maySeeEpic(actor, access, epic);
      verdicts.push(
        visible &&
          matches(filter, { epic, titles: titlesOf(epic, access, labels), reactions: reactions[i] ?? [] }) &&
          (await contains(deps, epic, filter)),
      );
    }
    return verdicts;
  };
  const classes = ISSUE_CLASSES.filter(
    (listClass) =>
      (filter.state === undefined || listClass.startsWith(filter.state)) &&
      (actor.kind === 'user' || !listClass.endsWith('-confidential')),
  );
  const [rootId] = lineOf(group);
  const found = await deps.store.epics.page({ ...page, rootId: rootId!, classes, shows });
  const items = found.items.map((epic) => ({ epic, access: accesses.get(epic.container.id)! }));
  return { ...found, items };
}

const titlesOf = (
  { labelIds }: EpicRecord,
  { group }: GroupAccess,
  labels: ReadonlyMap<number, LabelRecord>,
): string[] =>
  labelIds.flatMap((id) => {
    const label = labels.get(id);
    return label !== undefined && lineOf(group).includes(label.container.id) ? [label.title] : [];
  });

/** The names of the emoji that the actor awarded to each. */
const reactionsTo = (
  { store }: Deps,
  actor: Actor,
  epics: readonly EpicRecord[],
): Promise<(readonly string[])[]> | [] =>
  actor.kind !== 'user'
    ? []
    : store.awards.namesBy(
        actor.user.id,
        epics.map(({ id, container }) => ({
          projectId: 0,
          noteable: { kind: 'epic', id, groupId: container.id },
        })),
      );

/** What filters are compared with. */
interface Candidate {
  readonly epic: EpicRecord;
  readonly titles: readonly string[];
  readonly reactions: readonly string[];
}

function matches(filter: EpicFilter, candidate: Candidate): boolean {
  const { epic } = candidate;
  const { not = {}, createdAfter, createdBefore, updatedAfter, updatedBefore } = filter;
  return (
    selected(filter, candidate).every((holds) => holds) &&
    apart(not).every((one) => !selected(one, candidate).every((holds) => holds)) &&
    (createdAfter === undefined || epic.createdAt >= createdAfter.toISOString()) &&
    (createdBefore === undefined || epic.createdAt <= createdBefore.toISOString()) &&
    (updatedAfter === undefined || epic.updatedAt >= updatedAfter.toISOString()) &&
    (updatedBefore === undefined || epic.updatedAt <= updatedBefore.toISOString())
  );
}

function selected(
  { authorId, labels, reaction }: EpicSelection,
  { epic: { author }, titles, reactions }: Candidate,
): boolean[] {
  return [
    ...(authorId === undefined ? [] : [author.id === authorId]),
    ...(labels === undefined
      ? []
      : labels === 'none'
        ? [titles.length === 0]
        : labels === 'any'
          ? [titles.length > 0]
          : labels.map((title) => titles.includes(title))),
    ...(reaction === undefined ? [] : [reacted(reactions, reaction)]),
  ];
}

function reacted(names: readonly string[], reaction: string): boolean {
  const word = reaction.toLowerCase();
  if (word === 'none') return names.length === 0;
  return word === 'any' ? names.length > 0 : names.includes(awardedName(reaction));
}

/** A selection for each single value of one: each of the values that is excluded stands for itself. */
const apart = ({ labels, ...others }: EpicSelection): EpicSelection[] => [
  ...(labels === undefined
    ? []
    : typeof labels === 'string'
      ? [{ labels }]
      : labels.map((title) => ({ labels: [title] }))),
  ...Object.entries(others).flatMap(([name, value]) => (value === undefined ? [] : [{ [name]: value }])),
];

/** Whether every word of the search is in the title or in the description. */
async function contains(
  deps: Deps,
  { title, description }: EpicRecord,
  { search }: EpicFilter,
): Promise<boolean> {
  const words = (search ?? '').toLowerCase().split(/\s+/).filter(Boolean).slice(0, 20);
  const left = words.filter((word) => !title.toLowerCase().includes(word));
  if (left.length === 0) return true;
  if (description === null) return false;
  const text = (await deps.store.texts.read(description)).toLowerCase();
  return left.every((word) => text.includes(word));
}
