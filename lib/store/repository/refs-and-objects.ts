/** The ref database and pack catalogue of one repository, stored in the table (`lib/git/ports.ts`). */
import type { Oid } from '../../git/oid.ts';
import type {
  DerivedFile,
  DerivedKind,
  PackDescription,
  Ref,
  RefPage,
  RefPageQuery,
  RefSnapshot,
  RefUpdate,
  RefView,
} from '../../git/ports.ts';
import type { RefDatabase } from '../../git/ref-database.ts';
import type { RefName } from '../../git/refname.ts';
import { Missing } from '../errors.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { headKey } from '../row-keys/repository.ts';
import type { Table } from '../table/table.ts';
import type { CataloguedPack, Listing } from './pack-list.ts';
import { PackListSnapshots } from './pack-list-snapshot.ts';
import { pinnedIn } from './pinned-commits.ts';
import { recentTips } from './recent-tips.ts';
import { RefSnapshots } from './ref-snapshot.ts';
import { RefTransactions } from './ref-transaction.ts';
import { RefViews, snapshotOf } from './ref-views.ts';
import type { FirstWrite, SwapOptions } from './ref-writes.ts';

export class RepositoryRefs implements RefDatabase {
  readonly id: string;
  readonly #table: Table;
  readonly #likelyHead: RefName | undefined;
  readonly #snapshots: RefSnapshots;
  readonly #views: RefViews;
  readonly #packs: PackListSnapshots;
  readonly #swaps: RefTransactions;

  constructor(table: Table, outbox: Outbox, repositoryId: string, likelyHead?: RefName) {
    this.id = repositoryId;
    this.#table = table;
    this.#likelyHead = likelyHead;
    this.#snapshots = new RefSnapshots(table, repositoryId);
    this.#views = new RefViews(this.#snapshots);
    this.#packs = new PackListSnapshots(this.#snapshots);
    this.#swaps = new RefTransactions(this.#snapshots, this.#views, this.#packs, outbox);
  }

  async all({ prefix = '' }: { prefix?: string } = {}): Promise<RefSnapshot> {
    return snapshotOf(await this.#views.view([prefix]), prefix);
  }

  view({ prefixes }: { readonly prefixes?: readonly string[] } = {}): Promise<RefView> {
    return this.#views.view(prefixes);
  }

  page(query: RefPageQuery): Promise<RefPage> {
    return this.#views.page(query);
  }

  async get(names: readonly RefName[]): Promise<ReadonlyMap<RefName, Ref>> {
    const { states } = await this.#snapshots.read(names);
    const found = new Map<RefName, Ref>();
    for (const [name, { ref }] of states) if (ref !== undefined) found.set(name, ref);
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

  pinned(): AsyncIterable<Oid> {
    return pinnedIn(this.#table, this.id);
  }

  recentTips(): Promise<readonly Ref[]> {
    return recentTips(this.#table, this.id);
  }

  /** Active packs, newest first. */
  async listPacks(): Promise<readonly PackDescription[]> {
    return (await this.listing()).packs;
  }

  /** Returns a derived file, as of the last listing. */
  derived(kind: DerivedKind): DerivedFile | undefined {
    return this.#packs.derived(kind);
  }

  /** Reads the current packs and derived files. */
  listing(): Promise<Listing> {
    return this.#packs.listing();
  }

  /** All packs, the superseded after the active ones. */
  catalogue(): Promise<readonly CataloguedPack[]> {
    return this.#packs.catalogue();
  }

  compareAndSwap(updates: readonly RefUpdate[], options?: SwapOptions): Promise<void> {
    return this.#swaps.compareAndSwap(updates, options);
  }

  /** The first write of a repository that has no rows: see {@link RefTransactions.begin}. */
  begin(updates: readonly RefUpdate[], options: SwapOptions, first: FirstWrite): Promise<boolean> {
    return this.#swaps.begin(updates, options, first);
  }

  /** Folds all refs into a new table, which leaves few rows. For the maintenance worker. */
  foldRefs(): Promise<void> {
    return this.#swaps.foldRefs();
  }
}
