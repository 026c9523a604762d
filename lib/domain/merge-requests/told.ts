/** Where changes of merge requests are told: in feeds, by mail, as to-dos. */

import type { ApprovalRule } from '../../records/approvals.ts';
import { isDraft, type MergeRequestRecord } from '../../records/merge-requests.ts';
import type { EventAction } from '../../store/events/facet.ts';
import type { OutboxMessage } from '../../store/outbox/outbox.ts';
import type { Write } from '../../store/table/write.ts';
import { mergeRequestTodos } from '../../store/todos/todos.ts';
import { signedIn } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { activity } from '../events/record.ts';
import { mergeRequestMoment } from '../hook-events/moments.ts';
import { tellHooks } from '../hook-events/tell.ts';
import { type ChangeOfMergeRequest, enqueueNotification } from '../notifications/enqueue.ts';
import { formerMentions } from '../notifications/former-mentions.ts';
import { hookChanges } from '../tracked/hook-changes.ts';
import { sameIds, toldOfFields } from '../tracked/told-changes.ts';

interface Change {
  /** The project of the target branch. */
  readonly access: ProjectAccess;
  readonly actor: Actor;
  /** Undefined: it is new. */
  readonly before: MergeRequestRecord | undefined;
  readonly after: MergeRequestRecord;
  /** The new text of its description; undefined where that stays as it is. */
  readonly description: string | null | undefined;
}

/** Feeds tell of new merge requests, of states, and of approvals. */
export async function toldInFeeds(
  deps: Deps,
  { actor, before, after }: Change,
): Promise<{ readonly writes: readonly Write[] }> {
  const { projectId, id, iid, title } = after;
  const actions: EventAction[] = [];
  if (before?.state !== after.state) actions.push(before === undefined ? 'created' : stateAction(after));
  if (newApprovals(before, after).length > 0) actions.push('approved');
  const authorId = actions.length === 0 ? 0 : signedIn(actor).user.id;
  const target = { type: 'MergeRequest', id, iid, title } as const;
  return {
    writes: await Promise.all(
      actions.map((action) => activity(deps, { authorId, projectId, action, target })),
    ),
  };
}

export async function toldByMail(
  deps: Deps,
  { actor, before, after, description }: Change,
): Promise<{ readonly messages?: readonly OutboxMessage[] }> {
  const changes = toldChanges(before, after, description);
  if (changes.length === 0) return {};
  const { projectId, iid } = after;
  return { messages: [enqueueNotification(deps, actor, { kind: 'merge-request', projectId, iid, changes })] };
}

export async function toldToHooks(
  deps: Deps,
  { actor, access, before, after }: Change,
): Promise<{ readonly messages?: readonly OutboxMessage[] }> {
  const changes = hookChanges(before, after, {
    state_id: ({ state }) => STATE_IDS[state],
    target_branch: ({ targetBranch }) => targetBranch,
    reviewer_ids: ({ reviewerIds }) => reviewerIds,
    draft: isDraft,
    merge_commit_sha: ({ mergeCommitSha }) => mergeCommitSha,
  });
  const oldrev =
    before !== undefined && before.diff.headSha !== after.diff.headSha ? before.diff.headSha : undefined;
  const approved = newApprovals(before, after).length > 0;
  const unapproved = before !== undefined && newApprovals(after, before).length > 0 && oldrev === undefined;
  const moved = before?.state !== after.state || oldrev !== undefined || Object.keys(changes).length > 0;
  if (!moved && !approved && !unapproved) return {};
  const action =
    before === undefined
      ? 'open'
      : before.state !== after.state
        ? ({ opened: 'reopen', closed: 'close', merged: 'merge' } as const)[after.state]
        : approved
          ? 'approved'
          : unapproved
            ? 'unapproved'
            : 'update';
  const event = {
    kind: 'merge-request',
    iid: after.iid,
    action,
    changes,
    moment: mergeRequestMoment(after),
    headSha: after.diff.headSha,
  } as const;
  const told = {
    ...event,
    ...(oldrev === undefined ? {} : { oldrev }),
    ...(action === 'approved' ? { approvals: after.approvals } : {}),
    ...(action === 'unapproved' && before !== undefined ? { approvals: before.approvals } : {}),
  };
  return { messages: await tellHooks(deps, actor, access.project, [told]) };
}

const STATE_IDS = { opened: 1, closed: 2, merged: 3 } as const;

export async function toDo(
  { store }: Deps,
  { actor, before, after, description }: Change,
): Promise<{ readonly messages?: readonly OutboxMessage[] }> {
  const isNew = (ids: readonly number[] | undefined) => (id: number) => ids?.includes(id) !== true;
  const ended = before !== undefined && before.state === 'opened' && after.state !== 'opened';
  const { rules } = before === undefined ? await store.approvalRules.of(after.projectId) : { rules: [] };
  return {
    messages: mergeRequestTodos(after, {
      authorId: actor.kind === 'user' ? actor.user.id : after.author.id,
      assignedIds: after.assigneeIds.filter(isNew(before?.assigneeIds)),
      reviewerIds: after.reviewerIds.filter(isNew(before?.reviewerIds)),
      approvalRules: rules.some(namesApprovers) ? 'all' : undefined,
      // It may mention users: a worker finds out whom.
      described: description?.includes('@') ?? false,
      former: before === undefined ? undefined : formerMentions(before.description),
      finished: ended || newApprovals(before, after).length > 0,
    }),
  };
}

/** Whether a rule asks some people, and not anybody. */
export const namesApprovers = ({ userIds, groupIds }: Pick<ApprovalRule, 'userIds' | 'groupIds'>): boolean =>
  userIds.length + groupIds.length > 0;

const stateAction = ({ state }: MergeRequestRecord): 'reopened' | 'closed' | 'merged' =>
  state === 'opened' ? 'reopened' : state;

/** Each is a mail of its own. */
function toldChanges(
  before: MergeRequestRecord | undefined,
  after: MergeRequestRecord,
  description: string | null | undefined,
): ChangeOfMergeRequest[] {
  if (before === undefined) return [{ what: 'opened' }];
  const isPushed = before.diff.headSha !== after.diff.headSha;
  // Those that a push takes back are no decision of anybody.
  const isUnapproved = !isPushed && newApprovals(after, before).length > 0;
  return [
    ...(before.state === after.state ? [] : [{ what: stateAction(after) }]),
    ...(isPushed && after.state === 'opened' ? [{ what: 'pushed' } as const] : []),
    ...(newApprovals(before, after).length === 0 ? [] : [{ what: 'approved' } as const]),
    ...(isUnapproved ? [{ what: 'unapproved' } as const] : []),
    ...(before.autoMerge === null && after.autoMerge !== null ? [{ what: 'auto-merge' } as const] : []),
    ...(sameIds(before.reviewerIds, after.reviewerIds)
      ? []
      : [{ what: 'reviewers', formerIds: before.reviewerIds } as const]),
    ...toldOfFields(before, after, description),
  ];
}

/** Approvals that were added. */
const newApprovals = (before: MergeRequestRecord | undefined, after: MergeRequestRecord) =>
  after.approvals.filter(({ userId }) => !before?.approvals.some((approval) => approval.userId === userId));
