/** Notes on the objects of projects and groups: the rules that are the same for all kinds of objects. */

import { snapshotOf } from '../../records/authors.ts';
import {
  classOfNote,
  type DiscussionRecord,
  holderOf,
  isResolvableNote,
  MAX_NOTE_LENGTH,
  type NotedLine,
  type NotePosition,
  type NoteRecord,
  unresolvedBy,
} from '../../records/notes.ts';
import { Missing, Stale } from '../../store/errors.ts';
import { leftOf, repliedTo } from '../../store/notes/discussions.ts';
import type { NotesOf } from '../../store/notes/lists.ts';
import { mentionsMessage } from '../../store/notes/mentions.ts';
import { type NoteOrder, noteRemovedMessages } from '../../store/notes/notes.ts';
import { type OutboxMessage, outboxWrites } from '../../store/outbox/outbox.ts';
import { mapLimit } from '../../store/table/map-limit.ts';
import type { Page, PageRequest } from '../../store/table/paging.ts';
import type { Write } from '../../store/table/write.ts';
import { signedIn } from '../access/permissions.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { badRequest, forbidden, notFound, resourceNotFound } from '../errors.ts';
import { prepareActivity } from '../events/record.ts';
import { tellHooks } from '../hook-events/tell.ts';
import { dropReplaced, naming } from '../long-texts.ts';
import { mayNameAny } from '../markdown/references.ts';
import { enqueueNotification, moverOf } from '../notifications/enqueue.ts';
import { NOTES, requireRate } from '../rate-limits/action-limits.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';
import { discussionIdOf, firstNoteOf } from './discussion-id.ts';
import { type LoadedNote, shown } from './loaded.ts';
import type { NotedObject } from './noteable.ts';
import { sharesOf } from './shares.ts';

/** Notes that belong together. */
export interface Discussion {
  readonly id: string;
  /** Whether it is a note that stands alone. */
  readonly individual: boolean;
  /** Oldest first. */
  readonly notes: readonly LoadedNote[];
  /** The last of the notes that one answer has room for, where others follow. */
  readonly moreAfter?: number;
}

/** Which notes a list shows: those of people, those of the service about changes, or both. */
export type NoteFilter = 'all_notes' | 'only_comments' | 'only_activity';

/** Notes of one answer with discussions. */
const MAX_DISCUSSION_NOTES = 3_000;
/** Discussions whose further replies are looked up at once. */
const CONCURRENCY = 20;

/** @throws 400 with the API's text for an invalid note. @param error makes the error of a problem */
export function requireNoteText(
  body: string,
  error = (problem: string) => badRequest(`Note ${problem}`),
): void {
  const refuse = (problem: string) => error(`{:note=>["${problem}"]}`);
  if (body.trim() === '') throw refuse("can't be blank");
  // No shorter in UTF-16, so that most texts need not be split into characters.
  if (body.length > MAX_NOTE_LENGTH && [...body].length > MAX_NOTE_LENGTH)
    throw refuse(`is too long (maximum is ${MAX_NOTE_LENGTH} characters)`);
}

/** Counts a new note. @throws 429 */
export const requireNoteRate = (deps: Deps, actor: Actor): Promise<void> =>
  requireRate(deps, NOTES, signedIn(actor).user);

/** A new note. {@link requireNoteText} and {@link requireNoteRate} come first. */
export interface NewNote {
  readonly body: string;
  readonly line?: NotedLine | null;
  /** A place in a diff, found by {@link NotedObject.positions}. */
  readonly position?: NotePosition | undefined;
  /** For those who may read confidential issues. */
  readonly internal?: boolean;
  /** Ignored unless the actor may choose it. ISO 8601. */
  readonly createdAt?: string | undefined;
  /** Whether it starts a discussion; otherwise it stands alone. */
  readonly discussed?: boolean;
}

/** Adds a note. @throws 401, 403; `404 Project Not Found` (or Group) when that is deleted meanwhile */
export const addNote = (deps: Deps, actor: Actor, on: NotedObject, input: NewNote): Promise<LoadedNote> =>
  written(deps, actor, on, input, (note, alongside) =>
    on.within({ notes: 1, unresolved: isResolvableNote(note) ? 1 : 0 }, (more) =>
      deps.store.notes.create(note, [...more, ...alongside]),
    ),
  );

/** Adds a note that starts a discussion. @throws as {@link addNote} */
export async function startDiscussion(
  deps: Deps,
  actor: Actor,
  on: NotedObject,
  input: NewNote,
): Promise<Discussion> {
  const first = await addNote(deps, actor, on, { ...input, discussed: true });
  const { projectId, noteable, id } = first.note;
  return { id: discussionIdOf(projectId, noteable, id), individual: false, notes: [first] };
}

/**
 * Replies in a discussion. A reply to an internal note is internal.
 * @throws 401, 403; `404 Discussion Not Found`; 400 where the note stands alone and takes no replies
 */
export async function reply(
  deps: Deps,
  actor: Actor,
  on: NotedObject,
  discussionId: string,
  input: NewNote,
): Promise<LoadedNote> {
  const find = async () => {
    const found = await discussionOf(deps, on, discussionId);
    const takesReplies = found.individual ? on.takesReplies && found.noteClass !== 'system' : true;
    if (!takesReplies) throw badRequest('Discussion can not be replied to.');
    return found;
  };
  const first = await find();
  const replying = {
    ...input,
    internal: first.noteClass === 'internal',
    discussed: true,
    position: await positionOf(deps, on, first),
  };
  return written(
    deps,
    actor,
    on,
    replying,
    (note, alongside) =>
      retryOnConflict(
        async () => {
          const inReply = { ...note, inDiscussion: first.firstId };
          const discussion = await find();
          const unresolved = unresolvedBy(discussion, repliedTo(discussion, note.id));
          await on.within({ notes: 1, unresolved }, (more) =>
            deps.store.notes.reply(inReply, discussion, [...more, ...alongside]),
          );
        },
        (error) => error instanceof Stale,
      ),
    first.firstId,
  );
}

/** The place in a diff that a discussion is about. */
async function positionOf(
  { store }: Deps,
  { projectId, noteable, positions }: NotedObject,
  discussion: DiscussionRecord,
): Promise<NotePosition | undefined> {
  if (positions === undefined) return undefined;
  const [id] = await store.discussions.noteIds(discussion, 0, 1);
  return id === undefined ? undefined : (await store.notes.get({ projectId, noteable, id }))?.position;
}

async function written(
  deps: Deps,
  actor: Actor,
  on: NotedObject,
  input: NewNote,
  store: (note: NoteRecord, alongside: readonly Write[]) => Promise<void>,
  inDiscussion?: number,
): Promise<LoadedNote> {
  const { user: author } = signedIn(actor);
  const { projectId, noteable } = on;
  const internal = input.internal === true;
  on.requireComment(internal);
  const [id, body, toActivity, toDo, suggestions] = await Promise.all([
    deps.store.notes.nextId(),
    deps.store.texts.keep(holderOf(on), input.body),
    prepareActivity(deps),
    on.toDo?.(author.id, input.body),
    suggestedIn(on, input.body, input.position),
  ]);
  const now = deps.now().toISOString();
  const at = (on.backdates ? input.createdAt : undefined) ?? now;
  const draft: NoteRecord = {
    id,
    projectId,
    noteable,
    ...(on.iid === undefined ? {} : { iid: on.iid }),
    body,
    author: snapshotOf(author),
    line: input.line ?? null,
    ...(input.position === undefined ? {} : { position: input.position }),
    ...(suggestions.length === 0 ? {} : { suggestions }),
    ...(inDiscussion === undefined ? {} : { inDiscussion }),
    ...(input.discussed === true ? { discussed: true } : {}),
    ...(internal ? { internal: true } : {}),
    createdAt: at,
    updatedAt: at,
  };
  const target = on.eventTarget?.(draft);
  const place = noteable.kind === 'epic' ? { projectId, groupId: noteable.groupId } : { projectId };
  const event = target && toActivity({ ...place, authorId: author.id, action: 'commented', target });
  const note = event === undefined ? draft : { ...draft, event: event.put.sk };
  const happening = on.notification?.(note);
  const messages = [
    ...(happening === undefined ? [] : [enqueueNotification(deps, actor, happening)]),
    ...mentionsIn(deps, actor, note, input.body),
    ...(await heard(deps, actor, on, note)),
    ...(toDo?.(id) ?? []),
  ];
  const joins = deps.store.threads.joinWrite(note, author.id, internal);
  const alongside = [joins, ...(event === undefined ? [] : [event]), ...outboxWrites(messages)];
  try {
    await naming(deps, body, () => store(note, alongside));
  } catch (error) {
    throw error instanceof Missing ? resourceNotFound(holderOf(on)) : error;
  }
  await deps.store.outbox.deliver(messages);
  const { position } = note;
  return {
    ...{ note, body: input.body, author },
    ...(position === undefined ? {} : { isCurrent: on.positions?.isCurrent(position) === true }),
    ...(isResolvableNote(note) ? { resolution: null } : {}),
  };
}

/** Hooks hear of notes in projects. */
async function heard(deps: Deps, actor: Actor, { access, iid }: NotedObject, note: NoteRecord) {
  const { noteable, id: noteId } = note;
  if (!('project' in access) || noteable.kind === 'epic' || noteable.kind === 'alert') return [];
  const numbered = iid === undefined ? {} : { iid };
  const event = { kind: 'note', on: noteable.kind, noteable: noteable.id, ...numbered, noteId } as const;
  return tellHooks(deps, actor, access.project, [event]);
}

const suggestedIn = async ({ positions }: NotedObject, text: string, position: NotePosition | undefined) =>
  positions === undefined || position === undefined || !text.includes('```suggestion')
    ? []
    : positions.suggested(text, position);

/** Lists notes. @throws 413 when their texts are too long together */
export async function listNotes(
  deps: Deps,
  on: NotedObject,
  { filter, ...order }: NoteOrder & { readonly filter: NoteFilter },
  request: PageRequest,
): Promise<Page<LoadedNote>> {
  const classes = on.classes.filter((noteClass) => isShown(filter, noteClass === 'system'));
  if (classes.length === 0) return { items: [], total: 0, more: false };
  const page = await deps.store.notes.page(notesOf(on, classes), order, request);
  return { ...page, items: await shown(deps, on, await readableOf(on, page.items)) };
}

const isShown = (filter: NoteFilter, system: boolean): boolean =>
  filter === 'all_notes' || (filter === 'only_activity') === system;

/** @throws `404 Note Not Found` */
export async function getNote(deps: Deps, on: NotedObject, id: number): Promise<LoadedNote> {
  return (await shown(deps, on, [await noteOf(deps, on, id)]))[0]!;
}

/** Lists discussions in the order of their first notes. @throws 413 when their texts are too long together */
export async function listDiscussions(
  deps: Deps,
  on: NotedObject,
  request: PageRequest,
): Promise<Page<Discussion>> {
  const page = await deps.store.discussions.page(notesOf(on), request);
  const items = await discussionsOf(deps, on, page.items);
  return { ...page, items: items.filter(({ notes }) => notes.length > 0) };
}

/** @param after only notes with a greater id. @throws `404 Discussion Not Found`, also where there are none */
export async function getDiscussion(
  deps: Deps,
  on: NotedObject,
  discussionId: string,
  after = 0,
): Promise<Discussion> {
  const found = await discussionOf(deps, on, discussionId);
  const [discussion] = await discussionsOf(deps, on, [found], after);
  if (discussion!.notes.length === 0) throw notFound('Discussion');
  return discussion!;
}

/** A note of a discussion. @throws `404 Discussion Not Found`, `404 Note Not Found` */
export async function requireInDiscussion(
  deps: Deps,
  on: NotedObject,
  discussionId: string,
  noteId: number,
): Promise<void> {
  const discussion = await discussionOf(deps, on, discussionId);
  if (!(await deps.store.discussions.has(discussion, noteId))) throw notFound('Note');
}

/**
 * Changes the text of a note: of one's own, or as a maintainer. The same text changes nothing.
 * @throws 401, 403; `404 Note Not Found`
 */
export async function changeNote(
  deps: Deps,
  actor: Actor,
  on: NotedObject,
  id: number,
  text: string,
): Promise<LoadedNote> {
  const change = async (): Promise<LoadedNote> => {
    const note = await noteOf(deps, on, id);
    requireChange(actor, on, note);
    const [before] = (await shown(deps, on, [note])) as [LoadedNote];
    if (before.body === text) return before;
    const [kept, toDo, suggestions] = await Promise.all([
      deps.store.texts.keep(holderOf(note), text),
      on.toDo?.(signedIn(actor).user.id, text, note.body),
      suggestedIn(on, text, note.position),
    ]);
    const messages = [...mentionsIn(deps, actor, note, text), ...(toDo?.(id) ?? [])];
    const change = {
      ...{ body: kept, updatedAt: deps.now().toISOString() },
      ...(suggestions.length === 0 ? {} : { suggestions }),
    };
    const changed = await naming(deps, kept, () =>
      deps.store.notes.change(note, change, outboxWrites(messages)),
    );
    await deps.store.outbox.deliver(messages);
    await dropReplaced(deps, note.body);
    return { ...before, note: changed, body: text };
  };
  return retryOnConflict(change, (error) => error instanceof Stale);
}

/**
 * Deletes a note: one's own, or as a maintainer.
 * @param unmodifiedSince is given the time of its last change. @throws 401, 403; `404 Note Not Found`
 */
export async function deleteNote(
  deps: Deps,
  actor: Actor,
  on: NotedObject,
  id: number,
  unmodifiedSince: (changed: string) => void,
): Promise<void> {
  const remove = async () => {
    const note = await noteOf(deps, on, id);
    requireChange(actor, on, note);
    unmodifiedSince(note.updatedAt);
    const messages = noteRemovedMessages(note);
    const discussion = await deps.store.discussions.ofNote(note);
    const unresolved = unresolvedBy(discussion, discussion && leftOf(discussion, note.id));
    await on.within({ notes: -1, unresolved }, (alongside) =>
      deps.store.notes.remove(note, discussion, [...alongside, ...outboxWrites(messages)]),
    );
    await deps.store.outbox.deliver(messages);
    await dropReplaced(deps, note.body);
  };
  try {
    await retryOnConflict(remove, (error) => error instanceof Stale);
  } catch (error) {
    throw error instanceof Missing ? notFound('Note') : error;
  }
}

/** A new text may name something: a worker tells there. */
function mentionsIn(
  deps: Deps,
  actor: Actor,
  { projectId, noteable, id, internal }: NoteRecord,
  text: string,
): OutboxMessage[] {
  if (internal === true || !mayNameAny(text)) return [];
  return [mentionsMessage({ kind: 'note', projectId, noteable, noteId: id }, moverOf(deps, actor))];
}

/** System notes are what they are. @throws 401, 403 */
export function requireChange(actor: Actor, on: NotedObject, note: NoteRecord): void {
  const { user } = signedIn(actor);
  on.requireComment(false);
  if (note.system !== undefined || !(on.moderates || note.author.id === user.id)) throw forbidden();
}

const notesOf = ({ projectId, noteable, classes }: NotedObject, of = classes): NotesOf => ({
  projectId,
  noteable,
  classes: of,
});

/** @throws `404 Note Not Found` also for one that the actor may not read */
export async function noteOf(deps: Deps, on: NotedObject, id: number): Promise<NoteRecord> {
  const { noteable, projectId } = on;
  const note = await deps.store.notes.get({ projectId, noteable, id });
  const [readable] = note === undefined ? [] : await readableOf(on, [note]);
  if (readable === undefined) throw notFound('Note');
  return readable;
}

async function readableOf(on: NotedObject, notes: readonly NoteRecord[]): Promise<NoteRecord[]> {
  const ofClass = notes.filter((note) => on.classes.includes(classOfNote(note)));
  if (on.readable === undefined || !ofClass.some(({ mentionedIn }) => mentionedIn !== undefined))
    return ofClass;
  const readable = await on.readable(ofClass);
  return ofClass.filter((_, i) => readable[i]);
}

export async function discussionOf(
  deps: Deps,
  on: NotedObject,
  discussionId: string,
): Promise<DiscussionRecord> {
  const of = notesOf(on);
  const firstId = firstNoteOf(of.projectId, of.noteable, discussionId);
  const found = firstId === undefined ? undefined : await deps.store.discussions.get(of, firstId);
  if (found === undefined) throw notFound('Discussion');
  return found;
}

/**
 * Reads the notes of discussions, as many as one answer has room for. Those that the actor may not read are left out.
 * @param after only notes with a greater id
 */
export async function discussionsOf(
  deps: Deps,
  on: NotedObject,
  discussions: readonly DiscussionRecord[],
  after = 0,
): Promise<Discussion[]> {
  const { noteable, projectId } = on;
  const room = sharesOf(MAX_DISCUSSION_NOTES, discussions.map(notesIn));
  const following: number[][] = [];
  await mapLimit(CONCURRENCY, [...discussions.keys()], async (i) => {
    following[i] = await deps.store.discussions.noteIds(discussions[i]!, after, room[i]! + 1);
  });
  const ids = following.map((each, i) => each.slice(0, room[i]));
  const found = await deps.store.notes.getMany(ids.flat().map((id) => ({ projectId, noteable, id })));
  const readable = await readableOf(
    on,
    found.filter((note) => note !== undefined),
  );
  const notes = new Map((await shown(deps, on, readable, discussions)).map((each) => [each.note.id, each]));
  return discussions.map(({ firstId, individual }, i) => ({
    id: discussionIdOf(projectId, noteable, firstId),
    individual,
    notes: ids[i]!.flatMap((id) => notes.get(id) ?? []),
    ...(following[i]!.length > ids[i]!.length ? { moreAfter: ids[i]!.at(-1)! } : {}),
  }));
}

/** How many notes there are in a discussion. */
export const notesIn = ({ headless, replies, further = 0 }: DiscussionRecord): number =>
  (headless === true ? 0 : 1) + replies.length + further;
