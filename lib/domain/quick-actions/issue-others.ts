/** Quick actions about an issue and others, or other projects: relations, duplicates, moves. */

import type { IssueRecord } from '../../records/issues.ts';
import { can } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import { cloneIssue, moveIssue } from '../issue-moves/move.ts';
import { groupForPromotion, promoteIssue } from '../issue-moves/promote.ts';
import { stateAfter } from '../issues/issues.ts';
import { DUPLICATE, RELATED, relate } from '../issues/links.ts';
import type { FoundIssue } from '../issues/related.ts';
import { sentence } from '../tracked/system-notes.ts';
import { issueReference, issuesIn, projectsAt } from './arguments.ts';
import { notApplied, whilePossible } from './interpret.ts';
import { type IssueAction, type IssueContext, type IssueEffect, maySet, stored } from './issue-action.ts';
import { all } from './tracked-action.ts';

/** Relates an issue to another, unless it is already. */
const relating = (
  { deps, actor, access }: IssueContext,
  issue: IssueRecord,
  other: FoundIssue,
  told = RELATED,
): Promise<void> => whilePossible(() => relate(deps, actor, { issue, access }, other, 'relates_to', told));

/** The other issues that an argument names and the actor may change. */
async function othersIn(context: IssueContext, argument: string): Promise<FoundIssue[]> {
  const { deps, actor, access } = context;
  const found = await issuesIn(deps, actor, access, argument);
  return found.filter(
    (other) => other.issue.id !== context.stored?.id && can(actor, other.access, 'update_issue'),
  );
}

const WITH_NOTES = '--with_notes';

/** An issue moves once, and test cases never. */
const isMovable = all(
  maySet,
  stored(({ type, movedTo }) => type !== 'test_case' && movedTo === null),
);

/** @returns the project to move or clone to, or why that cannot be */
async function targetOf(
  { deps, actor, access }: IssueContext,
  verb: 'move' | 'clone',
  path: string,
): Promise<ProjectAccess | IssueEffect> {
  const [target] = path === access.project.fullPath ? [access] : await projectsAt(deps, actor, [path]);
  if (target === undefined)
    return { summary: `Failed to ${verb} this issue because target project doesn't exist.` };
  return can(actor, target, 'update_issue')
    ? target
    : { summary: `Unable to ${verb}. Insufficient permissions.` };
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
    names: ['move'],
    argument: 'needed',
    applies: isMovable,
    effect: async (context, path) => {
      const { deps, actor, access } = context;
      const target = await targetOf(context, 'move', path);
      if (!('project' in target)) return target;
      const { id } = target.project;
      if (id === access.project.id) return { summary: notApplied('move') };
      return {
        summary: `Moved this issue to ${path}.`,
        finish: async ({ iid }) => {
          await moveIssue(deps, actor, access, iid, id);
        },
      };
    },
  },
  {
    names: ['promote'],
    applies: all(
      maySet,
      stored(({ state }) => state === 'opened'),
      async ({ deps, actor, access }) => (await groupForPromotion(deps, actor, access)) !== undefined,
    ),
    effect: ({ deps, actor, access }) => ({
      summary: 'Promoted issue to an epic.',
      finish: async ({ iid }) => {
        await promoteIssue(deps, actor, access, iid);
      },
    }),
  },
  {
    names: ['clone'],
    applies: isMovable,
    effect: async (context, argument) => {
      const { deps, actor, access } = context;
      const words = argument.split(/\s+/).filter((word) => word !== '');
      const [path = access.project.fullPath, ...rest] = words.filter((word) => word !== WITH_NOTES);
      if (rest.length > 0) return { summary: 'Failed to clone this issue: wrong parameters.' };
      const target = await targetOf(context, 'clone', path);
      if (!('project' in target)) return target;
      const withNotes = words.includes(WITH_NOTES);
      return {
        summary: `Cloned this issue to ${path}.`,
        changes: () => ({ clone_with_notes: withNotes }),
        finish: async ({ iid }) => {
          await cloneIssue(deps, actor, access, iid, target.project.id, { withNotes });
        },
      };
    },
  },
];
