/**
 * Candidate recipients of an event, read page by page in the order of their IDs, and their relation to the event.
 * A user may be found by several stages: the record of mails already sent removes the duplicates later, so that at most
 * one page is in memory.
 */

import type { LabelRecord } from '../../records/labels.ts';
import type { MemberSource } from '../../records/members.ts';
import type { Thread } from '../../store/notes/participants.ts';
import type { IdPage } from '../../store/table/id-page.ts';
import type { Deps } from '../deps.ts';
import { type Candidate, type MailEvent, type Reason, type Relation, reasonToMail } from './decide.ts';
import type { MailContent } from './mail.ts';
import type { MentionedMembers } from './mentioned-members.ts';
import type { About } from './recipients.ts';
import { type GroupResource, type ProjectResource, sourceOf } from './resources.ts';
import type { UnsubscribeFrom } from './unsubscribe.ts';

/** One source of candidate recipients. */
export interface Stage {
  readonly name: string;
  /** What all whom it finds are to the event, besides what they are to it anyway. */
  readonly relation?: Relation;
  /** Returns user IDs greater than `after`, ascending. */
  readonly find: (after: number, limit: number) => Promise<IdPage>;
}

export interface Audience {
  readonly stages: readonly Stage[];
  /** Returns the relations of each user to the event, in the order of `ids`. */
  readonly relations: (ids: readonly number[]) => Promise<readonly ReadonlySet<Relation>[]>;
  /** Returns why a candidate is sent mail, or undefined when they are not. */
  readonly decide: (candidate: Candidate) => Reason | undefined;
}

/** The content of a notification and its audience. */
export interface NotificationContent {
  readonly audience: Audience;
  readonly mail: MailContent;
  /** What the notification is about, and the ability that a recipient needs there. */
  readonly about: About;
  /** What the unsubscribe link of a mail applies to. */
  readonly unsubscribe?: UnsubscribeFrom;
  /** The thread that users mentioned by name become participants of, and whether by an internal note. */
  readonly joins?: {
    readonly thread: Thread;
    readonly userIds: ReadonlySet<number>;
    readonly internal?: boolean;
  };
}

const deciding = (event: MailEvent) => ({
  decide: (candidate: Candidate) => reasonToMail(event, candidate),
});

/** Whom something that was said or done about an object concerns. */
export interface Concerned {
  readonly thread: Thread;
  readonly actorId: number | null;
  readonly authorIds: readonly number[];
  readonly assigneeIds?: readonly number[];
  readonly formerAssigneeIds?: readonly number[] | undefined;
  readonly reviewerIds?: readonly number[] | undefined;
  readonly formerReviewerIds?: readonly number[] | undefined;
  readonly mentioned?: MentionedMembers | undefined;
  /** Labels whose subscribers are told. */
  readonly labels?: readonly LabelRecord[] | undefined;
}

/** The audience of most events about an object: all whom they concern, its participants, and watchers of the project. */
export function threadAudience(
  deps: Deps,
  event: MailEvent,
  resource: ProjectResource,
  concerned: Concerned,
): Audience {
  const { mentioned } = concerned;
  const named = [
    ...concerned.authorIds,
    ...(concerned.assigneeIds ?? []),
    ...(concerned.formerAssigneeIds ?? []),
    ...(concerned.reviewerIds ?? []),
    ...(concerned.formerReviewerIds ?? []),
    ...(mentioned?.userIds ?? []),
  ];
  return audienceOf(deps, event, concerned, [
    fixedStage(named),
    threadStage(deps, concerned),
    ...calledGroups(deps, concerned),
    ...watchers(deps, resource),
    ...labelStages(deps, concerned),
  ]);
}

/** The same of something in a group: participants, watchers of the group, of those above it, and members who watch everything. */
export function groupThreadAudience(
  deps: Deps,
  event: MailEvent,
  { groups }: GroupResource,
  concerned: Concerned,
): Audience {
  const sources = groups.map(({ id }) => ({ kind: 'group', id }) as const);
  return audienceOf(deps, event, concerned, [
    fixedStage([...concerned.authorIds, ...(concerned.mentioned?.userIds ?? [])]),
    threadStage(deps, concerned),
    ...calledGroups(deps, concerned),
    ...watchersOf(deps, sources),
    ...watchingEverywhere(deps, sources),
  ]);
}

/** The audience of a text that is new only to those whom it mentions. */
export const mentionAudience = (deps: Deps, event: MailEvent, concerned: Concerned): Audience =>
  audienceOf(deps, event, concerned, [
    fixedStage(concerned.mentioned?.userIds ?? []),
    ...calledGroups(deps, concerned),
  ]);

/** The audience of labels that an object was given: their subscribers. */
export const labelAudience = (deps: Deps, event: MailEvent, concerned: Concerned): Audience =>
  audienceOf(deps, event, concerned, labelStages(deps, concerned));

function audienceOf(
  { store }: Deps,
  event: MailEvent,
  concerned: Concerned,
  stages: readonly Stage[],
): Audience {
  const { thread, actorId } = concerned;
  const { userIds = [], sources = [] } = concerned.mentioned ?? {};
  const mentionedIds = new Set(userIds);
  return {
    ...deciding(event),
    stages,
    relations: async (ids) => {
      const [inThread, ...mentionedSources] = await Promise.all([
        store.threads.getMany(thread, ids),
        ...sources.map((source) => store.members.getMany(source, ids)),
      ]);
      return ids.map((id, i) =>
        relationsOf({
          actor: id === actorId,
          author: concerned.authorIds.includes(id),
          assignee: concerned.assigneeIds?.includes(id) === true,
          former_assignee: concerned.formerAssigneeIds?.includes(id) === true,
          reviewer: concerned.reviewerIds?.includes(id) === true,
          former_reviewer: concerned.formerReviewerIds?.includes(id) === true,
          mentioned: mentionedIds.has(id) || mentionedSources.some((members) => members[i] !== undefined),
          participant: inThread[i]!.takesPart,
          subscribed: inThread[i]!.subscribed === true,
          unsubscribed: inThread[i]!.subscribed === false,
        }),
      );
    },
  };
}

const threadStage = ({ store }: Deps, { thread }: Concerned): Stage => ({
  name: 'thread',
  find: (after, limit) => store.threads.members(thread, after, limit),
});

const calledGroups = (deps: Deps, { mentioned }: Concerned): Stage[] =>
  (mentioned?.sources ?? []).map((source) => membersOf(deps, 'called', source));

/** Users subscribe to a label in one project, or to a group's label in the whole group. */
const labelStages = ({ store }: Deps, { labels = [], thread }: Concerned): Stage[] =>
  labels.flatMap(({ id, container }) => {
    const places = [{ kind: 'project', id: thread.projectId } as const, container];
    return places
      .filter(({ kind }, i) => i === 0 || kind === 'group')
      .map((at) => ({
        name: nameOf(`label ${id} in`, at),
        relation: 'subscribed' as const,
        find: (after: number, limit: number) => store.labels.subscribers(id, at, after, limit),
      }));
  });

/** The audience of a finished pipeline: its author. */
export const pipelineAudience = (event: MailEvent, authorId: number): Audience => ({
  ...deciding(event),
  stages: [fixedStage([authorId])],
  relations: async (ids) => ids.map((id) => relationsOf({ author: id === authorId })),
});

/** The members of a project: all whom its memberships and those of its groups name. */
export const memberAudience = (
  deps: Deps,
  event: MailEvent,
  { project, memberSources }: Pick<ProjectResource, 'project' | 'memberSources'>,
  actorId: number | null,
): Audience => ({
  ...deciding(event),
  stages: [
    fixedStage(project.namespaceKind === 'user' ? [project.ownerId] : []),
    ...memberSources.map((source) => membersOf(deps, 'member', source)),
  ],
  relations: async (ids) => ids.map((id) => relationsOf({ member: true, actor: id === actorId })),
});

/** Users who watch the project or one of its groups, and its members who watch everything. */
const watchers = (deps: Deps, { project, groups, memberSources }: ProjectResource): Stage[] => [
  ...watchersOf(deps, [sourceOf(project), ...groups.map(({ id }) => ({ kind: 'group', id }) as const)]),
  fixedStage(project.namespaceKind === 'user' ? [project.ownerId] : [], 'owner'),
  ...watchingEverywhere(deps, memberSources),
];

const watchersOf = ({ store }: Deps, sources: readonly MemberSource[]): Stage[] =>
  sources.map((source) => ({
    name: nameOf('watching', source),
    find: (after, limit) => store.notificationSettings.subscribers(source, after, limit),
  }));

function watchingEverywhere({ store }: Deps, sources: readonly MemberSource[]): Stage[] {
  // All of them begin with the same page.
  let first: Promise<IdPage> | undefined;
  const watching = (after: number, limit: number) =>
    after > 0
      ? store.notificationSettings.globalSubscribers(after, limit)
      : (first ??= store.notificationSettings.globalSubscribers(after, limit));
  return sources.map((source) => ({
    name: nameOf('everywhere', source),
    find: (after, limit) => watchingMembers(store, source, watching, after, limit),
  }));
}

/**
 * Returns members whose global level is to watch. Both lists are in the order of IDs, so each step walks the page that
 * reaches further, which is of the shorter list, and looks up in the other only what its page does not show.
 */
async function watchingMembers(
  store: Deps['store'],
  source: MemberSource,
  watchers: (after: number, limit: number) => Promise<IdPage>,
  after: number,
  limit: number,
): Promise<IdPage> {
  const [members, watching] = await Promise.all([
    store.members.idsAfter(source, after, limit, { consistent: false }),
    watchers(after, limit),
  ]);
  const [walked, other, areInOther] =
    reach(members) >= reach(watching)
      ? [members, watching, (ids: number[]) => store.notificationSettings.areGlobalSubscribers(ids)]
      : [watching, members, async (ids: number[]) => (await store.members.getMany(source, ids)).map(Boolean)];
  const shown = new Set(other.ids);
  const beyond = walked.ids.filter((id) => id > reach(other));
  const found = await areInOther(beyond);
  return {
    ...walked,
    ids: [
      ...walked.ids.filter((id) => id <= reach(other) && shown.has(id)),
      ...beyond.filter((_, i) => found[i]),
    ],
  };
}

/** The last id that a page says something about. */
const reach = ({ until }: IdPage): number => until ?? Number.POSITIVE_INFINITY;

const membersOf = ({ store }: Deps, name: string, source: MemberSource): Stage => ({
  name: nameOf(name, source),
  find: (after, limit) => store.members.idsAfter(source, after, limit, { consistent: false }),
});

export function fixedStage(ids: readonly number[], name = 'named'): Stage {
  const sorted = [...new Set(ids)].sort((a, b) => a - b);
  return {
    name,
    find: async (after, limit) => {
      const remaining = sorted.filter((id) => id > after);
      const page = remaining.slice(0, limit);
      return remaining.length > limit ? { ids: page, until: page.at(-1)! } : { ids: page };
    },
  };
}

const nameOf = (name: string, { kind, id }: MemberSource): string => `${name} ${kind} ${id}`;

const relationsOf = (flags: Readonly<Partial<Record<Relation, boolean>>>): ReadonlySet<Relation> =>
  new Set((Object.keys(flags) as Relation[]).filter((relation) => flags[relation]));
