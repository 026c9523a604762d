import type { LabelRecord } from '../../records/labels.ts';
import { mapLimit } from '../../store/table/map-limit.ts';
import { can } from '../access/permissions.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import type { ContainerAccess } from '../labels/containers.ts';
import { type IssueScope, type IssueStatistics, issueStatistics } from './list.ts';

/** Labels counted at the same time: each reads two ranges of keys, in a group the projects of the issues too. */
const CONCURRENCY = 4;

/** Counts the issues with each label that the actor may see, at most 10,000 of each state, in the order of the labels. */
export async function labelCounts(
  deps: Deps,
  actor: Actor,
  access: ContainerAccess,
  labels: readonly LabelRecord[],
): Promise<IssueStatistics[]> {
  const counts: IssueStatistics[] = labels.map(() => ({ opened: 0, closed: 0 }));
  if ('project' in access && !can(actor, access, 'read_issues')) return counts;
  const scope: IssueScope = 'project' in access ? { kind: 'project', access } : { kind: 'group', access };
  const each = labels.map(({ title }, index) => ({ title, index }));
  await mapLimit(CONCURRENCY, each, async ({ title, index }) => {
    counts[index] = await issueStatistics(deps, actor, { scope, labels: [title] });
  });
  return counts;
}
