/** The quick action that begins work on an issue: a branch, and a draft that closes the issue when it is merged. */

import { newBranchRef } from '../../git/refname.ts';
import type { IssueRecord } from '../../records/issues.ts';
import { can } from '../access/permissions.ts';
import { createBranch } from '../branches/branches.ts';
import { tipOf } from '../merge-requests/branch-tip.ts';
import { createMergeRequest } from '../merge-requests/merge-requests.ts';
import { MAX_TITLE } from '../tracked/input.ts';
import { notApplied } from './interpret.ts';
import { type IssueAction, type IssueContext, stored } from './issue-action.ts';
import { all } from './tracked-action.ts';

const MAX_BRANCH = 100;

/** `7-the-door-sticks`. Of a confidential issue the title is not told. */
function branchFor({ iid, title, confidential }: IssueRecord): string {
  const words = (confidential ? 'confidential issue' : title)
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9_]+/g, '-');
  return `${iid}-${words}`.slice(0, MAX_BRANCH).replace(/-+$/, '');
}

function titleFor({ iid, title, confidential }: IssueRecord): string {
  const quoted = `Draft: Resolve "${title}"`;
  return confidential || [...quoted].length > MAX_TITLE ? `Draft: Resolve #${iid}` : quoted;
}

/** Proposes a new branch of the default branch, with what organizes the issue. */
async function begin({ deps, actor, access, stored: record }: IssueContext, branch: string): Promise<void> {
  const issue = record!;
  const targetBranch = access.project.defaultBranch!;
  await createBranch(deps, actor, access, { name: branch, ref: targetBranch });
  const labels = issue.confidential ? [] : await deps.store.labels.getMany(issue.labelIds);
  await createMergeRequest(deps, actor, access, {
    title: titleFor(issue),
    description: `Closes #${issue.iid}`,
    ...{ sourceBranch: branch, targetBranch, assigneeIds: [actor.user.id] },
    labels: labels.flatMap((label) => label?.title ?? []),
    milestoneId: issue.confidential ? null : issue.milestoneId,
  });
}

export const WORK_ACTIONS: readonly IssueAction[] = [
  {
    names: ['create_merge_request'],
    applies: all(
      stored(),
      ({ actor, access }) => can(actor, access, 'push_code') && can(actor, access, 'create_merge_request'),
    ),
    effect: async (context, argument) => {
      const { deps, access, stored: issue } = context;
      const branch = argument === '' ? branchFor(issue!) : argument;
      const { defaultBranch } = access.project;
      const isFree = newBranchRef(branch) !== undefined && (await tipOf(deps, access, branch)) === undefined;
      const hasStart = defaultBranch !== null && (await tipOf(deps, access, defaultBranch)) !== undefined;
      if (!isFree || !hasStart) return { summary: notApplied('create_merge_request') };
      return {
        summary: `Created branch '${branch}' and a merge request to resolve this issue.`,
        changes: () => ({ create_merge_request: { branch_name: branch, issue_iid: issue!.iid } }),
        finish: () => begin(context, branch),
      };
    },
  },
];
