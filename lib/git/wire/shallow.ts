/** Shallow clones (gitprotocol-pack, "Packfile Negotiation"; gitprotocol-v2, `shallow-info`). */
import type { ObjectStore } from '../objects.ts';
import type { Oid } from '../oid.ts';
import { CommitReader } from './commits.ts';
import { WireError } from './error.ts';
import { quoted } from './line.ts';
import { type Deepen, INFINITE_DEPTH, type Wants } from './upload-request.ts';
import type { VisibleRefs } from './visible.ts';

export interface ShallowInfo {
  /** Commits that the client has to treat as parentless from now on. */
  readonly shallow: readonly Oid[];
  /** Commits that it treated as parentless, and whose parents it now gets. */
  readonly unshallow: readonly Oid[];
  /** Parents of `unshallow`: the pack must contain them, although the client has their children. */
  readonly extraWants: readonly Oid[];
  /** Commits whose parents are ignored, in both walks of the pack's enumeration. */
  readonly cut: ReadonlySet<Oid>;
}

/** @throws WireError when a `deepen-not` is not a ref, or no commits are selected */
export async function shallowInfo(
  store: ObjectStore,
  visible: Pick<VisibleRefs, 'named'>,
  asked: Wants,
): Promise<ShallowInfo> {
  const client = new Set<Oid>();
  for (const oid of asked.shallow) {
    // Not `store.has`, which reads the listing again on every miss.
    if (await store.run((objects) => objects.has(oid))) client.add(oid);
  }
  if (asked.deepen === undefined) return { shallow: [], unshallow: [], extraWants: [], cut: client };
  const reader = new CommitReader(store);
  const { included, boundary } =
    asked.deepen.kind === 'depth'
      ? await byDepth(reader, asked.wants, client, asked.deepen)
      : await byBoundary(reader, visible, asked.wants, asked.deepen);
  const unshallow = [...client].filter((oid) => included.has(oid) && !boundary.has(oid));
  const extraWants = new Set<Oid>();
  for (const oid of unshallow)
    for (const parent of (await reader.links(oid))?.parents ?? []) extraWants.add(parent);
  return {
    shallow: [...boundary].filter((oid) => !client.has(oid)),
    unshallow,
    extraWants: [...extraWants],
    cut: new Set([...client, ...boundary]),
  };
}

interface Section {
  readonly included: ReadonlySet<Oid>;
  /** Those of `included` that the client has to treat as parentless. */
  readonly boundary: ReadonlySet<Oid>;
}

/** Level by level, so that each commit is visited at its minimum depth. */
async function byDepth(
  reader: CommitReader,
  wants: readonly Oid[],
  client: ReadonlySet<Oid>,
  deepen: Extract<Deepen, { kind: 'depth' }>,
): Promise<Section> {
  const included = new Set<Oid>();
  const boundary = new Set<Oid>();
  const relative = deepen.relative && client.size > 0;
  let level = relative ? await reachable(reader, wants, client) : await peeled(reader, wants);
  const depth = relative ? deepen.depth + 1 : deepen.depth;
  for (let at = 1; level.length > 0; at++) {
    const next = new Set<Oid>();
    let index = 0;
    for (const oid of level) included.add(oid);
    await reader.walk((read) => {
      const oid = level[index];
      if (oid === undefined) return false;
      const parents = read(oid)?.parents ?? [];
      index++;
      // As in git, the whole last level, even if the parents of a commit are included by another path.
      if (at >= depth && depth < INFINITE_DEPTH) boundary.add(oid);
      else for (const parent of parents) if (!included.has(parent)) next.add(parent);
      return true;
    });
    if (at >= depth && depth < INFINITE_DEPTH) break;
    level = [...next];
  }
  return { included, boundary };
}

/** The commits of the client's boundary that the wants reach. */
async function reachable(
  reader: CommitReader,
  wants: readonly Oid[],
  client: ReadonlySet<Oid>,
): Promise<Oid[]> {
  const { included } = await closure(reader, await peeled(reader, wants), () => true);
  return [...client].filter((oid) => included.has(oid));
}

async function byBoundary(
  reader: CommitReader,
  visible: Pick<VisibleRefs, 'named'>,
  wants: readonly Oid[],
  deepen: Extract<Deepen, { kind: 'boundary' }>,
): Promise<Section> {
  const since = deepen.since ?? 0;
  const named: Oid[] = [];
  for (const name of deepen.not) {
    const tip = await visible.named(name);
    if (tip === undefined)
      throw new WireError('request-malformed', `git upload-pack: deepen-not is not a ref: ${quoted(name)}`);
    named.push(tip);
  }
  const tips = await peeled(reader, named);
  const { included: excluded } = await closure(reader, tips, (_, time) => time >= since);
  const section = await closure(
    reader,
    await peeled(reader, wants),
    (oid, time) => time >= since && !excluded.has(oid),
  );
  if (section.included.size === 0)
    throw new WireError('request-malformed', 'no commits selected for shallow requests');
  return section;
}

/** Everything that `tips` reach through commits that `accept` accepts, and the boundary where it does not. */
async function closure(
  reader: CommitReader,
  tips: readonly Oid[],
  accept: (oid: Oid, time: number) => boolean,
): Promise<Section> {
  const included = new Set<Oid>();
  const refused = new Set<Oid>();
  const boundary = new Set<Oid>();
  const left: { oid: Oid; child: Oid | undefined }[] = tips.map((oid) => ({ oid, child: undefined }));
  await reader.walk((read) => {
    const entry = left.at(-1);
    if (entry === undefined) return false;
    const { oid, child } = entry;
    const links = included.has(oid) || refused.has(oid) ? undefined : read(oid);
    left.pop();
    if (refused.has(oid) && child !== undefined) boundary.add(child);
    if (links === undefined) return true;
    if (accept(oid, links.committed)) {
      included.add(oid);
      for (const parent of links.parents) left.push({ oid: parent, child: oid });
    } else {
      refused.add(oid);
      if (child !== undefined) boundary.add(child);
    }
    return true;
  });
  return { included, boundary };
}

async function peeled(reader: CommitReader, oids: readonly Oid[]): Promise<Oid[]> {
  const ends = new Set<Oid>();
  for (const oid of oids) ends.add(await reader.peel(oid));
  return [...ends];
}
