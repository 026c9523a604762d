/** What one request has read of a repository's refs by their names, and the guard that it read with them. */
import { ZERO_OID } from '../../git/oid.ts';
import type { Ref, RefUpdate } from '../../git/ports.ts';
import type { RefName } from '../../git/refname.ts';
import { Missing } from '../errors.ts';
import { guardKey, refKey, refNamesKey } from '../row-keys/repository.ts';
import type { Table } from '../table/table.ts';
import type { Item } from '../table/write.ts';
import { RefTable } from './ref-table.ts';
import { type Guard, guardOf, randomStripe } from './state.ts';

/** What stands under a name: the ref, if any, and the row that says so, if one does. */
export interface RefState {
  readonly ref: Ref | undefined;
  readonly row: { readonly oid: string; readonly table: string; readonly was?: true } | undefined;
}

export interface RefSnapshot {
  readonly guard: Guard;
  readonly states: ReadonlyMap<RefName, RefState>;
}

/** The version of the ref names: older than any look that comes after it. */
export interface NamesVersion {
  readonly version: number;
  /** Branches and tags in all. */
  readonly refs: number;
  /** When it was read, in milliseconds since 1970. */
  readonly at: number;
}

const namesOf = ({ names, heads = 0, tags = 0 }: Item, at: number): NamesVersion => ({
  version: names as number,
  refs: (heads as number) + (tags as number),
  at,
});

/** What a look at some refs may take, far below the time for which a replaced table stays. */
const LOOK_MS = 60_000;

export class RefSnapshots {
  readonly id: string;
  readonly table: Table;
  /** Of the first look: a collection that began since then invalidates what the caller checked. */
  epoch: number | undefined;
  guard: Guard | undefined;
  names: NamesVersion | undefined;
  readonly #seen = new Map<RefName, RefState>();

  constructor(table: Table, repositoryId: string) {
    this.table = table;
    this.id = repositoryId;
  }

  async read(names: readonly RefName[]): Promise<RefSnapshot> {
    for (let n = 0; ; n++) {
      const at = Date.now();
      const [guardItem, version, ...rows] = await this.table.batchGet([
        guardKey(this.id, randomStripe()),
        refNamesKey(this.id),
        ...names.map((name) => refKey(this.id, name)),
      ]);
      const guard = this.noteGuard(guardItem);
      if (version !== undefined) this.names = namesOf(version, at);
      const states = new Map<RefName, RefState>();
      const inRows = (i: number) => rows[i] !== undefined && rows[i]['table'] === guard.refTable;
      const elsewhere = names.filter((_, i) => !inRows(i));
      // The guard may be older than what was read with it: a row may belong to the next table.
      const doubtful = names.some((_, i) => !inRows(i) && (rows[i] !== undefined || guard.refTable !== ''));
      const [again, stored] = await Promise.all([
        doubtful ? this.table.get(guardKey(this.id, randomStripe())) : guardItem,
        new RefTable(this.table, this.id, guard.refTable).named(elsewhere),
      ]);
      for (const [i, name] of names.entries()) {
        const row = rows[i];
        const ref = row !== undefined && inRows(i) ? refOfRow(row) : stored.get(name);
        states.set(name, { ref, row: row as unknown as RefState['row'] });
      }
      // A table is removed an hour after it was replaced: whoever took so long to read it looks again.
      const late = Date.now() - at > LOOK_MS;
      if (doubtful && n < 5 && (late || guardOf(again)?.refTable !== guard.refTable)) continue;
      for (const [name, stands] of states) this.#seen.set(name, stands);
      return { guard, states };
    }
  }

  /** What this request read before; a caller that was told of it has based `from` on it. */
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

  /** Read before the names it stands for: whoever creates one in between raises it. */
  async namesVersion(): Promise<NamesVersion> {
    const at = Date.now();
    const item = await this.table.get(refNamesKey(this.id));
    if (item === undefined) throw new Missing('repository');
    return namesOf(item, at);
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

/** @returns undefined for a row that says its ref is gone. */
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
