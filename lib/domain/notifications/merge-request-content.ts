/** Content of notifications about merge requests, and about notes on them. */

import type { MergeRequestRecord } from '../../records/merge-requests.ts';
import type { Deps } from '../deps.ts';
import type { NotificationContent } from './audience.ts';
import { type EventOf, shortTitle, urlOf } from './content-parts.ts';
import type { ChangeOfMergeRequest } from './enqueue.ts';
import type { ProjectResource } from './resources.ts';
import {
  contentOfChange,
  contentOfNote,
  described,
  type MailedRecord,
  named,
  opened,
  plainly,
  reassigned,
  relabelled,
  replanned,
  type Tell,
  usersOf,
} from './tracked-content.ts';

/** @returns undefined when the merge request or the note no longer exists */
export async function mergeRequestNoteContent(
  deps: Deps,
  resource: ProjectResource,
  { happening, baseUrl }: EventOf<'merge-request-note'>,
): Promise<NotificationContent | undefined> {
  const record = await deps.store.mergeRequests.get(happening);
  return record && contentOfNote(deps, mailed(resource, record, baseUrl), happening.noteId);
}

/**
 * The first of the changes.
 * @returns undefined when the merge request no longer exists, or the change was taken back and concerns nobody any more
 */
export async function mergeRequestContent(
  deps: Deps,
  resource: ProjectResource,
  { happening, actorId, baseUrl, id }: EventOf<'merge-request'>,
): Promise<NotificationContent | undefined> {
  const [change] = happening.changes;
  const [record, actor] = await Promise.all([
    deps.store.mergeRequests.get(happening),
    actorId === null ? undefined : deps.store.users.get(actorId),
  ]);
  if (record === undefined || change === undefined) return undefined;
  const about = mailed(resource, record, baseUrl);
  const told = await TOLD[change.what](deps, { ...about, actor, change: change as never });
  return told && contentOfChange(deps, about, { told, what: change.what, actorId, id });
}

const TOLD: {
  readonly [W in ChangeOfMergeRequest['what']]: Tell<
    Extract<ChangeOfMergeRequest, { readonly what: W }>,
    MergeRequestRecord
  >;
} = {
  opened: opened(
    'new_merge_request',
    async (deps, { source, targetBranch, reviewerIds }: MergeRequestRecord) => {
      const reviewers = await usersOf(deps, reviewerIds);
      return [
        `It proposes to merge ${source.branch} into ${targetBranch}.`,
        ...(reviewers === '' ? [] : [`Reviews are asked of ${reviewers}.`]),
      ];
    },
  ),
  closed: plainly('close_merge_request', 'closed'),
  reopened: plainly('reopen_merge_request', 'reopened'),
  merged: plainly('merge_merge_request', 'merged'),
  approved: plainly('approve_merge_request', 'approved'),
  unapproved: plainly('unapprove_merge_request', 'took back the approval of'),
  'auto-merge': plainly('merge_when_pipeline_succeeds', 'wants', ' to be merged when its pipeline succeeds'),
  reassigned: reassigned('reassign_merge_request'),
  relabelled: relabelled('relabel_merge_request'),
  replanned: replanned('change_milestone_of_merge_request'),
  described: described('mention_in_merge_request'),
  resolved: plainly('resolve_all_discussions', 'resolved all discussions of'),
  pushed: plainly('push_to_merge_request', 'pushed to the source branch of'),
  reviewers: async (deps, { record, called, actor, change: { formerIds } }) => {
    const [before, after] = await Promise.all([usersOf(deps, formerIds), usersOf(deps, record.reviewerIds)]);
    return {
      event: 'change_reviewer_merge_request',
      tell: [
        after === ''
          ? `${named(actor)} removed the reviewers of ${called}: ${before}.`
          : `${named(actor)} asked ${after} for a review of ${called}.`,
        ...(before === '' || after === '' ? [] : [`Before, its reviewers were ${before}.`]),
      ],
      formerReviewerIds: formerIds,
    };
  },
};

function mailed(
  resource: ProjectResource,
  record: MergeRequestRecord,
  baseUrl: string,
): MailedRecord<MergeRequestRecord> {
  const { project } = resource;
  const { id, iid, state, title } = record;
  return {
    resource,
    record,
    called: `merge request !${iid}`,
    concerned: {
      thread: { projectId: project.id, noteable: { kind: 'merge-request', id } },
      authorIds: [record.author.id],
      assigneeIds: record.assigneeIds,
      reviewerIds: record.reviewerIds,
    },
    parts: {
      subject: `${project.name} | ${shortTitle(title)} (!${iid})`,
      url: `${urlOf(project, baseUrl)}/-/merge_requests/${iid}`,
      thread: `merge_request_${id}.project_${project.id}`,
      project,
      facts: {
        'MergeRequest-ID': String(id),
        'MergeRequest-IID': String(iid),
        'MergeRequest-State': state,
      },
    },
    about: (internal) => ({
      resource,
      ability: internal ? 'read_confidential_issues' : 'read_merge_requests',
    }),
  };
}
