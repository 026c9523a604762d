import type { MovedKind, StorageMoveRecord } from '../../records/storage-moves.ts';
import { MAINTENANCE, messageAt, outboxWrite, type PlainMessage } from '../../store/outbox/outbox.ts';
import { removeSuperseded } from '../../store/repository/pack-gc.ts';
import { WRITERS_GONE_MS } from '../../store/repository/removal.ts';
import { disinheritPacks } from '../../store/repository/unlisted-pack-gc.ts';
import {
  copyListed,
  emptyPlace,
  RelocationFailed,
  type Repository,
  switchTo,
} from '../../store/storage-moves/relocation.ts';
import { log } from '../../telemetry/log.ts';
import type { Deps } from '../deps.ts';
import type { Progress } from '../job.ts';
import { storedSubjectOf } from './subjects.ts';

/** The job that deletes what a move has left behind, a day later. */
export const CLEAN_JOB = 'storage-move.clean';

/** A move, with all that is needed where its row is deleted. */
export interface MoveOrder {
  readonly kind: MovedKind;
  readonly id: number;
  readonly subjectId: number;
  /** What keys began with before the move, and will begin with. */
  readonly from: string;
  readonly to: string;
  readonly repositories: readonly Repository[];
}

export interface CleanOrder extends Pick<MoveOrder, 'kind' | 'id' | 'subjectId' | 'repositories'> {
  /** The place that is to be emptied. */
  readonly place: string;
  /** Packs of other repositories that are no longer listed. */
  readonly givenUp: readonly {
    readonly repositoryId: string;
    readonly id: string;
    readonly location: string;
  }[];
}

/**
 * Carries out a move: copies, compares, and switches in one transaction. Until then all is at the place before, and
 * from then on at the new one. May be interrupted at any step, and run twice at once.
 * @param deadline milliseconds since 1970
 * @param lastTry when this fails, the move has failed
 */
export async function runMove(
  deps: Deps,
  order: MoveOrder,
  { deadline, lastTry }: { readonly deadline: number; readonly lastTry: boolean },
): Promise<Progress> {
  const { storageMoves } = deps.store;
  const move = await storageMoves.get(order.kind, order.id);
  if (move === undefined) {
    // Deleted with its subject: nothing leads to what was copied.
    await deps.store.table.put(outboxWrite(emptying(deps, order, order.to)));
    return 'done';
  }
  try {
    return await carryOut(deps, order, move, deadline);
  } catch (error) {
    if (!lastTry && !(error instanceof RelocationFailed)) throw error;
    log('error', 'storage move failed', { kind: order.kind, move: order.id, error: String(error) });
    await storageMoves.fail(move, reasonOf(error), [emptying(deps, order, order.to)]);
    return 'done';
  }
}

async function carryOut(
  deps: Deps,
  order: MoveOrder,
  move: StorageMoveRecord,
  deadline: number,
): Promise<Progress> {
  const { store } = deps;
  if (move.state === 'scheduled' && !(await store.storageMoves.advance(move, 'scheduled', 'started')))
    return 'more';
  if (move.state !== 'scheduled' && move.state !== 'started') return 'done';
  if ((await storedSubjectOf(deps, { kind: order.kind, id: order.subjectId })) === undefined) {
    await store.table.put(outboxWrite(emptying(deps, order, order.to)));
    return 'done';
  }
  const { repositories, to } = order;
  if (!(await copyListed(store, repositories, to, deadline))) return 'more';
  const switched = await switchTo(
    store,
    repositories,
    to,
    (givenUp) => [
      ...store.storageMoves.switching(move, to),
      outboxWrite(emptying(deps, order, order.from, givenUp)),
    ],
    deps.now(),
  );
  if (switched === 'blocked') return 'blocked';
  // Another run has done it, or the subject was deleted: the next run finds out.
  if (switched === 'refused') return 'more';
  // What was pushed between the last look at the list and the switch.
  await switchTo(store, repositories, to, () => [], deps.now());
  return 'done';
}

/**
 * Empties the place that a move has left, once no reader and no writer is left that knew it: brings over what writers have
 * put there meanwhile, and deletes everything but what forks list there.
 * @returns 'blocked' while maintenance has the repository
 */
export async function cleanUp(
  deps: Deps,
  order: CleanOrder,
  { deadline, lastTry }: { readonly deadline: number; readonly lastTry: boolean },
): Promise<Progress> {
  const { storageMoves } = deps.store;
  const move = await storageMoves.get(order.kind, order.id);
  try {
    const progress = await emptied(deps, order, deadline);
    if (progress === 'done' && move !== undefined) {
      for (const from of ['replicated', 'cleanup failed'] as const)
        if (move.state === from) await storageMoves.advance(move, from, 'finished');
    }
    return progress;
  } catch (error) {
    if (!lastTry || move === undefined) throw error;
    log('error', 'cleanup of a storage move failed', {
      kind: order.kind,
      move: order.id,
      error: String(error),
    });
    await storageMoves.advance(move, 'replicated', 'cleanup failed', reasonOf(error));
    return 'done';
  }
}

async function emptied(deps: Deps, order: CleanOrder, deadline: number): Promise<Progress> {
  const { store } = deps;
  const now = deps.now();
  const subject = await storedSubjectOf(deps, { kind: order.kind, id: order.subjectId });
  // It may be where the copies of a failed move are not, or where a later move has brought it.
  if (subject !== undefined && subject.storagePrefix !== order.place) {
    if (!(await copyListed(store, subject.repositories, subject.storagePrefix, deadline))) return 'more';
    const brought = await switchTo(store, subject.repositories, subject.storagePrefix, () => [], now);
    if (brought !== 'done') return 'blocked';
    for (const { repositoryId } of subject.repositories) await removeSuperseded(store, repositoryId, now);
  }
  for (const [repositoryId, packs] of Map.groupBy(order.givenUp, (pack) => pack.repositoryId))
    await disinheritPacks(store, repositoryId, packs, now);
  return (await emptyPlace(store, order.repositories, order.place, deadline)) ? 'done' : 'more';
}

/** The message that empties a place, for when everybody who knew it has ended. */
function emptying(
  { now }: Deps,
  { kind, id, subjectId, repositories }: MoveOrder,
  place: string,
  givenUp: CleanOrder['givenUp'] = [],
): PlainMessage {
  const order: CleanOrder = { kind, id, subjectId, repositories, place, givenUp };
  return messageAt(MAINTENANCE, CLEAN_JOB, { ...order }, new Date(now().getTime() + WRITERS_GONE_MS));
}

const MAX_REASON = 1000;
const reasonOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, MAX_REASON);
