/** What notifications about issues and merge requests, and about notes on them, have in common. */

import type { LabelRecord } from '../../records/labels.ts';
import type { TrackedRecord } from '../../records/tracked.ts';
import type { UserRecord } from '../../records/users.ts';
import type { Deps } from '../deps.ts';
import {
  type Concerned,
  groupThreadAudience,
  labelAudience,
  mentionAudience,
  type NotificationContent,
  threadAudience,
} from './audience.ts';
import type { MailEvent } from './decide.ts';
import type { ChangeOfTracked } from './enqueue.ts';
import { formerNames } from './former-mentions.ts';
import type { MailContent } from './mail.ts';
import { type MentionedMembers, mentionedIn } from './mentioned-members.ts';
import type { About } from './recipients.ts';
import { type GroupResource, type ProjectResource, scopesOf } from './resources.ts';

/** What notes are on, as mail is about them. */
export interface MailedObject {
  readonly resource: ProjectResource | GroupResource;
  /** As sentences name it: `issue #1`. */
  readonly called: string;
  readonly concerned: Pick<Concerned, 'thread' | 'authorIds' | 'assigneeIds' | 'reviewerIds'>;
  /** What all mails about it have in common. */
  readonly parts: Pick<MailContent, 'subject' | 'url' | 'thread' | 'project' | 'facts'>;
  /** @param internal whether it is about a note that only readers of confidential issues may read */
  readonly about: (internal: boolean) => About;
}

/** An issue or a merge request as mail is about it. */
export interface MailedRecord<R extends TrackedRecord = TrackedRecord> extends MailedObject {
  readonly resource: ProjectResource;
  readonly record: R;
}

/** @returns undefined when the note no longer exists */
export async function contentOfNote(
  deps: Deps,
  { resource, called, concerned, parts, about }: MailedObject,
  noteId: number,
): Promise<NotificationContent | undefined> {
  const { thread } = concerned;
  const note = await deps.store.notes.get({ ...thread, id: noteId });
  if (note === undefined) return undefined;
  const [body, author] = await Promise.all([
    deps.store.texts.read(note.body),
    deps.store.users.get(note.author.id),
  ]);
  const memberSources = resource.memberSources ?? scopesOf(resource);
  const mentioned = await mentionedIn(deps, body, { resource: { memberSources }, author });
  const all = { ...concerned, actorId: note.author.id, mentioned };
  const internal = note.internal === true;
  return {
    about: about(internal),
    audience:
      resource.project === undefined
        ? groupThreadAudience(deps, 'new_note', resource, all)
        : threadAudience(deps, 'new_note', resource, all),
    joins: { thread, userIds: new Set(mentioned.userIds), internal },
    unsubscribe: { thread },
    mail: {
      ...parts,
      subject: `Re: ${parts.subject}`,
      lines: [`${named(note.author)} commented on ${called}:`],
      namesAuthor: true,
      quote: body,
      url: `${parts.url}#note_${note.id}`,
      message: `note_${note.id}`,
      facts: { Author: note.author.username, ...parts.facts },
    },
  };
}

/** What mail says of a change, and whom it concerns besides the people of the record. */
export interface Told {
  readonly event: MailEvent;
  /** Sentences. */
  readonly tell: readonly string[];
  /** Whether the mail has the description. */
  readonly quotes?: boolean;
  readonly mentioned?: MentionedMembers;
  readonly formerAssigneeIds?: readonly number[];
  readonly formerReviewerIds?: readonly number[];
  readonly labels?: readonly LabelRecord[];
}

/** @param what the change @param id of the notification */
export async function contentOfChange(
  deps: Deps,
  { resource, record, concerned, parts, about }: MailedRecord,
  { told, what, actorId, id }: { told: Told; what: string; actorId: number | null; id: string },
): Promise<NotificationContent> {
  const { event, tell, quotes = false, mentioned, formerAssigneeIds, formerReviewerIds, labels } = told;
  const { thread } = concerned;
  const all = { ...concerned, actorId, mentioned, formerAssigneeIds, formerReviewerIds, labels };
  const description =
    quotes && record.description !== null ? await deps.store.texts.read(record.description) : '';
  return {
    about: about(false),
    audience: AUDIENCES[event]?.(deps, event, all) ?? threadAudience(deps, event, resource, all),
    ...(mentioned === undefined ? {} : { joins: { thread, userIds: new Set(mentioned.userIds) } }),
    unsubscribe: { thread },
    mail: {
      ...parts,
      subject: what === 'opened' ? parts.subject : `Re: ${parts.subject}`,
      lines: tell,
      namesAuthor: true,
      ...(description === '' ? {} : { quote: description }),
      message: `${thread.noteable.kind.replace('-', '_')}_${record.id}.${what}.${id}`,
      facts: { Author: record.author.username, ...parts.facts },
    },
  };
}

/** Events that concern only some of those who are told of others. */
const AUDIENCES: Partial<Record<MailEvent, typeof mentionAudience>> = {
  mention_in_issue: mentionAudience,
  mention_in_merge_request: mentionAudience,
  relabel_issue: labelAudience,
  relabel_merge_request: labelAudience,
};

export interface Telling<C, R extends TrackedRecord = TrackedRecord> extends MailedRecord<R> {
  /** Undefined when nobody did it, or the account is deleted. */
  readonly actor: UserRecord | undefined;
  readonly change: C;
}

/** @returns undefined when the change was taken back, or concerns nobody any more */
export type Tell<C, R extends TrackedRecord = TrackedRecord> = (
  deps: Deps,
  telling: Telling<C, R>,
) => Promise<Told | undefined>;

type ChangeNamed<W extends ChangeOfTracked['what']> = Extract<ChangeOfTracked, { readonly what: W }>;

/** Tells of a change that needs no more than its name. */
export const plainly =
  (event: MailEvent, done: string, behind = ''): Tell<unknown> =>
  async (_deps, { called, actor }) => ({ event, tell: [`${named(actor)} ${done} ${called}${behind}.`] });

/** @param more further sentences */
export const opened =
  <R extends TrackedRecord>(
    event: MailEvent,
    more: (deps: Deps, record: R) => Promise<string[]> = async () => [],
  ): Tell<unknown, R> =>
  async (deps, telling) => {
    const { record, called, actor } = telling;
    const [mentioned, labels, assignees, rest] = await Promise.all([
      mentionedInDescription(deps, telling),
      labelsOf(deps, record.labelIds),
      usersOf(deps, record.assigneeIds),
      more(deps, record),
    ]);
    return {
      event,
      tell: [
        `${named(actor)} created ${called}.`,
        ...(assignees === '' ? [] : [`It is assigned to ${assignees}.`]),
        ...rest,
      ],
      quotes: true,
      mentioned,
      labels,
    };
  };

export const reassigned =
  (event: MailEvent): Tell<ChangeNamed<'reassigned'>> =>
  async (deps, { record, called, actor, change: { formerIds } }) => {
    const [before, after] = await Promise.all([usersOf(deps, formerIds), usersOf(deps, record.assigneeIds)]);
    return {
      event,
      tell: [
        after === ''
          ? `${named(actor)} removed the assignees of ${called}: ${before}.`
          : `${named(actor)} assigned ${called} to ${after}.`,
        ...(before === '' || after === '' ? [] : [`Before, it was assigned to ${before}.`]),
      ],
      formerAssigneeIds: formerIds,
    };
  };

export const relabelled =
  (event: MailEvent): Tell<ChangeNamed<'relabelled'>> =>
  async (deps, { record, called, actor, change: { labelIds } }) => {
    const labels = await labelsOf(
      deps,
      labelIds.filter((id) => record.labelIds.includes(id)),
    );
    if (labels.length === 0) return undefined;
    const titles = enumeration(labels.map(({ title }) => title));
    const noun = labels.length === 1 ? 'label' : 'labels';
    return { event, tell: [`${named(actor)} gave ${called} the ${noun} ${titles}.`], labels };
  };

export const replanned =
  (event: MailEvent): Tell<ChangeNamed<'replanned'>> =>
  async (deps, { called, actor, change: { milestoneId } }) => {
    const milestone = milestoneId === null ? undefined : await deps.store.milestones.get(milestoneId);
    return {
      event,
      tell: [
        milestone === undefined
          ? `${named(actor)} removed the milestone of ${called}.`
          : `${named(actor)} changed the milestone of ${called} to ${milestone.title}.`,
      ],
    };
  };

export const described =
  (event: MailEvent): Tell<ChangeNamed<'described'>> =>
  async (deps, telling) => {
    const { called, actor, change } = telling;
    const names = await formerNames(deps, change.former);
    const mentioned = await mentionedInDescription(deps, telling, names);
    if (mentioned.userIds.length + mentioned.sources.length === 0) return undefined;
    return { event, tell: [`${named(actor)} mentioned you in ${called}.`], quotes: true, mentioned };
  };

async function mentionedInDescription(
  deps: Deps,
  { resource, record, actor }: Pick<Telling<unknown>, 'resource' | 'record' | 'actor'>,
  except: readonly string[] = [],
): Promise<MentionedMembers> {
  if (record.description === null) return { userIds: [], sources: [] };
  const text = await deps.store.texts.read(record.description);
  return mentionedIn(deps, text, { resource, author: actor, except });
}

const labelsOf = async ({ store }: Deps, ids: readonly number[]): Promise<LabelRecord[]> =>
  (await store.labels.getMany(ids)).filter((label) => label !== undefined);

export const usersOf = async ({ store }: Deps, ids: readonly number[]): Promise<string> =>
  enumeration((await store.users.getMany(ids)).flatMap((user) => (user === undefined ? [] : named(user))));

/** Names of a sentence; there may be hundreds. */
const MAX_NAMES = 20;

function enumeration(names: readonly string[]): string {
  const more = names.length - MAX_NAMES;
  return [...names.slice(0, MAX_NAMES), ...(more > 0 ? [`${more} others`] : [])].join(', ');
}

export const named = (user: Pick<UserRecord, 'name' | 'username'> | undefined): string =>
  user === undefined ? 'A user who is deleted' : `${user.name} (@${user.username})`;
