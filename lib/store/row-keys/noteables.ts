import type { Noteable } from '../../records/notes.ts';
import { issueKey } from './issues.ts';
import type { Key } from './key.ts';
import { mergeRequestKeys } from './merge-requests.ts';

/** The record of a noteable that counts what is said and awarded there; undefined: it has none. */
export function countingKey({
  projectId,
  noteable,
  iid,
}: {
  readonly projectId: number;
  readonly noteable: Noteable;
  readonly iid?: number;
}): Key | undefined {
  if (iid === undefined) return undefined;
  if (noteable.kind === 'issue') return issueKey({ projectId, iid });
  return noteable.kind === 'merge-request' ? mergeRequestKeys.record({ projectId, iid }) : undefined;
}
