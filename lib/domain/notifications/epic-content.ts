/** Content of notifications about new epics. */

import type { Deps } from '../deps.ts';
import { groupThreadAudience, type NotificationContent } from './audience.ts';
import { type EventOf, shortTitle } from './content-parts.ts';
import { mentionedIn } from './mentioned-members.ts';
import { groupResourceOf, isMuted } from './resources.ts';

/** @returns undefined when the epic or its group no longer exists, or notifications are turned off there */
export async function epicContent(
  deps: Deps,
  { happening, actorId, baseUrl }: EventOf<'epic'>,
): Promise<NotificationContent | undefined> {
  const { groupId, epicId } = happening;
  const [resource, epic, actor] = await Promise.all([
    groupResourceOf(deps, groupId),
    deps.store.epics.get(epicId),
    actorId === null ? undefined : deps.store.users.get(actorId),
  ]);
  if (resource === undefined || isMuted(resource) || epic?.container.id !== groupId) return undefined;
  const group = resource.groups[0]!;
  const memberSources = resource.groups.map(({ id }) => ({ kind: 'group', id }) as const);
  const description = epic.description === null ? '' : await deps.store.texts.read(epic.description);
  const mentioned = await mentionedIn(deps, description, { resource: { memberSources }, author: actor });
  const thread = { projectId: 0, noteable: { kind: 'epic', id: epic.id, groupId } } as const;
  const { username, name } = epic.author;
  return {
    about: { resource, ability: 'read_group', epic },
    audience: groupThreadAudience(deps, 'new_epic', resource, {
      ...{ thread, actorId, mentioned },
      authorIds: [epic.author.id],
    }),
    unsubscribe: { source: { kind: 'group', id: groupId } },
    mail: {
      subject: `${group.name} | ${shortTitle(epic.title)} (&${epic.iid})`,
      lines: [`${name} (@${username}) created epic &${epic.iid}.`],
      namesAuthor: true,
      ...(description === '' ? {} : { quote: description }),
      url: `${baseUrl}/groups/${group.fullPath}/-/epics/${epic.iid}`,
      thread: `epic_${epic.id}.group_${groupId}`,
      message: `epic_${epic.id}`,
      facts: { Author: username, 'Epic-ID': String(epic.id), 'Epic-IID': String(epic.iid) },
    },
  };
}
