import type { Container } from '../../lib/records/labels.ts';
import {
  classOfDiscussion,
  classOfNote,
  type DiscussionRecord,
  eventsOfChange,
  holderOf,
  NOTE_CLASSES,
  type Noteable,
  type NoteRecord,
  unresolvedBy,
} from '../../lib/records/notes.ts';
import { wordRowsOf } from '../../lib/store/notes/words.ts';
import { groupKey } from '../../lib/store/row-keys/groups.ts';
import { ISSUE } from '../../lib/store/row-keys/issues.ts';
import { idOf } from '../../lib/store/row-keys/key.ts';
import { mergeRequestKeys } from '../../lib/store/row-keys/merge-requests.ts';
import {
  discussionKey,
  furtherReplyKey,
  mentionKey,
  noteCountKey,
  noteEventsOrder,
  noteKey,
  noteListKey,
  suggestingNote,
  threadKey,
} from '../../lib/store/row-keys/notes.ts';
import { projectKey } from '../../lib/store/row-keys/projects.ts';
import { userKey, userPartition, userRow } from '../../lib/store/row-keys/users.ts';
import { keyText, type Row, type Rows, rowCheck } from './rows.ts';

const holderIn = (rows: Rows, { kind, id }: Container) =>
  rows.get(kind === 'project' ? projectKey(id) : groupKey(id));

const ofPrefix = (rows: Rows, ...prefixes: string[]): readonly Row[] =>
  rows.of('NOTES#').filter(({ sk }) => prefixes.some((prefix) => sk.startsWith(prefix)));

const notesOf = (rows: Rows) =>
  ofPrefix(rows, 'commit#', 'issue#', 'merge-request#', 'snippet#', 'epic#', 'alert#') as unknown as (Row &
    NoteRecord)[];
const discussionsOf = (rows: Rows) => ofPrefix(rows, 'DISCUSSION#') as unknown as (Row & DiscussionRecord)[];

/** Notes are of projects and groups that exist, at their place, found under their author, and in one discussion. */
export const notes = rowCheck(['note'], function* (rows) {
  for (const row of notesOf(rows)) {
    const { id, projectId, noteable, author, inDiscussion = id } = row;
    if (keyText(noteKey(projectId, noteable, id)) !== keyText(row))
      yield `note ${id} stands at ${keyText(row)}`;
    if (holderIn(rows, holderOf(row)) === undefined)
      yield `note ${id} is of project ${projectId}, which does not exist`;
    const ghosts = rows.get(userKey(author.id))?.['type'] === 'ghost' && row['who'] === undefined;
    if (!ghosts && (row['who'] !== userPartition(author.id) || row['what'] !== userRow('NOTE', id)))
      yield `note ${id} is not found under user ${author.id}`;
    const isFound = row['list'] === suggestingNote(id);
    if (isFound !== (row.suggestions !== undefined))
      yield `note ${id} is not found by its suggestions, or without any`;
    const noteClass = classOfNote(row);
    if (rows.get(noteListKey(projectId, noteable, noteClass, row.createdAt, id)) === undefined)
      yield `note ${id} is not listed`;
    const discussion = rows.get(discussionKey(projectId, noteable, classOfDiscussion(row), inDiscussion));
    const { firstId, replies = [] } = (discussion ?? {}) as Partial<DiscussionRecord>;
    const further = rows.get(furtherReplyKey(projectId, noteable, inDiscussion, id));
    if (firstId !== id && !replies.includes(id) && further === undefined)
      yield `note ${id} is in no discussion`;
  }
});

/** Every listed note and every note of a discussion exists, and the counts are those of the rows. */
export const noteLists = rowCheck(['listed-note', 'discussion', 'note-count'], function* (rows) {
  const counts = new Map<string, Record<string, number>>();
  const count = (of: { projectId: number; noteable: Noteable }, what: string) => {
    const key = keyText(noteCountKey(of.projectId, of.noteable));
    const counted = counts.get(key) ?? {};
    counts.set(key, { ...counted, [what]: (counted[what] ?? 0) + 1 });
  };
  const listed = new Map<string, Row & NoteRecord>();
  for (const note of notesOf(rows)) {
    count(note, classOfNote(note));
    const { projectId, noteable, createdAt, id } = note;
    listed.set(keyText(noteListKey(projectId, noteable, classOfNote(note), createdAt, id)), note);
  }
  for (const row of ofPrefix(rows, 'AT#')) {
    const note = listed.get(keyText(row));
    if (note === undefined) yield `${keyText(row)} lists no note`;
    else if (row['byUpdated'] !== `${note.updatedAt}#${row.sk.slice(-12)}`)
      yield `${keyText(row)} has another time of change than its note`;
    else if (
      row['byName'] !==
      (note.change && noteEventsOrder(note.change.kind, note.id, eventsOfChange(note.change)))
    )
      yield `${keyText(row)} stands among events as ${row['byName']}`;
  }
  for (const row of discussionsOf(rows)) {
    const { projectId, noteable, noteClass, firstId, headless, replies, further = 0 } = row;
    count(row, `${noteClass} discussions`);
    if (keyText(discussionKey(projectId, noteable, noteClass, firstId)) !== keyText(row))
      yield `discussion ${firstId} stands at ${keyText(row)}`;
    const ids = headless === true ? replies : [firstId, ...replies];
    if (ids.length + further === 0) yield `discussion ${firstId} is empty`;
    for (const id of ids)
      if (rows.get(noteKey(projectId, noteable, id)) === undefined)
        yield `discussion ${firstId} has note ${id}, which does not exist`;
  }
  for (const row of ofPrefix(rows, 'COUNT#')) {
    const counted = counts.get(keyText(row)) ?? {};
    counts.delete(keyText(row));
    for (const noteClass of NOTE_CLASSES)
      for (const [attribute, what] of [
        [noteClass === 'comment' ? 'comments' : `${noteClass}Notes`, noteClass],
        [`${noteClass}Discussions`, `${noteClass} discussions`],
      ] as const)
        if ((row[attribute] ?? 0) !== (counted[what] ?? 0))
          yield `${keyText(row)} counts ${row[attribute]} ${attribute} of ${counted[what] ?? 0}`;
  }
  for (const key of counts.keys()) yield `${key} does not exist`;
  const ofPeople = new Map<string, number>();
  const unresolved = new Map<number, number>();
  for (const { noteable, system } of notesOf(rows)) {
    const place = `${noteable.kind} ${noteable.id}`;
    if (system === undefined) ofPeople.set(place, (ofPeople.get(place) ?? 0) + 1);
  }
  for (const discussion of discussionsOf(rows)) {
    const { noteable } = discussion;
    if (noteable.kind === 'merge-request')
      unresolved.set(noteable.id, (unresolved.get(noteable.id) ?? 0) + unresolvedBy(undefined, discussion));
  }
  for (const [kind, partitions, prefix] of [
    ['issue', 'ISSUES#', ISSUE],
    ['merge-request', 'MRS#', mergeRequestKeys.recordPrefix],
  ] as const)
    for (const row of rows.of(partitions).filter(({ sk }) => sk.startsWith(prefix))) {
      const id = row['id'] as number;
      const count = ofPeople.get(`${kind} ${id}`) ?? 0;
      if (row['userNotesCount'] !== count)
        yield `${kind} ${id} counts ${row['userNotesCount']} notes of ${count}`;
      const open = unresolved.get(id) ?? 0;
      if (kind === 'merge-request' && row['unresolvedCount'] !== open)
        yield `merge request ${id} counts ${row['unresolvedCount']} unresolved discussions of ${open}`;
    }
});

/** A discussion counts the replies that its row does not name, each of which exists and has a row once. */
export const furtherReplies = rowCheck(['further-reply'], function* (rows) {
  const found = Map.groupBy(ofPrefix(rows, 'REPLY#'), ({ pk, sk }) => `${pk} ${sk.slice(0, -12)}`);
  for (const { projectId, noteable, firstId, replies, further = 0 } of discussionsOf(rows)) {
    const { pk, sk } = furtherReplyKey(projectId, noteable, firstId, 0);
    const key = `${pk} ${sk.slice(0, -12)}`;
    const ids = (found.get(key) ?? []).map((row) => idOf(row.sk));
    found.delete(key);
    if (ids.length !== further)
      yield `discussion ${firstId} counts ${further} of ${ids.length} further replies`;
    for (const id of ids) {
      if (rows.get(noteKey(projectId, noteable, id)) === undefined)
        yield `discussion ${firstId} has reply ${id}, which does not exist`;
      if (id === firstId || replies.includes(id)) yield `discussion ${firstId} has note ${id} twice`;
    }
  }
  for (const key of found.keys()) yield `${key} is of no discussion`;
});

/** Searches find each note that people wrote by its words, and nothing else. */
export const noteWords = rowCheck(['note-word'], function* (rows) {
  const wanted = new Set(notesOf(rows).flatMap((note) => wordRowsOf(note).map(keyText)));
  for (const row of ofPrefix(rows, 'WORD#'))
    if (!wanted.delete(keyText(row))) yield `${keyText(row)} leads to no note`;
  for (const key of wanted) yield `a note has no row ${key}`;
});

/** Of each place that names or closes an issue one note on it says so. Copies of issues have copies of these notes. */
export const mentions = rowCheck(['mention'], function* (rows) {
  const told = new Set<string>();
  for (const note of notesOf(rows)) {
    const { id, projectId, noteable, system, mentionedIn } = note;
    // Notes about relations name another issue too, each time that these change.
    if (mentionedIn === undefined) continue;
    if (system !== 'closed' && system !== 'cross_reference') continue;
    const what = system === 'closed' ? 'closed' : 'mentioned';
    const key = keyText(mentionKey(projectId, noteable, what, mentionedIn));
    if (told.has(key)) yield `note ${id} says again where its object is ${what}`;
    told.add(key);
  }
});

/** Who takes part in a thread is found under the project of the thread and under the user. */
export const participants = rowCheck(['participant'], function* (rows) {
  for (const row of rows.of('THREADS#')) {
    const [kind, of, user] = row.sk.split('#') as [Noteable['kind'], string, string];
    const [holderId, userId] = [idOf(row.pk), idOf(user)];
    const projectId = kind === 'epic' ? 0 : holderId;
    const noteable: Noteable =
      kind === 'commit'
        ? { kind, id: of }
        : kind === 'epic'
          ? { kind, id: idOf(of), groupId: holderId }
          : { kind, id: idOf(of) };
    if (keyText(threadKey(projectId, noteable, userId)) !== keyText(row))
      yield `a participant stands at ${keyText(row)}`;
    if (holderIn(rows, holderOf({ projectId, noteable })) === undefined)
      yield `${keyText(row)} is of a project or group that does not exist`;
    if (row['who'] !== userPartition(userId) || row['what'] !== userRow('THREAD', projectId))
      yield `${keyText(row)} is not found under user ${userId}`;
  }
});
