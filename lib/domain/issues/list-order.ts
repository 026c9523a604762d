/** What lists of issues are sorted by. */

import type { IssueRecord } from '../../records/issues.ts';
import { arrangedPlace, placeInEpic } from '../../store/issues/kind.ts';
import type { LabelInProject } from '../../store/labels/labels.ts';
import type { Deps } from '../deps.ts';
import { labelsOf } from '../labels/of-records.ts';
import { milestonesOf } from '../tracked/related.ts';

export const ISSUE_ORDERS = [
  ...(['created_at', 'updated_at', 'due_date', 'label_priority', 'milestone_due', 'popularity'] as const),
  ...(['priority', 'relative_position', 'title', 'weight'] as const),
] as const;
/** `epic`: as the issues of an epic are put in order by hand. */
export type IssueOrder = (typeof ISSUE_ORDERS)[number] | 'epic';

/** What records are sorted by; null comes last. */
export async function valuesOf(
  deps: Deps,
  issues: readonly IssueRecord[],
  { order, direction }: { readonly order: IssueOrder; readonly direction: 'asc' | 'desc' },
): Promise<(string | number | null)[]> {
  switch (order) {
    case 'created_at':
      return issues.map(({ createdAt }) => createdAt);
    case 'updated_at':
      return issues.map(({ updatedAt }) => updatedAt);
    case 'due_date':
      return issues.map(({ dueDate }) => dueDate);
    case 'popularity':
      return issues.map(({ upvotes }) => upvotes);
    case 'relative_position':
      return issues.map(arrangedPlace);
    case 'epic':
      return issues.map(placeInEpic);
    case 'title':
      return issues.map(({ title }) => title.toLowerCase());
    case 'weight':
      return issues.map(({ weight }) => weight);
    case 'milestone_due': {
      const milestones = await milestonesOf(deps, issues);
      return issues.map(({ milestoneId }) => milestones.get(milestoneId ?? 0)?.dueDate ?? null);
    }
    case 'label_priority':
      return labelPriorities(deps, issues);
    case 'priority': {
      const [milestones, labels] = await Promise.all([
        milestonesOf(deps, issues),
        labelPriorities(deps, issues),
      ]);
      // What is missing comes last in both directions.
      const last = direction === 'asc' ? '~' : '';
      return issues.map(({ milestoneId }, i) => {
        const due = milestones.get(milestoneId ?? 0)?.dueDate ?? last;
        return `${due}#${labels[i]?.toString().padStart(12, '0') ?? last}`;
      });
    }
  }
}

/** The highest priority among the labels of each, as its project ranks them, 0 being the highest. */
async function labelPriorities(deps: Deps, issues: readonly IssueRecord[]): Promise<(number | null)[]> {
  const labels = await labelsOf(deps, issues);
  const inProjects = new Map<string, LabelInProject>();
  const keyOf = (projectId: number, labelId: number) => `${projectId} ${labelId}`;
  for (const { projectId, labelIds } of issues)
    for (const id of labelIds) {
      const label = labels.get(id);
      if (label !== undefined) inProjects.set(keyOf(projectId, id), { label, projectId });
    }
  const found = await deps.store.labels.priorities([...inProjects.values()]);
  const ranks = new Map([...inProjects.keys()].map((key, i) => [key, found[i]!]));
  return issues.map(({ projectId, labelIds }) => {
    const priorities = labelIds.flatMap((id) => ranks.get(keyOf(projectId, id)) ?? []);
    return priorities.length === 0 ? null : Math.min(...priorities);
  });
}
