/** Compare-and-swap of any number of refs: as rows in one transaction, or as a new ref table. */
import { setTimeout as sleep } from 'node:timers/promises';
import { decodeTime, ulid } from 'ulid';
import { dueKinds } from '../../git/maintenance/due.ts';
import { compactionPlan } from '../../git/maintenance/plan.ts';
import { ZERO_OID } from '../../git/oid.ts';
import { type PackDescription, type Ref, RefConflict, type RefUpdate } from '../../git/ports.ts';
import { dropsTip } from '../../git/ref-tips.ts';
import type { RefName } from '../../git/refname.ts';
import { StoreUnavailable, TransactionRefused } from '../errors.ts';
import { MAINTAIN_JOB } from '../maintenance/last-runs.ts';
import { itemsOf, MAINTENANCE, message, type Outbox, type OutboxMessage } from '../outbox/outbox.ts';
import { guardKey, refKey, refNamesKey } from '../row-keys/repository.ts';
import { TRANSACTION_ITEMS } from '../table/table.ts';
import type { Write } from '../table/write.ts';
import type { PackListSnapshots } from './pack-list-snapshot.ts';
import { recordOldTips } from './recent-tips.ts';
import { creates, namesAbove, prefixConflicts, removes, staleUpdates } from './ref-check.ts';
import type { RefSnapshot, RefSnapshots } from './ref-snapshot.ts';
import { removeRefTable, writeRefTable } from './ref-table-writer.ts';
import { updated } from './ref-updates.ts';
import type { RefViews } from './ref-views.ts';
import {
  companions,
  type FirstWrite,
  firstWrites,
  namesWrite,
  refWrite,
  type SwapOptions,
} from './ref-writes.ts';
import { changeGuards, checkGuard, type Guard, randomStripe } from './state.ts';

/** Options of one attempt, which adds messages of its own. */
interface Attempt extends SwapOptions {
  readonly messages: OutboxMessage[];
}

/** What is read before refs are created. */
interface CreationSnapshot extends RefSnapshot {
  /** Existing refs that may conflict with a creation. */
  readonly neighbours: readonly RefName[];
  /** Version of the ref names before this was read; 0 without creations. */
  readonly names: number;
}

const NO_CREATIONS = { neighbours: [], names: 0 };

/** More changes than this are written as a new ref table. */
const MAX_ROWS_CHANGED = 90;
/** With more created names than this, all refs are read to find conflicts, if there are at most {@link FEW_REFS}. */
const MAX_NEIGHBOUR_LOOKUPS = 8;
const FEW_REFS = 2000;
/** Milliseconds for which a known version of the ref names is used: a concurrent creation forces a retry. */
const NAMES_MS = 1000;
const ATTEMPTS = 40;
/** Milliseconds after which a writer of a ref table is assumed dead. */
export const FREEZE_MS = 60_000;
/** Maintenance checks for rows to fold after every so many created refs. */
const FOLD_AFTER = 100;
/** Probability of such a check per write that may add a row. */
const FOLD_CHANCE = 1 / 100;
export class RefTransactions {
  readonly #snapshots: RefSnapshots;
  readonly #views: RefViews;
  readonly #packs: PackListSnapshots;
  readonly #outbox: Outbox;

  constructor(snapshots: RefSnapshots, views: RefViews, packs: PackListSnapshots, outbox: Outbox) {
    this.#snapshots = snapshots;
    this.#views = views;
    this.#packs = packs;
    this.#outbox = outbox;
  }

  async compareAndSwap(updates: readonly RefUpdate[], options: SwapOptions = {}): Promise<void> {
    if (new Set(updates.map((update) => update.name)).size < updates.length)
      throw new RangeError('one ref is updated twice');
    const others =
      6 + (options.packs?.length ?? 0) + (options.alongside?.length ?? 0) + itemsOf(options.messages ?? []);
    const large = updates.length > MAX_ROWS_CHANGED || updates.length + others > TRANSACTION_ITEMS;
    const by = ulid();
    for (let n = 0; n < ATTEMPTS; n++) {
      if (n > 0) await sleep(Math.random() * Math.min(500, 10 * 2 ** n));
      const messages = [...(options.messages ?? [])];
      const done = large
        ? await this.#swapLarge(updates, { ...options, messages }, by)
        : await this.#swapSmall(updates, { ...options, messages }, by, n === 0);
      if (done) {
        this.#snapshots.forget();
        await this.#outbox.deliver(messages);
        return;
      }
    }
    // The writer of a new ref table is slow or has died; later writers break the freeze when it expires.
    if (this.#snapshots.guard !== undefined && this.#snapshots.guard.frozenBy !== '')
      throw new RefConflict([{ name: null, reason: 'read-only' }]);
    throw new StoreUnavailable(false, new Error('the repository is too busy'));
  }

  /**
   * The first write of a repository that has no rows: makes them in the same transaction. Updates that are too many for
   * one are left, with all that belongs to them, to {@link compareAndSwap}.
   * @returns false when the updates are to be made as any others: another writer was first, or they were too many
   * @throws RefConflict; TransactionRefused for the owner or what is written alongside. Nothing is changed then.
   */
  async begin(updates: readonly RefUpdate[], options: SwapOptions, first: FirstWrite): Promise<boolean> {
    const rejections = staleUpdates(updates, () => undefined);
    rejections.push(...prefixConflicts(updates, []));
    if (rejections.length > 0) throw new RefConflict(rejections);
    const by = ulid();
    const whole = firstWrites(this.#id, updates, options, first, by);
    const fits = whole.length <= TRANSACTION_ITEMS;
    const writes = fits ? whole : firstWrites(this.#id, [], {}, first, by);
    const began = await this.#transact(writes, fits ? updates : [], fits ? options : {}, by);
    this.#snapshots.forget();
    if (began && fits) await this.#outbox.deliver([...(options.messages ?? [])]);
    return began && fits;
  }

  /** @returns false when a concurrent write won and another attempt may succeed. */
  async #swapSmall(
    updates: readonly RefUpdate[],
    options: Attempt,
    by: string,
    first: boolean,
  ): Promise<boolean> {
    const creating = updates.filter(creates);
    const deletes = !options.packs?.length && updates.every(({ to }) => to === ZERO_OID);
    const recalled = first && creating.length === 0 ? this.#snapshots.recall(updates) : undefined;
    const [snapshot] = await Promise.all([
      recalled === undefined ? this.#readForSwap(updates, first) : { ...recalled, ...NO_CREATIONS },
      this.#packs.unsure && !deletes ? this.#packs.listing() : undefined,
    ]);
    const { guard, states } = snapshot;
    if (!(await this.#ready(guard, deletes))) return false;
    const rejections = staleUpdates(updates, (name) => states.get(name)?.ref?.oid);
    rejections.push(...prefixConflicts(creating.length > 0 ? updates : [], snapshot.neighbours));
    if (rejections.length > 0) throw new RefConflict(rejections);
    const [before, after] = [snapshot.names, snapshot.names + creating.length].map((n) =>
      Math.floor(n / FOLD_AFTER),
    );
    const amending = updates.filter(({ name }) => guard.refTable !== states.get(name)?.row?.table).length;
    const folding =
      (creating.length > 0 && before !== after) ||
      (guard.refTable !== '' && Math.random() < amending * FOLD_CHANCE);
    options.messages.push(...this.#upkeep(updates, options, folding));
    const writes: Write[] = [
      checkGuard(this.#id, guard),
      ...updates.map((update) => refWrite(this.#id, update, states.get(update.name)!, guard, by)),
      ...namesWrite(this.#id, updates, snapshot),
      ...recordOldTips(this.#id, updates, (name) => states.get(name)?.ref, by),
      ...companions(this.#id, options, by),
    ];
    return this.#transact(writes, updates, options, by);
  }

  /** Writes a new ref table: atomic for all readers, with any number of updates. */
  async #swapLarge(updates: readonly RefUpdate[], options: Attempt, by: string): Promise<boolean> {
    if (this.#packs.unsure) await this.#packs.listing();
    options.messages.push(...this.#upkeep(updates, options, true));
    const oldTips = recordOldTips(this.#id, updates, () => undefined, by);
    const alongside = [...(options.alongside ?? []), ...oldTips];
    return this.#rewrite(by, { ...options, alongside }, (refs) => updated(refs, updates));
  }

  /** Messages for maintenance after this write, as far as is known without further reads. */
  #upkeep(updates: readonly RefUpdate[], { packs = [] }: SwapOptions, refs: boolean): OutboxMessage[] {
    const listed = [...packs, ...(this.#packs.listed?.packs ?? [])];
    const grown = packs.length > 0 && (compactionPlan(listed).length > 0 || this.#isDue(listed));
    const collect = updates.some(dropsTip);
    if (!grown && !collect && !refs) return [];
    const body = {
      repositoryId: this.#id,
      ...(collect ? { collect } : {}),
      ...(refs ? { refs } : {}),
    };
    return [message(MAINTENANCE, MAINTAIN_JOB, body)];
  }

  #isDue(packs: readonly PackDescription[]): boolean {
    return dueKinds(packs, (kind) => this.#packs.derived(kind)).length > 0;
  }

  /** Folds all refs into a new table, which leaves few rows. For the maintenance worker. */
  async foldRefs(): Promise<void> {
    for (let n = 0; n < ATTEMPTS; n++) {
      if (n > 0) await sleep(Math.random() * Math.min(500, 10 * 2 ** n));
      if (await this.#rewrite(ulid(), {}, (refs) => refs)) return;
    }
    throw new StoreUnavailable(false, new Error('the repository is too busy'));
  }

  /**
   * Writers wait while this reads the refs, writes the new table and puts it into the guards. If the owner of a freeze
   * dies, the next writer breaks the freeze, which makes the owner's last transaction fail.
   */
  async #rewrite(
    by: string,
    options: SwapOptions,
    change: (refs: AsyncIterable<readonly Ref[]>) => AsyncIterable<readonly Ref[]>,
  ): Promise<boolean> {
    const guard = this.#snapshots.noteGuard(await this.#table.get(guardKey(this.#id, randomStripe())));
    if (!(await this.#ready(guard))) return false;
    const tableId = ulid();
    let frozen: Guard = { ...guard, frozenBy: tableId };
    // Assumed until the response: if it is lost, the guards may be frozen.
    let frozenByUs = true;
    let done = false;
    // With a million refs this takes longer than FREEZE_MS: renew the freeze.
    const renewing = async function* (this: RefTransactions, refs: AsyncIterable<readonly Ref[]>) {
      for await (const some of refs) {
        if (decodeTime(frozen.frozenBy) + FREEZE_MS / 3 < Date.now()) {
          const frozenBy = ulid();
          frozenByUs = await this.#changeGuards({ frozenBy }, frozen);
          if (!frozenByUs) throw new Unfrozen();
          frozen = { ...frozen, frozenBy };
        }
        yield some;
      }
    };
    try {
      frozenByUs = await this.#changeGuards({ frozenBy: tableId }, guard);
      if (!frozenByUs) return false;
      const refs = (await this.#views.view()).refs();
      const counts = await writeRefTable(this.#table, this.#id, tableId, renewing.call(this, change(refs)));
      const writes: Write[] = [
        ...changeGuards(this.#id, { refTable: tableId, frozenBy: '' }, frozen),
        { update: refNamesKey(this.#id), add: { names: 1, multi: 1 }, set: { ...counts } },
        ...companions(this.#id, options, by),
      ];
      done = await this.#transact(writes, [], options, by);
      return done;
    } catch (error) {
      if (error instanceof RefConflict) await this.#discardTable(tableId);
      if (error instanceof Unfrozen) return false;
      throw error;
    } finally {
      if (frozenByUs && !done) await this.#changeGuards({ frozenBy: '' }, frozen).catch(() => false);
    }
  }

  /** What cannot be deleted now is deleted by the next sweep. */
  async #discardTable(tableId: string): Promise<void> {
    await removeRefTable(this.#table, this.#id, tableId).catch(() => {});
  }

  async #changeGuards(change: Partial<Guard>, expected: Guard): Promise<boolean> {
    try {
      await this.#table.transact(changeGuards(this.#id, change, expected));
      return true;
    } catch (error) {
      if (error instanceof TransactionRefused) return false;
      throw error;
    }
  }

  /**
   * @param deletes only deletions: a garbage collection in between does not matter
   * @returns whether the write may proceed; false after waiting for another writer's ref table. @throws RefConflict
   */
  async #ready(guard: Guard, deletes = false): Promise<boolean> {
    const refuse = (reason: 'read-only' | 'deleted' | 'collected') =>
      new RefConflict([{ name: null, reason }]);
    if (guard.state !== 'open') throw refuse(guard.state);
    if (this.#snapshots.epoch !== guard.epoch && !deletes) {
      this.#snapshots.forget();
      this.#snapshots.epoch = undefined;
      this.#packs.forget();
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

  /** After a lost response: the pack or ref row shows whether the transaction succeeded. */
  async #happened(updates: readonly RefUpdate[], options: SwapOptions, by: string): Promise<boolean> {
    const moved = updates.find(({ from, to }) => to !== ZERO_OID && to !== from);
    const packs = options.packs?.length ? await this.#packs.catalogue() : [];
    if (options.packs?.length) return packs.some((pack) => pack.id === options.packs![0]!.id);
    if (moved === undefined) return false;
    return (await this.#table.get(refKey(this.#id, moved.name)))?.['by'] === by;
  }

  /**
   * Reads the updated refs, and for creations the refs that may conflict with them.
   * @param first first attempt: a recently read version of the names may be used
   */
  async #readForSwap(updates: readonly RefUpdate[], first: boolean): Promise<CreationSnapshot> {
    const created = updates.filter(creates).map((update) => update.name);
    if (created.length === 0)
      return { ...(await this.#snapshots.read(updates.map((update) => update.name))), ...NO_CREATIONS };
    const known = this.#snapshots.names;
    const recent = first && known !== undefined && Date.now() - known.at < NAMES_MS;
    const { version: names, refs } = recent ? known : await this.#snapshots.namesVersion();
    if (created.length > MAX_NEIGHBOUR_LOOKUPS && refs <= FEW_REFS) {
      const snapshot = await this.#snapshots.read(updates.map((update) => update.name));
      const neighbours: RefName[] = [];
      for await (const some of (await this.#views.view()).refs())
        neighbours.push(...some.map(({ name }) => name));
      return { ...snapshot, names, neighbours };
    }
    const ancestors = created.flatMap(namesAbove);
    const removed = new Set(updates.filter(removes).map(({ name }) => name));
    const readDescendants = (guard: Guard) =>
      Promise.all(created.map((name) => this.#views.anyBelow(`${name}/`, guard, removed)));
    const guard = this.#snapshots.guard;
    const [snapshot, prefetched] = await Promise.all([
      this.#snapshots.read([...new Set([...updates.map((update) => update.name), ...ancestors])]),
      guard && readDescendants(guard),
    ]);
    const usable = prefetched !== undefined && guard?.refTable === snapshot.guard.refTable;
    const descendants = usable ? prefetched : await readDescendants(snapshot.guard);
    const neighbours = [...snapshot.states.values()].flatMap(({ ref }) =>
      ref === undefined ? [] : [ref.name],
    );
    neighbours.push(...descendants.filter((name) => name !== undefined));
    return { ...snapshot, names, neighbours };
  }

  get #id(): string {
    return this.#snapshots.id;
  }

  get #table() {
    return this.#snapshots.table;
  }
}

/** Another writer broke the freeze. */
class Unfrozen extends Error {
  constructor() {
    super('the freeze of the refs was broken');
    this.name = 'Unfrozen';
  }
}

const OWN_REASONS = new Set(['guard', 'ref', 'names', 'pack', 'repository']);
