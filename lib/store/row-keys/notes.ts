import type { Container } from '../../records/labels.ts';
import {
  holderOf,
  type NamedPlace,
  type Noteable,
  type NoteClass,
  type NotedChange,
  type NoteRecord,
} from '../../records/notes.ts';
import { idOf, type Key, padded } from './key.ts';
import type { RowKind } from './row-kind.ts';
import type { WordRows } from './search.ts';

/** All notes that are kept with a project or a group. */
export const notesOfHolder = (holder: Container): string => `NOTES#${placeOfHolder(holder)}`;

export const notesPartition = (projectId: number, noteable: Noteable): string =>
  notesOfHolder(holderOf({ projectId, noteable }));

export const placeOfHolder = ({ kind, id }: Container): string =>
  kind === 'group' ? `GROUP#${padded(id)}` : padded(id);

/** A noteable in keys. */
const place = (noteable: Noteable): string =>
  noteable.kind === 'commit' ? `commit#${noteable.id}#` : `${noteable.kind}#${padded(noteable.id)}#`;

/** Ids increase with time: notes can be read oldest or newest first. */
export const notePrefix = (noteable: Noteable): string => place(noteable);

export const noteKey = (projectId: number, noteable: Noteable, id: number): Key => ({
  pk: notesPartition(projectId, noteable),
  sk: notePrefix(noteable) + padded(id),
});

/** Attribute `list` of a note with suggestions: their ids name the note alone. */
export const suggestingNote = (id: number): string => `SUGGESTING#${padded(id)}`;

/** The notes of one class in the order of their creation, without their texts. */
export const noteListPrefix = (noteable: Noteable, noteClass: NoteClass): string =>
  `AT#${place(noteable)}${noteClass}#`;

/** @param createdAt ISO 8601 */
export const noteListKey = (
  projectId: number,
  noteable: Noteable,
  noteClass: NoteClass,
  createdAt: string,
  id: number,
): Key => ({
  pk: notesPartition(projectId, noteable),
  sk: `${noteListPrefix(noteable, noteClass)}${createdAt}#${padded(id)}`,
});

/** Attribute `list` of the same rows, which `byUpdated` orders by the time of the last change. */
export const noteUpdatesPartition = (projectId: number, noteable: Noteable, noteClass: NoteClass): string =>
  `${notesPartition(projectId, noteable)}#${place(noteable)}${noteClass}`;

/** Attribute `byName` of those that tell of events of a kind. */
export const noteEventsPrefix = (kind: NotedChange['kind']): string => `${kind}#`;

/** @param count how many events the note tells of */
export const noteEventsOrder = (kind: NotedChange['kind'], id: number, count: number): string =>
  `${noteEventsPrefix(kind)}${padded(id)}#${padded(count)}`;

/** The note and the number of its events, from that attribute. */
export const eventsOfOrder = (order: string): { readonly id: number; readonly count: number } => {
  const [, id, count] = order.split('#');
  return { id: Number(id), count: Number(count) };
};

export const discussionPrefix = (noteable: Noteable, noteClass: NoteClass): string =>
  `DISCUSSION#${place(noteable)}${noteClass}#`;

export const discussionKey = (
  projectId: number,
  noteable: Noteable,
  noteClass: NoteClass,
  firstId: number,
): Key => ({
  pk: notesPartition(projectId, noteable),
  sk: discussionPrefix(noteable, noteClass) + padded(firstId),
});

/** The replies of a discussion that its row does not name. */
export const furtherRepliesPrefix = (noteable: Noteable, firstId?: number): string =>
  `REPLY#${place(noteable)}${firstId === undefined ? '' : `${padded(firstId)}#`}`;

export const furtherReplyKey = (projectId: number, noteable: Noteable, firstId: number, id: number): Key => ({
  pk: notesPartition(projectId, noteable),
  sk: furtherRepliesPrefix(noteable, firstId) + padded(id),
});

/** How many notes and discussions of each class there are. */
export const noteCountKey = (projectId: number, noteable: Noteable): Key => ({
  pk: notesPartition(projectId, noteable),
  sk: `COUNT#${place(noteable)}`,
});

/** What the service noted on an object about a place that names it: that it is mentioned there, or closed by it. */
export const mentionPrefix = (noteable: Noteable): string => `MENTION#${place(noteable)}`;

export const mentionKey = (
  projectId: number,
  noteable: Noteable,
  what: 'closed' | 'mentioned',
  source: NamedPlace,
): Key => ({
  pk: notesPartition(projectId, noteable),
  sk: `${mentionPrefix(noteable)}${what}#${source.kind}#${nameOf(source)}`,
});

function nameOf(source: NamedPlace): string {
  if (source.kind === 'epic') return padded(source.id);
  const { projectId, kind } = source;
  if (kind === 'commit') return `${padded(projectId)}#${source.sha}`;
  return `${padded(projectId)}#${padded(kind === 'snippet' ? source.id : source.iid)}`;
}

/** The merge requests that name an issue. */
export const namingMergeRequestsPrefix = (issueId: number): string =>
  `${mentionPrefix({ kind: 'issue', id: issueId })}mentioned#merge-request#`;

/** The merge request of such a row. */
export function namingMergeRequest({ sk }: Key): { readonly projectId: number; readonly iid: number } {
  const [projectId, iid] = sk.split('#').slice(-2) as [string, string];
  return { projectId: idOf(projectId), iid: idOf(iid) };
}

const NOTE_WORDS = 'WORD#';

/** A note that has a word, in the order of creation. */
export const noteWordKey = (
  word: string,
  { projectId, noteable, createdAt, id }: Pick<NoteRecord, 'projectId' | 'noteable' | 'createdAt' | 'id'>,
): Key => ({
  pk: notesPartition(projectId, noteable),
  sk: `${NOTE_WORDS}${word}#${createdAt}#${padded(id)}#${noteable.kind}#${noteable.id}`,
});

export const wordsOfNotes = (projectId: number): WordRows => ({
  partition: () => notesOfHolder({ kind: 'project', id: projectId }),
  prefix: NOTE_WORDS,
});

/** The note that a row of a word leads to, and its place in the order of creation. */
export function noteOfWord({ pk, sk }: Key): Pick<NoteRecord, 'projectId' | 'noteable' | 'id'> & {
  readonly place: string;
} {
  const [, , createdAt, note, kind, on] = sk.split('#') as [string, string, string, string, string, string];
  const noteable = { kind, id: kind === 'commit' ? on : Number(on) } as Noteable;
  return { projectId: idOf(pk), noteable, id: Number(note), place: createdAt };
}

/** Participants of discussions in a project or a group, and users who unsubscribed from one. */
export const threadsOfHolder = (holder: Container): string => `THREADS#${placeOfHolder(holder)}`;

export const threadsPartition = (projectId: number, noteable: Noteable): string =>
  threadsOfHolder(holderOf({ projectId, noteable }));

export const threadPrefix = (noteable: Noteable): string => place(noteable);

export const threadKey = (projectId: number, noteable: Noteable, userId: number): Key => ({
  pk: threadsPartition(projectId, noteable),
  sk: threadPrefix(noteable) + padded(userId),
});

export const rowKinds = [
  { name: 'note', partitions: ['NOTES#'], keys: { noteKey }, of: ['project', 'group', 'user'] },
  { name: 'listed-note', partitions: ['NOTES#'], keys: { noteListKey }, of: ['project', 'group', 'user'] },
  { name: 'note-word', partitions: ['NOTES#'], keys: { noteWordKey }, of: ['project', 'user'] },
  { name: 'discussion', partitions: ['NOTES#'], keys: { discussionKey }, of: ['project', 'group', 'user'] },
  {
    name: 'further-reply',
    partitions: ['NOTES#'],
    keys: { furtherReplyKey },
    of: ['project', 'group', 'user'],
  },
  { name: 'note-count', partitions: ['NOTES#'], keys: { noteCountKey }, of: ['project', 'group'] },
  { name: 'mention', partitions: ['NOTES#'], keys: { mentionKey }, of: ['project', 'group'] },
  { name: 'participant', partitions: ['THREADS#'], keys: { threadKey }, of: ['project', 'group', 'user'] },
] as const satisfies readonly RowKind[];
