/** What issues and merge requests are shown and listed with beside their records, read in batches. */

import { byId } from '../../records/by-id.ts';
import type { LabelRecord } from '../../records/labels.ts';
import type { MilestoneRecord } from '../../records/milestones.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { TrackedRecord } from '../../records/tracked.ts';
import type { Surroundings } from '../../store/tracked/kind.ts';
import type { GroupAccess, ProjectAccess } from '../access/types.ts';
import type { Deps } from '../deps.ts';
import { labelsOf } from '../labels/of-records.ts';

/** The top-level group of a project, or its personal namespace. */
export const rootOf = ({ ancestorIds, namespaceId }: ProjectRecord): number => ancestorIds[0] ?? namespaceId;

/** Where a list looks. */
export type ListScope =
  | { readonly kind: 'project'; readonly access: ProjectAccess }
  | { readonly kind: 'group'; readonly access: GroupAccess }
  | { readonly kind: 'instance' };

/** What tells one place of lists from another, for their cursors. */
export const scopeId = (scope: ListScope): string => {
  if (scope.kind === 'instance') return scope.kind;
  const { id } = scope.kind === 'project' ? scope.access.project : scope.access.group;
  return `${scope.kind} ${id}`;
};

/** What was read of a record before it changes. */
export interface Known {
  readonly labels: readonly LabelRecord[];
  readonly milestone: MilestoneRecord | undefined;
}

/** What the rows of lists say about a record beside it. @param known is not read again */
export async function surroundingsOf(
  deps: Deps,
  project: ProjectRecord,
  { labelIds, milestoneId }: Pick<TrackedRecord, 'labelIds' | 'milestoneId'>,
  { labels, milestone }: Known = { labels: [], milestone: undefined },
): Promise<Surroundings> {
  const labelTitles = new Map(labels.map(({ id, title }) => [id, title]));
  const isKnown = milestoneId === null || milestone?.id === milestoneId;
  const [others, milestones] = await Promise.all([
    labelsOf(deps, [{ labelIds: labelIds.filter((id) => !labelTitles.has(id)) }]),
    isKnown ? undefined : milestonesOf(deps, [{ milestoneId }]),
  ]);
  for (const { id, title } of others.values()) labelTitles.set(id, title);
  return {
    rootId: rootOf(project),
    milestoneTitle:
      milestoneId === null ? undefined : isKnown ? milestone?.title : milestones?.get(milestoneId)?.title,
    labelTitles,
  };
}

/** The milestones of records by id, read in one batch. */
export async function milestonesOf(
  { store }: Deps,
  records: readonly Pick<TrackedRecord, 'milestoneId'>[],
): Promise<Map<number, MilestoneRecord>> {
  const ids = [...new Set(records.flatMap(({ milestoneId }) => milestoneId ?? []))];
  const found = ids.length === 0 ? [] : await store.milestones.getMany(ids);
  return byId(found);
}
