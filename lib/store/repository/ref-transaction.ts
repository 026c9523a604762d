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
import { MAINTENANCE, message, type Outbox, type OutboxMessage } from '../outbox/outbox.ts';
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
import { companions, namesWrite, refWrite, type SwapOptions } from './ref-writes.ts';
import { changeGuards, checkGuard, type Guard, randomStripe } from './state.ts';

/** One attempt at a swap, which adds messages of its own. */
interface Attempt extends SwapOptions {
  readonly messages: OutboxMessage[];
}

/** What is looked at before names are created. */
interface CreationLook extends RefSnapshot {
  /** Live refs that could be in the way of a creation. */
  readonly neighbours: readonly RefName[];
  /** Version of the ref names when this was read; only with creations. */
  readonly names: number;
}

const NOTHING_CREATED = { neighbours: [], names: 0 };

/** More changes than this are written as a new ref table. */
const MAX_ROWS_CHANGED = 90;
/** More names than this have their neighbours looked up among all refs, if these are few. */
const MAX_NEIGHBOUR_LOOKUPS = 8;
const FEW_REFS = 2000;
/** How long a version of the ref names is worth trying: whoever creates a name meanwhile makes the write begin again. */
const NAMES_MS = 1000;
const ATTEMPTS = 40;
/** A writer of a ref table that takes longer than this has died. */
export const FREEZE_MS = 60_000;
/** Every so many new names somebody looks whether ref rows are worth folding. */
const FOLD_AFTER = 100;
/** Of the writes that may add such a row, one in so many has somebody look. */
const FOLD_CHANCE = 1 / 100;
export class RefSwaps {
  readonly #looks: RefSnapshots;
  readonly #views: RefViews;
  readonly #packs: PackListSnapshots;
  readonly #outbox: Outbox;

  constructor(looks: RefSnapshots, views: RefViews, packs: PackListSnapshots, outbox: Outbox) {
    this.#looks = looks;
    this.#views = views;
    this.#packs = packs;
    this.#outbox = outbox;
  }

  async compareAndSwap(updates: readonly RefUpdate[], options: SwapOptions = {}): Promise<void> {
    if (new Set(updates.map((update) => update.name)).size < updates.length)
      throw new RangeError('one ref is updated twice');
    const others =
      6 + (options.packs?.length ?? 0) + (options.alongside?.length ?? 0) + (options.messages?.length ?? 0);
    const large = updates.length > MAX_ROWS_CHANGED || updates.length + others > TRANSACTION_ITEMS;
    const by = ulid();
    for (let n = 0; n < ATTEMPTS; n++) {
      if (n > 0) await sleep(Math.random() * Math.min(500, 10 * 2 ** n));
      const messages = [...(options.messages ?? [])];
      const done = large
        ? await this.#swapLarge(updates, { ...options, messages }, by)
        : await this.#swapSmall(updates, { ...options, messages }, by, n === 0);
      if (done) {
        this.#looks.forget();
        await this.#outbox.deliver(messages);
        return;
      }
    }
    // Whoever writes a new ref table is slow or has died; the next writers break the freeze when its time is over.
    if (this.#looks.guard !== undefined && this.#looks.guard.frozenBy !== '')
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
    const recalled = first && creating.length === 0 ? this.#looks.recall(updates) : undefined;
    const [look] = await Promise.all([
      recalled === undefined ? this.#lookAt(updates, first) : { ...recalled, ...NOTHING_CREATED },
      this.#packs.unsure && !deletes ? this.#packs.listing() : undefined,
    ]);
    const { guard, states } = look;
    if (!(await this.#ready(guard, deletes))) return false;
    const rejections = staleUpdates(updates, (name) => states.get(name)?.ref?.oid);
    rejections.push(...prefixConflicts(creating.length > 0 ? updates : [], look.neighbours));
    if (rejections.length > 0) throw new RefConflict(rejections);
    const [before, after] = [look.names, look.names + creating.length].map((n) => Math.floor(n / FOLD_AFTER));
    const amending = updates.filter(({ name }) => guard.refTable !== states.get(name)?.row?.table).length;
    const folding =
      (creating.length > 0 && before !== after) ||
      (guard.refTable !== '' && Math.random() < amending * FOLD_CHANCE);
    options.messages.push(...this.#upkeep(updates, options, folding));
    const writes: Write[] = [
      checkGuard(this.#id, guard),
      ...updates.map((update) => refWrite(this.#id, update, states.get(update.name)!, guard, by)),
      ...namesWrite(this.#id, updates, look),
      ...recordOldTips(this.#id, updates, (name) => states.get(name)?.ref, by),
      ...companions(this.#id, options, by),
    ];
    return this.#transact(writes, updates, options, by);
  }

  /** A whole new ref table: atomic for every reader, at any size. */
  async #swapLarge(updates: readonly RefUpdate[], options: Attempt, by: string): Promise<boolean> {
    if (this.#packs.unsure) await this.#packs.listing();
    options.messages.push(...this.#upkeep(updates, options, true));
    const left = recordOldTips(this.#id, updates, () => undefined, by);
    const alongside = [...(options.alongside ?? []), ...left];
    return this.#rewrite(by, { ...options, alongside }, (refs) => updated(refs, updates));
  }

  /** What this write leaves for maintenance to do, as far as is known without reading anything. */
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
    change: (refs: AsyncIterable<readonly Ref[]>) => AsyncIterable<readonly Ref[]>,
  ): Promise<boolean> {
    const guard = this.#looks.noteGuard(await this.#table.get(guardKey(this.#id, randomStripe())));
    if (!(await this.#ready(guard))) return false;
    const tableId = ulid();
    let frozen: Guard = { ...guard, frozenBy: tableId };
    // Until it is known otherwise: when the answer is lost, they may be frozen.
    let frozenByUs = true;
    let done = false;
    // Of a million refs it takes longer than others wait for one that may have died.
    const renewing = async function* (this: RefSwaps, refs: AsyncIterable<readonly Ref[]>) {
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
      if (error instanceof RefConflict) await this.#giveUp(tableId);
      if (error instanceof Unfrozen) return false;
      throw error;
    } finally {
      if (frozenByUs && !done) await this.#changeGuards({ frozenBy: '' }, frozen).catch(() => false);
    }
  }

  /** What is left of it goes with the next sweep. */
  async #giveUp(tableId: string): Promise<void> {
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
   * @param deletes nothing is made reachable: a collection in between does not matter
   * @returns whether writing may go on; waits for somebody else's ref table. @throws RefConflict
   */
  async #ready(guard: Guard, deletes = false): Promise<boolean> {
    const refuse = (reason: 'read-only' | 'deleted' | 'collected') =>
      new RefConflict([{ name: null, reason }]);
    if (guard.state !== 'open') throw refuse(guard.state);
    if (this.#looks.epoch !== guard.epoch && !deletes) {
      this.#looks.forget();
      this.#looks.epoch = undefined;
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

  /** After a lost answer: one's own pack or ref row says whether it happened. */
  async #happened(updates: readonly RefUpdate[], options: SwapOptions, by: string): Promise<boolean> {
    const moved = updates.find((update) => update.to !== ZERO_OID);
    const packs = options.packs?.length ? await this.#packs.catalogue() : [];
    if (options.packs?.length) return packs.some((pack) => pack.id === options.packs![0]!.id);
    if (moved === undefined) return false;
    return (await this.#table.get(refKey(this.#id, moved.name)))?.['by'] === by;
  }

  /**
   * The updated refs, and for creations whatever could be in their way.
   * @param first a version of the names that was read a moment ago will do
   */
  async #lookAt(updates: readonly RefUpdate[], first: boolean): Promise<CreationLook> {
    const created = updates.filter(creates).map((update) => update.name);
    if (created.length === 0)
      return { ...(await this.#looks.read(updates.map((update) => update.name))), ...NOTHING_CREATED };
    const known = this.#looks.names;
    const recent = first && known !== undefined && Date.now() - known.at < NAMES_MS;
    const { version: names, refs } = recent ? known : await this.#looks.namesVersion();
    if (created.length > MAX_NEIGHBOUR_LOOKUPS && refs <= FEW_REFS) {
      const look = await this.#looks.read(updates.map((update) => update.name));
      const neighbours: RefName[] = [];
      for await (const some of (await this.#views.view()).refs())
        neighbours.push(...some.map(({ name }) => name));
      return { ...look, names, neighbours };
    }
    const above = created.flatMap(namesAbove);
    const removed = new Set(updates.filter(removes).map(({ name }) => name));
    const lookBelow = (guard: Guard) =>
      Promise.all(created.map((name) => this.#views.anyBelow(`${name}/`, guard, removed)));
    const guard = this.#looks.guard;
    const [look, early] = await Promise.all([
      this.#looks.read([...new Set([...updates.map((update) => update.name), ...above])]),
      guard && lookBelow(guard),
    ]);
    const usable = early !== undefined && guard?.refTable === look.guard.refTable;
    const below = usable ? early : await lookBelow(look.guard);
    const neighbours = [...look.states.values()].flatMap(({ ref }) =>
      ref === undefined ? [] : [ref.name],
    );
    neighbours.push(...below.filter((name) => name !== undefined));
    return { ...look, names, neighbours };
  }

  get #id(): string {
    return this.#looks.id;
  }

  get #table() {
    return this.#looks.table;
  }
}

/** Somebody broke the freeze. */
class Unfrozen extends Error {
  constructor() {
    super('the freeze of the refs was broken');
    this.name = 'Unfrozen';
  }
}

const OWN_REASONS = new Set(['guard', 'ref', 'names', 'pack']);
