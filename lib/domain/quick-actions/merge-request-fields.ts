/** Quick actions about the state, the title, the branch and the reviewers of a merge request. */

import { isDraft, type MergeRequestFields } from '../../records/merge-requests.ts';
import { DomainError } from '../errors.ts';
import { mergeRequestInLine } from '../merge-requests/as-it-is.ts';
import { tipOf } from '../merge-requests/branch-tip.ts';
import { requireSource, stateAfter, updateMergeRequest } from '../merge-requests/merge-requests.ts';
import { withoutDraft } from '../merge-requests/system-notes.ts';
import { MAX_TITLE } from '../tracked/input.ts';
import { type Effect, notApplied } from './interpret.ts';
import {
  isOpen,
  type MergeRequestAction,
  type MergeRequestContext,
  mayWrite,
  stored,
} from './merge-request-action.ts';
import { all } from './tracked-action.ts';
import { peopleActions } from './tracked-assignment.ts';

const moving = (
  { deps, actor }: MergeRequestContext,
  event: 'close' | 'reopen',
  summary: string,
): Effect<MergeRequestFields> => ({
  summary,
  changes: () => ({ state_event: event }),
  fields: (before) => stateAfter(before, event, actor.user.id, deps.now()),
});

/** @param draft whether it is to be one */
const drafting = (draft: boolean): Effect<MergeRequestFields> => ({
  summary: draft ? 'Marked this merge request as a draft.' : 'Unmarked this merge request as a draft.',
  changes: () => ({ wip_event: draft ? 'draft' : 'ready' }),
  fields: ({ title }) => ({
    title: draft && !isDraft({ title }) ? `Draft: ${title}` : draft ? title : withoutDraft(title),
  }),
});

const fits = (title: string): boolean => [...title].length <= MAX_TITLE && title !== '';

export const CHANGE_ACTIONS: readonly MergeRequestAction[] = [
  {
    names: ['close'],
    applies: all(mayWrite, isOpen),
    effect: (context) => moving(context, 'close', 'Closed this merge request.'),
  },
  {
    names: ['reopen'],
    applies: all(
      mayWrite,
      stored(({ state }) => state === 'closed'),
    ),
    effect: async (context) => {
      try {
        await requireSource(context.deps, context.actor, context.access, context.stored!);
      } catch (error) {
        if (error instanceof DomainError) return { summary: notApplied('reopen') };
        throw error;
      }
      return {
        ...moving(context, 'reopen', 'Reopened this merge request.'),
        finish: async ({ iid }) => {
          await mergeRequestInLine(context.deps, context.actor, context.access, iid);
        },
      };
    },
  },
  {
    // As in the product, of a draft it takes that back.
    names: ['draft', 'wip'],
    applies: mayWrite,
    effect: ({ title }) => {
      const draft = !isDraft({ title });
      return fits(draft ? `Draft: ${title}` : withoutDraft(title))
        ? drafting(draft)
        : { summary: notApplied('draft') };
    },
  },
  {
    names: ['ready'],
    applies: all(mayWrite, ({ title }) => isDraft({ title }) && fits(withoutDraft(title))),
    effect: () => drafting(false),
  },
  {
    names: ['target_branch'],
    argument: 'needed',
    applies: all(mayWrite, ({ stored: before }) => before === undefined || before.state === 'opened'),
    effect: async ({ deps, actor, access, stored: before }, branch) => {
      const isSource = before?.source.projectId === access.project.id && before.source.branch === branch;
      const tip = isSource ? undefined : await tipOf(deps, access, branch);
      if (tip === undefined) return { summary: notApplied('target_branch') };
      return {
        summary: `Set target branch to ${branch}.`,
        changes: () => ({ target_branch: branch }),
        // It makes a version, with a ref: a transaction of its own.
        finish: async ({ iid }) => {
          await updateMergeRequest(deps, actor, access, iid, { targetBranch: branch });
        },
      };
    },
  },
  ...peopleActions<MergeRequestContext, MergeRequestFields>({
    one: 'reviewer',
    names: {
      add: ['assign_reviewer', 'reviewer', 'request_review'],
      replace: ['reassign_reviewer'],
      remove: ['unassign_reviewer', 'remove_reviewer'],
    },
    field: 'reviewer_ids',
    before: (context) => context.stored?.reviewerIds ?? [],
    of: ({ reviewerIds }) => reviewerIds,
    as: (reviewerIds) => ({ reviewerIds }),
    added: (names, count) => `Assigned ${names} as ${count === 1 ? 'reviewer' : 'reviewers'}.`,
  }),
];
