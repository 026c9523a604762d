import type { MovedKind, StorageMoveRecord, StoredSubject } from '../../records/storage-moves.ts';
import { storagePrefix } from '../../records/storages.ts';
import { Missing, Stale } from '../../store/errors.ts';
import { MAINTENANCE, message } from '../../store/outbox/outbox.ts';
import type { Deps } from '../deps.ts';
import { invalid, notFound } from '../errors.ts';
import { chooseStorage } from '../repository/choose-storage.ts';
import { currentStorage, storedSubjects } from './subjects.ts';

/** The job that carries out a move. */
export const MOVE_JOB = 'storage-move.run';
/** The job that schedules the moves of all that is in a storage. */
export const SCHEDULE_JOB = 'storage-moves.schedule';

const NOUNS = { project: 'Project', group: 'Group', snippet: 'Snippet' } as const;

/**
 * Schedules a move.
 * @param destination the name of a storage; undefined: the weights of the settings decide among the others
 * @throws 400 where it is there already, is under way, or there is no such storage; 404 where it is deleted meanwhile
 */
export async function scheduleMove(
  deps: Deps,
  subject: StoredSubject,
  destination?: string,
): Promise<StorageMoveRecord> {
  const source = currentStorage(subject);
  const to = destination ?? (await chooseStorage(deps, source));
  requireMovable(deps, subject, to);
  const id = await deps.store.storageMoves.nextId();
  const move: StorageMoveRecord = {
    kind: subject.kind,
    id,
    subjectId: subject.id,
    state: 'scheduled',
    source,
    destination: to,
    createdAt: deps.now().toISOString(),
  };
  const order = {
    kind: move.kind,
    id,
    subjectId: subject.id,
    from: subject.storagePrefix,
    to: storagePrefix(to, String(id)),
    repositories: subject.repositories,
  };
  try {
    await deps.store.storageMoves.schedule(move, [message(MAINTENANCE, MOVE_JOB, order)]);
  } catch (error) {
    if (error instanceof Stale) throw invalid({ [subject.kind]: ['is read-only'] });
    throw error instanceof Missing ? notFound(NOUNS[subject.kind]) : error;
  }
  return move;
}

/** @throws 400 where a move to the storage cannot be scheduled */
export function requireMovable({ environment }: Deps, subject: StoredSubject, to: string): void {
  if (!Object.hasOwn(environment.storages, to))
    throw invalid({ destination_storage_name: ['is not included in the list'] });
  if (to === currentStorage(subject))
    throw invalid({ destination_storage_name: ['cannot be the same as the source'] });
  if (subject.storageMove !== undefined) throw invalid({ [subject.kind]: ['is read-only'] });
}

/** Promises to schedule a move of everything of a kind that is in a storage. */
export async function scheduleMoves(
  { store }: Deps,
  order: { readonly kind: MovedKind; readonly source: string; readonly destination?: string },
): Promise<void> {
  await store.outbox.commit([], [message(MAINTENANCE, SCHEDULE_JOB, order)]);
}

/** Ids that are read at once. */
const BATCH_SIZE = 100;

/**
 * Schedules moves, in the order of ids. Whatever is being moved, was moved since, or cannot be is left as it is, so the
 * order may come twice.
 * @returns where to go on when the deadline has passed; undefined at the end
 */
export async function scheduleAll(
  deps: Deps,
  order: {
    readonly kind: MovedKind;
    readonly source: string;
    readonly destination?: string;
    /** The ids up to this one are done. */
    readonly after: number;
    readonly last?: number;
  },
  deadline: number,
): Promise<typeof order | undefined> {
  const { kind, source, destination } = order;
  // What is created later goes where the weights say.
  const last = order.last ?? (await deps.store.storageMoves.lastId(kind));
  for (let { after } = order; after < last; after += BATCH_SIZE) {
    if (Date.now() > deadline) return { ...order, after, last };
    const ids = Array.from({ length: Math.min(BATCH_SIZE, last - after) }, (_, index) => after + index + 1);
    for (const subject of await storedSubjects(deps, kind, ids)) {
      if (subject === undefined || subject.storageMove !== undefined) continue;
      if (currentStorage(subject) !== source) continue;
      await scheduleMove(deps, subject, destination).catch(unlessRefused);
    }
  }
  return undefined;
}

function unlessRefused(error: unknown): void {
  const { code } = error as { readonly code?: string };
  if (code !== 'invalid' && code !== 'not-found') throw error;
}
