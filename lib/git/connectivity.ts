import { EMPTY_TREE, type Oid, oidBytes, oidFromBytes } from './oid.ts';
import { COMMIT, typeName } from './pack/entry.ts';
import type { IndexedPack } from './pack/index-pack.ts';
import type { PackStore } from './pack/store.ts';

/** What a push lacks. */
export interface ConnectivityProblem {
  readonly oid: Oid;
  /** `missing`: no pack has it. `type`: it exists, but is not of the type that the referring object says. */
  readonly reason: 'missing' | 'type';
}

/** Objects that a push refers to and does not contain. */
export interface Gaps {
  /** Up to 20; none means connected. */
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
  const problems: ConnectivityProblem[] = [];
  const known = new Set(options.known ?? []);
  const outside: Uint8Array[] = [];
  for (const tip of options.tips) {
    if (!known.has(tip) && indexed?.type(tip) === undefined) outside.push(oidBytes(tip));
  }
  const commits: Oid[] = [];
  if (indexed) {
    const { links } = indexed;
    const { names, kinds } = links;
    for (let i = 0; i < links.count; i++) {
      const type = indexed.typeAt(names, 20 * i);
      const kind = kinds[i]!;
      if (type === 0) {
        outside.push(names.subarray(20 * i, 20 * i + 20));
        if (kind === COMMIT) commits.push(oidFromBytes(names, 20 * i));
      } else if (kind !== 0 && kind !== type) {
        problems.push({ oid: oidFromBytes(names, 20 * i), reason: 'type' });
      }
    }
  }
  const notLive = outside.length === 0 ? [] : await store.missing(Buffer.concat(outside), { garbage: false });
  const missing = notLive.length === 0 ? [] : await store.missing(Buffer.concat(notLive.map(oidBytes)));
  for (const oid of missing) if (oid !== EMPTY_TREE) problems.push({ oid, reason: 'missing' });
  const absent = new Set(missing);
  // Only commits: they are few and stored close together, while the types of trees and blobs show when those are read.
  const parents = commits.filter((oid) => !absent.has(oid) && !known.has(oid));
  let at = 0;
  await store.run((objects) => {
    for (; at < parents.length; at++) {
      if (objects.header(parents[at]!).type !== typeName(COMMIT))
        problems.push({ oid: parents[at]!, reason: 'type' });
    }
  });
  return { problems: problems.slice(0, 20), onlyGarbage: notLive.filter((oid) => !absent.has(oid)) };
}

/** For callers that resurrect nothing: objects in garbage packs only count as missing. @returns up to 20 problems */
export async function checkConnectivity(
  store: PackStore,
  indexed: IndexedPack | undefined,
  options: ConnectivityOptions,
): Promise<ConnectivityProblem[]> {
  const { problems, onlyGarbage } = await findGaps(store, indexed, options);
  const missing = onlyGarbage.map((oid): ConnectivityProblem => ({ oid, reason: 'missing' }));
  return [...problems, ...missing].slice(0, 20);
}
