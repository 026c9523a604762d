import { asBuffer } from '../../bytes/as-buffer.ts';
import { CorruptData } from '../corrupt-data.ts';
import type { SyncObjects } from '../objects.ts';
import { EMPTY_TREE, type Oid, oidFromBytes } from '../oid.ts';
import { TreeCursor } from '../parse.ts';
import { type RawPath, ROOT } from './path.ts';

export type EntryType = 'tree' | 'blob' | 'commit';

/** One entry of a tree, without its name. */
export interface Entry {
  /** As git reads it: 0o040000, 0o100644, 0o100755, 0o120000 or 0o160000. */
  readonly mode: number;
  readonly oid: Oid;
}

export const DIRECTORY = 0o040000;
export const REGULAR = 0o100644;
export const EXECUTABLE = 0o100755;
export const SYMLINK = 0o120000;
export const GITLINK = 0o160000;

const NO_BYTES = new Uint8Array(0);

/** The bytes of a tree. @throws ObjectMissing, CorruptData when the object is not a tree */
export function readTreeBytes(objects: SyncObjects, oid: Oid): Uint8Array {
  if (oid === EMPTY_TREE) return NO_BYTES;
  const known = objects.tipTree?.(oid);
  if (known) return known;
  const object = objects.read(oid);
  if (object.type !== 'tree')
    throw new CorruptData('object-malformed', `${oid} is a ${object.type}, not a tree`);
  return object.data;
}

/** The entry at a path below a tree; for {@link ROOT} the tree itself. A submodule ends the search. */
export function entryAtPath(objects: SyncObjects, tree: Oid, path: RawPath): Entry | undefined {
  let found: Entry = { mode: DIRECTORY, oid: tree };
  if (path === ROOT) return found;
  for (const name of path.split('/')) {
    if (found.mode !== DIRECTORY) return undefined;
    const next = findName(readTreeBytes(objects, found.oid), name as RawPath);
    if (next === undefined) return undefined;
    found = next;
  }
  return found;
}

/** The entry of that name in one tree. */
export function findName(data: Uint8Array, name: RawPath): Entry | undefined {
  const cursor = new TreeCursor(data);
  const length = name.length;
  const first = name.charCodeAt(0);
  while (cursor.next()) {
    const start = cursor.nameStart;
    if (cursor.nameEnd - start !== length || data[start] !== first) continue;
    let i = 1;
    while (i < length && data[start + i] === name.charCodeAt(i)) i++;
    if (i === length) return { mode: canonicalMode(cursor.mode), oid: oidFromBytes(data, cursor.oidStart) };
  }
  return undefined;
}

/** The name of the cursor's entry. */
export function rawName(cursor: TreeCursor): RawPath {
  return asBuffer(cursor.data).toString('latin1', cursor.nameStart, cursor.nameEnd) as RawPath;
}

/** Maps modes of old trees, such as 100664, to those git knows: only the owner's execute bit matters. */
export function canonicalMode(mode: number): number {
  const kind = mode & 0o170000;
  if (kind === 0o100000) return mode & 0o100 ? EXECUTABLE : REGULAR;
  return kind === SYMLINK || kind === DIRECTORY ? kind : GITLINK;
}

export function typeOfMode(mode: number): EntryType {
  if (mode === DIRECTORY) return 'tree';
  return mode === GITLINK ? 'commit' : 'blob';
}

/** Six octal digits, as `git ls-tree` prints them. */
export function formatMode(mode: number): string {
  return mode.toString(8).padStart(6, '0');
}
