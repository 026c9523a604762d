import type { AttributeName } from './archive/attributes.ts';
import { batchMisses } from './batch-misses.ts';
import type { CommitRequest, Committed, Ports } from './commit-changes.ts';
import type { TreeCommit } from './commit-tree.ts';
import type { FileChange } from './diff/changes.ts';
import type { DiffOptions, TreeDiffs } from './diff/compare.ts';
import type { LineMap } from './diff/line-map.ts';
import type { DiffStats } from './diff/totals.ts';
import { diffTrees, type TreeDiff } from './diff/tree-diff.ts';
import type { NewObject } from './edit.ts';
import { History, type KnownHistory, type LogQuery, type WalkBounds } from './history.ts';
import type { MergeOptions, MergeOutcome } from './merge/commits.ts';
import type { Merging } from './merge/merging.ts';
import { ObjectMissing, type SyncObjects } from './objects.ts';
import { EMPTY_TREE, type Oid, ZERO_OID } from './oid.ts';
import {
  type DigestedObject,
  digestObject,
  type StreamedObject,
  streamObject,
} from './pack/stream-object.ts';
import {
  type Commit,
  encodeTag,
  hashObject,
  type Identity,
  parseCommit,
  parseCommitLinks,
  type Tag,
} from './parse.ts';
import type { PickOutcome, PickRequest } from './pick.ts';
import type { Ref, RefPage, RefPageQuery, RefSnapshot, RefUpdate, RefView } from './ports.ts';
import { type RefName, type RefSpace, shortName, spacePrefix } from './refname.ts';
import { peelToCommit, type Resolved, resolveRevision } from './revision.ts';
import { eachInTurns } from './slices.ts';
import { TextBudget } from './text-budget.ts';
import type { SizedFile } from './tree/file-sizes.ts';
import { lookupPath } from './tree/path.ts';
import { listTree, recordAt, type TreeListing, type TreePage, type TreeRecord } from './tree.ts';

/** Refs peeled in one batch. */
const PEEL_BATCH_SIZE = 2_048;

/** A commit with its text decoded. */
export interface CommitRecord extends Commit {
  readonly oid: Oid;
}

/** A ref and the commit it points to. */
export interface Tip {
  readonly ref: Ref;
  readonly commit: CommitRecord;
  /** For an annotated tag. */
  readonly tag?: Tag & { readonly oid: Oid };
}

/** A log's query with its path as text. */
export interface LogRequest extends Omit<LogQuery, 'path'> {
  readonly path?: string;
  readonly skip?: number;
  readonly limit: number;
}

export interface CompareOptions extends DiffOptions {
  /** Compare with `from` itself (`from..to`) instead of the merge base (`from...to`). */
  readonly straight?: boolean;
  /** Commits listed, the newest ones. Default 1,000. */
  readonly commits?: number;
  readonly bounds?: WalkBounds;
}

/** What `to` adds to `from`. */
export interface Comparison extends TreeDiffs {
  /** What the files are compared with: the merge base, or `from`. */
  readonly base: Oid;
  /** Oldest first. */
  readonly commits: readonly CommitRecord[];
  /** There are older ones. */
  readonly commitsTruncated: boolean;
}

/**
 * The API of one repository: commits, trees, files, history, and the writes of API calls. Reuse an instance while it
 * is needed, because it caches the commits it walked.
 *
 * Reads throw ObjectMissing and CorruptData where the repository itself is damaged, and return undefined for what
 * does not exist.
 *
 * The code of diffs, merges and writes is loaded when it is called for: most requests never do.
 */
export class GitRepository {
  readonly #ports: Ports;
  readonly history: History;

  /** @param known results of earlier walks over this repository's history: see {@link HistoryCache} */
  constructor(ports: Ports, known?: KnownHistory) {
    this.#ports = ports;
    this.history = new History(ports.store, known);
  }

  /** A branch, tag, id, abbreviated id or `HEAD`, with `~n` and `^n`: see {@link resolveRevision}. */
  resolve(text: string): Promise<Resolved | undefined> {
    this.#prefetchPackList();
    return resolveRevision(this.#ports.store, this.#ports.refs, text);
  }

  /** Lists the packs while refs are read, because objects are read next. */
  #prefetchPackList(): void {
    this.#ports.store.prepare();
  }

  // ── refs ──────────────────────────────────────────────────────────────────────────────────

  /** A page of the branches or tags; {@link tips} reads their commits. */
  page(query: RefPageQuery): Promise<RefPage> {
    this.#prefetchPackList();
    return this.#ports.refs.page(query);
  }

  /** All branches or tags, as one consistent view that is read in batches. */
  async view(space: RefSpace): Promise<RefView> {
    this.#prefetchPackList();
    const prefix = spacePrefix(space);
    const { head, refs } = await this.#ports.refs.view({ prefixes: [prefix] });
    return { head, refs: (_, after) => refs(prefix, after) };
  }

  async hasBranches(): Promise<boolean> {
    return (await this.#ports.refs.page({ space: 'heads', limit: 1 })).refs.length > 0;
  }

  /** All branches and HEAD, sorted by name. */
  branches(): Promise<RefSnapshot> {
    this.#prefetchPackList();
    return this.#ports.refs.all({ prefix: 'refs/heads/' });
  }

  /** All tags, sorted by name. */
  tags(): Promise<RefSnapshot> {
    this.#prefetchPackList();
    return this.#ports.refs.all({ prefix: 'refs/tags/' });
  }

  /** HEAD's target, and the branch itself when it exists. */
  headRef(): Promise<{ readonly target: RefName; readonly head: Ref | undefined }> {
    this.#prefetchPackList();
    return this.#ports.refs.headRef();
  }

  async ref(name: RefName): Promise<Ref | undefined> {
    this.#prefetchPackList();
    return (await this.#ports.refs.get([name])).get(name);
  }

  /** Those of the refs that exist, in the order of the names. */
  async refs(names: readonly RefName[]): Promise<Ref[]> {
    this.#prefetchPackList();
    const found = await this.#ports.refs.get(names);
    return names.flatMap((name) => found.get(name) ?? []);
  }

  /** The commits that refs point to, read together. A ref without a commit (a tag of a tree) is left out. */
  async tips(refs: readonly Ref[]): Promise<Tip[]> {
    const { store } = this.#ports;
    const targets = [...new Set(refs.map(({ oid }) => oid))];
    await store.run((objects) => {
      batchMisses(targets, (oid) => {
        const commit = peelToCommit(objects, oid)?.commit;
        if (commit !== undefined) objects.header(commit);
      });
    });
    const texts = new TextBudget();
    // Of many refs to one commit it is read once; all that were read would be too much to keep.
    let last: { readonly of: Oid; readonly tip: ReadTip | undefined } | undefined;
    const tips = await eachInTurns(store, refs, (objects, ref): Tip | undefined => {
      if (last?.of !== ref.oid) last = { of: ref.oid, tip: readTip(objects, ref.oid) };
      const { tip } = last;
      if (tip === undefined) return undefined;
      return { ref, commit: texts.commit(tip.commit), ...(tip.tag ? { tag: texts.tag(tip.tag) } : {}) };
    });
    return tips.filter((tip) => tip !== undefined);
  }

  /** For each branch, whether `into` reaches its tip. */
  merged(branches: readonly Ref[], into: Oid, bounds?: WalkBounds): Promise<boolean[]> {
    return this.history.merged(
      branches.map((branch) => branch.oid),
      into,
      bounds,
    );
  }

  /** The refs that point to the commit or to a descendant of it, in the order given. */
  async containing(refs: readonly Ref[], commit: Oid, bounds?: WalkBounds): Promise<Ref[]> {
    const peeledRefs: { readonly ref: Ref; readonly tip: Oid }[] = [];
    for (let i = 0; i < refs.length; i += PEEL_BATCH_SIZE) {
      const slice = refs.slice(i, i + PEEL_BATCH_SIZE);
      const found = await this.#ports.store.run((objects) =>
        batchMisses(slice, (ref) => ({ ref, tip: peelToCommit(objects, ref.peeled ?? ref.oid)?.commit })),
      );
      for (const { ref, tip } of found) if (tip !== undefined) peeledRefs.push({ ref, tip });
    }
    const tips = peeledRefs.map(({ tip }) => tip);
    const contains = await this.history.containing(tips, commit, bounds);
    return peeledRefs.flatMap(({ ref }, i) => (contains[i] ? [ref] : []));
  }

  // ── commits ───────────────────────────────────────────────────────────────────────────────

  /** @throws ObjectMissing; CorruptData when the object is no commit */
  commit(oid: Oid): Promise<CommitRecord> {
    return this.#ports.store.run((objects) => readCommit(objects, oid));
  }

  /** The raw bytes of a commit, which its signature covers. */
  commitBytes(oid: Oid): Promise<Uint8Array> {
    return this.#ports.store.run((objects) => objects.read(oid).data);
  }

  /** The raw bytes of a tag object, which its signature covers; undefined when the object is of another type. */
  tagBytes(oid: Oid): Promise<Uint8Array | undefined> {
    return this.#ports.store.run((objects) => {
      if (objects.header(oid).type !== 'tag') return undefined;
      return objects.read(oid).data;
    });
  }

  /** In the order given, read together, with messages cut to what one answer can hold: see {@link TextBudget}. */
  async commits(oids: readonly Oid[]): Promise<CommitRecord[]> {
    const { store } = this.#ports;
    await store.run((objects) => void batchMisses(oids, (oid) => objects.header(oid)));
    const texts = new TextBudget();
    return eachInTurns(store, oids, (objects, oid) => texts.commit(readCommit(objects, oid)));
  }

  /** A page of history. Empty for a path that no tree can hold. */
  async log(request: LogRequest, bounds?: WalkBounds): Promise<CommitRecord[]> {
    const { path: text = '', ...query } = request;
    const path = lookupPath(text);
    if (path === undefined) return [];
    const nodes = await this.history.log({ ...query, ...(path === '' ? {} : { path }) }, bounds);
    return this.commits(nodes.map((node) => node.oid));
  }

  /** The newest commit, from `commit` back, that changed the path. */
  async lastCommitForPath(commit: Oid, path: string, bounds?: WalkBounds): Promise<Oid | undefined> {
    const raw = lookupPath(path);
    return raw ? (await this.history.lastCommitForPath(commit, raw, bounds))?.oid : undefined;
  }

  /** Lines that a commit added and deleted, renames followed, relative to its first parent, or to the empty tree for a root commit. */
  async stats(oid: Oid, signal?: AbortSignal): Promise<DiffStats> {
    const { tree, parents } = await this.#links(oid);
    const [first] = parents;
    const before = first === undefined ? EMPTY_TREE : (await this.#links(first)).tree;
    const { diffStats } = await import('./diff/totals.ts');
    return diffStats(this.#ports.store, before, tree, signal);
  }

  /**
   * Paths that differ between two commits' trees.
   * @param options.made objects that are not stored: those of `to`, which may be a tree then
   */
  async changes(
    from: Oid,
    to: Oid,
    options: { limit?: number; signal?: AbortSignal; made?: readonly NewObject[] } = {},
  ): Promise<TreeDiff> {
    const { made = [], ...limits } = options;
    const stored = this.#ports.store;
    const store = made.length === 0 ? stored : (await import('./merge/overlay.ts')).Overlay.of(stored, made);
    const [before, after] = await store.run((objects) =>
      batchMisses([from, to], (oid) => {
        const { type, data } = objects.read(oid);
        return type === 'tree' ? oid : parseCommitLinks(data).tree;
      }),
    );
    return diffTrees(store, before!, after!, limits);
  }

  /** The files that differ between two commits, without their texts. Renames are found as {@link diff} finds them. */
  async changedFiles(from: Oid, to: Oid, signal?: AbortSignal): Promise<readonly FileChange[]> {
    const options = signal === undefined ? {} : { signal };
    const { changes } = await this.changes(from, to, options);
    const { detectRenames } = await import('./diff/renames.ts');
    return (await detectRenames(this.#ports.store, changes, options)).changes;
  }

  /**
   * Which lines of two blobs are the same.
   * @returns undefined when one of them is too large, or no text, or they differ too much
   */
  async lineMap(from: Oid, to: Oid, signal?: AbortSignal): Promise<LineMap | undefined> {
    const { lineMapOf } = await import('./diff/line-map-of.ts');
    return lineMapOf(this.#ports.store, from, to, signal);
  }

  /** The diff of a commit relative to its first parent, or to the empty tree for a root commit. */
  async commitDiff(oid: Oid, options?: DiffOptions): Promise<TreeDiffs> {
    const { tree, parents } = await this.#links(oid);
    const [first] = parents;
    const before = first === undefined ? EMPTY_TREE : (await this.#links(first)).tree;
    const { compareTrees } = await import('./diff/compare.ts');
    return compareTrees(this.#ports.store, before, tree, options);
  }

  /** The diff between the trees of two commits: `git diff from to`. */
  async diff(from: Oid, to: Oid, options?: DiffOptions): Promise<TreeDiffs> {
    const [before, after] = await Promise.all([this.#links(from), this.#links(to)]);
    const { compareTrees } = await import('./diff/compare.ts');
    return compareTrees(this.#ports.store, before.tree, after.tree, options);
  }

  /**
   * The commits and file changes that `to` adds to `from`.
   * @returns undefined when, unless `straight`, the two have no history in common
   */
  async compare(from: Oid, to: Oid, options: CompareOptions = {}): Promise<Comparison | undefined> {
    const { straight = false, commits: limit = 1000, bounds, ...diff } = options;
    const [base, nodes] = await Promise.all([
      straight ? from : this.history.mergeBases(from, [to], bounds).then(([first]) => first?.oid),
      this.history.log({ tips: [to], exclude: [from], limit: limit + 1 }, bounds),
    ]);
    if (base === undefined) return undefined;
    const newest = nodes.slice(0, limit).reverse();
    const [commits, changes] = await Promise.all([
      this.commits(newest.map((node) => node.oid)),
      this.diff(base, to, diff),
    ]);
    return { base, commits, commitsTruncated: nodes.length > limit, ...changes };
  }

  // ── merges: they write nothing, see commitTree and publish ────────────────────────────────────────────

  /** Merges `theirs` into `ours`: see {@link mergeCommits}. */
  async merge(ours: Oid, theirs: Oid, options?: MergeOptions): Promise<MergeOutcome> {
    const { mergeCommits } = await import('./merge/commits.ts');
    return mergeCommits(this.#ports.store, this.history, ours, theirs, options);
  }

  /** Verdicts about merges of branches, and their commits: see {@link Merging}. */
  async merging(): Promise<Merging> {
    const { Merging } = await import('./merge/merging.ts');
    return new Merging(this.#ports.store, this.history);
  }

  /** @throws NoSuchParent */
  async cherryPick(request: PickRequest): Promise<PickOutcome> {
    const { cherryPick } = await import('./pick.ts');
    return cherryPick(this.#ports.store, request);
  }

  /** @throws NoSuchParent */
  async revert(request: PickRequest): Promise<PickOutcome> {
    const { revert } = await import('./pick.ts');
    return revert(this.#ports.store, request);
  }

  // ── trees and files ───────────────────────────────────────────────────────────────────────

  /** @returns undefined when the path does not exist. The root has no record. */
  async entryAt(commit: Oid, path: string): Promise<TreeRecord | undefined> {
    return recordAt(this.#ports.store, (await this.#links(commit)).tree, path);
  }

  /** @returns undefined when the path is no directory. @throws UnknownPageToken */
  async listTree(commit: Oid, listing: TreeListing): Promise<TreePage | undefined> {
    return listTree(this.#ports.store, (await this.#links(commit)).tree, listing);
  }

  /** @returns undefined when there is no such blob */
  async readBlob(oid: Oid): Promise<Uint8Array | undefined> {
    return this.#ifPresent(oid, (objects) => {
      const { type, data } = objects.read(oid);
      return type === 'blob' ? data : undefined;
    });
  }

  /** A blob of any size, to be read once. @returns undefined when there is no such blob */
  async streamBlob(oid: Oid): Promise<StreamedObject | undefined> {
    if ((await this.blobHeader(oid)) === undefined) return undefined;
    return streamObject(this.#ports.store, oid);
  }

  /** The same with its digest: see {@link digestObject}. @returns undefined when there is no such blob */
  async digestBlob(oid: Oid): Promise<DigestedObject | undefined> {
    if ((await this.blobHeader(oid)) === undefined) return undefined;
    return digestObject(this.#ports.store, oid);
  }

  /** Every file of a commit that is `wanted`, with its size and attributes: see {@link fileSizes}. */
  async *fileSizes(
    commit: Oid,
    names: readonly AttributeName[],
    wanted: (file: Omit<SizedFile, 'size'>) => boolean,
  ): AsyncGenerator<SizedFile> {
    const { store } = this.#ports;
    const { tree } = await store.run((objects) => parseCommitLinks(objects.read(commit).data));
    const { fileSizes } = await import('./tree/file-sizes.ts');
    yield* fileSizes(store, tree, names, wanted);
  }

  /** Size in bytes, without reading the content. */
  async blobHeader(oid: Oid): Promise<{ readonly size: number } | undefined> {
    return this.#ifPresent(oid, (objects) => {
      const { type, size } = objects.header(oid);
      return type === 'blob' ? { size } : undefined;
    });
  }

  // ── writes ────────────────────────────────────────────────────────────────────────────────

  /** One commit from many actions: see {@link commitChanges}. */
  async commitChanges(request: CommitRequest): Promise<Committed> {
    const { commitChanges } = await import('./commit-changes.ts');
    return commitChanges(this.#ports, request);
  }

  /** One commit of the tree that a merge or cherry-pick made: see {@link commitTree}. */
  async commitTree(request: TreeCommit): Promise<Oid> {
    const { commitTree } = await import('./commit-tree.ts');
    return commitTree(this.#ports, request);
  }

  /**
   * Stores the objects of a built commit, and moves refs in the same transaction: see {@link publish}. After a lost race
   * the commit has to be built again, on what the refs are then.
   * @param uses stored objects that the new ones or the refs point to, and that no ref may reach yet
   * @throws RefConflict, UnsoundObjects; ObjectMissing. Nothing is changed then.
   */
  async publish(
    objects: readonly NewObject[],
    updates: readonly RefUpdate[],
    options: {
      readonly uses?: readonly Oid[];
      readonly pushOptions?: readonly string[];
    } = {},
  ): Promise<void> {
    const { publish, retryAfterCollection } = await import('./commit-changes.ts');
    return retryAfterCollection(this.#ports.store, () => publish(this.#ports, objects, updates, options));
  }

  /**
   * Creates a ref to any stored object, including one that a garbage collection found unreachable.
   * @throws RefConflict (`exists`, `prefix-conflict`, ...); ObjectMissing
   */
  async createRef(name: RefName, oid: Oid): Promise<void> {
    const { store } = this.#ports;
    const { publish, retryAfterCollection } = await import('./commit-changes.ts');
    await retryAfterCollection(store, async () => {
      const peeled = await store.run((objects) => peelToCommit(objects, oid));
      const isTag = peeled !== undefined && peeled.commit !== oid;
      const committed = await this.#committed(peeled?.commit);
      const update = {
        name,
        from: ZERO_OID,
        to: oid,
        committed,
        ...(isTag ? { peeled: peeled.commit } : {}),
      };
      await publish(this.#ports, [], [update], { uses: [oid] });
    });
  }

  /** @throws RefConflict when the ref does not point to `expected` */
  async deleteRef(name: RefName, expected: Oid): Promise<void> {
    await this.#ports.refs.compareAndSwap([{ name, from: expected, to: ZERO_OID }]);
  }

  /**
   * Creates a tag object and a ref to it. @returns the id of the tag object
   * @throws RefConflict, ObjectMissing
   */
  async createAnnotatedTag(tag: {
    readonly name: RefName;
    readonly target: Oid;
    readonly tagger: Identity;
    readonly message: string;
  }): Promise<Oid> {
    const { store } = this.#ports;
    const { type } = await store.header(tag.target);
    const peeled = await store.run((objects) => peelToCommit(objects, tag.target));
    const name = shortName(tag.name);
    const data = encodeTag({ object: tag.target, type, name, tagger: tag.tagger, message: tag.message });
    const oid = hashObject('tag', data);
    const update = {
      name: tag.name,
      from: ZERO_OID,
      to: oid,
      peeled: peeled?.commit ?? tag.target,
      committed: await this.#committed(peeled?.commit),
    };
    const { publish, retryAfterCollection } = await import('./commit-changes.ts');
    await retryAfterCollection(store, () =>
      publish(this.#ports, [{ type: 'tag', oid, data }], [update], { uses: [tag.target] }),
    );
    return oid;
  }

  async #committed(commit: Oid | undefined): Promise<number | null> {
    return commit === undefined ? null : (await this.#links(commit)).committed;
  }

  #links(commit: Oid) {
    return this.#ports.store.run((objects) => parseCommitLinks(objects.read(commit).data));
  }

  async #ifPresent<T>(oid: Oid, read: (objects: SyncObjects) => T): Promise<T | undefined> {
    try {
      return await this.#ports.store.run(read);
    } catch (error) {
      if (error instanceof ObjectMissing && error.oid === oid) return undefined;
      throw error;
    }
  }
}

type ReadTip = Omit<Tip, 'ref'>;

function readTip(objects: SyncObjects, oid: Oid): ReadTip | undefined {
  const peeled = peelToCommit(objects, oid);
  if (peeled === undefined) return undefined;
  return { commit: readCommit(objects, peeled.commit), ...(peeled.tag ? { tag: peeled.tag } : {}) };
}

function readCommit(objects: SyncObjects, oid: Oid): CommitRecord {
  return { oid, ...parseCommit(objects.read(oid).data) };
}
