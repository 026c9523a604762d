/**
 * Copies notes and files to an issue that was moved or cloned, some at a time. Each step and its place are one
 * transaction, so that a worker that ends half way is continued, and a message that comes twice does nothing twice.
 */

import { type AuthorSnapshot, snapshotOf } from '../../records/authors.ts';
import { type Awardable, type AwardRecord, votesOf } from '../../records/award-emoji.ts';
import type { IssueCopyRecord } from '../../records/issue-copies.ts';
import type { IssueAddress, IssueRecord } from '../../records/issues.ts';
import { type DiscussionRecord, idsOfNote, type NoteRecord } from '../../records/notes.ts';
import { bytesOf, type StoredText } from '../../records/texts.ts';
import { AlreadyExists, Missing, Stale, TransactionRefused } from '../../store/errors.ts';
import { repliedTo } from '../../store/notes/discussions.ts';
import { type CopiedDiscussion, copiedWrites } from '../../store/notes/notes.ts';
import { WORDS_OF_NOTE } from '../../store/notes/words.ts';
import { mapLimit } from '../../store/table/map-limit.ts';
import type { Write } from '../../store/table/write.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import type { Viewer } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { dropRefused } from '../long-texts.ts';
import { copyFiles } from './files.ts';
import { copyParticipants } from './participants.ts';
import { rewritten } from './rewrite.ts';

/** Items of a transaction (DynamoDB, `TransactWriteItems`) that are for notes; four are for all. */
const ITEMS_AT_ONCE = 96;
/** Items of one note: two rows, its discussion or its place in one, its author, and that they take part. */
const ITEMS_OF_NOTE = 5;
/** Notes copied in one transaction, where no words lead to them. */
const NOTES_AT_ONCE = Math.floor(ITEMS_AT_ONCE / ITEMS_OF_NOTE);
/** Bytes of notes read at once, beyond the first. */
const BYTES_AT_ONCE = 4_000_000;
/** Ids allocated where more are needed than notes and discussions were counted. */
const MORE_IDS = 100;
const CONCURRENCY = 4;
const AWARDS_AT_ONCE = 100;

/**
 * @param deadline milliseconds since 1970; no step begins after it
 * @returns whether all is copied
 */
export async function copyRest(deps: Deps, address: IssueAddress, deadline: number): Promise<boolean> {
  for (;;) {
    const copy = await deps.store.issueCopies.get(address);
    if (copy === undefined) return true;
    if (Date.now() > deadline) return false;
    try {
      const isEnd = !(await STEPS[copy.step](deps, copy));
      if (isEnd) await deps.store.issueCopies.end(copy);
    } catch (error) {
      // The copy is deleted, and its row with it.
      if (error instanceof Missing) return true;
      // Another worker took the step, or somebody replied meanwhile: again from where it is now.
      if (!(error instanceof Stale)) throw error;
    }
  }
}

/** The files of the description, its awards, and the relations of an issue that moved. @returns whether there is more to copy */
async function copyBeside(deps: Deps, copy: IssueCopyRecord): Promise<boolean> {
  const { store } = deps;
  const { source, target, withNotes } = copy;
  const [issue, former] = await store.issues.getMany([target, source]);
  if (issue === undefined) throw new Missing('issue');
  if (former?.movedTo?.id === target.id) await store.issueLinks.moveTo(source, target);
  if (issue.description !== null) {
    const text = await store.texts.read(issue.description);
    await copyFiles(deps, source.projectId, target.projectId, [text]);
  }
  await copyAwards(deps, copy, issue);
  if (withNotes) await store.issueCopies.advance(copy, { change: { step: 'people' } });
  return withNotes;
}

/** The awards of the issue itself. */
const copyAwards = ({ store }: Deps, { source }: IssueCopyRecord, target: IssueRecord): Promise<void> =>
  copyAwardsOf(
    store,
    { projectId: source.projectId, noteable: noteableOf(source) },
    { projectId: target.projectId, noteable: noteableOf(target), iid: target.iid },
    target.createdAt,
    (award) => [store.issues.voteWrite(target, votesOf(award, 1))],
  );

/** Each user gives an emoji once, so that awards that are there already are refused. */
async function copyAwardsOf(
  store: Deps['store'],
  from: Awardable,
  to: Awardable,
  createdAt: string,
  votes: (award: AwardRecord) => Write[],
): Promise<void> {
  for (let page = 1, more = true; more; page++) {
    const found = await store.awards.list(from, { page, perPage: AWARDS_AT_ONCE });
    for (const { name, author, createdAt: at, updatedAt } of found.items) {
      const award = { ...to, id: await store.awards.nextId(), name, author, createdAt: at, updatedAt };
      const alongside = [...votes(award), store.users.isThere(author.id)];
      await store.awards.add(award, createdAt, alongside).catch((error: unknown) => {
        const isGone = error instanceof TransactionRefused && error.has('user');
        if (!isGone && !(error instanceof AlreadyExists)) throw error;
      });
    }
    more = found.more;
  }
}

/** The awards of the notes that the last step copied, whose copies may be deleted by now. */
async function copyAwardsOfNotes({ store }: Deps, copy: IssueCopyRecord): Promise<void> {
  const { source, target, awarded = [] } = copy;
  const on = { projectId: target.projectId, noteable: noteableOf(target), iid: target.iid };
  const copies = await store.notes.getMany(awarded.map(({ to: id }) => ({ ...on, id })));
  for (const [i, { from, to }] of awarded.entries()) {
    const copied = copies[i];
    if (copied === undefined) continue;
    const former = { projectId: source.projectId, noteable: noteableOf(source), noteId: from };
    await copyAwardsOf(store, former, { ...on, noteId: to }, copied.createdAt, () => []);
  }
  await store.issueCopies.advance(copy, { change: { awarded: [] } });
}

/** A note and the discussion that it is in. */
interface Entry {
  readonly discussion: DiscussionRecord;
  readonly id: number;
  /** Undefined: it was deleted meanwhile. */
  readonly note: NoteRecord | undefined;
  readonly isLast: boolean;
}

/** The next notes. @returns whether there may be more */
async function copyNotes(deps: Deps, copy: IssueCopyRecord): Promise<boolean> {
  const { store } = deps;
  if ((copy.awarded ?? []).length > 0) {
    await copyAwardsOfNotes(deps, copy);
    return true;
  }
  const entries = await nextEntries(deps, copy);
  if (entries.length === 0) return false;
  const notes = entries.flatMap(({ note }) => note ?? []);
  const numbers = notes.map(({ id }) => id);
  const [authors, bodies, hasAwards] = await Promise.all([
    authorsOf(deps, notes),
    bodiesOf(deps, copy, notes),
    notes.length > 0 && hasAwardsBetween(deps, copy, Math.min(...numbers), Math.max(...numbers)),
  ]);
  const kept: StoredText[] = [];
  try {
    await mapLimit(CONCURRENCY, [...bodies.keys()], async (i) => {
      kept[i] = await store.texts.keep(copy.target.projectId, bodies[i]!);
    });
    const begins = new Set(entries.map(({ discussion }) => discussion)).size;
    const needed = notes.reduce((sum, note) => sum + idsOfNote(note), begins);
    const ids = await idsFor(deps, copy, needed);
    const copies = await copiesOf(deps, copy, entries, {
      newId: (count = 1) => {
        ids.next += count;
        return ids.next - count;
      },
      body: (note) => kept[notes.indexOf(note)]!,
      author: ({ author }) => authors.living.get(author.id) ?? authors.ghost!,
    });
    const all = [...copies.values()].flatMap((each) => each.notes);
    const byUsers = all.filter(({ system }) => system === undefined);
    const living = [...new Set(all.map(({ author }) => author.id))].filter((id) => authors.living.has(id));
    const thread = { projectId: copy.target.projectId, noteable: noteableOf(copy.target) };
    const ofUser = (userId: number) => byUsers.filter(({ author }) => author.id === userId);
    const { discussion, isLast, id } = entries.at(-1)!;
    const finished = entries.findLast((entry) => entry.isLast)?.discussion.firstId ?? copy.after;
    const begun = copies.get(discussion.firstId)?.discussion.firstId ?? begunOf(copy, discussion);
    if (begun === undefined && !isLast) throw new Stale('discussion');
    await store.issueCopies.advance(copy, {
      change: {
        ids,
        ...(hasAwards ? { awarded: [...copies.values()].flatMap(({ of }) => of) } : {}),
        ...(isLast || begun === undefined
          ? { after: discussion.firstId, part: null }
          : { after: finished, part: { of: discussion.firstId, firstId: begun, lastId: id } }),
      },
      writes: [
        ...(copies.size === 0
          ? []
          : copiedWrites([...copies.values()], (author) => !authors.living.has(author))),
        ...living.flatMap((userId) => {
          const own = ofUser(userId);
          const internal = own.every((note) => note.internal === true);
          return own.length === 0 ? [] : [store.threads.joinWrite(thread, userId, internal)];
        }),
      ],
      userNotes: byUsers.length,
      authorIds: living,
    });
  } catch (error) {
    for (const text of kept) await dropRefused(deps, text, error);
    throw error;
  }
  return true;
}

const STEPS = { files: copyBeside, people: copyParticipants, notes: copyNotes };

const hasAwardsBetween = ({ store }: Deps, { source }: IssueCopyRecord, first: number, last: number) =>
  store.awards.areOnNotes(source.projectId, noteableOf(source), first, last);

const noteableOf = ({ id }: IssueAddress & { readonly id: number }) => ({ kind: 'issue', id }) as const;

/** The first note of the copy of a discussion of which an earlier step copied a part. */
const begunOf = ({ part }: IssueCopyRecord, { firstId }: DiscussionRecord): number | undefined =>
  part?.of === firstId ? part.firstId : undefined;

/** The notes of one step, as many as fit, in the order of their discussions. */
async function nextEntries({ store }: Deps, copy: IssueCopyRecord): Promise<Entry[]> {
  const { source, upTo, part, after } = copy;
  const noteable = noteableOf(source);
  const discussions = await store.discussions.next(source.projectId, noteable, after, NOTES_AT_ONCE);
  const idsOf = async (discussion: DiscussionRecord) => {
    const from = part?.of === discussion.firstId ? part.lastId : 0;
    // One more tells whether the last of this step is the last of all.
    const found = await store.discussions.noteIds(discussion, from, NOTES_AT_ONCE + 1);
    const left = found.filter((id) => id <= upTo);
    return left.map((id, i) => ({ discussion, id, isLast: i === left.length - 1 }));
  };
  const some = (await Promise.all(discussions.map(idsOf))).flat().slice(0, NOTES_AT_ONCE);
  const notes = await store.notes.getMany(
    some.map(({ id }) => ({ projectId: source.projectId, noteable, id })),
  );
  let [bytes, items] = [0, 0];
  const tooMany = notes.findIndex((note, i) => {
    bytes += note === undefined ? 0 : bytesOf(note.body);
    // The copy may have more words: what it refers to gets longer names.
    items += ITEMS_OF_NOTE + (note === undefined || note.system !== undefined ? 0 : WORDS_OF_NOTE);
    return i > 0 && (bytes > BYTES_AT_ONCE || items > ITEMS_AT_ONCE);
  });
  const entries = some.map((each, i) => ({ ...each, note: notes[i] }));
  return tooMany < 0 ? entries : entries.slice(0, tooMany);
}

/** Authors who are there, as the notes name them; for the notes of others the ghost. */
async function authorsOf({ store }: Deps, notes: readonly NoteRecord[]) {
  const snapshots = new Map(notes.map(({ author }) => [author.id, author]));
  const users = await store.users.getMany([...snapshots.keys()]);
  const living = new Map<number, AuthorSnapshot>();
  for (const user of users)
    if (user !== undefined && user.type !== 'ghost') living.set(user.id, snapshots.get(user.id)!);
  if (living.size === snapshots.size) return { living, ghost: undefined };
  return { living, ghost: snapshotOf(await store.users.ghost()) };
}

/** The texts of notes as they read in the target, where the files that they link to are by then. */
async function bodiesOf(
  deps: Deps,
  { source, target, actorId }: IssueCopyRecord,
  notes: readonly NoteRecord[],
): Promise<string[]> {
  const [texts, user] = await Promise.all([
    deps.store.texts.readMany(notes.map(({ body }) => body)),
    deps.store.users.get(actorId),
  ]);
  await copyFiles(deps, source.projectId, target.projectId, texts);
  const actor: Viewer = user === undefined ? { kind: 'anonymous' } : { kind: 'user', user };
  const [from, to] = await projectAccesses(deps, actor, [source.projectId, target.projectId]);
  return from === undefined || to === undefined
    ? texts
    : rewritten(deps, { actor, source: from, target: to }, texts);
}

/** At least so many of the ids that were allocated with the copy, or new ones. */
async function idsFor({ store }: Deps, { ids }: IssueCopyRecord, count: number) {
  if (ids.last - ids.next + 1 >= count) return { ...ids };
  const more = Math.max(MORE_IDS, count);
  const last = await store.notes.reserveIds(more);
  return { next: last - more + 1, last };
}

interface Making {
  /** @returns the first of so many ids that follow each other */
  readonly newId: (count?: number) => number;
  readonly body: (note: NoteRecord) => StoredText;
  readonly author: (note: NoteRecord) => AuthorSnapshot;
}

interface CopiedNotes extends CopiedDiscussion {
  /** Each note, and its copy. */
  readonly of: readonly { readonly from: number; readonly to: number }[];
}

/** The copies by the first notes of what they are copies of. Discussions without a note that is there have none. */
async function copiesOf(
  { store }: Deps,
  copy: IssueCopyRecord,
  entries: readonly Entry[],
  { newId, body, author }: Making,
): Promise<Map<number, CopiedNotes>> {
  const { projectId, iid } = copy.target;
  const noteable = noteableOf(copy.target);
  const copies = new Map<number, CopiedNotes>();
  for (const [sourceId, some] of Map.groupBy(entries, ({ discussion }) => discussion.firstId)) {
    const notes = some.flatMap(({ note }) => note ?? []);
    if (notes.length === 0) continue;
    const { discussion } = some[0]!;
    const of = { projectId, noteable, classes: [discussion.noteClass] };
    const begunId = begunOf(copy, discussion);
    const begun = begunId === undefined ? undefined : await store.discussions.get(of, begunId);
    // What is told as events stands alone: it is the first note.
    const first = notes.find(({ id }) => id === sourceId);
    const firstId = begunId ?? newId(first && idsOfNote(first));
    const copied = notes.map((note): NoteRecord => {
      const { event: _, inDiscussion: _in, ...kept } = note;
      const isFirst = note.id === sourceId;
      const place = { id: isFirst ? firstId : newId(), projectId, noteable, iid };
      const reply = isFirst ? {} : { inDiscussion: firstId };
      return { ...kept, ...place, ...reply, body: body(note), author: author(note) };
    });
    const replies = copied.flatMap(({ id }) => (id === firstId ? [] : [id]));
    const { headless: _, further: _f, ...kept } = discussion;
    const hasFirst = copied.some(({ id }) => id === firstId);
    const before: DiscussionRecord = begun ?? {
      ...{ ...kept, firstId, projectId, noteable, replies: [], version: 1 },
      ...(hasFirst ? {} : { headless: true }),
    };
    copies.set(sourceId, {
      discussion: replies.reduce(repliedTo, before),
      begun,
      notes: copied,
      of: notes.map(({ id }, i) => ({ from: id, to: copied[i]!.id })),
    });
  }
  return copies;
}
