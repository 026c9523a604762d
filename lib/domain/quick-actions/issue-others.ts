/** Quick actions about an issue and others: relations, duplicates, metadata. */

import type { IssueRecord } from '../../records/issues.ts';
import { can } from '../access/permissions.ts';
import { DomainError } from '../errors.ts';
import { stateAfter } from '../issues/issues.ts';
import { DUPLICATE, RELATED, relate } from '../issues/links.ts';
import type { FoundIssue } from '../issues/related.ts';
import { sentence } from '../issues/system-notes.ts';
import { issueReference, issuesIn } from './arguments.ts';
import { all, type IssueAction, type IssueContext, maySet, stored } from './issue-action.ts';

/** Relates an issue to another, unless it is already. */
async function relating(
  { deps, actor, access }: IssueContext,
  issue: IssueRecord,
  other: FoundIssue,
  told = RELATED,
): Promise<void> {
  try {
    await relate(deps, actor, { issue, access }, other, 'relates_to', told);
  } catch (error) {
    if (!(error instanceof DomainError && error.code === 'conflict')) throw error;
  }
}

/** The other issues that an argument names and the actor may change. */
async function othersIn(context: IssueContext, argument: string): Promise<FoundIssue[]> {
  const { deps, actor, access, issue } = context;
  const found = await issuesIn(deps, actor, access, argument);
  return found.filter(
    (other) => other.issue.id !== issue.stored?.id && can(actor, other.access, 'update_issue'),
  );
}

export const OTHERS_ACTIONS: readonly IssueAction[] = [
  {
    names: ['relate'],
    argument: 'needed',
    applies: maySet,
    effect: async (context, argument) => {
      const others = await othersIn(context, argument);
      if (others.length === 0) return undefined;
      const names = sentence(others.map((other) => issueReference(other, context.access)));
      return {
        summary: `Marked this issue as related to ${names}.`,
        finish: async (issue) => {
          for (const other of others) await relating(context, issue, other);
        },
      };
    },
  },
  {
    names: ['duplicate'],
    argument: 'needed',
    applies: all(maySet, stored()),
    effect: async (context, argument) => {
      const [other] = await othersIn(context, argument);
      if (other === undefined)
        return {
          summary: 'Failed to mark this issue as a duplicate because referenced issue was not found.',
        };
      const { id, projectId, iid } = other.issue;
      const name = issueReference(other, context.access);
      return {
        summary: `Closed this issue. Marked as related to, and a duplicate of, ${name}.`,
        changes: () => ({ canonical_issue_id: id }),
        fields: (before) => ({
          ...stateAfter(before, 'close', context.actor.user.id, context.deps.now()),
          duplicatedTo: { id, projectId, iid },
        }),
        finish: (issue) => relating(context, issue, other, DUPLICATE),
      };
    },
  },
  {
    names: ['copy_metadata'],
    argument: 'needed',
    applies: maySet,
    effect: async ({ deps, actor, access }, argument) => {
      const [other] = await issuesIn(deps, actor, access, argument);
      // Labels and milestones of another project would not be those of this one.
      if (other === undefined || other.access.project.id !== access.project.id) return undefined;
      const { labelIds, milestoneId } = other.issue;
      return {
        summary: `Copied labels and milestone from ${issueReference(other, access)}.`,
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
