/** Content of notifications about issues, and about notes on them. */

import type { IssueRecord } from '../../records/issues.ts';
import type { LabelRecord } from '../../records/labels.ts';
import type { UserRecord } from '../../records/users.ts';
import type { Deps } from '../deps.ts';
import {
  type Concerned,
  labelAudience,
  mentionAudience,
  type NotificationContent,
  threadAudience,
} from './audience.ts';
import { type EventOf, shortTitle, urlOf } from './content-parts.ts';
import type { MailEvent } from './decide.ts';
import type { ChangeOfIssue } from './enqueue.ts';
import { formerNames } from './former-mentions.ts';
import type { MailContent } from './mail.ts';
import { type MentionedMembers, mentionedIn } from './mentioned-members.ts';
import type { ProjectResource } from './resources.ts';

/** @returns undefined when the issue or the note no longer exists */
export async function issueNoteContent(
  deps: Deps,
  resource: ProjectResource,
  { happening, baseUrl }: EventOf<'issue-note'>,
): Promise<NotificationContent | undefined> {
  const issue = await deps.store.issues.get(happening);
  if (issue === undefined) return undefined;
  const { thread, parts } = commonOf(resource, issue, baseUrl);
  const note = await deps.store.notes.get({ ...thread, id: happening.noteId });
  if (note === undefined) return undefined;
  const [body, author] = await Promise.all([
    deps.store.texts.read(note.body),
    deps.store.users.get(note.author.id),
  ]);
  const mentioned = await mentionedIn(deps, body, { resource, author });
  const concerned = concernedOf(issue, { thread, actorId: note.author.id, mentioned });
  return {
    about: { resource, ability: 'read_issues', issue: { record: issue, internal: note.internal === true } },
    audience: threadAudience(deps, 'new_note', resource, concerned),
    joins: { thread, userIds: new Set(mentioned.userIds) },
    unsubscribe: { thread },
    mail: {
      ...parts,
      subject: `Re: ${parts.subject}`,
      lines: [`${named(note.author)} commented on issue #${issue.iid}:`],
      namesAuthor: true,
      quote: body,
      url: `${parts.url}#note_${note.id}`,
      message: `note_${note.id}`,
      facts: { Author: note.author.username, ...parts.facts },
    },
  };
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
  const told = await TOLD[change.what](deps, { resource, issue, actor, change: change as never });
  if (told === undefined) return undefined;
  const { event, tell, quotes = false, mentioned, formerAssigneeIds, labels } = told;
  const { thread, parts } = commonOf(resource, issue, baseUrl);
  const concerned = concernedOf(issue, { thread, actorId, mentioned, formerAssigneeIds, labels });
  const description =
    quotes && issue.description !== null ? await deps.store.texts.read(issue.description) : '';
  return {
    about: { resource, ability: 'read_issues', issue: { record: issue, internal: false } },
    audience: AUDIENCES[event]?.(deps, event, concerned) ?? threadAudience(deps, event, resource, concerned),
    ...(mentioned === undefined ? {} : { joins: { thread, userIds: new Set(mentioned.userIds) } }),
    unsubscribe: { thread },
    mail: {
      ...parts,
      subject: change.what === 'opened' ? parts.subject : `Re: ${parts.subject}`,
      lines: tell,
      namesAuthor: true,
      ...(description === '' ? {} : { quote: description }),
      message: `issue_${issue.id}.${change.what}.${id}`,
      facts: { Author: issue.author.username, ...parts.facts },
    },
  };
}

/** Events that concern only some of those who are told of others. */
const AUDIENCES: Partial<Record<MailEvent, typeof mentionAudience>> = {
  mention_in_issue: mentionAudience,
  relabel_issue: labelAudience,
};

/** What mail says of a change, and whom it concerns besides the people of the issue. */
interface Told {
  readonly event: MailEvent;
  /** Sentences. */
  readonly tell: readonly string[];
  /** Whether the mail has the description. */
  readonly quotes?: boolean;
  readonly mentioned?: MentionedMembers;
  readonly formerAssigneeIds?: readonly number[];
  readonly labels?: readonly LabelRecord[];
}

interface Telling<C extends ChangeOfIssue> {
  readonly resource: ProjectResource;
  readonly issue: IssueRecord;
  /** Undefined when nobody did it, or the account is deleted. */
  readonly actor: UserRecord | undefined;
  readonly change: C;
}

type Tell<W extends ChangeOfIssue['what']> = (
  deps: Deps,
  telling: Telling<Extract<ChangeOfIssue, { readonly what: W }>>,
) => Promise<Told | undefined>;

/** Tells of a change that needs no more than its name. */
const plainly =
  (event: MailEvent, done: string, behind = '') =>
  async (_deps: Deps, { issue, actor }: Pick<Telling<never>, 'issue' | 'actor'>): Promise<Told> => ({
    event,
    tell: [`${named(actor)} ${done} issue #${issue.iid}${behind}.`],
  });

const TOLD: { readonly [W in ChangeOfIssue['what']]: Tell<W> } = {
  opened: async (deps, { resource, issue, actor }) => {
    const [mentioned, labels, assignees] = await Promise.all([
      mentionedInDescription(deps, { resource, issue, actor }),
      labelsOf(deps, issue.labelIds),
      usersOf(deps, issue.assigneeIds),
    ]);
    return {
      event: 'new_issue',
      tell: [
        `${named(actor)} created issue #${issue.iid}.`,
        ...(assignees === '' ? [] : [`It is assigned to ${assignees}.`]),
      ],
      quotes: true,
      mentioned,
      labels,
    };
  },
  closed: plainly('close_issue', 'closed'),
  reopened: plainly('reopen_issue', 'reopened'),
  moved: plainly('move_issue', 'moved', ' to another project'),
  reassigned: async (deps, { issue, actor, change: { formerIds } }) => {
    const [before, after] = await Promise.all([usersOf(deps, formerIds), usersOf(deps, issue.assigneeIds)]);
    return {
      event: 'reassign_issue',
      tell: [
        after === ''
          ? `${named(actor)} removed the assignees of issue #${issue.iid}: ${before}.`
          : `${named(actor)} assigned issue #${issue.iid} to ${after}.`,
        ...(before === '' || after === '' ? [] : [`Before, it was assigned to ${before}.`]),
      ],
      formerAssigneeIds: formerIds,
    };
  },
  relabelled: async (deps, { issue, actor, change: { labelIds } }) => {
    const labels = await labelsOf(
      deps,
      labelIds.filter((id) => issue.labelIds.includes(id)),
    );
    if (labels.length === 0) return undefined;
    const titles = enumeration(labels.map(({ title }) => title));
    const noun = labels.length === 1 ? 'label' : 'labels';
    return {
      event: 'relabel_issue',
      tell: [`${named(actor)} gave issue #${issue.iid} the ${noun} ${titles}.`],
      labels,
    };
  },
  replanned: async (deps, { issue, actor, change: { milestoneId } }) => {
    const milestone = milestoneId === null ? undefined : await deps.store.milestones.get(milestoneId);
    return {
      event: 'change_milestone_of_issue',
      tell: [
        milestone === undefined
          ? `${named(actor)} removed the milestone of issue #${issue.iid}.`
          : `${named(actor)} changed the milestone of issue #${issue.iid} to ${milestone.title}.`,
      ],
    };
  },
  described: async (deps, { resource, issue, actor, change: { former } }) => {
    const names = await formerNames(deps, former);
    const mentioned = await mentionedInDescription(deps, { resource, issue, actor }, names);
    if (mentioned.userIds.length + mentioned.sources.length === 0) return undefined;
    return {
      event: 'mention_in_issue',
      tell: [`${named(actor)} mentioned you in issue #${issue.iid}.`],
      quotes: true,
      mentioned,
    };
  },
  due: async (_deps, { issue, change: { day } }) => {
    if (issue.state !== 'opened' || issue.dueDate !== day) return undefined;
    return {
      event: 'issue_due',
      tell: [`Issue #${issue.iid} is due on ${DAY.format(new Date(`${day}T00:00:00Z`))}.`],
      quotes: true,
    };
  },
};

const DAY = new Intl.DateTimeFormat('en-US', { dateStyle: 'long', timeZone: 'UTC' });

async function mentionedInDescription(
  deps: Deps,
  { resource, issue, actor }: Pick<Telling<never>, 'resource' | 'issue' | 'actor'>,
  except: readonly string[] = [],
): Promise<MentionedMembers> {
  if (issue.description === null) return { userIds: [], sources: [] };
  const text = await deps.store.texts.read(issue.description);
  return mentionedIn(deps, text, { resource, author: actor, except });
}

const labelsOf = async ({ store }: Deps, ids: readonly number[]): Promise<LabelRecord[]> =>
  (await store.labels.getMany(ids)).filter((label) => label !== undefined);

const usersOf = async ({ store }: Deps, ids: readonly number[]): Promise<string> =>
  enumeration((await store.users.getMany(ids)).flatMap((user) => (user === undefined ? [] : named(user))));

/** Names of a sentence; there may be hundreds. */
const MAX_NAMES = 20;

function enumeration(names: readonly string[]): string {
  const more = names.length - MAX_NAMES;
  return [...names.slice(0, MAX_NAMES), ...(more > 0 ? [`${more} others`] : [])].join(', ');
}

const named = (user: Pick<UserRecord, 'name' | 'username'> | undefined): string =>
  user === undefined ? 'A user who is deleted' : `${user.name} (@${user.username})`;

const concernedOf = (
  issue: IssueRecord,
  concerned: Omit<Concerned, 'authorIds' | 'assigneeIds'>,
): Concerned => ({
  ...concerned,
  authorIds: [issue.author.id],
  assigneeIds: issue.assigneeIds,
});

/** What all mails about an issue have in common. */
function commonOf({ project }: ProjectResource, issue: IssueRecord, baseUrl: string) {
  const { id, iid, state, confidential, title } = issue;
  const parts = {
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
  } satisfies Partial<MailContent>;
  return { thread: { projectId: project.id, noteable: { kind: 'issue', id } as const }, parts };
}
