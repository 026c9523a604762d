import type { TreeChange } from '../diff/tree-diff.ts';
import type { ObjectStore } from '../objects.ts';
import { type Oid, oidFromBytes } from '../oid.ts';
import { TreeCursor } from '../parse.ts';
import { inSlices } from '../slices.ts';
import { canonicalMode, DIRECTORY, rawName, readTreeBytes } from '../tree/entry.ts';
import { type RawPath, ROOT } from '../tree/path.ts';
import { LimitExceeded } from '../work.ts';

/** Directories with deleted files that are looked up on one side. */
const MAX_DIRECTORIES = 200_000;

/** The directory of a path; {@link ROOT} for a file at the top. */
export function parentOf(path: RawPath): RawPath {
  const end = path.lastIndexOf('/');
  return end < 0 ? ROOT : (path.slice(0, end) as RawPath);
}

/** The directories of the base that a side does not have any more. @throws LimitExceeded */
export async function removedDirectories(
  store: ObjectStore,
  side: Oid,
  changes: readonly TreeChange[],
  signal?: AbortSignal,
): Promise<Set<RawPath>> {
  const removed = new Set<RawPath>();
  // Each level of directories is looked up in the trees of the level above it.
  let open = new Map<RawPath, Oid>([[ROOT, side]]);
  const below = childrenOf(changes);
  while (open.size > 0) {
    const parents = [...open].filter(([path]) => below.has(path));
    const next = new Map<RawPath, Oid>();
    let at = 0;
    const step = (objects: Parameters<Parameters<typeof inSlices>[2]>[0]): boolean => {
      const parent = parents[at];
      if (parent === undefined) return true;
      const [path, oid] = parent;
      const data = readTreeBytes(objects, oid);
      const wanted = below.get(path)!;
      for (const cursor = new TreeCursor(data); cursor.next(); ) {
        if (canonicalMode(cursor.mode) !== DIRECTORY) continue;
        const child = joined(path, rawName(cursor));
        if (wanted.has(child)) next.set(child, oidFromBytes(data, cursor.oidStart));
      }
      for (const child of wanted) if (!next.has(child)) addAll(removed, child, below);
      at++;
      return false;
    };
    await inSlices(store, Number.POSITIVE_INFINITY, step, signal);
    open = next;
  }
  return removed;
}

/** For each directory, the directories directly in it in which files were deleted, at any depth. */
function childrenOf(changes: readonly TreeChange[]): Map<RawPath, Set<RawPath>> {
  const below = new Map<RawPath, Set<RawPath>>();
  let count = 0;
  for (const { path, old, new: after } of changes) {
    if (!old || after) continue;
    for (let child = parentOf(path); child !== ROOT; ) {
      const parent = parentOf(child);
      let children = below.get(parent);
      if (children === undefined) below.set(parent, (children = new Set()));
      if (children.has(child)) break;
      children.add(child);
      if (++count > MAX_DIRECTORIES)
        throw new LimitExceeded(`more than ${MAX_DIRECTORIES} directories changed`);
      child = parent;
    }
  }
  return below;
}

function addAll(to: Set<RawPath>, top: RawPath, below: ReadonlyMap<RawPath, Set<RawPath>>): void {
  const open = [top];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    to.add(path);
    open.push(...(below.get(path) ?? []));
  }
}

function joined(directory: RawPath, name: RawPath): RawPath {
  return directory === ROOT ? name : (`${directory}/${name}` as RawPath);
}
