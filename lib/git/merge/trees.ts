import { isRegular, typeOf } from '../diff/changes.ts';
import { diffTrees, type TreeChange } from '../diff/tree-diff.ts';
import type { Oid } from '../oid.ts';
import { DIRECTORY, type Entry, entryAtPath } from '../tree/entry.ts';
import type { RawPath } from '../tree/path.ts';
import { LimitExceeded, Pace } from '../work.ts';
import type { ConflictKind, Labels, MergeConflict, Stage } from './conflict.ts';
import { entryOf, type MergeLevel, mergeEntries } from './entries.ts';
import { findRenames } from './find-renames.ts';
import type { Overlay } from './overlay.ts';
import {
  applyRenames,
  type PathStages,
  SIDES,
  type SideName,
  type StagesByPath,
  stagesByPath,
} from './stages.ts';
import { writeTree } from './write-tree.ts';

export interface MergedTree {
  /** With conflict markers where there are conflicts. */
  readonly tree: Oid;
  /** Empty when the merge is clean. */
  readonly conflicts: readonly MergeConflict[];
}

/** Files that one side of a merge may change. */
const MAX_CHANGES = 200_000;
/** Bytes of a path, as Linux allows (`PATH_MAX`). */
const MAX_PATH = 4096;

/**
 * Three-way merge of trees, as git's `ort` strategy does (merge-strategies). Adds
 * the new objects to `store`.
 *
 * @throws LimitExceeded when more than {@link MAX_CHANGES} files changed
 */
export async function mergeTrees(
  store: Overlay,
  trees: { readonly base: Oid; readonly ours: Oid; readonly theirs: Oid },
  level: MergeLevel,
  signal?: AbortSignal,
): Promise<MergedTree> {
  const { base, ours, theirs } = trees;
  if (ours === theirs || base === theirs) return { tree: ours, conflicts: [] };
  if (base === ours) return { tree: theirs, conflicts: [] };
  const ourChanges = await changed(store, base, ours, signal);
  const theirChanges = await changed(store, base, theirs, signal);
  const byPath = stagesByPath(ourChanges, theirChanges);
  const changes = { ours: ourChanges, theirs: theirChanges };
  const directories = level.depth === 0;
  const found = await findRenames(store, byPath, trees, changes, { directories, signal });
  const conflicts = [...found.conflicts, ...(await applyRenames(store, byPath, found.renames, level))];
  const inOurs = (path: RawPath) => store.run((objects) => entryAtPath(objects, ours, path));
  const result = new Result(level.labels, inOurs);
  const pace = new Pace();
  for (const stages of byPath.values()) {
    signal?.throwIfAborted();
    if (pace.due()) await pace.rest(signal);
    const { entry, conflict } = await resolve(store, stages, level);
    result.files.set(stages.path, entry);
    if (conflict === 'distinct-types' && level.depth === 0) {
      conflicts.push(...(await result.separate(stages)));
      continue;
    }
    const kind = stages.conflict ?? conflict;
    if (kind && (stages.base ?? stages.ours ?? stages.theirs)) conflicts.push(describe(kind, stages));
  }
  conflicts.push(...(await result.makeWayForDirectories(byPath)));
  const tree = await writeTree(store, ours, result.files, (data) => store.add('tree', data));
  return { tree, conflicts };
}

async function changed(store: Overlay, base: Oid, side: Oid, signal?: AbortSignal): Promise<TreeChange[]> {
  const options = { limit: MAX_CHANGES, ...(signal ? { signal } : {}) };
  const { changes, truncated } = await diffTrees(store, base, side, options);
  if (truncated) throw new LimitExceeded(`more than ${MAX_CHANGES} files changed`);
  // Their parents are looked up one by one, each by its whole path.
  const long = changes.find(({ path }) => path.length > MAX_PATH);
  if (long !== undefined) throw new LimitExceeded(`a changed path has more than ${MAX_PATH} bytes`);
  return [...changes];
}

interface Resolved {
  readonly entry: Entry | undefined;
  readonly conflict?: ConflictKind;
}

/** Merges one path. */
async function resolve(store: Overlay, stages: PathStages, level: MergeLevel): Promise<Resolved> {
  const { base, ours, theirs } = stages;
  if (ours && theirs) {
    if (same(ours, theirs)) return { entry: entryOf(ours) };
    // git does not say of a renamed file that only one side changed its type.
    const renamed = base !== undefined && base.path !== stages.path && typeOf(ours) !== typeOf(theirs);
    if (same(base, ours) && !renamed) return { entry: entryOf(theirs) };
    if (same(base, theirs) && !renamed) return { entry: entryOf(ours) };
    if (typeOf(ours) !== typeOf(theirs)) {
      return { entry: stripped(level.depth > 0 ? base : ours), conflict: 'distinct-types' };
    }
    return mergeEntries(store, base, ours, theirs, level);
  }
  const left = ours ?? theirs;
  if (base && left) {
    if (same(base, left) && stages.conflict === undefined) return { entry: undefined };
    return { entry: stripped(level.depth > 0 ? base : left), conflict: 'modify-delete' };
  }
  return { entry: stripped(left) };
}

function same(a: Entry | undefined, b: Entry | undefined): boolean {
  return a?.oid === b?.oid && a?.mode === b?.mode;
}

function stripped(stage: Entry | undefined): Entry | undefined {
  return stage && entryOf(stage);
}

function describe(kind: ConflictKind, { path, base, ours, theirs }: PathStages): MergeConflict {
  return { kind, path, ...(base ? { base } : {}), ...(ours ? { ours } : {}), ...(theirs ? { theirs } : {}) };
}

/** The files of the merged tree that differ from one of the sides. */
class Result {
  readonly files = new Map<RawPath, Entry | undefined>();
  readonly #labels: Labels;

  readonly #inOurs: (path: RawPath) => Promise<Entry | undefined>;

  /** @param inOurs what our tree has at a path, changed or not */
  constructor(labels: Labels, inOurs: (path: RawPath) => Promise<Entry | undefined>) {
    this.#labels = labels;
    this.#inOurs = inOurs;
  }

  /** Separates a file from a symlink or submodule at the same path: renames the file, or both if neither is a file. */
  async separate(stages: PathStages): Promise<MergeConflict[]> {
    const { path, ours, theirs } = stages as PathStages & { ours: Stage; theirs: Stage };
    const moved = isRegular(ours) ? [SIDES[0]] : isRegular(theirs) ? [SIDES[1]] : SIDES;
    const left = moved.length === 2 ? undefined : moved[0] === 'ours' ? theirs : ours;
    const besides: RawPath[] = [];
    for (const side of moved) besides.push(await this.#beside(path, side, stages[side]!));
    this.files.set(path, stripped(left));
    return [path, ...besides].map((at) => describe('distinct-types', { ...stages, path: at }));
  }

  /** Renames files at paths where the merged tree has a directory, with the label of the side they come from. */
  async makeWayForDirectories(byPath: StagesByPath): Promise<MergeConflict[]> {
    const blocked = new Set<RawPath>();
    const seen = new Set<RawPath>();
    const pace = new Pace();
    for (const [path, entry] of this.files) {
      if (!entry) continue;
      if (pace.due()) await pace.rest();
      for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
        const above = path.slice(0, end) as RawPath;
        if (seen.has(above)) break;
        seen.add(above);
        if (this.files.get(above)) blocked.add(above);
      }
    }
    const conflicts: MergeConflict[] = [];
    for (const path of blocked) {
      const stages = byPath.get(path);
      const side = (await this.#inOurs(path))?.mode === DIRECTORY ? 'theirs' : 'ours';
      const at = await this.#beside(path, side, this.files.get(path)!);
      this.files.set(path, undefined);
      conflicts.push(describe('file-directory', { ...stages, path: at }));
    }
    return conflicts;
  }

  async #beside(path: RawPath, side: SideName, entry: Entry): Promise<RawPath> {
    const name = `${path}~${Buffer.from(this.#labels[side]).toString('latin1').replaceAll('/', '_')}`;
    let free = name as RawPath;
    for (let n = 0; this.files.has(free) || (await this.#inOurs(free)); n++) free = `${name}_${n}` as RawPath;
    this.files.set(free, stripped(entry));
    return free;
  }
}
