import { type ConnectivityProblem, findGaps } from '../connectivity.ts';
import { ObjectMissing } from '../objects.ts';
import { type Oid, oidBytes } from '../oid.ts';
import {
  type IndexedPack,
  type IndexPackLimits,
  type IndexPackOptions,
  type IndexPackProgress,
  indexPack,
} from '../pack/index-pack.ts';
import type { PackStore } from '../pack/store.ts';
import { parseCommitLinks } from '../parse.ts';
import type { PackDescription } from '../ports.ts';
import { resurrect } from '../resurrect.ts';
import type { Repository } from './repository.ts';

export interface QuarantineOptions {
  /** Directory for packs too large for memory. Default: the system's. */
  readonly scratchDir?: string;
  readonly packLimits?: Partial<IndexPackLimits>;
  readonly fsck?: NonNullable<IndexPackOptions['fsck']>;
  /** Text for the client's terminal. */
  readonly onProgress: (text: string) => void;
  readonly onSmallBlob?: IndexPackOptions['onSmallBlob'];
  /** The progress in numbers, for clients without a terminal. */
  readonly onUnpack?: (progress: IndexPackProgress) => void;
}

/** The received objects of a push before they are listed: only this push can read them. */
export class Quarantine {
  readonly #repository: Repository;
  readonly #options: QuarantineOptions;
  #pack: IndexedPack | undefined;
  #store: PackStore;
  /** Objects that the push refers to and that, at the last check, only garbage packs had: they must be resurrected. */
  #onlyGarbage: readonly Oid[] = [];
  #stored: PackDescription | undefined;
  #resurrected: PackDescription | undefined;

  constructor(repository: Repository, options: QuarantineOptions) {
    this.#repository = repository;
    this.#options = options;
    this.#store = repository.store;
  }

  /** The stored objects plus the received ones. */
  get store(): PackStore {
    return this.#store;
  }

  /** @throws CorruptData, WireError; what the input throws */
  async unpack(input: AsyncIterable<Uint8Array>): Promise<void> {
    const { scratchDir, packLimits, fsck, onSmallBlob, onProgress, onUnpack } = this.#options;
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
      onSmallBlob,
    });
    this.#pack = pack;
    progress.done(pack.objectCount - pack.basesAdded.length);
    for (const warning of pack.warnings.slice(0, 20)) {
      onProgress(`warning: object ${warning.oid}: ${warning.id}: ${warning.message}\n`);
    }
    if (pack.objectCount === 0) return;
    this.#store = this.#repository.store.withContent(pack.content, pack.objectCount);
  }

  /** Whether the pack of this push has the object. */
  received(oid: Oid): boolean {
    return this.#pack?.type(oid) !== undefined;
  }

  /**
   * Whether the received history ends at the boundary of the client's shallow clone, because the parents of that are
   * stored nowhere. git refuses such a push too (`receive.shallowUpdate`).
   * @param boundary as the client told
   */
  async endsAtShallow(boundary: readonly Oid[]): Promise<boolean> {
    const received = boundary.filter((oid) => this.#pack?.type(oid) === 'commit');
    const parents = new Set<Oid>();
    await this.#store.runEach(received.length, (objects, i) => {
      for (const parent of parseCommitLinks(objects.read(received[i]!).data).parents) parents.add(parent);
    });
    if (parents.size === 0) return false;
    return (await this.#store.missing(Buffer.concat([...parents].map(oidBytes)))).length > 0;
  }

  /** Whether everything that these tips and the received objects refer to exists, in the pack or stored. */
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
   * Stores the received objects, unlisted, and resurrects the objects they refer to that only garbage packs have.
   * @returns false when one of those does not exist any more
   */
  async storePacks(): Promise<boolean> {
    if (this.#pack !== undefined && this.#pack.objectCount > 0) {
      const { content, objectCount } = this.#pack;
      // Listing a pack checks that the known packs are still listed; the list can be read now.
      [this.#stored] = await Promise.all([
        this.#repository.objects.newPack(content, { source: 'receive', objectCount }),
        this.#repository.store.refresh(),
      ]);
    }
    return this.#resurrect();
  }

  /** Checks again after a garbage collection: objects that it found unreachable now have to be resurrected. */
  async stillConnected(tips: readonly Oid[]): Promise<boolean> {
    await this.#repository.store.refresh();
    await this.#rollback(this.#resurrected);
    this.#resurrected = undefined;
    return (await this.connected(tips)) && (await this.#resurrect());
  }

  /** The stored pack; undefined before it is stored, or when the push had no objects. */
  get pack(): PackDescription | undefined {
    return this.#stored;
  }

  /** The stored packs that are to be listed together with the ref updates. */
  get packs(): readonly PackDescription[] {
    return [this.#stored, this.#resurrected].filter((pack) => pack !== undefined);
  }

  /** Deletes the stored packs, which are not listed. */
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

  /** Forgets the received objects, which are not stored, and removes the scratch file. */
  async discard(): Promise<void> {
    const pack = this.#pack;
    this.#pack = undefined;
    this.#store = this.#repository.store;
    await pack?.discard();
  }
}

/** Writes git's progress lines, at most ten per second and each percent once. */
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
