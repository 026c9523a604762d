import type { Noteable } from '../../records/notes.ts';
import { type Key, padded } from './key.ts';
import type { RowKind } from './row-kind.ts';

export const notesPartition = (projectId: number): string => `NOTES#${padded(projectId)}`;

/** Ids increase with time: notes can be read oldest or newest first. */
export const notePrefix = ({ kind, id }: Noteable): string => `${kind}#${id}#`;

export const noteKey = (projectId: number, noteable: Noteable, id: number): Key => ({
  pk: notesPartition(projectId),
  sk: notePrefix(noteable) + padded(id),
});

/** Participants of discussions in a project, and users who unsubscribed from one. */
export const threadsPartition = (projectId: number): string => `THREADS#${padded(projectId)}`;

export const threadPrefix = ({ kind, id }: Noteable): string => `${kind}#${id}#`;

export const threadKey = (projectId: number, noteable: Noteable, userId: number): Key => ({
  pk: threadsPartition(projectId),
  sk: threadPrefix(noteable) + padded(userId),
});

export const rowKinds = [
  { name: 'note', partitions: ['NOTES#'], keys: { noteKey }, of: ['project', 'user'] },
  { name: 'participant', partitions: ['THREADS#'], keys: { threadKey }, of: ['project', 'user'] },
] as const satisfies readonly RowKind[];
