import type { MovedKind, MovedSubject, StorageMoveRecord } from '../../records/storage-moves.ts';
import type { Page, PageRequest } from '../../store/table/paging.ts';
import type { Deps } from '../deps.ts';
import { recordNotFound } from '../errors.ts';

/** All moves of a kind, or those of one subject, the newest first. */
export const listMoves = (
  { store }: Deps,
  kind: MovedKind,
  subject: MovedSubject | undefined,
  request: PageRequest,
): Promise<Page<StorageMoveRecord>> =>
  subject === undefined
    ? store.storageMoves.page(kind, request)
    : store.storageMoves.pageOf(subject, request);

/** @throws `404 Not found`, also for a move of another subject */
export async function getMove(
  { store }: Deps,
  kind: MovedKind,
  subject: MovedSubject | undefined,
  id: number,
): Promise<StorageMoveRecord> {
  const move = await store.storageMoves.get(kind, id);
  if (move === undefined || (subject !== undefined && move.subjectId !== subject.id)) throw recordNotFound();
  return move;
}
