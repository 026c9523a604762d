import { createHash } from 'node:crypto';
import type { Noteable } from '../../records/notes.ts';

/** Hexadecimal digits of the digest, and of the first note's id behind it: 40 together, as clients expect. */
const DIGEST = 30;
const NUMBER = 10;

/**
 * The id of a discussion on the outside: its first note's id, behind a digest that tells discussions of other objects
 * apart. Nothing is stored for it, and it is no secret.
 */
export function discussionIdOf(projectId: number, noteable: Noteable, firstId: number): string {
  const digest = createHash('sha256').update(`${projectId} ${noteable.kind} ${noteable.id} ${firstId}`);
  return digest.digest('hex').slice(0, DIGEST) + firstId.toString(16).padStart(NUMBER, '0');
}

/** @returns the id of the first note; undefined for an id that no discussion of the object can have */
export function firstNoteOf(projectId: number, noteable: Noteable, discussionId: string): number | undefined {
  if (!/^[0-9a-f]{40}$/.test(discussionId)) return undefined;
  const firstId = Number.parseInt(discussionId.slice(DIGEST), 16);
  return discussionIdOf(projectId, noteable, firstId) === discussionId ? firstId : undefined;
}
