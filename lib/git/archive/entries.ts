import { batchMisses } from '../batch-misses.ts';
import { CorruptData } from '../corrupt-data.ts';
import type { SyncObjects } from '../objects.ts';
import type { Oid } from '../oid.ts';
import type { PackObjects } from '../pack/pack-objects.ts';
import { MAX_OBJECT_SIZE, type PackStore } from '../pack/store.ts';
import { type StreamedObject, streamObject } from '../pack/stream-object.ts';
import { inSlices } from '../slices.ts';
import { DIRECTORY, EXECUTABLE, entryAtPath, GITLINK, REGULAR } from '../tree/entry.ts';
import { type RawPath, ROOT } from '../tree/path.ts';
import { TreeWalk } from '../tree/walk.ts';
import { LimitExceeded } from '../work.ts';
import { Attributes } from './attributes.ts';
import { type LineEnds, withCrlf } from './line-ends.ts';

/** One member of an archive. */
export interface ArchiveEntry {
  /** With the archive's prefix, without a slash at the end. */
  readonly path: RawPath;
  /** As in a tree; a submodule is an empty directory. */
  readonly mode: number;
  readonly oid: Oid;
  /** Content of a file, target of a symlink; empty for a directory, or for a {@link large} file. */
  readonly data: Uint8Array;
  /** The same as a deflate stream (RFC 1951), if requested and stored that way. */
  readonly deflated?: Uint8Array;
  /** The content of a file too large for memory; must be read before the next member is requested. */
  readonly large?: StreamedObject;
}

/** Bytes of a member's content. */
export const contentSize = ({ data, large }: ArchiveEntry): number => large?.size ?? data.length;

/** What to archive. */
export interface ArchiveSource {
  readonly tree: Oid;
  /** Archives only this path; {@link ROOT} for all. */
  readonly path: RawPath;
  /** Top-level directory of the archive. */
  readonly prefix: RawPath;
}

/** The members of an archive, before any content is read. */
export interface ArchivePlan {
  readonly members: readonly PlannedMember[];
}

interface PlannedMember {
  readonly path: RawPath;
  readonly mode: number;
  readonly oid: Oid;
  /** Set when line ends have to be converted. */
  readonly ends?: LineEnds | undefined;
}

/** Members per archive; a few small trees can name billions. */
export const MAX_MEMBERS = 500_000;
/**
 * Members per object of the repository, and a number that is allowed anyway. In a checkout almost every path has its own
 * object; only trees made to name the same few again and again pass this.
 */
const MEMBERS_PER_OBJECT = 50;
const FEW_MEMBERS = 20_000;
/** Characters of all their paths together. */
const MAX_PATHS = 64 * 1024 * 1024;
const STEPS_PER_TURN = 4_096;
/** Files read ahead of the writer, and the bytes of all but the first. */
const BATCH_FILES = 64;
const BATCH_BYTES = 4 * 1024 * 1024;
/** Larger files are streamed. */
const MAX_HELD_BYTES = 8 * 1024 * 1024;
/** Blocks fetched around a missing one: all trees of a commit are read, and they are stored close together. */
const BLOCKS_AROUND = 8;
const NO_BYTES = new Uint8Array(0);

/**
 * Walks the tree in the order of `git archive`: a directory before its entries. Leaves out paths with the attribute
 * `export-ignore`.
 *
 * @returns undefined when the path does not exist
 * @throws LimitExceeded for more than {@link MAX_MEMBERS}, ObjectMissing
 */
export async function planArchive(
  store: PackStore,
  source: ArchiveSource,
  signal?: AbortSignal,
): Promise<ArchivePlan | undefined> {
  const { tree, path, prefix } = source;
  const top = await store.run((objects) => entryAtPath(objects, tree, path));
  if (top === undefined) return undefined;
  const members = new Members(prefix, await mostMembers(store));
  members.directory(prefix, tree);
  const attributes = new Attributes();
  const endsOf = (at: RawPath, mode: number) =>
    mode === REGULAR || mode === EXECUTABLE ? attributes.lineEnds(at) : undefined;

  const parents = await store.run((objects) => {
    const names = path === ROOT ? [] : path.split('/');
    return names.slice(0, -1).map((_, i) => {
      const at = names.slice(0, i + 1).join('/') as RawPath;
      return { path: at, oid: entryAtPath(objects, tree, at)!.oid };
    });
  });
  const above = path === ROOT ? [] : [{ path: ROOT, oid: tree }, ...parents];
  for (const directory of above) {
    await store.run((objects) => attributes.enter(objects, directory.path, directory.oid));
    if (directory.path === ROOT) continue;
    if (attributes.ignores(directory.path, true)) return { members: members.all() };
    members.pending(directory.path, directory.oid);
  }
  if (path !== ROOT) {
    if (attributes.ignores(path, top.mode === DIRECTORY)) return { members: members.all() };
    members.add({ path, ...top }, endsOf(path, top.mode));
    if (top.mode !== DIRECTORY) return { members: members.all() };
  }

  const walk = new TreeWalk(top.oid, path);
  let entered: { path: RawPath; oid: Oid } | undefined = { path, oid: top.oid };
  const step = (objects: SyncObjects): boolean => {
    if (entered) {
      attributes.enter(objects, entered.path, entered.oid);
      entered = undefined;
    }
    const entry = walk.next(objects);
    if (entry === undefined) return true;
    const directory = entry.mode === DIRECTORY;
    if (attributes.ignores(entry.path, directory)) {
      if (directory) walk.skipChildren();
    } else {
      members.add(entry, endsOf(entry.path, entry.mode));
      if (directory) entered = entry;
    }
    return false;
  };
  await inSlices(store, STEPS_PER_TURN, step, signal, { around: BLOCKS_AROUND });
  return { members: members.all() };
}

/**
 * The members with their content, read in batches.
 * @param options.deflated whether to return stored deflate streams too, where they can be copied
 */
export async function* readMembers(
  store: PackStore,
  { members }: ArchivePlan,
  options: { readonly deflated?: boolean; readonly signal?: AbortSignal | undefined } = {},
): AsyncGenerator<ArchiveEntry> {
  const { signal } = options;
  for (let at = 0; at < members.length; ) {
    signal?.throwIfAborted();
    const batch = await store.run((objects): ArchiveEntry[] | PlannedMember => {
      const wanted = members.slice(at, at + BATCH_FILES);
      const sizes = batchMisses(wanted, ({ mode, oid }) => (hasContent(mode) ? objects.header(oid).size : 0));
      let count = 0;
      for (let bytes = 0; count < wanted.length; count++) {
        bytes += sizes[count]!;
        if (count > 0 && bytes > BATCH_BYTES) break;
      }
      if (sizes[0]! > (wanted[0]!.ends ? MAX_OBJECT_SIZE : MAX_HELD_BYTES)) return wanted[0]!;
      return batchMisses(wanted.slice(0, count), ({ ends, ...member }): ArchiveEntry => {
        if (!hasContent(member.mode)) return { ...member, data: NO_BYTES };
        const { data, deflated } = readBlob(objects, member.oid, options.deflated === true && !ends);
        return { ...member, data: ends ? withCrlf(data, ends) : data, ...(deflated && { deflated }) };
      });
    });
    if (Array.isArray(batch)) {
      at += batch.length;
      yield* batch;
      continue;
    }
    at++;
    // Line ends are converted in memory only.
    const { ends: _, ...member } = batch;
    yield { ...member, data: NO_BYTES, large: await streamObject(store, member.oid) };
  }
}

export const isDirectory = (mode: number): boolean => mode === DIRECTORY || mode === GITLINK;

const hasContent = (mode: number) => !isDirectory(mode);

function readBlob(
  objects: PackObjects,
  oid: Oid,
  deflated: boolean,
): { readonly data: Uint8Array; readonly deflated?: Uint8Array } {
  const object = deflated ? objects.readDeflated(oid) : objects.read(oid);
  if (object.type !== 'blob')
    throw new CorruptData('object-malformed', `${oid} is a ${object.type}, not a blob`);
  return object;
}

async function mostMembers(store: PackStore): Promise<number> {
  const objects = (await store.packs()).reduce((sum, { description }) => sum + description.objectCount, 0);
  return Math.min(MAX_MEMBERS, Math.max(FEW_MEMBERS, MEMBERS_PER_OBJECT * objects));
}

/** Collects members. Directories above the requested path are added with the first member below them. */
class Members {
  readonly #list: PlannedMember[] = [];
  readonly #prefix: string;
  #pending: { path: RawPath; oid: Oid }[] = [];
  readonly #most: number;
  #characters = 0;

  constructor(prefix: RawPath, most: number) {
    this.#most = most;
    this.#prefix = prefix === '' ? '' : `${prefix}/`;
  }

  all(): readonly PlannedMember[] {
    return this.#list;
  }

  directory(path: RawPath, oid: Oid): void {
    if (path !== '') this.#push(path, DIRECTORY, oid);
  }

  pending(path: RawPath, oid: Oid): void {
    this.#pending.push({ path, oid });
  }

  add({ path, mode, oid }: PlannedMember, ends?: LineEnds): void {
    for (const directory of this.#pending) this.directory(this.#placed(directory.path), directory.oid);
    this.#pending = [];
    this.#push(this.#placed(path), mode, oid, ends);
  }

  #placed(path: RawPath): RawPath {
    return (this.#prefix + path) as RawPath;
  }

  #push(path: RawPath, mode: number, oid: Oid, ends?: LineEnds): void {
    this.#characters += path.length;
    if (this.#list.length >= this.#most || this.#characters > MAX_PATHS)
      throw new LimitExceeded(`an archive of more than ${this.#most} members`);
    this.#list.push({ path, mode, oid, ...(ends ? { ends } : {}) });
  }
}
