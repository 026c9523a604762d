/** Content of notifications about issues, and about notes on them. */

import type { IssueRecord } from '../../records/issues.ts';
import type { Deps } from '../deps.ts';
import type { NotificationContent } from './audience.ts';
import { type EventOf, shortTitle, urlOf } from './content-parts.ts';
import type { ChangeOfIssue } from './enqueue.ts';
import type { ProjectResource } from './resources.ts';
import {
  contentOfChange,
  contentOfNote,
  described,
  type MailedRecord,
  opened,
  plainly,
  reassigned,
  relabelled,
  replanned,
  type Tell,
} from './tracked-content.ts';

/** @returns undefined when the issue or the note no longer exists */
export async function issueNoteContent(
  deps: Deps,
  resource: ProjectResource,
  { happening, baseUrl }: EventOf<'issue-note'>,
): Promise<NotificationContent | undefined> {
  const issue = await deps.store.issues.get(happening);
  return issue && contentOfNote(deps, mailed(resource, issue, baseUrl), happening.noteId);
}

/**
 * The first of the changes.
 * @returns undefined when the issue no longer exists, or the change was taken back and concerns nobody any more
 */
export async function issueContent(
  deps: Deps,
  resource: ProjectResource,
  { happening, actorId, baseUrl, id }: EventOf<'issue'>,
): Promise<NotificationContent | undefined> {
  const [change] = happening.changes;
  const [issue, actor] = await Promise.all([
    deps.store.issues.get(happening),
    actorId === null ? undefined : deps.store.users.get(actorId),
  ]);
  if (issue === undefined || change === undefined) return undefined;
  const about = mailed(resource, issue, baseUrl);
  const told = await TOLD[change.what](deps, { ...about, actor, change: change as never });
  return told && contentOfChange(deps, about, { told, what: change.what, actorId, id });
}

const TOLD: {
  readonly [W in ChangeOfIssue['what']]: Tell<Extract<ChangeOfIssue, { readonly what: W }>, IssueRecord>;
} = {
  opened: opened('new_issue'),
  closed: plainly('close_issue', 'closed'),
  reopened: plainly('reopen_issue', 'reopened'),
  moved: plainly('move_issue', 'moved', ' to another project'),
  reassigned: reassigned('reassign_issue'),
  relabelled: relabelled('relabel_issue'),
  replanned: replanned('change_milestone_of_issue'),
  described: described('mention_in_issue'),
  due: async (_deps, { record: { state, dueDate, iid }, change: { day } }) => {
    if (state !== 'opened' || dueDate !== day) return undefined;
    return {
      event: 'issue_due',
      tell: [`Issue #${iid} is due on ${DAY.format(new Date(`${day}T00:00:00Z`))}.`],
      quotes: true,
    };
  },
};

const DAY = new Intl.DateTimeFormat('en-US', { dateStyle: 'long', timeZone: 'UTC' });

function mailed(resource: ProjectResource, issue: IssueRecord, baseUrl: string): MailedRecord<IssueRecord> {
  const { project } = resource;
  const { id, iid, state, confidential, title } = issue;
  return {
    resource,
    record: issue,
    called: `issue #${iid}`,
    concerned: {
      thread: { projectId: project.id, noteable: { kind: 'issue', id } },
      authorIds: [issue.author.id],
      assigneeIds: issue.assigneeIds,
    },
    parts: {
      subject: `${project.name} | ${shortTitle(title)} (#${iid})`,
      url: `${urlOf(project, baseUrl)}/-/issues/${iid}`,
      thread: `issue_${id}.project_${project.id}`,
      project,
      facts: {
        'Issue-ID': String(id),
        'Issue-IID': String(iid),
        'Issue-State': state,
        ConfidentialIssue: String(confidential),
      },
    },
    about: (internal) => ({ resource, ability: 'read_issues', issue: { record: issue, internal } }),
  };
}
