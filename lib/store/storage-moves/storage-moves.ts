/** Moves of repositories between storages, as rows, and the marks of what is being moved. */
import type {
  MovedKind,
  MovedSubject,
  StorageMoveRecord,
  StorageMoveState,
} from '../../records/storage-moves.ts';
import { Missing, Stale, TransactionRefused } from '../errors.ts';
import type { Outbox, OutboxMessage } from '../outbox/outbox.ts';
import { counterKey } from '../row-keys/counters.ts';
import { groupKey } from '../row-keys/groups.ts';
import type { Key } from '../row-keys/key.ts';
import { projectKey } from '../row-keys/projects.ts';
import { snippetKey } from '../row-keys/snippets.ts';
import {
  moveOfKey,
  movesOfPartition,
  STORAGE_MOVE,
  storageMoveIdOf,
  storageMoveKey,
  storageMovesPartition,
} from '../row-keys/storage-moves.ts';
import type { Counters } from '../table/counters.ts';
import { type Page, type PageRequest, pageOfRows } from '../table/paging.ts';
import { recordOf } from '../table/record-of.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, PRESENT, type Update, type Write } from '../table/write.ts';

/** Which counter has the ids of a kind. */
const COUNTERS = { project: 'project', group: 'namespace', snippet: 'snippet' } as const;

const KEYS: Readonly<Record<MovedKind, (id: number) => Key>> = {
  project: projectKey,
  group: groupKey,
  snippet: snippetKey,
};

/** Rows deleted per step. */
const BATCH_SIZE = 25;

export class StorageMoves {
  readonly #table: Table;
  readonly #counters: Counters;
  readonly #outbox: Outbox;
  constructor(table: Table, counters: Counters, outbox: Outbox) {
    this.#table = table;
    this.#counters = counters;
    this.#outbox = outbox;
  }

  nextId(): Promise<number> {
    return this.#counters.next('storage-move');
  }

  async get(kind: MovedKind, id: number): Promise<StorageMoveRecord | undefined> {
    return recordOf<StorageMoveRecord>(await this.#table.get(storageMoveKey(kind, id)));
  }

  /** All moves of a kind, the newest first. @throws StoreError `bad-page` */
  async page(kind: MovedKind, request: PageRequest): Promise<Page<StorageMoveRecord>> {
    const rows = { partition: storageMovesPartition(kind), prefix: STORAGE_MOVE };
    const page = await pageOfRows(this.#table, rows, request);
    return { ...page, items: page.items.flatMap((item) => recordOf<StorageMoveRecord>(item) ?? []) };
  }

  /** The moves of one subject, the newest first. @throws StoreError `bad-page` */
  async pageOf(subject: MovedSubject, request: PageRequest): Promise<Page<StorageMoveRecord>> {
    const rows = { partition: movesOfPartition(subject), prefix: STORAGE_MOVE };
    const page = await pageOfRows(this.#table, rows, request);
    const keys = page.items.map(({ sk }) => storageMoveKey(subject.kind, storageMoveIdOf(sk as string)));
    const items = keys.length === 0 ? [] : await this.#table.batchGet(keys);
    return { ...page, items: items.flatMap((item) => recordOf<StorageMoveRecord>(item) ?? []) };
  }

  /** An id that no subject of the kind has passed. */
  async lastId(kind: MovedKind): Promise<number> {
    return Number((await this.#table.get(counterKey(COUNTERS[kind])))?.['n'] ?? 0);
  }

  /** @throws Stale while another move of it is under way; Missing when it is deleted */
  async schedule(move: StorageMoveRecord, messages: readonly OutboxMessage[]): Promise<void> {
    const subject = { kind: move.kind, id: move.subjectId };
    try {
      await this.#outbox.commit(
        [
          { put: { ...storageMoveKey(move.kind, move.id), ...move }, if: ABSENT, reason: 'move' },
          { put: { ...moveOfKey(subject, move.id) } },
          {
            update: KEYS[move.kind](move.subjectId),
            set: { storageMove: move.id },
            add: { version: 1 },
            if: `${exists(move.kind)} AND attribute_not_exists(#storageMove)`,
            ...(move.kind === 'snippet' ? {} : { values: { null: 'NULL' } }),
            reason: 'subject',
          },
        ],
        messages,
      );
    } catch (error) {
      if (!(error instanceof TransactionRefused) || !error.has('subject')) throw error;
      const item = error.get('subject')?.item;
      throw item?.['storageMove'] === undefined ? new Missing(move.kind) : new Stale('storage move');
    }
  }

  /** @returns false where it is not in the state before */
  async advance(
    { kind, id }: StorageMoveRecord,
    from: StorageMoveState,
    to: StorageMoveState,
    error?: string,
  ): Promise<boolean> {
    return this.#commit([transition({ kind, id }, [from], to, error)]);
  }

  /** Ends a move that did not succeed: what it was to move stays where it is, and may be moved again. */
  async fail(
    { kind, id, subjectId }: StorageMoveRecord,
    error: string,
    messages: readonly OutboxMessage[],
  ): Promise<boolean> {
    const unmarked = {
      update: KEYS[kind](subjectId),
      remove: ['storageMove'],
      add: { version: 1 },
      if: '#storageMove = :move',
      values: { move: id },
      reason: 'subject',
    };
    return this.#commit(
      [transition({ kind, id }, ['initial', 'scheduled', 'started'], 'failed', error), unmarked],
      messages,
    );
  }

  /** The writes that switch a subject to another place, for the transaction that switches its packs. */
  switching({ kind, id, subjectId }: StorageMoveRecord, storagePrefix: string): Update[] {
    return [
      transition({ kind, id }, ['started'], 'replicated'),
      {
        update: KEYS[kind](subjectId),
        set: { storagePrefix },
        remove: ['storageMove'],
        add: { version: 1 },
        if: `${exists(kind)} AND #storageMove = :move`,
        values: { move: id, ...(kind === 'snippet' ? {} : { null: 'NULL' }) },
        reason: 'subject',
      },
    ];
  }

  /** Deletes the moves of a deleted subject, a page of them. @returns whether any are left */
  async removeOf(subject: MovedSubject): Promise<boolean> {
    const rows = { partition: movesOfPartition(subject), limit: BATCH_SIZE, only: ['pk', 'sk'] };
    const { items, next } = await this.#table.query(rows);
    await Promise.all(
      (items as unknown as Key[]).map(async ({ pk, sk }) => {
        await this.#table.delete({ delete: storageMoveKey(subject.kind, storageMoveIdOf(sk)) });
        await this.#table.delete({ delete: { pk, sk } });
      }),
    );
    return next !== undefined;
  }

  async #commit(writes: readonly Write[], messages: readonly OutboxMessage[] = []): Promise<boolean> {
    try {
      await this.#outbox.commit(writes, messages);
      return true;
    } catch (error) {
      if (error instanceof TransactionRefused) return false;
      throw error;
    }
  }
}

const exists = (kind: MovedKind): string =>
  kind === 'snippet' ? PRESENT : `${PRESENT} AND attribute_type(#deletedAt, :null)`;

function transition(
  { kind, id }: Pick<StorageMoveRecord, 'kind' | 'id'>,
  from: readonly StorageMoveState[],
  to: StorageMoveState,
  error?: string,
): Update {
  return {
    update: storageMoveKey(kind, id),
    set: { state: to, ...(error === undefined ? {} : { error }) },
    if: `#state IN (${from.map((_, index) => `:from${index}`).join(', ')})`,
    values: Object.fromEntries(from.map((state, index) => [`from${index}`, state])),
    reason: 'move',
  };
}
