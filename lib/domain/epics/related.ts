/** What an answer about epics shows beside their records, read in batches. */

import type { EpicRecord } from '../../records/epics.ts';
import type { GroupRecord } from '../../records/groups.ts';
import type { LabelRecord } from '../../records/labels.ts';
import type { UserRecord } from '../../records/users.ts';
import { compareText } from '../../store/table/text-order.ts';
import type { GroupAccess } from '../access/types.ts';
import { maySeeEpic } from '../access/visible-epics.ts';
import type { Actor, Viewer } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { groupAccesses } from '../groups/details.ts';
import { labelsOf } from '../labels/of-records.ts';
import { textsOf } from '../long-texts.ts';

/** An epic that the caller may see, with the group that it is in. */
export interface FoundEpic {
  readonly epic: EpicRecord;
  readonly access: GroupAccess;
}

export interface ShownEpic {
  readonly epic: EpicRecord;
  readonly group: GroupRecord;
  readonly description: string | null;
  /** Undefined: the account is deleted. */
  readonly author: UserRecord | undefined;
  /** By title; without deleted ones. */
  readonly labels: readonly LabelRecord[];
  /** Undefined: there is none that the caller may see. */
  readonly parent: FoundEpic | undefined;
}

/** @throws 413 when the descriptions are too long together */
export async function shownEpics(
  deps: Deps,
  actor: Actor,
  found: readonly FoundEpic[],
): Promise<ShownEpic[]> {
  const epics = found.map(({ epic }) => epic);
  const [users, labels, descriptions, parents] = await Promise.all([
    deps.store.users.getMany(epics.map(({ author }) => author.id)),
    labelsOf(deps, epics),
    textsOf(
      deps,
      epics.map(({ description }) => description ?? ''),
    ),
    visibleEpics(
      deps,
      actor,
      epics.flatMap(({ parentId }) => parentId ?? []),
    ),
  ]);
  return found.map(({ epic, access: { group } }, i) => ({
    epic,
    group,
    description: epic.description === null ? null : descriptions[i]!,
    author: users[i],
    labels: epic.labelIds
      .flatMap((id) => labels.get(id) ?? [])
      .filter(({ container: { kind, id } }) => kind === 'group' && lineOf(group).includes(id))
      .toSorted((a, b) => compareText(a.title, b.title)),
    parent: epic.parentId === null ? undefined : parents.get(epic.parentId),
  }));
}

/** A group and those above it. */
export const lineOf = ({ id, ancestorIds }: GroupRecord): number[] => [...ancestorIds, id];

/** Those of the epics that the actor may see, by id. */
export async function visibleEpics(
  deps: Deps,
  actor: Viewer,
  ids: readonly number[],
): Promise<Map<number, FoundEpic>> {
  const distinct = [...new Set(ids)];
  const found = distinct.length === 0 ? [] : await deps.store.epics.getMany(distinct);
  const epics = found.filter((epic) => epic !== undefined);
  const groupIds = [...new Set(epics.map(({ container }) => container.id))];
  const accesses = groupIds.length === 0 ? [] : await groupAccesses(deps, actor, groupIds);
  return new Map(
    epics.flatMap((epic) => {
      const access = accesses[groupIds.indexOf(epic.container.id)];
      return access !== undefined && maySeeEpic(actor, access, epic) ? [[epic.id, { epic, access }]] : [];
    }),
  );
}
