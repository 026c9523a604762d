import { batchMisses } from '../batch-misses.ts';
import { Directory } from '../edit/directory.ts';
import type { ObjectStore } from '../objects.ts';
import type { Oid } from '../oid.ts';
import { inSlices } from '../slices.ts';
import { DIRECTORY, type Entry, readTreeBytes } from '../tree/entry.ts';
import type { RawPath } from '../tree/path.ts';
import { inTurns, Pace } from '../work.ts';

/**
 * Writes the tree with files added and removed at the given paths, and without directories that become empty. A file
 * at a path where a directory is needed must be among the removed ones, and vice versa.
 *
 * @param write stores the bytes of a tree and returns its id
 */
export async function writeTree(
  store: ObjectStore,
  root: Oid,
  files: ReadonlyMap<RawPath, Entry | undefined>,
  write: (data: Uint8Array) => Oid,
): Promise<Oid> {
  const top = new Directory(root);
  const paths = [...files.keys()];
  let opened = 0;
  await inSlices(store, Number.POSITIVE_INFINITY, (objects) => {
    const batch = paths.slice(opened, batchEnd(paths, opened));
    batchMisses(batch, (path) => openAlong(top, namesOf(path), (tree) => readTreeBytes(objects, tree)));
    opened += batch.length;
    return opened === paths.length;
  });
  const pace = new Pace();
  for (const removing of [true, false]) {
    for (const [path, entry] of files) {
      if (pace.due()) await pace.rest();
      if (removing && !entry) remove(top, namesOf(path));
      if (!removing && entry) put(top, namesOf(path), entry);
    }
  }
  return inTurns(top.write(write));
}

const namesOf = (path: RawPath) => path.split('/') as RawPath[];

/** Characters of paths that are looked up together, so that what they lack is fetched together. */
const BATCH_CHARACTERS = 64 * 1024;

function batchEnd(paths: readonly RawPath[], from: number): number {
  let end = from;
  for (let left = BATCH_CHARACTERS; end < paths.length && left > 0; end++) left -= paths[end]!.length;
  return end;
}

function openAlong(top: Directory, names: readonly RawPath[], read: (tree: Oid) => Uint8Array): void {
  let directory: Directory | undefined = top;
  top.open(read);
  for (const name of names.slice(0, -1)) {
    directory = directory.directory(name);
    if (directory === undefined) return;
    directory.open(read);
  }
}

/** Removes the file, and every parent directory that becomes empty. */
function remove(top: Directory, names: readonly RawPath[]): void {
  const above: Directory[] = [top];
  for (const name of names.slice(0, -1)) {
    const below = above.at(-1)!.directory(name);
    if (below === undefined) return;
    above.push(below);
  }
  const there = above.at(-1)!.entry(names.at(-1)!);
  if (there === undefined || there.mode === DIRECTORY) return;
  for (let level = names.length - 1; level >= 0; level--) {
    above[level]!.remove(names[level]!);
    if (!above[level]!.empty) return;
  }
}

function put(top: Directory, names: readonly RawPath[], entry: Entry): void {
  let directory = top;
  for (const name of names.slice(0, -1)) directory = directory.directory(name) ?? directory.make(name);
  directory.set(names.at(-1)!, entry);
}
