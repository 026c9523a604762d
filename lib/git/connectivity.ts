import { bytesOf, type Oid, oidFromBytes } from './oid.ts';
import { COMMIT, typeName } from './pack/entry.ts';
import { resized } from './pack/entry-table.ts';
import type { IndexedPack } from './pack/index-pack.ts';
import type { PackStore } from './pack/store.ts';
import { inTurns, type Steps } from './work.ts';

/** Problems that are told. */
const MAX_PROBLEMS = 20;

/** What a push lacks. */
export interface ConnectivityProblem {
  readonly oid: Oid;
  /** `missing`: no pack has it. `type`: it exists, but is not of the type that the referring object says. */
  readonly reason: 'missing' | 'type';
}

/** Objects that a push refers to and does not contain. */
export interface Gaps {
  /** Up to {@link MAX_PROBLEMS}; none means connected. */
  readonly problems: readonly ConnectivityProblem[];
  /** Objects that only unreachable-garbage packs hold: they have to be resurrected before anything refers to them. */
  readonly onlyGarbage: readonly Oid[];
}

export interface ConnectivityOptions {
  /** New values of refs. */
  readonly tips: readonly Oid[];
  /** Current values of refs: these exist, with everything they reach. */
  readonly known?: readonly Oid[];
}

/**
 * Checks that a push is complete: every object that its pack refers to, and every tip, is in the pack or in the
 * repository. No history is walked, old or new: the repository is complete, because every pack in it passed this
 * check for *all* of its objects and not only for those that tips reach. (git checks less of the pack and walks
 * down to known refs instead, so a pack with incomplete unreachable objects passes there but not here.)
 *
 * Objects that only garbage packs hold may be deleted soon, so they are reported separately.
 */
export async function findGaps(
  store: PackStore,
  indexed: IndexedPack | undefined,
  options: ConnectivityOptions,
): Promise<Gaps> {
  const known = new Set(options.known ?? []);
  const tips = options.tips.filter((tip) => !known.has(tip) && indexed?.type(tip) === undefined);
  const { outside, commits, problems } = await inTurns(linksOf(indexed, tips));
  const notLive = await store.missing(outside, { garbage: false });
  const missing = await store.missing(await inTurns(bytesOf(notLive)));
  for (const oid of missing.slice(0, MAX_PROBLEMS)) problems.push({ oid, reason: 'missing' });
  if (problems.length >= MAX_PROBLEMS) return { problems: problems.slice(0, MAX_PROBLEMS), onlyGarbage: [] };
  const absent = new Set(missing);
  // Only commits: they are few and stored close together, while the types of trees and blobs show when those are read.
  await store.runEach(commits.length, (objects, i) => {
    const oid = commits[i]!;
    if (problems.length >= MAX_PROBLEMS || absent.has(oid) || known.has(oid)) return;
    if (objects.header(oid).type !== typeName(COMMIT)) problems.push({ oid, reason: 'type' });
  });
  return { problems, onlyGarbage: notLive.filter((oid) => !absent.has(oid)) };
}

interface Links {
  /** What is not in the pack, 20 bytes each. */
  readonly outside: Uint8Array;
  /** Commits among those. */
  readonly commits: readonly Oid[];
  /** What is in the pack, and not as it is referred to. */
  readonly problems: ConnectivityProblem[];
}

/** What the objects of the pack and the tips refer to. @param tips that are not in the pack */
function* linksOf(indexed: IndexedPack | undefined, tips: readonly Oid[]): Steps<Links> {
  const problems: ConnectivityProblem[] = [];
  const commits: Oid[] = [];
  const links = indexed?.links;
  let outside = yield* bytesOf(tips);
  let size = outside.length;
  for (let i = 0; i < (links?.count ?? 0); i++) {
    const { names, kinds } = links!;
    const type = indexed!.typeAt(names, 20 * i);
    const kind = kinds[i]!;
    if (type === 0) {
      if (size === outside.length) outside = resized(outside, Math.max(640, 2 * size));
      outside.set(names.subarray(20 * i, 20 * i + 20), size);
      size += 20;
      if (kind === COMMIT) commits.push(oidFromBytes(names, 20 * i));
    } else if (kind !== 0 && kind !== type && problems.length < MAX_PROBLEMS) {
      problems.push({ oid: oidFromBytes(names, 20 * i), reason: 'type' });
    }
    if ((i & 255) === 255) yield;
  }
  return { outside: outside.subarray(0, size), commits, problems };
}

/** For callers that resurrect nothing: objects in garbage packs only count as missing. @returns up to 20 problems */
export async function checkConnectivity(
  store: PackStore,
  indexed: IndexedPack | undefined,
  options: ConnectivityOptions,
): Promise<ConnectivityProblem[]> {
  const { problems, onlyGarbage } = await findGaps(store, indexed, options);
  const missing = onlyGarbage.map((oid): ConnectivityProblem => ({ oid, reason: 'missing' }));
  return [...problems, ...missing].slice(0, MAX_PROBLEMS);
}
