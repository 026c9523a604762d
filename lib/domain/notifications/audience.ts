/**
 * Who may have to hear of something, found some at a time in the order of their ids, and what each of them is to it.
 * Whoever is found twice is found out later, by what was sent already; so nothing here holds more than a page.
 */

import type { MemberSource } from '../../records/members.ts';
import type { NotificationEvent } from '../../records/notifications.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { Thread } from '../../store/notes/participants.ts';
import type { IdPage } from '../../store/table/id-page.ts';
import type { Deps } from '../deps.ts';
import { type Candidate, type Reason, type Relation, reasonToMail } from './decide.ts';
import type { MailContent } from './mail.ts';
import type { MentionedMembers } from './mentioned-members.ts';
import type { About } from './recipients.ts';
import { type ProjectResource, sourceOf } from './resources.ts';
import type { UnsubscribeFrom } from './unsubscribe.ts';

/** One way of finding people. */
export interface Stage {
  readonly name: string;
  /** Ids above `after`, ascending. */
  readonly find: (after: number, limit: number) => Promise<IdPage>;
}

export interface Audience {
  readonly stages: readonly Stage[];
  /** What each of these is to it, in their order. */
  readonly relations: (ids: readonly number[]) => Promise<readonly ReadonlySet<Relation>[]>;
  /** Why somebody is sent mail; undefined: they are not. */
  readonly decide: (candidate: Candidate) => Reason | undefined;
}

/** What is told, and whom. */
export interface NotificationContent {
  readonly audience: Audience;
  readonly letter: MailContent;
  /** What it is about, and what one has to be allowed there to be told. */
  readonly about: About;
  /** What a reader's link ends mail of. */
  readonly unsubscribe?: UnsubscribeFrom;
  /** What those who are called by name take part in from then on. */
  readonly joins?: { readonly thread: Thread; readonly userIds: ReadonlySet<number> };
}

const deciding = (event: NotificationEvent) => ({
  decide: (candidate: Candidate) => reasonToMail(event, candidate),
});

/** Of a comment: who takes part, who is called, who watches. */
export function noteAudience(
  deps: Deps,
  place: ProjectResource,
  {
    thread,
    actorId,
    authorIds,
    called,
  }: {
    readonly thread: Thread;
    readonly actorId: number;
    readonly authorIds: readonly number[];
    readonly called: MentionedMembers;
  },
): Audience {
  const { store } = deps;
  const mentioned = new Set(called.userIds);
  return {
    ...deciding('new_note'),
    stages: [
      named([...authorIds, ...called.userIds]),
      { name: 'thread', find: (after, limit) => store.threads.members(thread, after, limit) },
      ...called.sources.map((source) => membersOf(deps, 'called', source)),
      ...watchers(deps, place),
    ],
    relations: async (ids) => {
      const [inThread, ...calledIn] = await Promise.all([
        store.threads.getMany(thread, ids),
        ...called.sources.map((source) => store.members.getMany(source, ids)),
      ]);
      return ids.map((id, i) =>
        relationsOf({
          actor: id === actorId,
          author: authorIds.includes(id),
          mentioned: mentioned.has(id) || calledIn.some((members) => members[i] !== undefined),
          participant: inThread[i]!.takesPart,
          unsubscribed: inThread[i]!.left,
        }),
      );
    },
  };
}

/** Of what became of a pipeline: whoever began it. */
export const pipelineAudience = (event: NotificationEvent, authorId: number): Audience => ({
  ...deciding(event),
  stages: [named([authorId])],
  relations: async (ids) => ids.map((id) => relationsOf({ author: id === authorId })),
});

/** Of a project's move: its members. @param memberSources what these are members of */
export const moveAudience = (
  deps: Deps,
  project: ProjectRecord,
  memberSources: readonly MemberSource[],
  actorId: number | null,
): Audience => ({
  ...deciding('moved_project'),
  stages: [
    named(project.namespaceKind === 'user' ? [project.ownerId] : []),
    ...memberSources.map((source) => membersOf(deps, 'member', source)),
  ],
  relations: async (ids) => ids.map((id) => relationsOf({ member: true, actor: id === actorId })),
});

/** Who chose to hear of what goes on there, or everywhere and is a member. */
function watchers(deps: Deps, { project, groups, memberSources }: ProjectResource): Stage[] {
  const { notificationSettings } = deps.store;
  const sources = [sourceOf(project), ...groups.map(({ id }) => ({ kind: 'group', id }) as const)];
  return [
    ...sources.map((source) => ({
      name: nameOf('watching', source),
      find: (after: number, limit: number) => notificationSettings.subscribers(source, after, limit),
    })),
    named(project.namespaceKind === 'user' ? [project.ownerId] : [], 'owner'),
    ...memberSources.map((source) => ({
      name: nameOf('everywhere', source),
      find: (after: number, limit: number) => watchingMembers(deps, source, after, limit),
    })),
  ];
}

/**
 * Members who want to hear of what goes on wherever they are: both are in the order of ids, so each step takes the page
 * that reaches further, and costs as much as the shorter of the two lists.
 */
async function watchingMembers(
  { store }: Deps,
  source: MemberSource,
  after: number,
  limit: number,
): Promise<IdPage> {
  const [members, hearing] = await Promise.all([
    store.members.idsAfter(source, after, limit),
    store.notificationSettings.globalSubscribers(after, limit),
  ]);
  const reach = ({ until }: IdPage) => until ?? Number.POSITIVE_INFINITY;
  if (reach(members) >= reach(hearing)) return members;
  const found = await store.members.getMany(source, hearing.ids);
  return { ...hearing, ids: hearing.ids.filter((_, i) => found[i] !== undefined) };
}

const membersOf = ({ store }: Deps, name: string, source: MemberSource): Stage => ({
  name: nameOf(name, source),
  find: (after, limit) => store.members.idsAfter(source, after, limit),
});

export function named(ids: readonly number[], name = 'named'): Stage {
  const sorted = [...new Set(ids)].sort((a, b) => a - b);
  return {
    name,
    find: async (after, limit) => {
      const left = sorted.filter((id) => id > after);
      const page = left.slice(0, limit);
      return left.length > limit ? { ids: page, until: page.at(-1)! } : { ids: page };
    },
  };
}

const nameOf = (name: string, { kind, id }: MemberSource): string => `${name} ${kind} ${id}`;

const relationsOf = (which: Readonly<Partial<Record<Relation, boolean>>>): ReadonlySet<Relation> =>
  new Set((Object.keys(which) as Relation[]).filter((relation) => which[relation]));
