import { batchMisses } from '../batch-misses.ts';
import { Directory } from '../edit/directory.ts';
import type { ObjectStore } from '../objects.ts';
import type { Oid } from '../oid.ts';
import { DIRECTORY, type Entry, readTreeBytes } from '../tree/entry.ts';
import type { RawPath } from '../tree/path.ts';

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
  const paths = [...files.keys()].map((path) => path.split('/') as RawPath[]);
  await store.run((objects) =>
    batchMisses(paths, (names) => openAlong(top, names, (tree) => readTreeBytes(objects, tree))),
  );
  for (const [path, entry] of files) if (!entry) remove(top, path.split('/') as RawPath[]);
  for (const [path, entry] of files) if (entry) put(top, path.split('/') as RawPath[], entry);
  return top.write(write);
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
