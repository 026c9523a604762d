/** Quick actions that approve, merge and rebase a merge request. */

import { can } from '../access/permissions.ts';
import { DomainError } from '../errors.ts';
import { APPROVED, approvalOf, UNAPPROVED } from '../merge-requests/approve.ts';
import { changeMergeRequest } from '../merge-requests/change.ts';
import { mergeMergeRequest } from '../merge-requests/merge.ts';
import { isActive, isRebasing, requireMergeable, requireReady } from '../merge-requests/merge-status.ts';
import { situationOf } from '../merge-requests/mergeability.ts';
import { rebaseRefusal, requestRebase } from '../merge-requests/rebase.ts';
import { branchProtection } from '../refs/protection.ts';
import { notApplied, whilePossible } from './interpret.ts';
import { isOpen, type MergeRequestAction, type MergeRequestContext } from './merge-request-action.ts';
import { all } from './tracked-action.ts';

/** Whether it can be merged at once or when its pipeline succeeds; undefined: it cannot. */
async function whenToMerge({ deps, actor, access, stored: record }: MergeRequestContext) {
  const [situation, protection] = await Promise.all([
    situationOf(deps, access, record!),
    branchProtection(deps, access, actor),
  ]);
  const demand = {
    mayMerge: protection.mayUpdate(actor, record!.targetBranch),
    whenPipelineSucceeds: isActive(situation.pipeline),
  };
  try {
    const when = requireReady(situation, demand);
    requireMergeable(situation, {});
    return when;
  } catch (error) {
    if (error instanceof DomainError) return undefined;
    throw error;
  }
}

/** Merges the head that was judged. Where that fails after all, the merge request says why. */
async function merge(
  { deps, actor, access, stored: record }: MergeRequestContext,
  whenPipelineSucceeds: boolean,
): Promise<void> {
  const { iid, diff } = record!;
  const asSettingsSay = { mergeMessage: null, squashMessage: null, squash: null, removeSource: null };
  const input = { ...asSettingsSay, whenPipelineSucceeds, sha: diff.headSha };
  try {
    await mergeMergeRequest(deps, actor, access, iid, input);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const mergeError = `Merge failed: ${error.text}`;
    await whilePossible(() =>
      changeMergeRequest(deps, actor, access, iid, ({ state }) => (state === 'opened' ? { mergeError } : {})),
    );
  }
}

export const MERGING_ACTIONS: readonly MergeRequestAction[] = [
  {
    names: ['approve'],
    applies: isOpen,
    effect: async ({ deps, actor, access, stored: record }) => {
      const approval = await approvalOf(deps, actor, access, record!);
      if (approval === undefined) return { summary: notApplied('approve') };
      return {
        summary: 'Approved the current merge request.',
        changes: () => ({ approve: true }),
        fields: approval,
        notes: [APPROVED],
      };
    },
  },
  {
    names: ['unapprove'],
    applies: all(
      isOpen,
      ({ actor, access, stored: record }) =>
        can(actor, access, 'approve_merge_request') &&
        record!.approvals.some(({ userId }) => userId === actor.user.id),
    ),
    effect: ({ actor }) => ({
      summary: 'Unapproved the current merge request.',
      changes: () => ({ unapprove: true }),
      fields: ({ approvals }) => ({ approvals: approvals.filter(({ userId }) => userId !== actor.user.id) }),
      notes: [UNAPPROVED],
    }),
  },
  {
    names: ['merge'],
    applies: isOpen,
    effect: async (context) => {
      const when = await whenToMerge(context);
      if (when === undefined) return { summary: notApplied('merge') };
      return {
        summary:
          when === 'now'
            ? 'Merged this merge request.'
            : 'Scheduled to merge this merge request (Merge when pipeline succeeds).',
        changes: () => ({ merge: context.stored!.diff.headSha }),
        finish: () => merge(context, when === 'later'),
      };
    },
  },
  {
    names: ['rebase'],
    applies: isOpen,
    effect: async ({ deps, actor, access, stored: record }) => {
      if (isRebasing(record!, deps.now())) return { summary: 'A rebase is already in progress.' };
      if ((await rebaseRefusal(deps, actor, access, record!)) !== undefined)
        return { summary: notApplied('rebase') };
      return {
        summary: `Scheduled a rebase of branch ${record!.source.branch}.`,
        changes: () => ({ rebase: true }),
        finish: async ({ iid }) => {
          await requestRebase(deps, actor, access, iid);
        },
      };
    },
  },
];
