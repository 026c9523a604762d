import type { LabelRecord } from '../../records/labels.ts';
import { mapLimit } from '../../store/table/map-limit.ts';
import { can } from '../access/permissions.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import type { ContainerAccess } from '../labels/containers.ts';
import { countMergeRequests, type MergeRequestScope } from './list.ts';

/** Labels counted at the same time: each reads a range of keys, in a group the projects of what it holds too. */
const CONCURRENCY = 4;

/** Counts the open merge requests with each label that the actor may see, up to 10,000, in the order of the labels. */
export async function openWithLabels(
  deps: Deps,
  actor: Actor,
  access: ContainerAccess,
  labels: readonly LabelRecord[],
): Promise<number[]> {
  const counts = labels.map(() => 0);
  if ('project' in access && !can(actor, access, 'read_merge_requests')) return counts;
  const scope: MergeRequestScope =
    'project' in access ? { kind: 'project', access } : { kind: 'group', access };
  const each = labels.map(({ title }, index) => ({ title, index }));
  await mapLimit(CONCURRENCY, each, async ({ title, index }) => {
    counts[index] = await countMergeRequests(deps, actor, { scope, labels: [title], state: 'opened' });
  });
  return counts;
}
