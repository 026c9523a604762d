/** Content of notifications about epics that are new, closed or opened again, and about notes on epics. */

import type { EpicRecord } from '../../records/epics.ts';
import type { Deps } from '../deps.ts';
import { groupThreadAudience, type NotificationContent } from './audience.ts';
import { type EventOf, shortTitle } from './content-parts.ts';
import { mentionedIn } from './mentioned-members.ts';
import type { About } from './recipients.ts';
import { type GroupResource, groupResourceOf, isMuted, scopesOf } from './resources.ts';
import { contentOfNote, named } from './tracked-content.ts';

/** @returns undefined when the epic or its group no longer exists, or notifications are turned off there */
export async function epicContent(
  deps: Deps,
  { happening, actorId, baseUrl, id }: EventOf<'epic'>,
): Promise<NotificationContent | undefined> {
  const [mailed, actor] = await Promise.all([
    mailedEpic(deps, happening, baseUrl),
    actorId === null ? undefined : deps.store.users.get(actorId),
  ]);
  if (mailed === undefined) return undefined;
  const { resource, epic, called, concerned, parts, about } = mailed;
  const { what } = happening;
  const facts = { Author: epic.author.username, ...parts.facts };
  if (what !== undefined)
    return {
      about: about(false),
      audience: groupThreadAudience(deps, what === 'closed' ? 'close_epic' : 'reopen_epic', resource, {
        ...concerned,
        actorId,
      }),
      unsubscribe: { thread: concerned.thread },
      mail: {
        ...parts,
        subject: `Re: ${parts.subject}`,
        lines: [`${named(actor)} ${what} ${called}.`],
        namesAuthor: true,
        message: `epic_${epic.id}.${what}.${id}`,
        facts,
      },
    };
  const description = epic.description === null ? '' : await deps.store.texts.read(epic.description);
  const memberSources = scopesOf(resource);
  const mentioned = await mentionedIn(deps, description, { resource: { memberSources }, author: actor });
  return {
    about: about(false),
    audience: groupThreadAudience(deps, 'new_epic', resource, { ...concerned, actorId, mentioned }),
    joins: { thread: concerned.thread, userIds: new Set(mentioned.userIds) },
    unsubscribe: { thread: concerned.thread },
    mail: {
      ...parts,
      lines: [`${named(epic.author)} created ${called}.`],
      namesAuthor: true,
      ...(description === '' ? {} : { quote: description }),
      message: `epic_${epic.id}`,
      facts,
    },
  };
}

/** @returns undefined likewise, and when the note no longer exists */
export async function epicNoteContent(
  deps: Deps,
  { happening, baseUrl }: EventOf<'epic-note'>,
): Promise<NotificationContent | undefined> {
  const mailed = await mailedEpic(deps, happening, baseUrl);
  return mailed && contentOfNote(deps, mailed, happening.noteId);
}

async function mailedEpic(
  deps: Deps,
  { groupId, epicId }: { readonly groupId: number; readonly epicId: number },
  baseUrl: string,
) {
  const [resource, epic] = await Promise.all([groupResourceOf(deps, groupId), deps.store.epics.get(epicId)]);
  if (resource === undefined || isMuted(resource) || epic?.container.id !== groupId) return undefined;
  return { resource, epic, ...partsOf(resource, epic, baseUrl) };
}

function partsOf(resource: GroupResource, epic: EpicRecord, baseUrl: string) {
  const group = resource.groups[0]!;
  const { id, iid, author } = epic;
  return {
    called: `epic &${iid}`,
    concerned: {
      thread: { projectId: 0, noteable: { kind: 'epic', id, groupId: group.id } },
      authorIds: [author.id],
    },
    parts: {
      subject: `${group.name} | ${shortTitle(epic.title)} (&${iid})`,
      url: `${baseUrl}/groups/${group.fullPath}/-/epics/${iid}`,
      thread: `epic_${id}.group_${group.id}`,
      facts: { 'Epic-ID': String(id), 'Epic-IID': String(iid) },
    },
    // The author of a confidential epic need not see internal notes.
    about: (internal: boolean): About => ({
      resource,
      ability: internal ? 'read_confidential_epics' : 'read_group',
      epic,
    }),
  } as const;
}
