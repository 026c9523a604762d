import type { Noteable } from '../../records/notes.ts';
import { type Key, padded } from './key.ts';

export const notesPartition = (projectId: number): string => `NOTES#${padded(projectId)}`;

/** Ids rise with time: the notes of one thing are read from the oldest or from the newest. */
export const notePrefix = ({ kind, id }: Noteable): string => `${kind}#${id}#`;

export const noteKey = (projectId: number, noteable: Noteable, id: number): Key => ({
  pk: notesPartition(projectId),
  sk: notePrefix(noteable) + padded(id),
});

/** Who takes part in what is said about the things of a project, or wants to hear no more of one. */
export const threadsPartition = (projectId: number): string => `THREADS#${padded(projectId)}`;

export const threadPrefix = ({ kind, id }: Noteable): string => `${kind}#${id}#`;

export const threadKey = (projectId: number, noteable: Noteable, userId: number): Key => ({
  pk: threadsPartition(projectId),
  sk: threadPrefix(noteable) + padded(userId),
});
