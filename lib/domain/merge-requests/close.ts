/** Merge requests that workers close, because what they are of is gone. */

import { CorruptData } from '../../git/corrupt-data.ts';
import { HistoryLimit } from '../../git/history.ts';
import { ObjectMissing } from '../../git/objects.ts';
import type { Oid } from '../../git/oid.ts';
import { LimitExceeded } from '../../git/work.ts';
import type { MergeRequestRecord } from '../../records/merge-requests.ts';
import type { SystemNote } from '../../records/notes.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../errors.ts';
import { codeOf } from '../repository/read.ts';
import { changeMergeRequest } from './change.ts';
import { stateAfter } from './merge-requests.ts';
import type { Heads } from './mergeability.ts';

/** Commits visited by a look into the history of a target branch. */
export const MAX_VISITED = 300_000;

interface Closing {
  readonly record: MergeRequestRecord;
  readonly heads: Pick<Heads, 'targetSha'>;
  /** System notes that tell why. */
  readonly notes?: readonly SystemNote[];
}

/** Closes a merge request. One whose head the target has by now stays: the push that brought it merges it. */
export async function closeUnlessBrought(
  deps: Deps,
  actor: Extract<Actor, { kind: 'user' }>,
  access: ProjectAccess,
  { record, heads, notes = [] }: Closing,
): Promise<void> {
  if (await isBrought(deps, access, record, heads.targetSha)) return;
  const at = deps.now();
  const change = (before: MergeRequestRecord) => {
    if (before.state !== 'opened') throw new Moved();
    return { ...stateAfter(before, 'close', actor.user.id, at), updatedAt: at.toISOString() };
  };
  await changeMergeRequest(deps, actor, access, record.iid, change, { notes }).catch(unlessMoved);
}

/** Whether the target has the head, and not from the beginning. */
async function isBrought(
  deps: Deps,
  access: ProjectAccess,
  { diff: { headSha, baseSha } }: MergeRequestRecord,
  targetSha: Oid | undefined,
): Promise<boolean> {
  if (targetSha === undefined || headSha === baseSha) return false;
  const { history } = codeOf(deps, access);
  return (
    (await unlessBeyond(history.isAncestor(headSha as Oid, targetSha, { maxCommits: MAX_VISITED }))) === true
  );
}

/** It has been merged, closed or changed meanwhile. */
export class Moved extends Error {
  override readonly name = 'Moved';
}

export function unlessMoved(error: unknown): void {
  const isGone = error instanceof DomainError && error.code === 'not-found';
  if (!(error instanceof Moved) && !isGone) throw error;
}

/** @returns undefined where the history is damaged, was replaced meanwhile, or is too long to be looked at */
export const unlessBeyond = <T>(read: Promise<T>): Promise<T | undefined> =>
  read.catch((error: unknown) => {
    const isBeyond = error instanceof HistoryLimit || error instanceof LimitExceeded;
    if (isBeyond || error instanceof ObjectMissing || error instanceof CorruptData) return undefined;
    throw error;
  });
