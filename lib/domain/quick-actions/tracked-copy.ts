/** The quick action that copies what organizes other work. */

import { issueReference, issuesIn, mergeRequestsIn } from './arguments.ts';
import { mayOrganize, type TrackedAction, type TrackedContext } from './tracked-action.ts';

/** The first issue or merge request of this project that an argument names: labels of another would not be its own. */
async function sourceIn({ deps, actor, access }: TrackedContext, argument: string) {
  const [issue] = await issuesIn(deps, actor, access, argument);
  if (issue !== undefined)
    return issue.access.project.id === access.project.id
      ? { ...issue.issue, name: issueReference(issue, access) }
      : undefined;
  const [mergeRequest] = await mergeRequestsIn(deps, actor, access, argument);
  return mergeRequest && { ...mergeRequest, name: `!${mergeRequest.iid}` };
}

export const COPY_ACTIONS: readonly TrackedAction[] = [
  {
    names: ['copy_metadata'],
    argument: 'needed',
    applies: mayOrganize,
    effect: async (context, argument) => {
      const source = await sourceIn(context, argument);
      if (source === undefined) return undefined;
      const { labelIds, milestoneId } = source;
      return {
        summary: `Copied labels and milestone from ${source.name}.`,
        changes: (soFar) => ({
          add_label_ids: [...new Set([...((soFar['add_label_ids'] as number[]) ?? []), ...labelIds])],
          ...(milestoneId === null ? {} : { milestone_id: milestoneId }),
        }),
        fields: (before) => ({
          labelIds: [...new Set([...before.labelIds, ...labelIds])],
          ...(milestoneId === null ? {} : { milestoneId }),
        }),
      };
    },
  },
];
