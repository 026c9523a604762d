/** Refs that one request has read by name, and the guard that was read with them. */
import { ZERO_OID } from '../../git/oid.ts';
import type { Ref, RefUpdate } from '../../git/ports.ts';
import type { RefName } from '../../git/refname.ts';
import { Missing } from '../errors.ts';
import type { Key } from '../row-keys/key.ts';
import { guardKey, refKey, refNamesKey } from '../row-keys/repository.ts';
import { readsOnly } from '../table/read-once.ts';
import type { Table } from '../table/table.ts';
import type { Item } from '../table/write.ts';
import { RefTable } from './ref-table.ts';
import { type Guard, guardOf, randomStripe } from './state.ts';

/** State of a name: its ref, if any, and its row, if there is one. */
export interface RefState {
  readonly ref: Ref | undefined;
  readonly row: { readonly oid: string; readonly table: string; readonly was?: true } | undefined;
}

export interface RefSnapshot {
  readonly guard: Guard;
  readonly states: ReadonlyMap<RefName, RefState>;
}

/** A guard, and in one batch with it the rows of names, in their order. */
interface ReadRows {
  /** When the read began, in milliseconds since 1970. */
  readonly at: number;
  readonly guard: Guard;
  /** Of the ref names, if it was read. */
  readonly version?: Item | undefined;
  readonly rows: readonly (Item | undefined)[];
}

/** The version of the ref names, read before the refs it is used for. */
export interface NamesVersion {
  readonly version: number;
  /** Total number of branches and tags. */
  readonly refs: number;
  /** When it was read, in milliseconds since 1970. */
  readonly at: number;
}

const namesOf = ({ names, heads = 0, tags = 0 }: Item, at: number): NamesVersion => ({
  version: names as number,
  refs: (heads as number) + (tags as number),
  at,
});

interface RowsWithGuard {
  readonly guard: Guard;
  /** In the order of the keys. */
  readonly rows: readonly (Item | undefined)[];
}

/** Maximum milliseconds for reading refs: much less than replaced tables are kept. */
const MAX_READ_MS = 60_000;

export class RefSnapshots {
  readonly id: string;
  readonly table: Table;
  /** As of the first read: a garbage collection that began since then invalidates what the caller checked. */
  epoch: number | undefined;
  guard: Guard | undefined;
  names: NamesVersion | undefined;
  readonly #seen = new Map<RefName, RefState>();
  /** A read of the guard that has not been answered. */
  #underWay: Promise<Guard> | undefined;

  constructor(table: Table, repositoryId: string) {
    this.table = table;
    this.id = repositoryId;
  }

  /** @param begun what the caller has read of these names already */
  async read(names: readonly RefName[], begun?: ReadRows): Promise<RefSnapshot> {
    for (let n = 0, first = begun; ; n++, first = undefined) {
      const { at, guard, version, rows } = first ?? (await this.#rowsOf(names));
      if (version !== undefined) this.names = namesOf(version, at);
      const states = new Map<RefName, RefState>();
      const inRows = (i: number) => rows[i] !== undefined && rows[i]['table'] === guard.refTable;
      const elsewhere = names.filter((_, i) => !inRows(i));
      // The guard may be older than the rows read with it: a row may belong to the next table.
      const doubtful = names.some((_, i) => !inRows(i) && (rows[i] !== undefined || guard.refTable !== ''));
      const [again, stored] = await Promise.all([
        doubtful ? this.table.get(guardKey(this.id, randomStripe())).then(guardOf) : guard,
        new RefTable(this.table, this.id, guard.refTable).named(elsewhere),
      ]);
      for (const [i, name] of names.entries()) {
        const row = rows[i];
        const ref = row !== undefined && inRows(i) ? refOfRow(row) : stored.get(name);
        states.set(name, { ref, row: row as unknown as RefState['row'] });
      }
      // A table is deleted an hour after it was replaced: after a slow read, read again.
      const late = Date.now() - at > MAX_READ_MS;
      if (doubtful && n < 5 && (late || again?.refTable !== guard.refTable)) continue;
      for (const [name, stands] of states) this.#seen.set(name, stands);
      return { guard, states };
    }
  }

  async #rowsOf(names: readonly RefName[]): Promise<ReadRows> {
    const at = Date.now();
    const { guard, rows } = await this.withGuard([
      ...names.map((name) => refKey(this.id, name)),
      // For creations.
      ...(readsOnly() ? [] : [refNamesKey(this.id)]),
    ]);
    return { at, guard, version: rows[names.length], rows };
  }

  /** Returns what this request read before, if the updates are based on it. */
  recall(updates: readonly RefUpdate[]): RefSnapshot | undefined {
    const guard = this.guard;
    if (guard === undefined || guard.frozenBy !== '') return undefined;
    const states = new Map<RefName, RefState>();
    for (const { name, from } of updates) {
      const seen = this.#seen.get(name);
      if (seen === undefined || (seen.ref?.oid ?? ZERO_OID) !== from) return undefined;
      states.set(name, seen);
    }
    return { guard, states };
  }

  /** To be read before the names: a creation in between increments it. */
  async namesVersion(): Promise<NamesVersion> {
    const at = Date.now();
    const item = await this.table.get(refNamesKey(this.id));
    if (item === undefined) throw new Missing('repository');
    return namesOf(item, at);
  }

  /** Reads the guard and, with the same request, other rows. */
  async withGuard(keys: readonly Key[]): Promise<RowsWithGuard> {
    const reading = this.table.batchGet([guardKey(this.id, randomStripe()), ...keys]);
    const guard = reading.then(([item]) => this.noteGuard(item));
    this.#underWay = guard;
    try {
      return { guard: await guard, rows: (await reading).slice(1) };
    } finally {
      if (this.#underWay === guard) this.#underWay = undefined;
    }
  }

  /**
   * The same for a caller to whom it does not matter whether the guard is read before or after the rows: one read serves all
   * that is asked for at the same time.
   */
  async besideGuard(keys: readonly Key[]): Promise<RowsWithGuard> {
    // By then it is being read by whoever needs it with other rows.
    await Promise.resolve();
    if (this.#underWay === undefined) return this.withGuard(keys);
    const [guard, rows] = await Promise.all([this.#underWay, this.table.batchGet(keys)]);
    return { guard, rows };
  }

  noteGuard(item: Item | undefined): Guard {
    const guard = guardOf(item);
    if (guard === undefined) throw new Missing('repository');
    this.epoch ??= guard.epoch;
    this.guard = guard;
    return guard;
  }

  forget(): void {
    this.#seen.clear();
    this.names = undefined;
    this.guard = undefined;
  }
}

/** @returns undefined for a row that marks its ref as deleted. */
export function refOfRow(row: Item): Ref | undefined {
  if (row['oid'] === '') return undefined;
  const { name, oid, peeled, committed } = row as unknown as Ref;
  return {
    name,
    oid,
    ...(peeled === undefined ? {} : { peeled }),
    ...(committed === undefined ? {} : { committed }),
  };
}
