import { setTimeout } from 'node:timers/promises';
import { type EditAction, editTree, type NewObject, touchedPaths } from './edit.ts';
import { Fsck, type FsckFinding } from './fsck.ts';
import { EMPTY_TREE, type Oid, oidBytes, ZERO_OID } from './oid.ts';
import { buildPack } from './pack/build-pack.ts';
import { typeCode } from './pack/entry.ts';
import type { PackStore } from './pack/store.ts';
import { encodeCommit, hashObject, type Identity, parseCommitLinks } from './parse.ts';
import {
  type ObjectDatabase,
  type PackDescription,
  RefConflict,
  type RefDatabase,
  type RefUpdate,
} from './ports.ts';
import type { RefName } from './refname.ts';
import { rescue } from './rescue.ts';
import { asBuffer, entryAtPath } from './tree/entry.ts';
import type { RawPath } from './tree/path.ts';

/** What writing to a repository needs of it. */
export interface Ports {
  readonly objects: ObjectDatabase;
  readonly refs: RefDatabase;
  readonly store: PackStore;
  /** Objects that one write may copy out of garbage. Default: see `rescue.ts`. */
  readonly mostRescued?: number;
}

export interface CommitRequest {
  readonly branch: RefName;
  /** What the branch must point to; ZERO_OID when it must not exist. */
  readonly expected: Oid;
  /** The commit to build upon; absent for a commit without parents. Other than `expected` only with `force`, or for a new branch. */
  readonly parent?: Oid;
  /** The branch may lose what it pointed to. */
  readonly force?: boolean;
  readonly actions: readonly EditAction[];
  readonly author: Identity;
  readonly committer: Identity;
  /** Stored as given, but for NUL, which ends a message in git's eyes, and what Unicode does not have. */
  readonly message: string;
  /** Make a commit even when its tree is its parent's. */
  readonly allowEmpty?: boolean;
  readonly retry?: RetryPolicy;
  readonly signal?: AbortSignal;
}

/** How often another writer may be first. */
interface RetryPolicy {
  /** Attempts in all; 1 for none after the first. Default 64. */
  readonly attempts?: number;
  /** Milliseconds; no attempt begins later than this. Default 15,000. */
  readonly within?: number;
}

export interface Committed {
  readonly commit: Oid;
  readonly tree: Oid;
  /** What the branch pointed to before; ZERO_OID for a new branch. */
  readonly previous: Oid;
  readonly attempts: number;
}

/** The actions leave the tree as it was. */
export class NothingToCommit extends Error {
  constructor() {
    super('the actions change nothing');
    this.name = 'NothingToCommit';
  }
}

/** What was to be written would not pass the checks a push has to pass: `.gitmodules` that attacks, an impossible time zone. */
export class UnsoundObjects extends Error {
  readonly findings: readonly FsckFinding[];
  constructor(findings: readonly FsckFinding[]) {
    super(findings.map(({ oid, id, message }) => `object ${oid}: ${id}: ${message}`).join('\n'));
    this.name = 'UnsoundObjects';
    this.findings = findings;
  }
}

const ATTEMPTS = 64;
const WITHIN = 15_000;
const MAX_PAUSE = 400;

/**
 * Makes one commit and moves the branch to it: one pack stored, then one compare-and-swap. When another writer
 * was first and changed none of the paths this commit touches, the actions are applied again on the new tip.
 * A branch made in a repository without branches becomes its HEAD.
 *
 * @throws EditError, NothingToCommit, UnsoundObjects; RefConflict when the race was lost for good; ObjectMissing for an unknown parent.
 * Nothing is changed then.
 */
export async function commitChanges(ports: Ports, request: CommitRequest): Promise<Committed> {
  const { attempts = ATTEMPTS, within = WITHIN } = request.retry ?? {};
  const deadline = performance.now() + within;
  const paths = touchedPaths(request.actions);
  let { expected, parent } = request;
  if (expected !== ZERO_OID && parent !== expected && !request.force) {
    throw new RefConflict([{ name: request.branch, reason: 'stale' }]);
  }
  for (let attempt = 1; ; attempt++) {
    request.signal?.throwIfAborted();
    const started = performance.now();
    try {
      const made = await despiteCollection(ports.store, () =>
        attemptCommit(ports, request, expected, parent),
      );
      return { ...made, previous: expected, attempts: attempt };
    } catch (error) {
      if (!(error instanceof RefConflict) || !isRace(error) || parent !== expected) throw error;
      const took = performance.now() - started;
      const pause = Math.random() * Math.min(MAX_PAUSE, took * 2 ** Math.min(attempt, 4));
      if (attempt >= attempts || performance.now() + pause > deadline) throw error;
      await setTimeout(pause, undefined, request.signal ? { signal: request.signal } : {});
      const tip = await independentTip(ports, request.branch, expected, paths);
      if (tip === undefined) throw error;
      expected = tip;
      parent = tip;
    }
  }
}

/**
 * Repeats work that a collection came between: what it found unreachable has to be rescued from then on.
 * @throws what the work throws, the conflict too when collections do not stop
 */
export async function despiteCollection<T>(store: PackStore, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const interrupted =
        error instanceof RefConflict && error.rejections.every(({ reason }) => reason === 'collected');
      if (!interrupted || attempt >= 5) throw error;
      await store.refresh();
    }
  }
}

/**
 * Stores objects as one pack and swaps the refs that make them reachable; gives the pack up when refused.
 *
 * @param options.head what HEAD is to point to
 * @param options.uses stored objects that the new ones or the ref lead to, by themselves or what is below them, and
 *   that no ref has been seen to reach: what only garbage holds of them comes along in a pack of its own
 * @throws ObjectMissing when one of those is gone; UnsoundObjects, RefConflict
 */
export async function publish(
  ports: Ports,
  created: readonly NewObject[],
  update: RefUpdate,
  options: { readonly head?: RefName | undefined; readonly uses?: readonly Oid[] } = {},
): Promise<void> {
  const { objects, refs, store } = ports;
  // What another writer stores meanwhile is stored twice, which does no harm.
  const fresh = await absent(store, created);
  checkSound(fresh);
  const packs: PackDescription[] = [];
  let seen = store;
  try {
    const rescued = options.uses?.length ? await rescue(ports, options.uses) : undefined;
    if (rescued !== undefined) packs.push(rescued);
    if (fresh.length > 0) {
      const { content, objectCount } = buildPack(fresh);
      // Who lists the pack looks whether the others are still listed: it may do so now.
      const [pack] = await Promise.all([
        objects.newPack(content, { source: 'api', objectCount }),
        store.refresh(),
      ]);
      packs.push(pack);
      store.keep(pack, content);
      seen = store.withContent(content, objectCount);
    }
    await refs.compareAndSwap([update], {
      ...(options.head === undefined ? {} : { head: options.head }),
      ...(packs.length === 0 ? {} : { packs }),
      objects: seen,
    });
    store.listed(packs);
  } catch (error) {
    // Only a refusal says for sure that nothing was listed.
    if (error instanceof RefConflict) {
      await Promise.all(packs.map((pack) => objects.rollbackPack(pack).catch(() => {})));
    }
    throw error;
  }
}

async function attemptCommit(
  ports: Ports,
  request: CommitRequest,
  expected: Oid,
  parent: Oid | undefined,
): Promise<{ commit: Oid; tree: Oid }> {
  const { store, refs } = ports;
  const base = parent === undefined ? EMPTY_TREE : await treeOf(store, parent);
  const { tree, objects } = await editTree(store, base, request.actions);
  if (tree === base && !request.allowEmpty) throw new NothingToCommit();
  const { author, committer } = request;
  const message = request.message.replaceAll('\0', '');
  const data = encodeCommit({
    tree,
    parents: parent === undefined ? [] : [parent],
    author,
    committer,
    message,
  });
  const commit: NewObject = { type: 'commit', oid: hashObject('commit', data), data };
  const first = parent === undefined && (await refs.page({ space: 'heads', limit: 1 })).refs.length === 0;
  const forced = expected !== ZERO_OID && parent !== expected;
  const update = {
    name: request.branch,
    from: expected,
    to: commit.oid,
    committed: committer.seconds,
    ...(forced ? { forced } : {}),
  };
  await publish(ports, [...objects, commit], update, {
    head: first ? request.branch : undefined,
    uses: parent === undefined || parent === expected ? [] : [parent],
  });
  return { commit: commit.oid, tree };
}

/** As `receive.fsckObjects` does for a push. */
function checkSound(objects: readonly NewObject[]): void {
  const fsck = new Fsck();
  for (const { type, oid, data } of objects) fsck.check(typeCode(type), asBuffer(data), oidBytes(oid), 0);
  for (const { oid, data } of objects) {
    if (fsck.gitmodulesBlobs.has(oid)) fsck.gitmodules(oid, data);
    if (fsck.gitattributesBlobs.has(oid)) fsck.gitattributes(oid, data);
  }
  if (fsck.errors.length > 0) throw new UnsoundObjects(fsck.errors);
}

async function absent(store: PackStore, objects: readonly NewObject[]): Promise<NewObject[]> {
  const names = Buffer.concat(objects.map((object) => oidBytes(object.oid)));
  const missing = new Set(await store.missing(names, { garbage: false, relist: false }));
  return objects.filter((object) => missing.has(object.oid));
}

function isRace(conflict: RefConflict): boolean {
  return conflict.rejections.every(({ reason }) => reason === 'stale' || reason === 'collected');
}

/** The branch's tip now, when it has at each of the paths what it had before. */
async function independentTip(
  { refs, store }: Ports,
  branch: RefName,
  before: Oid,
  paths: readonly RawPath[],
): Promise<Oid | undefined> {
  const tip = (await refs.get([branch])).get(branch)?.oid;
  if (tip === undefined || tip === before) return tip;
  const [oldTree, newTree] = [await treeOf(store, before), await treeOf(store, tip)];
  const same = await store.run((objects) =>
    paths.every((path) => {
      const [was, is] = [entryAtPath(objects, oldTree, path), entryAtPath(objects, newTree, path)];
      return was?.oid === is?.oid && was?.mode === is?.mode;
    }),
  );
  return same ? tip : undefined;
}

async function treeOf(store: PackStore, commit: Oid): Promise<Oid> {
  return await store.run((objects) => parseCommitLinks(objects.read(commit).data).tree);
}
