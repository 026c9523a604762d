/** The reference database and pack catalogue of one repository, over the table (`lib/git/ports.ts`). */
import { setTimeout as sleep } from 'node:timers/promises';
import { decodeTime, ulid } from 'ulid';
import { dueKinds } from '../git/maintenance/due.ts';
import { compactionPlan } from '../git/maintenance/plan.ts';
import { type Oid, ZERO_OID } from '../git/oid.ts';
import {
  type DerivedFile,
  type DerivedKind,
  type PackDescription,
  type Ref,
  RefConflict,
  type RefDatabase,
  type RefSnapshot,
  type RefUpdate,
} from '../git/ports.ts';
import type { RefName } from '../git/refname.ts';
import { Missing, StoreUnavailable, TransactionRefused } from './errors.ts';
import { keptIn } from './keeps.ts';
import { guardKey, headKey, REF, refKey, refNamesKey, refPrefixSort, repositoryPartition } from './keys.ts';
import { MAINTENANCE, message, type Outbox, type OutboxMessage, outboxWrite } from './outbox.ts';
import { type CataloguedPack, type Listing, listingOf, listPack, supersededOf } from './pack-catalogue.ts';
import { creates, namesAbove, prefixConflicts, staleUpdates } from './ref-check.ts';
import { refInTable, refsInTable, writeRefTable } from './ref-table.ts';
import { changeGuards, checkGuard, type Guard, guardOf, randomStripe } from './repository-state.ts';
import { type Table, TRANSACTION_ITEMS } from './table.ts';
import { compareText } from './text-order.ts';
import type { Item, Write } from './write.ts';

export interface SwapOptions {
  readonly packs?: readonly PackDescription[];
  readonly head?: RefName;
  /** Writes of others in the same transaction. When one of them is refused, TransactionRefused is thrown. */
  readonly alongside?: readonly Write[];
  readonly messages?: readonly OutboxMessage[];
}

/** One attempt at a swap, which adds messages of its own. */
interface Attempt extends SwapOptions {
  readonly messages: OutboxMessage[];
}

/** What stands under a name: the ref, if any, and the row that says so, if one does. */
interface Standing {
  readonly ref: Ref | undefined;
  readonly row: { readonly oid: string; readonly table: string } | undefined;
}

/** More changes than this are written as a new ref table. */
const MAX_ROWS_CHANGED = 90;
/** Names whose neighbours are looked up one by one; above it all refs are read. */
const MAX_NEIGHBOUR_LOOKUPS = 8;
/** How long a version of the ref names is worth trying: whoever creates a name meanwhile makes the write begin again. */
const NAMES_MS = 1000;
/** What a look at some refs may take, far below the time for which a replaced table stays. */
const LOOK_MS = 60_000;
const ATTEMPTS = 40;
const SNAPSHOTS = 30;
/** A writer of a ref table that takes longer than this has died. */
export const FREEZE_MS = 60_000;
/** Every so many new names somebody looks whether ref rows are worth folding. */
const FOLD_AFTER = 500;

export class RepositoryRefs implements RefDatabase {
  readonly id: string;
  readonly #table: Table;
  readonly #outbox: Outbox;
  /** Of the first look: a collection that began since then invalidates what the caller checked. */
  #epoch: number | undefined;
  readonly #seen = new Map<RefName, Standing>();
  #guard: Guard | undefined;
  /** The version of the ref names, and when it was read: older than any look that comes after it. */
  #names: { readonly version: number; readonly at: number } | undefined;
  readonly #likelyHead: RefName | undefined;
  /** Packs and what was made of them, as this request last saw them. */
  #listed: Listing | undefined;
  /** A listing that may be older than the epoch, because both were read at once: no write relies on it alone. */
  #unsure: Listing | undefined;

  constructor(table: Table, outbox: Outbox, repositoryId: string, likelyHead?: RefName) {
    this.#likelyHead = likelyHead;
    this.#table = table;
    this.#outbox = outbox;
    this.id = repositoryId;
  }

  async all(options: { prefix?: string } = {}): Promise<RefSnapshot> {
    const { head, refs } = await this.#snapshot(options.prefix ?? '');
    return { head, refs };
  }

  async get(names: readonly RefName[]): Promise<ReadonlyMap<RefName, Ref>> {
    const { standing } = await this.#look(names);
    const found = new Map<RefName, Ref>();
    for (const [name, { ref }] of standing) if (ref !== undefined) found.set(name, ref);
    return found;
  }

  async head(): Promise<RefName> {
    const item = await this.#table.get(headKey(this.id));
    if (item === undefined) throw new Missing('repository');
    return item['target'] as RefName;
  }

  async headRef(): Promise<{ readonly target: RefName; readonly head: Ref | undefined }> {
    const likely = this.#likelyHead;
    const [target, guessed] = await Promise.all([this.head(), likely && this.get([likely])]);
    const found = guessed !== undefined && target === likely ? guessed : await this.get([target]);
    return { target, head: found.get(target) };
  }

  kept(): AsyncIterable<Oid> {
    return keptIn(this.#table, this.id);
  }

  /** Active packs, newest first. */
  async listPacks(): Promise<readonly PackDescription[]> {
    return (await this.listing()).packs;
  }

  /** What maintenance made of the packs, as the last listing told. */
  derived(kind: DerivedKind): DerivedFile | undefined {
    return this.#listed?.derived.find((file) => file.kind === kind);
  }

  async listing(): Promise<Listing> {
    const sure = this.#epoch !== undefined;
    const [guard, listing] = await Promise.all([
      this.#guard ?? this.#table.get(guardKey(this.id, randomStripe())).then((item) => this.#note(item)),
      listingOf(this.#table, this.id),
    ]);
    if (guard.state === 'deleted') throw new Missing('repository');
    if (!sure) this.#unsure ??= listing;
    else if (this.#unsure !== undefined) {
      // What was found in a pack that has left the list since may be garbage by now.
      if (!stillInUse(this.#unsure, listing)) this.#epoch = NO_EPOCH;
      this.#unsure = undefined;
    }
    this.#listed = listing;
    return listing;
  }

  /** Superseded packs too, behind those in use. */
  async catalogue(): Promise<readonly CataloguedPack[]> {
    // In this order: a pack that is superseded in between is read twice rather than not at all.
    const { packs } = await listingOf(this.#table, this.id);
    const superseded = await supersededOf(this.#table, this.id);
    const old = new Set(superseded.map(({ id }) => id));
    return [...packs.filter(({ id }) => !old.has(id)), ...superseded];
  }

  async compareAndSwap(updates: readonly RefUpdate[], options: SwapOptions = {}): Promise<void> {
    if (new Set(updates.map((update) => update.name)).size < updates.length)
      throw new RangeError('one ref is updated twice');
    const others =
      5 + (options.packs?.length ?? 0) + (options.alongside?.length ?? 0) + (options.messages?.length ?? 0);
    const large = updates.length > MAX_ROWS_CHANGED || updates.length + others > TRANSACTION_ITEMS;
    const by = ulid();
    for (let n = 0; n < ATTEMPTS; n++) {
      if (n > 0) await sleep(Math.random() * Math.min(500, 10 * 2 ** n));
      const messages = [...(options.messages ?? [])];
      const done = large
        ? await this.#swapLarge(updates, { ...options, messages }, by)
        : await this.#swapSmall(updates, { ...options, messages }, by, n === 0);
      if (done) {
        this.#forget();
        await this.#outbox.deliver(messages);
        return;
      }
    }
    // Whoever writes a new ref table is slow or has died; the next writers break the freeze when its time is over.
    if (this.#guard !== undefined && this.#guard.frozenBy !== '')
      throw new RefConflict([{ name: null, reason: 'read-only' }]);
    throw new StoreUnavailable(false, new Error('the repository is too busy'));
  }

  /** @returns false when somebody else was first and it is worth looking again. */
  async #swapSmall(
    updates: readonly RefUpdate[],
    options: Attempt,
    by: string,
    first: boolean,
  ): Promise<boolean> {
    const creating = updates.filter(creates);
    const deletes = !options.packs?.length && updates.every(({ to }) => to === ZERO_OID);
    const [look] = await Promise.all([
      (first && creating.length === 0 ? this.#recall(updates) : undefined) ?? this.#lookAt(updates, first),
      this.#unsure !== undefined && !deletes ? this.listing() : undefined,
    ]);
    const { guard, standing } = look;
    if (!(await this.#ready(guard, deletes))) return false;
    const rejections = staleUpdates(updates, (name) => standing.get(name)?.ref?.oid);
    rejections.push(...prefixConflicts(creating.length > 0 ? updates : [], look.neighbours));
    if (rejections.length > 0) throw new RefConflict(rejections);
    const [before, after] = [look.names, look.names + creating.length].map((n) => Math.floor(n / FOLD_AFTER));
    const folding = creating.length > 0 && before !== after;
    options.messages.push(...this.#upkeep(updates, options, folding));
    const writes: Write[] = [
      checkGuard(this.id, guard),
      ...updates.map((update) => this.#refWrite(update, standing.get(update.name)!, guard, by)),
      ...this.#namesWrite(updates, look.names),
      ...this.#companions(options, by),
    ];
    return this.#transact(writes, updates, options, by);
  }

  /** A whole new ref table: atomic for every reader, at any size. */
  async #swapLarge(updates: readonly RefUpdate[], options: Attempt, by: string): Promise<boolean> {
    if (this.#unsure !== undefined) await this.listing();
    options.messages.push(...this.#upkeep(updates, options, true));
    return this.#rewrite(by, options, (refs) => {
      const current = new Map(refs.map((ref) => [ref.name, ref]));
      const rejections = [
        ...staleUpdates(updates, (name) => current.get(name)?.oid),
        ...prefixConflicts(updates, current.keys()),
      ];
      if (rejections.length > 0) throw new RefConflict(rejections);
      for (const update of updates) {
        if (update.to === ZERO_OID) current.delete(update.name);
        else current.set(update.name, refOf(update));
      }
      return [...current.values()];
    });
  }

  /** What this write leaves for maintenance to do, as far as is known without reading anything. */
  #upkeep(updates: readonly RefUpdate[], { packs = [] }: SwapOptions, refs: boolean): OutboxMessage[] {
    const listed = [...packs, ...(this.#listed?.packs ?? [])];
    const grown = packs.length > 0 && (compactionPlan(listed).length > 0 || this.#isDue(listed));
    const collect = updates.some(
      ({ from, to, forced }) => forced === true || (to === ZERO_OID && from !== to),
    );
    if (!grown && !collect && !refs) return [];
    const body = {
      repositoryId: this.id,
      ...(collect ? { collect } : {}),
      ...(refs ? { refs } : {}),
    };
    return [message(MAINTENANCE, 'repository.maintain', body)];
  }

  #isDue(packs: readonly PackDescription[]): boolean {
    return dueKinds(packs, (kind) => this.derived(kind)).length > 0;
  }

  /** Moves every ref into a new table, so that rows are few again. For the maintenance worker. */
  async foldRefs(): Promise<void> {
    for (let n = 0; n < ATTEMPTS; n++) {
      if (n > 0) await sleep(Math.random() * Math.min(500, 10 * 2 ** n));
      if (await this.#rewrite(ulid(), {}, (refs) => refs)) return;
    }
    throw new StoreUnavailable(false, new Error('the repository is too busy'));
  }

  /**
   * Writers wait while this reads the refs, writes them and names the new table in the guards. A freeze whose
   * owner died is broken by the next writer; the dead one's last transaction then fails.
   */
  async #rewrite(
    by: string,
    options: SwapOptions,
    change: (refs: readonly Ref[]) => readonly Ref[],
  ): Promise<boolean> {
    const guard = this.#note(await this.#table.get(guardKey(this.id, randomStripe())));
    if (!(await this.#ready(guard))) return false;
    const frozenBy = ulid();
    const frozen: Guard = { ...guard, frozenBy };
    // Until it is known otherwise: when the answer is lost, they may be frozen.
    let frozenByUs = true;
    let done = false;
    try {
      frozenByUs = await this.#changeGuards({ frozenBy }, guard);
      if (!frozenByUs) return false;
      const { refs } = await this.#snapshot('');
      await writeRefTable(this.#table, this.id, frozenBy, change(refs));
      const writes: Write[] = [
        ...changeGuards(this.id, { refTable: frozenBy, frozenBy: '' }, frozen),
        { update: refNamesKey(this.id), add: { names: 1, multi: 1 } },
        ...this.#companions(options, by),
      ];
      done = await this.#transact(writes, [], options, by);
      return done;
    } finally {
      if (frozenByUs && !done) await this.#changeGuards({ frozenBy: '' }, frozen).catch(() => false);
    }
  }

  async #changeGuards(change: Partial<Guard>, expected: Guard): Promise<boolean> {
    try {
      await this.#table.transact(changeGuards(this.id, change, expected));
      return true;
    } catch (error) {
      if (error instanceof TransactionRefused) return false;
      throw error;
    }
  }

  /**
   * @param deletes nothing is made reachable: a collection in between does not matter
   * @returns whether writing may go on; waits for somebody else's ref table. @throws RefConflict
   */
  async #ready(guard: Guard, deletes = false): Promise<boolean> {
    const refuse = (reason: 'read-only' | 'deleted' | 'collected') =>
      new RefConflict([{ name: null, reason }]);
    if (guard.state !== 'open') throw refuse(guard.state);
    if (this.#epoch !== guard.epoch && !deletes) {
      this.#forget();
      this.#epoch = undefined;
      this.#unsure = undefined;
      throw refuse('collected');
    }
    if (guard.frozenBy === '') return true;
    if (decodeTime(guard.frozenBy) + FREEZE_MS < Date.now())
      await this.#changeGuards({ frozenBy: '' }, guard);
    else await sleep(20 + Math.random() * 80);
    return false;
  }

  async #transact(
    writes: readonly Write[],
    updates: readonly RefUpdate[],
    options: SwapOptions,
    by: string,
  ): Promise<boolean> {
    try {
      await this.#table.transact(writes);
      return true;
    } catch (error) {
      if (error instanceof TransactionRefused) {
        const foreign = error.refusals.filter(({ reason }) => !OWN_REASONS.has(reason));
        if (foreign.length === 0) return error.get('pack')?.item?.['by'] === by;
        throw error;
      }
      if (
        error instanceof StoreUnavailable &&
        error.ambiguous &&
        (await this.#happened(updates, options, by))
      )
        return true;
      throw error;
    }
  }

  /** After a lost answer: one's own pack or ref row says whether it happened. */
  async #happened(updates: readonly RefUpdate[], options: SwapOptions, by: string): Promise<boolean> {
    const moved = updates.find((update) => update.to !== ZERO_OID);
    const packs = options.packs?.length ? await this.catalogue() : [];
    if (options.packs?.length) return packs.some((pack) => pack.id === options.packs![0]!.id);
    if (moved === undefined) return false;
    return (await this.#table.get(refKey(this.id, moved.name)))?.['by'] === by;
  }

  #companions({ packs = [], head, alongside = [], messages = [] }: SwapOptions, by: string): Write[] {
    return [
      ...packs.map((pack) => listPack(this.id, pack, by)),
      ...(head === undefined ? [] : [{ put: { ...headKey(this.id), target: head } }]),
      ...alongside,
      ...messages.map(outboxWrite),
    ];
  }

  #refWrite(update: RefUpdate, { row }: Standing, guard: Guard, by: string): Write {
    const table = guard.refTable;
    const key = refKey(this.id, update.name);
    const current = row !== undefined && row.table === table;
    const expected = {
      if: current ? '#oid = :oid AND #table = :table' : 'attribute_not_exists(#pk) OR #table <> :table',
      values: current ? { oid: row.oid, table } : { table },
      reason: 'ref',
    };
    if (update.from === update.to) return { check: key, ...expected };
    if (update.to !== ZERO_OID) return { put: { ...key, ...refOf(update), table, by }, ...expected };
    // A table may hold the name: a row without an object says that it is gone.
    if (table !== '') return { put: { ...key, name: update.name, oid: '', table, by }, ...expected };
    return { delete: key, ...expected };
  }

  /** Creators exclude each other by the version, which rises by as many as they create; what changes several refs at once tells readers so. */
  #namesWrite(updates: readonly RefUpdate[], names: number): Write[] {
    const created = updates.filter(creates).length;
    const several = updates.filter((update) => update.from !== update.to).length > 1;
    if (created === 0 && !several) return [];
    return [
      {
        update: refNamesKey(this.id),
        add: { ...(created > 0 ? { names: created } : {}), ...(several ? { multi: 1 } : {}) },
        ...(created > 0 ? { if: '#names = :names', values: { names }, reason: 'names' } : {}),
      },
    ];
  }

  /** What this request read before; a caller that was told of it has based `from` on it. */
  #recall(updates: readonly RefUpdate[]): Look | undefined {
    const guard = this.#guard;
    if (guard === undefined || guard.frozenBy !== '') return undefined;
    const standing = new Map<RefName, Standing>();
    for (const { name, from } of updates) {
      const seen = this.#seen.get(name);
      if (seen === undefined || (seen.ref?.oid ?? ZERO_OID) !== from) return undefined;
      standing.set(name, seen);
    }
    return { guard, standing, neighbours: [], names: 0 };
  }

  /**
   * The updated refs, and for creations whatever could be in their way.
   * @param first a version of the names that was read a moment ago will do
   */
  async #lookAt(updates: readonly RefUpdate[], first: boolean): Promise<Look> {
    const created = updates.filter(creates).map((update) => update.name);
    if (created.length === 0) return this.#look(updates.map((update) => update.name));
    if (created.length > MAX_NEIGHBOUR_LOOKUPS) {
      const names = await this.#namesVersion();
      const look = await this.#look(updates.map((update) => update.name));
      const { refs } = await this.#snapshot('');
      return { ...look, names, neighbours: refs.map((ref) => ref.name) };
    }
    const above = created.flatMap(namesAbove);
    const recent = this.#names !== undefined && Date.now() - this.#names.at < NAMES_MS;
    const names = first && recent ? this.#names!.version : await this.#namesVersion();
    const rowsBelow = (guard: Guard) => Promise.all(created.map((name) => this.#rows(`${name}/`, guard)));
    const known = this.#guard;
    const [look, early] = await Promise.all([
      this.#look([...updates.map((update) => update.name), ...above]),
      known && rowsBelow(known),
    ]);
    const usable = early !== undefined && known?.refTable === look.guard.refTable;
    const below = usable ? early : await rowsBelow(look.guard);
    const neighbours = [...look.standing.values()].flatMap(({ ref }) =>
      ref === undefined ? [] : [ref.name],
    );
    neighbours.push(...below.flatMap((refs) => [...refs.keys()]));
    return { ...look, names, neighbours };
  }

  /** Read before the names it stands for: whoever creates one in between raises it. */
  async #namesVersion(): Promise<number> {
    const item = await this.#table.get(refNamesKey(this.id));
    if (item === undefined) throw new Missing('repository');
    return item['names'] as number;
  }

  async #look(names: readonly RefName[]): Promise<Look> {
    for (let n = 0; ; n++) {
      const at = Date.now();
      const [guardItem, version, ...rows] = await this.#table.batchGet([
        guardKey(this.id, randomStripe()),
        refNamesKey(this.id),
        ...names.map((name) => refKey(this.id, name)),
      ]);
      const guard = this.#note(guardItem);
      if (version !== undefined) this.#names = { version: version['names'] as number, at };
      const standing = new Map<RefName, Standing>();
      const inRows = (i: number) => rows[i] !== undefined && rows[i]['table'] === guard.refTable;
      // The guard may be older than what was read with it: a row may belong to the next table.
      const doubtful = names.some((_, i) => !inRows(i) && (rows[i] !== undefined || guard.refTable !== ''));
      const [again] = await Promise.all([
        doubtful ? this.#table.get(guardKey(this.id, randomStripe())) : guardItem,
        ...names.map(async (name, i) => {
          const row = rows[i];
          const ref =
            row !== undefined && inRows(i)
              ? refOfRow(row)
              : guard.refTable === ''
                ? undefined
                : await refInTable(this.#table, this.id, guard.refTable, name);
          standing.set(name, { ref, row: row as unknown as Standing['row'] });
        }),
      ]);
      // A table is removed an hour after it was replaced: whoever took so long to read it looks again.
      const late = Date.now() - at > LOOK_MS;
      if (doubtful && n < 5 && (late || guardOf(again)?.refTable !== guard.refTable)) continue;
      for (const [name, stands] of standing) this.#seen.set(name, stands);
      return { guard, standing, neighbours: [], names: 0 };
    }
  }

  /**
   * One view of every ref: transactions of several refs raise `multi`, which is read before the refs and again
   * after them. When it moved meanwhile, part of such a transaction may have been seen, so it is read again. It sorts
   * behind all refs, so backwards it comes before them, with one query.
   */
  async #snapshot(prefix: string): Promise<{ head: RefName; refs: Ref[] }> {
    const partition = repositoryPartition(this.id);
    const range = {
      partition,
      from: prefix === '' ? REF : refPrefixSort(prefix),
      to: refNamesKey(this.id).sk,
    };
    for (let n = 0; n < SNAPSHOTS; n++) {
      if (n > 3) await sleep(Math.random() * 5 * n);
      const [[guardItem, head], [before, ...rows]] = await Promise.all([
        this.#table.batchGet([guardKey(this.id, randomStripe()), headKey(this.id)]),
        collect(this.#table.queryAll({ ...range, reverse: true })),
      ]);
      const guard = this.#note(guardItem);
      if (guard.state === 'deleted') throw new Missing('repository');
      const [stored, [guardAfter, after]] = await Promise.all([
        this.#inTable(prefix, guard),
        this.#table.batchGet([guardKey(this.id, randomStripe()), refNamesKey(this.id)]),
      ]);
      if (after?.['multi'] !== before?.['multi'] || guardOf(guardAfter)?.refTable !== guard.refTable)
        continue;
      const refs = amended(stored, rows, guard, prefix);
      return {
        head: head!['target'] as RefName,
        refs: [...refs.values()].toSorted((a, b) => compareText(a.name, b.name)),
      };
    }
    throw new StoreUnavailable(false, new Error('the refs keep changing'));
  }

  /** Refs under a prefix, as they stand while they are read. */
  async #rows(prefix: string, guard: Guard): Promise<Map<RefName, Ref>> {
    const partition = repositoryPartition(this.id);
    const [stored, rows] = await Promise.all([
      this.#inTable(prefix, guard),
      collect(this.#table.queryAll({ partition, prefix: refPrefixSort(prefix) })),
    ]);
    return amended(stored, rows, guard, prefix);
  }

  async #inTable(prefix: string, { refTable }: Guard): Promise<readonly Ref[]> {
    return refTable === '' ? [] : refsInTable(this.#table, this.id, refTable, prefix);
  }

  #note(item: Item | undefined): Guard {
    const guard = guardOf(item);
    if (guard === undefined) throw new Missing('repository');
    this.#epoch ??= guard.epoch;
    this.#guard = guard;
    return guard;
  }

  #forget(): void {
    this.#seen.clear();
    this.#names = undefined;
    this.#guard = undefined;
  }
}

interface Look {
  readonly guard: Guard;
  readonly standing: ReadonlyMap<RefName, Standing>;
  /** Live refs that could be in the way of a creation. */
  readonly neighbours: readonly RefName[];
  /** Version of the ref names when this was read; only with creations. */
  readonly names: number;
}

/** No guard has it. */
const NO_EPOCH = -1;

/** Whether every pack that held more than garbage still does. */
function stillInUse({ packs }: Listing, now: Listing): boolean {
  const inUse = new Set(now.packs.filter(({ source }) => source !== 'garbage').map(({ id }) => id));
  return packs.every(({ id, source }) => source === 'garbage' || inUse.has(id));
}

const OWN_REASONS = new Set(['guard', 'ref', 'names', 'pack']);

function refOf({ name, to, peeled }: RefUpdate): Ref {
  return peeled === undefined ? { name, oid: to } : { name, oid: to, peeled };
}

function refOfRow(row: Item): Ref | undefined {
  if (row['oid'] === '') return undefined;
  const { name, oid, peeled } = row as unknown as { name: RefName; oid: Oid; peeled?: Oid };
  return peeled === undefined ? { name, oid } : { name, oid, peeled };
}

/** The refs of the table in force, amended by the rows that name it. */
function amended(
  stored: readonly Ref[],
  rows: readonly Item[],
  { refTable }: Guard,
  prefix: string,
): Map<RefName, Ref> {
  const refs = new Map(stored.map((ref) => [ref.name, ref]));
  for (const row of rows) {
    const name = row['name'] as RefName;
    if (row['table'] !== refTable || !name.startsWith(prefix)) continue;
    const ref = refOfRow(row);
    if (ref === undefined) refs.delete(name);
    else refs.set(name, ref);
  }
  return refs;
}

async function collect(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}
