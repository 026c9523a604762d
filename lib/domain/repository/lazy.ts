import { PackStore } from '../../git/pack/store.ts';
import { RefConflict, type RefPageQuery, type RefUpdate } from '../../git/ports.ts';
import type { RefDatabase } from '../../git/ref-database.ts';
import { branchRef, type RefName } from '../../git/refname.ts';
import type { Repository } from '../../git/wire/repository.ts';
import { type RepositoryOwner, repositoryIdOf } from '../../records/repository-owner.ts';
import { Missing, TransactionRefused } from '../../store/errors.ts';
import { GitObjects } from '../../store/repository/pack-objects.ts';
import type { SwapOptions } from '../../store/repository/ref-writes.ts';
import type { RepositoryRefs } from '../../store/repository/refs-and-objects.ts';
import { joined, type Write } from '../../store/table/write.ts';
import type { Deps } from '../deps.ts';
import { defaultBranchName } from './default-branch-name.ts';
import type { ProjectRepository, SwapCompanions, Together } from './open.ts';

export interface LazyRepositoryOptions {
  /** What keys of its new packs begin with; in the record of the owner. */
  readonly storagePrefix?: string | undefined;
  /** Refuses the first write where the owner is gone; with a `reason`. Absent: `alongside` makes or checks the owner. */
  readonly owner?: Write;
  /** The reason of refused writes of `alongside` that tells that the owner is deleted. */
  readonly ownerReason?: string;
  /** What is to happen with every write, in the same transaction. May be called again for the same updates. */
  readonly alongside?: (updates: readonly RefUpdate[], companions: SwapCompanions) => Promise<Together>;
}

/**
 * Opens a repository beside the code of a project: of a wiki or a snippet. None of its rows exists before its first write,
 * which makes them in its own transaction; until then it reads as empty. Reads nothing itself.
 */
export function openLazyRepository(
  deps: Deps,
  owner: RepositoryOwner,
  options: LazyRepositoryOptions = {},
): ProjectRepository {
  const repositoryId = repositoryIdOf(owner);
  const stored = deps.store.repositories.open(repositoryId);
  const catalogue = {
    listPacks: () => orElse([], () => stored.listPacks()),
    derived: stored.derived.bind(stored),
  };
  const objects = new GitObjects(
    deps.store.blobs,
    catalogue,
    repositoryId,
    repositoryId,
    options.storagePrefix,
  );
  const store = new PackStore(objects, { cache: deps.packs });
  const open = (together?: Together): Repository => ({
    objects,
    refs: new LazyRefs(deps, stored, options, together),
    store,
    cache: deps.packs,
  });
  return { ...open(), together: open };
}

class LazyRefs implements RefDatabase {
  readonly #deps: Deps;
  readonly #refs: RepositoryRefs;
  readonly #options: LazyRepositoryOptions;
  readonly #together: Together;

  constructor(
    deps: Deps,
    refs: RepositoryRefs,
    options: LazyRepositoryOptions,
    together: Together = { writes: [] },
  ) {
    this.#deps = deps;
    this.#refs = refs;
    this.#options = options;
    this.#together = together;
  }

  async all(options?: { prefix?: string }) {
    return (await present(this.#refs.all(options))) ?? { head: await this.#firstHead(), refs: [] };
  }

  async view(options?: Parameters<RefDatabase['view']>[0]) {
    return (
      (await present(this.#refs.view(options))) ?? { head: await this.#firstHead(), refs: () => nothing() }
    );
  }

  page(query: RefPageQuery) {
    return orElse({ refs: [], total: 0, more: false }, () => this.#refs.page(query));
  }

  get(names: readonly RefName[]) {
    return orElse(new Map(), () => this.#refs.get(names));
  }

  async head() {
    return (await present(this.#refs.head())) ?? this.#firstHead();
  }

  async headRef() {
    return (await present(this.#refs.headRef())) ?? { target: await this.#firstHead(), head: undefined };
  }

  pinned() {
    return this.#refs.pinned();
  }

  recentTips() {
    return this.#refs.recentTips();
  }

  async compareAndSwap(updates: readonly RefUpdate[], companions: SwapCompanions = {}): Promise<void> {
    const { writes, messages = [] } = (await this.#options.alongside?.(updates, companions)) ?? NOTHING;
    const options = {
      ...companions,
      alongside: joined([...writes, ...this.#together.writes]),
      messages: [...messages, ...(this.#together.messages ?? [])],
    };
    try {
      await this.#swap(updates, options);
    } catch (error) {
      const { owner, ownerReason = owner?.reason } = this.#options;
      if (ownerReason === undefined || !(error instanceof TransactionRefused) || !error.has(ownerReason))
        throw error;
      throw new RefConflict([{ name: null, reason: 'deleted' }]);
    }
  }

  async #swap(updates: readonly RefUpdate[], options: SwapOptions): Promise<void> {
    try {
      await this.#refs.compareAndSwap(updates, options);
    } catch (error) {
      if (!(error instanceof Missing)) throw error;
      const { owner, storagePrefix } = this.#options;
      const first = { headBranch: await defaultBranchName(this.#deps), owner, storagePrefix };
      if (await this.#refs.begin(updates, options, first)) return;
      await this.#refs.compareAndSwap(updates, options);
    }
  }

  /** Whether one of the writes beside the refs was refused. */
  isRefusal(error: unknown): boolean {
    return error instanceof TransactionRefused;
  }

  async #firstHead(): Promise<RefName> {
    return branchRef(await defaultBranchName(this.#deps))!;
  }
}

const NOTHING: Together = { writes: [] };

async function* nothing(): AsyncGenerator<never> {}

/** The result of a read; undefined where the repository has no rows. */
async function present<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof Missing) return undefined;
    throw error;
  }
}

const orElse = async <T>(otherwise: T, read: () => Promise<T>): Promise<T> =>
  (await present(read())) ?? otherwise;
