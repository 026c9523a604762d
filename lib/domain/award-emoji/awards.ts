/** Emoji with which users react to objects of a project or a group and to notes on them: the rules for all kinds of objects. */

import { snapshotOf } from '../../records/authors.ts';
import { type Awardable, type AwardRecord, awardedName, votesOf } from '../../records/award-emoji.ts';
import type { NoteRecord } from '../../records/notes.ts';
import type { UserRecord } from '../../records/users.ts';
import { AlreadyExists, Missing, Stale } from '../../store/errors.ts';
import { outboxWrites } from '../../store/outbox/outbox.ts';
import type { Page, PageRequest } from '../../store/table/paging.ts';
import type { Write } from '../../store/table/write.ts';
import { signedIn } from '../access/permissions.ts';
import { type Actor, isAdministrator } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { DomainError, notFound, unauthorized } from '../errors.ts';
import { isEmoji } from '../markdown/known-emoji.ts';
import type { NotedObject } from '../notes/noteable.ts';
import { noteOf } from '../notes/notes.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';

/** An award with what an answer shows of it. */
export interface LoadedAward {
  readonly award: AwardRecord;
  /** Undefined if the account was deleted. */
  readonly author: UserRecord | undefined;
}

/** Lists awards, the oldest first. @param noteId of a note on the object. @throws `404 Note Not Found` */
export async function listAwards(
  deps: Deps,
  on: NotedObject,
  noteId: number | undefined,
  request: PageRequest,
): Promise<Page<LoadedAward>> {
  const { awardable } = await opened(deps, on, noteId);
  const page = await deps.store.awards.list(awardable, request);
  const ids = [...new Set(page.items.map(({ author }) => author.id))];
  const users = await deps.store.users.getMany(ids);
  const authors = new Map(ids.map((id, i) => [id, users[i]]));
  return { ...page, items: page.items.map((award) => ({ award, author: authors.get(award.author.id) })) };
}

/** @throws `404 Note Not Found`, `404 Award Emoji Not Found` */
export async function getAward(
  deps: Deps,
  on: NotedObject,
  noteId: number | undefined,
  id: number,
): Promise<LoadedAward> {
  const { awardable } = await opened(deps, on, noteId);
  const award = await awardOf(deps, awardable, id);
  const [author] = await deps.store.users.getMany([award.author.id]);
  return { award, author };
}

/**
 * Awards an emoji. Whoever may comment may award, and has then nothing left to do about the object.
 * @throws 404 with the API's text for a name that is none, for what one has awarded already, and for who may not
 */
export async function addAward(
  deps: Deps,
  actor: Actor,
  on: NotedObject,
  noteId: number | undefined,
  name: string,
): Promise<LoadedAward> {
  const { awardable, note, vote } = await opened(deps, on, noteId);
  const { user } = signedIn(actor);
  if (!mayComment(on)) throw notFound('Award Emoji');
  if (note?.system !== undefined) throw notFound('Award Emoji Awardable cannot be awarded emoji reactions');
  if (!(await isEmoji(name))) throw notFound('Award Emoji Name is not a valid emoji name');
  const [id, toDo] = await Promise.all([deps.store.awards.nextId(), on.toDo?.(user.id, '')]);
  const messages = toDo?.(note?.id ?? 0) ?? [];
  const at = deps.now().toISOString();
  const award: AwardRecord = {
    ...awardable,
    id,
    name: awardedName(name),
    author: snapshotOf(user),
    createdAt: at,
    updatedAt: at,
  };
  const createdAt = note?.createdAt ?? on.awards!.createdAt;
  const thread = { projectId: on.projectId, noteable: on.noteable };
  const joins = deps.store.threads.joinWrite(thread, user.id, note?.internal === true);
  try {
    const alongside = [...vote(award, 1), joins, ...outboxWrites(messages)];
    await retryOnConflict(() => deps.store.awards.add(award, createdAt, alongside), isStale);
  } catch (error) {
    if (error instanceof AlreadyExists) throw notFound('Award Emoji Name has already been taken');
    throw error instanceof Missing ? notFound('Award Emoji') : error;
  }
  await deps.store.outbox.deliver(messages);
  return { award, author: user };
}

/**
 * Takes an award back: one's own, or as an administrator.
 * @param unmodifiedSince is given the time of its last change
 * @throws 401 for the award of another user, 403; `404 Note Not Found`, `404 Award Emoji Not Found`
 */
export async function removeAward(
  deps: Deps,
  actor: Actor,
  on: NotedObject,
  noteId: number | undefined,
  id: number,
  unmodifiedSince: (changed: string) => void,
): Promise<void> {
  const { awardable, vote } = await opened(deps, on, noteId);
  const award = await awardOf(deps, awardable, id);
  if (award.author.id !== signedIn(actor).user.id && !isAdministrator(actor)) throw unauthorized();
  on.requireComment(false);
  unmodifiedSince(award.updatedAt);
  try {
    await retryOnConflict(() => deps.store.awards.remove(award, vote(award, -1)), isStale);
  } catch (error) {
    throw error instanceof Missing ? notFound('Award Emoji') : error;
  }
}

/** Awards an emoji, or takes one's own award back where there is one. @throws as {@link addAward} */
export async function toggleAward(deps: Deps, actor: Actor, on: NotedObject, name: string): Promise<void> {
  const { awardable, vote } = await opened(deps, on, undefined);
  const [names] = await deps.store.awards.namesBy(signedIn(actor).user.id, [awardable]);
  if (names?.includes(awardedName(name)) !== true) {
    await addAward(deps, actor, on, undefined, name);
    return;
  }
  const award = await ownAward(deps, awardable, signedIn(actor).user.id, awardedName(name));
  if (award === undefined) return;
  try {
    await retryOnConflict(() => deps.store.awards.remove(award, vote(award, -1)), isStale);
  } catch (error) {
    // It is taken back already.
    if (!(error instanceof Missing)) throw error;
  }
}

/** Pages of awards that are looked through for one's own. */
const MAX_PAGES = 100;

async function ownAward({ store }: Deps, awardable: Awardable, userId: number, name: string) {
  for (let page = 1; page <= MAX_PAGES; page++) {
    const { items, more } = await store.awards.list(awardable, { page, perPage: 100, count: false });
    const award = items.find((each) => each.author.id === userId && each.name === name);
    if (award !== undefined || !more) return award;
  }
  return undefined;
}

/** The name of the emoji that a note consists of. @returns undefined for other notes */
export async function emojiOfNote(body: string): Promise<string | undefined> {
  const name = /^:([\w+-]{1,60}):\s?$/.exec(body)?.[1];
  return name === undefined || !(await isEmoji(name)) ? undefined : name;
}

const isStale = (error: unknown): boolean => error instanceof Stale;

/** @throws `404 Note Not Found`; `404 Award Emoji Not Found` for what takes no awards */
async function opened(
  deps: Deps,
  on: NotedObject,
  noteId: number | undefined,
): Promise<{
  readonly awardable: Awardable;
  readonly note: NoteRecord | undefined;
  readonly vote: (award: AwardRecord, change: 1 | -1) => Write[];
}> {
  const { projectId, noteable, iid, awards } = on;
  if (awards === undefined) throw notFound('Award Emoji');
  const note = noteId === undefined ? undefined : await noteOf(deps, on, noteId);
  const awardable: Awardable = {
    projectId,
    noteable,
    ...(iid === undefined ? {} : { iid }),
    ...(note === undefined ? {} : { noteId: note.id }),
  };
  // A note is there as long as its object.
  const vote = (award: AwardRecord, change: 1 | -1) =>
    note === undefined ? [awards.vote(votesOf(award, change))] : [];
  return { awardable, note, vote };
}

async function awardOf({ store }: Deps, awardable: Awardable, id: number): Promise<AwardRecord> {
  const award = await store.awards.get(awardable, id);
  if (award === undefined) throw notFound('Award Emoji');
  return award;
}

function mayComment(on: NotedObject): boolean {
  try {
    on.requireComment(false);
    return true;
  } catch (error) {
    if (error instanceof DomainError && error.code === 'forbidden') return false;
    throw error;
  }
}
