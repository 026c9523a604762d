import { setTimeout } from 'node:timers/promises';
import { asBuffer } from '../bytes/as-buffer.ts';
import { type EditAction, editTree, type NewObject, touchedPaths } from './edit.ts';
import { NothingToCommit, UnsoundObjects } from './edit-errors.ts';
import { Fsck } from './fsck.ts';
import { checkStoredGitmodules } from './fsck-stored.ts';
import { EMPTY_TREE, type Oid, oidBytes, ZERO_OID } from './oid.ts';
import { buildPack, deflatedAhead } from './pack/build-pack.ts';
import { typeCode } from './pack/entry.ts';
import type { PackStore } from './pack/store.ts';
import { encodeCommit, hashObject, type Identity, parseCommitLinks } from './parse.ts';
import { type ObjectDatabase, type PackDescription, RefConflict, type RefUpdate } from './ports.ts';
import type { RefDatabase } from './ref-database.ts';
import type { RefName } from './refname.ts';
import { resurrect } from './resurrect.ts';
import { entryAtPath } from './tree/entry.ts';
import { lookupPath, type RawPath } from './tree/path.ts';
import { inTurns, type Steps } from './work.ts';

/** What writing to a repository needs of it. */
export interface Ports {
  readonly objects: ObjectDatabase;
  readonly refs: RefDatabase;
  readonly store: PackStore;
  /** Objects that one write may copy out of unreachable-garbage packs. Default: see `resurrect.ts`. */
  readonly maxResurrected?: number;
  /** As for `resurrect`. */
  readonly onSmallBlob?: ((data: Uint8Array) => void) | undefined;
}

export interface CommitRequest {
  readonly branch: RefName;
  /** What the branch must point to; ZERO_OID when it must not exist. */
  readonly expected: Oid;
  /**
   * The new commit's parent; absent for a root commit. May differ from `expected` only with `force`, or for a new
   * branch.
   */
  readonly parent?: Oid;
  /** Allows an update that is not a fast-forward. */
  readonly force?: boolean;
  readonly actions: readonly EditAction[];
  /** Further paths on whose content the actions depend, as text: where another writer changed one, the race is lost. */
  readonly reads?: readonly string[];
  readonly author: Identity;
  readonly committer: Identity;
  /** Stored as given, except NUL, which git takes for the end of the message, and code units that are not Unicode. */
  readonly message: string;
  /** Make a commit even when its tree is its parent's. */
  readonly allowEmpty?: boolean;
  readonly retry?: RetryPolicy;
  readonly signal?: AbortSignal;
}

/** How often to try again after losing a race. */
export interface RetryPolicy {
  /** Attempts in all; 1 for none after the first. Default 64. */
  readonly attempts?: number;
  /** No attempt begins after this many milliseconds. Default 15,000. */
  readonly timeoutMs?: number;
}

export interface Committed {
  readonly commit: Oid;
  readonly tree: Oid;
  /** What the branch pointed to before; ZERO_OID for a new branch. */
  readonly previous: Oid;
  readonly attempts: number;
}

const MAX_ATTEMPTS = 64;
const RETRY_TIMEOUT_MS = 15_000;
const MAX_PAUSE_MS = 400;

/**
 * Makes one commit and moves the branch to it: one pack stored, then one compare-and-swap. When another writer
 * was first and changed none of the paths this commit touches, the actions are applied again on the new tip.
 * A branch made in a repository without branches becomes its HEAD.
 *
 * @throws EditError, NothingToCommit, UnsoundObjects; RefConflict when every attempt lost the race; ObjectMissing for
 *   an unknown parent. Nothing is changed then.
 */
export async function commitChanges(ports: Ports, request: CommitRequest): Promise<Committed> {
  const { attempts = MAX_ATTEMPTS, timeoutMs = RETRY_TIMEOUT_MS } = request.retry ?? {};
  const deadline = performance.now() + timeoutMs;
  const read = (request.reads ?? []).flatMap((path) => lookupPath(path) ?? []);
  const paths = [...touchedPaths(request.actions), ...read];
  let { expected, parent } = request;
  if (expected !== ZERO_OID && parent !== expected && !request.force) {
    throw new RefConflict([{ name: request.branch, reason: 'stale' }]);
  }
  for (let attempt = 1; ; attempt++) {
    request.signal?.throwIfAborted();
    const started = performance.now();
    try {
      const made = await retryAfterCollection(ports.store, () =>
        attemptCommit(ports, request, expected, parent),
      );
      return { ...made, previous: expected, attempts: attempt };
    } catch (error) {
      if (!(error instanceof RefConflict) || !isRace(error) || parent !== expected) throw error;
      const took = performance.now() - started;
      const pause = Math.random() * Math.min(MAX_PAUSE_MS, took * 2 ** Math.min(attempt, 4));
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
 * Runs `work` again when a garbage collection began in between: from then on, objects that the collection found
 * unreachable have to be resurrected.
 * @throws what `work` throws; the RefConflict itself when collections keep coming
 */
export async function retryAfterCollection<T>(store: PackStore, work: () => Promise<T>): Promise<T> {
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
 * Stores objects as one pack and moves the refs that make them reachable. Deletes the pack when that is refused.
 *
 * @param updates all or nothing
 * @param options.head what HEAD is to point to
 * @param options.uses stored objects that the new objects or the ref point to, and that are not known to be reachable
 *   from a ref: those of them, and of what they reach, that only garbage packs hold are resurrected into a second pack
 * @param options.renames whether trees may name stored files as no commit does yet
 * @throws ObjectMissing when one of those does not exist any more; UnsoundObjects, RefConflict
 */
export async function publish(
  ports: Ports,
  created: readonly NewObject[],
  updates: readonly RefUpdate[],
  options: {
    readonly head?: RefName | undefined;
    readonly uses?: readonly Oid[];
    readonly pushOptions?: readonly string[];
    readonly renames?: boolean;
  } = {},
): Promise<void> {
  const { objects, refs, store } = ports;
  // An object that another writer stores meanwhile is stored twice, which does no harm.
  const fresh = await notStored(store, created);
  const fsck = await inTurns(checked(fresh));
  if (options.renames) {
    const created = new Set(fresh.map(({ oid }) => oid));
    await checkStoredGitmodules(fsck, store, (oid) => created.has(oid));
  }
  if (fsck.errors.length > 0) throw new UnsoundObjects(fsck.errors);
  const packs: PackDescription[] = [];
  let seen = store;
  try {
    const resurrected = options.uses?.length ? await resurrect(ports, options.uses) : undefined;
    if (resurrected !== undefined) packs.push(resurrected);
    if (fresh.length > 0) {
      const { content, objectCount } = await inTurns(buildPack(await deflatedAhead(fresh)));
      // Listing a pack checks that the known packs are still listed; the list can be read now.
      const [pack] = await Promise.all([
        objects.newPack(content, { source: 'insert', objectCount }),
        store.refresh(),
      ]);
      packs.push(pack);
      store.keep(pack, content);
      seen = store.withContent(content, objectCount);
    }
    await refs.compareAndSwap(updates, {
      ...(options.head === undefined ? {} : { head: options.head }),
      ...(packs.length === 0 ? {} : { packs }),
      ...(options.pushOptions?.length ? { pushOptions: options.pushOptions } : {}),
      objects: seen,
    });
    store.listed(packs);
  } catch (error) {
    // After other errors the packs may be listed.
    if (error instanceof RefConflict || refs.isRefusal?.(error) === true) {
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
  await publish(ports, [...objects, commit], [update], {
    head: first ? request.branch : undefined,
    uses: parent === undefined || parent === expected ? [] : [parent],
    renames: true,
  });
  return { commit: commit.oid, tree };
}

/** As `receive.fsckObjects` does for a push. */
function* checked(objects: readonly NewObject[]): Steps<Fsck> {
  const fsck = new Fsck();
  for (const { type, oid, data } of objects) {
    yield;
    fsck.check(typeCode(type), asBuffer(data), oidBytes(oid), 0);
  }
  for (const { oid, data } of objects) {
    if (fsck.gitmodulesBlobs.has(oid)) yield* fsck.gitmodules(oid, data);
    if (fsck.gitattributesBlobs.has(oid)) yield* fsck.gitattributes(oid, data);
  }
  return fsck;
}

async function notStored(store: PackStore, objects: readonly NewObject[]): Promise<NewObject[]> {
  const names = Buffer.concat(objects.map((object) => oidBytes(object.oid)));
  const missing = new Set(await store.missing(names, { garbage: false, relist: false }));
  // The empty tree reads as if it were stored everywhere; git's own check asks for its object.
  return objects.filter(({ oid }) => missing.has(oid) || oid === EMPTY_TREE);
}

function isRace(conflict: RefConflict): boolean {
  return conflict.rejections.every(({ reason }) => reason === 'stale' || reason === 'collected');
}

/** The branch's current tip, when none of the paths changed since `before`; undefined otherwise. */
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
      const [old, current] = [entryAtPath(objects, oldTree, path), entryAtPath(objects, newTree, path)];
      return old?.oid === current?.oid && old?.mode === current?.mode;
    }),
  );
  return same ? tip : undefined;
}

async function treeOf(store: PackStore, commit: Oid): Promise<Oid> {
  return await store.run((objects) => parseCommitLinks(objects.read(commit).data).tree);
}
