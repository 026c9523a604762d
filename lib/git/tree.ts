import { asBuffer } from '../bytes/as-buffer.ts';
import type { ObjectStore, SyncObjects } from './objects.ts';
import { type Oid, oidFromBytes, parseOid } from './oid.ts';
import { TreeCursor } from './parse.ts';
import { inSlices } from './slices.ts';
import {
  canonicalMode,
  DIRECTORY,
  type EntryType,
  entryAtPath,
  formatMode,
  rawName,
  readTreeBytes,
  typeOfMode,
} from './tree/entry.ts';
import { decodePath, lookupPath, type RawPath } from './tree/path.ts';
import { orderKey, TreeWalk } from './tree/walk.ts';

/** One row of a listing. */
export interface TreeRecord {
  readonly id: Oid;
  /** Last component; see {@link decodePath} for names that are not UTF-8. */
  readonly name: string;
  /** `commit` for a submodule. */
  readonly type: EntryType;
  /** From the root of the repository. */
  readonly path: string;
  /** Six octal digits. */
  readonly mode: string;
}

export interface TreeListing {
  /** Directory to list; '' or absent for the root. */
  readonly path?: string;
  /** Include subdirectories, in the order of `git ls-tree -r -t`; otherwise directories, files, submodules by name. */
  readonly recursive?: boolean;
  readonly offset?: number;
  readonly limit: number;
  /** Continue after the entry of a {@link TreePage.next} token, or after the first entry with this id. */
  readonly after?: string;
  /** How many entries a recursive listing counts beyond its page to find the total; default 10,000. */
  readonly countUpTo?: number;
}

export interface TreePage {
  readonly entries: readonly TreeRecord[];
  /** Token of the next page: the id of this page's last entry if unambiguous, else `<id>.<base64url of its path>`. */
  readonly next?: string;
  /** Number of all entries. Absent above `countUpTo`, and on later pages of a recursive listing. */
  readonly total?: number;
}

/** The token is malformed, or names no entry of this listing. */
export class UnknownPageToken extends Error {
  constructor() {
    super('page token names no entry of this listing');
    this.name = 'UnknownPageToken';
  }
}

const DEFAULT_COUNT = 10_000;
/** Entries that one page may skip. */
const MAX_SKIPPED = 1_000_000;
/** Entries visited per turn of the event loop. */
const STEPS_PER_TURN = 4_096;

/** @returns undefined when `path` is no directory. @throws UnknownPageToken, ObjectMissing, CorruptData */
export async function listTree(
  store: ObjectStore,
  root: Oid,
  listing: TreeListing,
): Promise<TreePage | undefined> {
  const path = lookupPath(listing.path ?? '');
  if (path === undefined) return undefined;
  const entry = await store.run((objects) => entryAtPath(objects, root, path));
  if (entry?.mode !== DIRECTORY) return undefined;
  return listing.recursive
    ? listRecursively(store, entry.oid, path, listing)
    : store.run((objects) => listDirectory(objects, entry.oid, path, listing));
}

/** The record of the entry at `path`; undefined when the path does not exist. '' has no record. */
export async function recordAt(store: ObjectStore, root: Oid, path: string): Promise<TreeRecord | undefined> {
  const raw = lookupPath(path);
  if (!raw) return undefined;
  const entry = await store.run((objects) => entryAtPath(objects, root, raw));
  return entry && record({ ...entry, path: raw });
}

/**
 * Three passes over the bytes of one tree, for directories, files and submodules: creates only the page's
 * entries, however many the directory holds.
 */
function listDirectory(objects: SyncObjects, tree: Oid, path: RawPath, listing: TreeListing): TreePage {
  const data = readTreeBytes(objects, tree);
  const prefix = path === '' ? '' : `${path}/`;
  const after = listing.after === undefined ? undefined : parseToken(listing.after);
  let skip = after ? Number.POSITIVE_INFINITY : (listing.offset ?? 0);
  const page: Raw[] = [];
  let total = 0;
  let more = false;
  for (const type of ['tree', 'blob', 'commit'] as const) {
    for (const cursor = new TreeCursor(data); cursor.next(); ) {
      const mode = canonicalMode(cursor.mode);
      if (typeOfMode(mode) !== type) continue;
      total++;
      if (page.length === listing.limit) {
        more = true;
      } else if (skip === 0 || (after && skip > 0)) {
        const entry = {
          mode,
          oid: oidFromBytes(data, cursor.oidStart),
          path: (prefix + rawName(cursor)) as RawPath,
        };
        if (skip === 0) page.push(entry);
        else if (isAfter(entry, after!)) skip = 0;
      } else skip--;
    }
  }
  if (skip === Number.POSITIVE_INFINITY) throw new UnknownPageToken();
  const last = page.at(-1);
  return {
    entries: page.map(record),
    ...(more && last ? { next: occursOnce(data, last.oid) ? last.oid : fullToken(last) } : {}),
    total,
  };
}

async function listRecursively(
  store: ObjectStore,
  tree: Oid,
  path: RawPath,
  listing: TreeListing,
): Promise<TreePage> {
  const after = listing.after === undefined ? undefined : parseToken(listing.after);
  const walk = new TreeWalk(tree, path);
  const page: Raw[] = [];
  const offset = after ? 0 : (listing.offset ?? 0);
  const countUpTo = after ? 0 : (listing.countUpTo ?? DEFAULT_COUNT);
  let searching = after !== undefined;
  let passed = 0;
  let ended = false;

  const step = (objects: SyncObjects): boolean => {
    const entry = walk.next(objects);
    ended = entry === undefined;
    if (entry === undefined) return true;
    passed++;
    if (searching) {
      if (after?.key === undefined) searching = entry.oid !== after?.id;
      else {
        const key = orderKey(entry);
        if (key <= after.key) {
          if (entry.mode === DIRECTORY && !after.key.startsWith(key)) walk.skipChildren();
          return passed > MAX_SKIPPED;
        }
        searching = false;
        page.push(entry);
      }
    } else if (passed > offset && page.length <= listing.limit) page.push(entry);
    if (page.length > listing.limit) return passed > Math.max(countUpTo, offset + listing.limit);
    return passed > MAX_SKIPPED;
  };
  await inSlices(store, STEPS_PER_TURN, step);

  if (searching && !(ended && after?.key !== undefined)) throw new UnknownPageToken();
  const more = page.length > listing.limit;
  if (more) page.length = listing.limit;
  const last = page.at(-1);
  return {
    entries: page.map(record),
    ...(more && last ? { next: fullToken(last) } : {}),
    ...(ended && !after ? { total: passed } : {}),
  };
}

interface Raw {
  readonly mode: number;
  readonly oid: Oid;
  readonly path: RawPath;
}

function record({ mode, oid, path }: Raw): TreeRecord {
  const text = decodePath(path);
  const name = decodePath(path.slice(path.lastIndexOf('/') + 1) as RawPath);
  return { id: oid, name, type: typeOfMode(mode), path: text, mode: formatMode(mode) };
}

interface Token {
  readonly id: Oid;
  /** See {@link orderKey}. */
  readonly key?: string;
}

function fullToken(entry: Raw): string {
  return `${entry.oid}.${Buffer.from(orderKey(entry), 'latin1').toString('base64url')}`;
}

function parseToken(text: string): Token {
  const [head = '', tail] = text.split('.', 2);
  const id = parseOid(head);
  if (id === undefined) throw new UnknownPageToken();
  return tail === undefined ? { id } : { id, key: Buffer.from(tail, 'base64url').toString('latin1') };
}

function isAfter(entry: Raw, token: Token): boolean {
  return entry.oid === token.id && (token.key === undefined || token.key === orderKey(entry));
}

function occursOnce(data: Uint8Array, oid: Oid): boolean {
  const bytes = asBuffer(data);
  const needle = Buffer.from(oid, 'hex');
  return bytes.indexOf(needle) === bytes.lastIndexOf(needle);
}
