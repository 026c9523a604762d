import { readAhead } from '../batch-misses.ts';
import type { ReadAhead } from '../pack/block-cache.ts';
import { BLOB } from '../pack/entry.ts';
import { ObjectList } from '../pack/object-list.ts';
import type { PackObjects } from '../pack/pack-objects.ts';
import { TURN_MS } from '../work.ts';
import { CommitWalk } from './commit-walk.ts';
import { ContentWalk } from './content-walk.ts';
import { EdgeWalk } from './edge-walk.ts';
import { EXCLUDED, GIVEN, MetObjects, ROOT } from './met-objects.ts';
import type { EnumerateOptions } from './options.ts';

const SLICE_MS = TURN_MS;
/** Objects prefetched together after a miss. */
const READ_AHEAD = 128;

/** Keeps its state across synchronous runs: a step that misses blocks changes nothing and is repeated. */
export class ObjectWalk implements ReadAhead {
  /** Complete at the end. */
  readonly list = new ObjectList();
  readonly #options: EnumerateOptions;
  readonly #met: MetObjects;
  readonly #commits: CommitWalk;
  readonly #edges: EdgeWalk;
  readonly #content: ContentWalk;
  readonly #phases: readonly {
    step(objects: PackObjects): boolean;
    ahead(): Iterable<number>;
  }[];
  #phase = 0;
  #at = 0;

  constructor(options: EnumerateOptions) {
    this.#options = options;
    const met = new MetObjects(options);
    const commits = new CommitWalk(met, options);
    const edges = new EdgeWalk(met, commits);
    const content = new ContentWalk(met, commits, edges, options);
    this.#met = met;
    this.#commits = commits;
    this.#edges = edges;
    this.#content = content;
    this.#phases = [
      { step: (objects) => commits.addTip(objects), ahead: () => [] },
      { step: (objects) => commits.walk(objects), ahead: () => commits.ahead() },
      { step: (objects) => edges.close(objects), ahead: () => edges.ahead() },
      { step: (objects) => content.take(objects), ahead: () => content.ahead() },
      {
        step: (objects) => this.#place(objects),
        ahead: () => content.taken.slice(this.#at, this.#at + READ_AHEAD),
      },
    ];
  }

  /** Number of objects found so far. */
  get found(): number {
    return this.#met.table.count;
  }

  /** Number of commits that seem to be wanted so far. */
  get commits(): number {
    return this.#commits.interesting.length;
  }

  // The more was read, the larger the read-ahead.
  get scan(): boolean {
    return this.found > 20_000;
  }

  get around(): number {
    return this.found > 50 ? 8 : 1;
  }

  /**
   * Works for some milliseconds. @returns whether it is done
   * @param pauseAt also stops at this number of commits that seem to be wanted
   */
  advance(objects: PackObjects, pauseAt = Number.POSITIVE_INFINITY): boolean {
    const until = performance.now() + SLICE_MS;
    for (let steps = 0; this.#phase < this.#phases.length; steps++) {
      if (this.commits >= pauseAt) return false;
      // A commit may have megabytes.
      if ((steps & 3) === 3 && performance.now() > until) return false;
      const { step } = this.#phases[this.#phase]!;
      const done = readAhead(
        undefined,
        () => this.#ahead(),
        (id) => (id === undefined ? step(objects) : this.#touch(objects, id)),
      );
      if (done) this.#phase++;
    }
    return true;
  }

  /** Numbers of objects that the next steps will read, so that their missing blocks are fetched together. */
  #ahead(): number[] {
    const ahead: number[] = [];
    for (const id of this.#phases[this.#phase]!.ahead()) if (ahead.push(id) === READ_AHEAD) break;
    return ahead;
  }

  #touch(objects: PackObjects, id: number): boolean {
    if (!this.#met.locate(objects, id)) return false;
    if (this.#phase < 4) objects.readAt(objects.pack, objects.offset);
    else if (this.#options.filter?.blobLimit !== undefined) objects.headerAt(objects.pack, objects.offset);
    else void objects.position;
    return false;
  }

  /** Locates one object in the packs; drops it if the filter leaves it out. */
  #place(objects: PackObjects): boolean {
    const { list } = this;
    if (this.#at >= this.#content.taken.length) {
      if (this.#options.exclude?.length) list.receiverHas = this.#isExcluded();
      list.receiverAt = (path) => {
        const id = this.#edges.receiverAt.get(path === ROOT ? 0 : path);
        return id === undefined ? undefined : this.#met.table.names.subarray(20 * id, 20 * id + 20);
      };
      return true;
    }
    const id = this.#content.taken[this.#at]!;
    const type = this.#content.types[this.#at]!;
    if (this.#met.isEmptyTree(id) && !this.#met.locate(objects, id)) {
      list.add(this.#met.table.names, 20 * id, type, undefined, 0);
    } else {
      this.#met.locateOrFail(objects, id);
      const { pack, position } = objects;
      const limit = this.#options.filter?.blobLimit;
      const path = this.#edges.receiverAt.size > 0 ? this.#content.paths[this.#at]! : 0;
      const limited = type === BLOB && limit !== undefined && !this.#met.is(id, GIVEN);
      const tooLarge = limited && objects.headerAt(pack, objects.offset).size >= limit;
      if (!tooLarge) list.add(this.#met.table.names, 20 * id, type, pack, position, path);
    }
    this.#at++;
    return false;
  }

  /** Returns a test for objects that the receiver is known to have, for thin deltas. */
  #isExcluded(): (name: Uint8Array, at: number) => boolean {
    const met = this.#met;
    return (name, at) => {
      const id = met.table.find(name, at);
      return id >= 0 && met.is(id, EXCLUDED);
    };
  }
}
