import { type ConnectivityProblem, findGaps } from '../connectivity.ts';
import { ObjectMissing } from '../objects.ts';
import type { Oid } from '../oid.ts';
import {
  type IndexedPack,
  type IndexPackLimits,
  type IndexPackOptions,
  type IndexPackProgress,
  indexPack,
} from '../pack/index-pack.ts';
import type { PackStore } from '../pack/store.ts';
import type { PackDescription } from '../ports.ts';
import { resurrect } from '../resurrect.ts';
import type { Repository } from './repository.ts';

export interface QuarantineOptions {
  /** A folder for packs too large to hold in memory. Default: the system's. */
  readonly scratchDir?: string;
  readonly packLimits?: Partial<IndexPackLimits>;
  readonly fsck?: NonNullable<IndexPackOptions['fsck']>;
  /** Text for the client's terminal. */
  readonly onProgress: (text: string) => void;
  /** The same in numbers, for whoever has no terminal. */
  readonly onUnpack?: (progress: IndexPackProgress) => void;
}

/** What a push brought, between its arrival and the moment it is stored: only this push sees it. */
export class Quarantine {
  readonly #repository: Repository;
  readonly #options: QuarantineOptions;
  #pack: IndexedPack | undefined;
  #store: PackStore;
  /** Of what the push builds on, by the last look: what has to be resurrected unless it lies in packs that stay. */
  #onlyGarbage: readonly Oid[] = [];
  #stored: PackDescription | undefined;
  #resurrected: PackDescription | undefined;

  constructor(repository: Repository, options: QuarantineOptions) {
    this.#repository = repository;
    this.#options = options;
    this.#store = repository.store;
  }

  /** Everything stored, and what was brought. */
  get store(): PackStore {
    return this.#store;
  }

  /** @throws CorruptData, WireError; what the input throws */
  async unpack(input: AsyncIterable<Uint8Array>): Promise<void> {
    const { scratchDir, packLimits, fsck, onProgress, onUnpack } = this.#options;
    const progress = new UnpackProgress(onProgress);
    const pack = await indexPack(input, {
      store: this.#repository.store,
      onProgress: (state) => {
        progress.show(state);
        onUnpack?.(state);
      },
      ...(scratchDir === undefined ? {} : { scratchDir }),
      ...(packLimits === undefined ? {} : { limits: packLimits }),
      ...(fsck === undefined ? {} : { fsck }),
    });
    this.#pack = pack;
    progress.done(pack.objectCount - pack.basesAdded.length);
    for (const warning of pack.warnings.slice(0, 20)) {
      onProgress(`warning: object ${warning.oid}: ${warning.id}: ${warning.message}\n`);
    }
    if (pack.objectCount === 0) return;
    this.#store = this.#repository.store.withContent(pack.content, pack.objectCount);
  }

  /** Whether these values, and all that was brought, have everything below them: in the pack or stored. */
  async connected(tips: readonly Oid[]): Promise<boolean> {
    this.#onlyGarbage = [];
    if (tips.length === 0) return true;
    const { problems, onlyGarbage } = await findGaps(this.#repository.store, this.#pack, { tips });
    this.#reportProblems(problems);
    if (problems.length > 0) return false;
    this.#options.onProgress('Checking connectivity: done.\n');
    this.#onlyGarbage = [...onlyGarbage, ...(this.#pack?.basesAdded ?? [])];
    return true;
  }

  /**
   * Stores what was brought, unlisted, and beside it what only garbage holds of what it builds on.
   * @returns false when something of that is gone
   */
  async storePacks(): Promise<boolean> {
    if (this.#pack !== undefined && this.#pack.objectCount > 0) {
      const { content, objectCount } = this.#pack;
      // Who lists the pack looks whether the others are still listed: it may do so now.
      [this.#stored] = await Promise.all([
        this.#repository.objects.newPack(content, { source: 'receive', objectCount }),
        this.#repository.store.refresh(),
      ]);
    }
    return this.#resurrect();
  }

  /** Looks again after a collection: what it found unreachable has to be resurrected from now on. */
  async stillConnected(tips: readonly Oid[]): Promise<boolean> {
    await this.#repository.store.refresh();
    await this.#rollback(this.#resurrected);
    this.#resurrected = undefined;
    return (await this.connected(tips)) && (await this.#resurrect());
  }

  /** What was brought, once it is stored; undefined when that was no objects. */
  get pack(): PackDescription | undefined {
    return this.#stored;
  }

  /** All that is stored and to be listed with the refs. */
  get packs(): readonly PackDescription[] {
    return [this.#stored, this.#resurrected].filter((pack) => pack !== undefined);
  }

  /** Takes back what was stored and is not listed. */
  async rollback(): Promise<void> {
    await Promise.all(this.packs.map((pack) => this.#rollback(pack)));
  }

  async #resurrect(): Promise<boolean> {
    if (this.#onlyGarbage.length === 0) return true;
    try {
      this.#resurrected = await resurrect(this.#repository, this.#onlyGarbage);
      return true;
    } catch (error) {
      if (!(error instanceof ObjectMissing)) throw error;
      this.#reportProblems([{ oid: error.oid, reason: 'missing' }]);
      return false;
    }
  }

  #reportProblems(problems: readonly ConnectivityProblem[]): void {
    for (const { oid, reason } of problems.slice(0, 5)) {
      this.#options.onProgress(
        `error: object ${oid} is ${reason === 'missing' ? 'missing' : 'of another type'}\n`,
      );
    }
  }

  async #rollback(pack: PackDescription | undefined): Promise<void> {
    if (pack !== undefined) await this.#repository.objects.rollbackPack(pack);
  }

  /** Gives up what lies on the scratch disk. */
  async discard(): Promise<void> {
    await this.#pack?.discard();
  }
}

/** git's progress lines, at most ten a second and each percent once. */
class UnpackProgress {
  readonly #say: (text: string) => void;
  #percent = -1;
  #phase = '';
  #last = 0;

  constructor(say: (text: string) => void) {
    this.#say = say;
  }

  show({ phase, done, total }: IndexPackProgress): void {
    if (total === 0) return;
    const percent = Math.floor((100 * done) / total);
    const now = performance.now();
    if ((phase === this.#phase && percent === this.#percent) || now - this.#last < 100) return;
    this.#phase = phase;
    this.#percent = percent;
    this.#last = now;
    const title = phase === 'receiving' ? 'Indexing objects' : 'Resolving deltas';
    this.#say(`${title}: ${String(percent).padStart(3)}% (${done}/${total})\r`);
  }

  done(total: number): void {
    this.#say(`Indexing objects: 100% (${total}/${total}), done.\n`);
  }
}
