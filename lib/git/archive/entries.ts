import { whole } from '../../bytes/whole.ts';
import { batchMisses } from '../batch-misses.ts';
import { CorruptData } from '../corrupt-data.ts';
import { type LfsPointer, parsePointer } from '../lfs-pointer.ts';
import { SMALL_BLOB_BYTES, type SyncObjects } from '../objects.ts';
import type { Oid } from '../oid.ts';
import type { PackObjects } from '../pack/pack-objects.ts';
import { MAX_OBJECT_SIZE, type PackStore } from '../pack/store.ts';
import { streamObject } from '../pack/stream-object.ts';
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
  readonly large?: LargeContent;
}

export interface LargeContent {
  /** Bytes. */
  readonly size: number;
  /** Pieces that are valid until the next one is requested; one use. */
  readonly content: AsyncIterable<Uint8Array>;
}

/** Content that a file gets in place of its own. */
export interface OtherContent {
  /** Bytes. */
  readonly size: number;
  /** Pieces that stay valid. */
  read(): AsyncIterable<Uint8Array>;
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

/** The members of an archive, before any content is read but that of pointers. */
export interface ArchivePlan {
  readonly members: readonly PlannedMember[];
  /** Files with the attribute `filter=lfs` that are pointers, by the id of the blob. */
  readonly pointers: ReadonlyMap<Oid, ArchivedPointer>;
}

/** A pointer of Git LFS in an archive. */
export interface ArchivedPointer extends LfsPointer {
  /** How many files are this blob. */
  readonly files: number;
}

interface PlannedMember {
  readonly path: RawPath;
  readonly mode: number;
  readonly oid: Oid;
  /** Set when line ends have to be converted. */
  readonly ends?: LineEnds;
  /** Set when Git LFS converts the file. */
  readonly lfs?: true;
}

/** Members per archive; a few small trees can name billions. */
const MAX_MEMBERS = 500_000;
/**
 * Members per object of the repository, and a number that is allowed anyway. In a checkout almost every path has its own
 * object; only trees made to name the same few again and again pass this.
 */
const MEMBERS_PER_OBJECT = 50;
const FEW_MEMBERS = 20_000;
/** Different pointers of Git LFS: each is a request to the bucket while a caller waits. */
const MAX_POINTERS = 10_000;
/** Files read at once in the search for pointers. */
const POINTERS_TOGETHER = 512;
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
 * @throws LimitExceeded for more than {@link MAX_MEMBERS} or {@link MAX_POINTERS}, ObjectMissing
 */
export async function planArchive(
  store: PackStore,
  source: ArchiveSource,
  signal?: AbortSignal,
): Promise<ArchivePlan | undefined> {
  const members = await listMembers(store, source, signal);
  return members && { members, pointers: await findPointers(store, members, signal) };
}

async function listMembers(
  store: PackStore,
  source: ArchiveSource,
  signal: AbortSignal | undefined,
): Promise<readonly PlannedMember[] | undefined> {
  const { tree, path, prefix } = source;
  const top = await store.run((objects) => entryAtPath(objects, tree, path));
  if (top === undefined) return undefined;
  const members = new Members(prefix, await mostMembers(store));
  members.directory(prefix, tree);
  const attributes = new Attributes();
  const conversionOf = (at: RawPath, mode: number): Conversion => {
    if (mode !== REGULAR && mode !== EXECUTABLE) return {};
    const ends = attributes.lineEnds(at);
    return { ...(ends && { ends }), ...(attributes.isLfs(at) && { lfs: true }) };
  };

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
    if (attributes.ignores(directory.path, true)) return members.all();
    members.pending(directory.path, directory.oid);
  }
  if (path !== ROOT) {
    if (attributes.ignores(path, top.mode === DIRECTORY)) return members.all();
    members.add({ path, ...top }, conversionOf(path, top.mode));
    if (top.mode !== DIRECTORY) return members.all();
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
      members.add(entry, conversionOf(entry.path, entry.mode));
      if (directory) entered = entry;
    }
    return false;
  };
  await inSlices(store, STEPS_PER_TURN, step, signal, { around: BLOCKS_AROUND });
  return members.all();
}

async function findPointers(
  store: PackStore,
  members: readonly PlannedMember[],
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<Oid, ArchivedPointer>> {
  const pointers = new Map<Oid, ArchivedPointer>();
  const files = new Map<Oid, number>();
  for (const { lfs, oid } of members) if (lfs) files.set(oid, (files.get(oid) ?? 0) + 1);
  if (files.size === 0) return pointers;
  const blobs = [...files.keys()];
  let at = 0;
  const step = (objects: SyncObjects): boolean => {
    const some = blobs.slice(at, at + POINTERS_TOGETHER);
    const found = batchMisses(some, (oid) =>
      objects.header(oid).size > SMALL_BLOB_BYTES ? undefined : parsePointer(objects.read(oid).data),
    );
    for (const [i, oid] of some.entries()) {
      const pointer = found[i];
      if (pointer) pointers.set(oid, { ...pointer, files: files.get(oid)! });
    }
    if (pointers.size > MAX_POINTERS)
      throw new LimitExceeded(`an archive of more than ${MAX_POINTERS} objects of Git LFS`);
    at += some.length;
    return at === blobs.length;
  };
  await inSlices(store, Number.POSITIVE_INFINITY, step, signal);
  return pointers;
}

/**
 * The members with their content, read in batches.
 * @param options.deflated whether to return stored deflate streams too, where they can be copied
 * @param options.others what pointers of Git LFS stand for, by the id of the blob; the others stay pointers
 */
export async function* readMembers(
  store: PackStore,
  { members }: ArchivePlan,
  options: {
    readonly deflated?: boolean;
    readonly others?: ReadonlyMap<Oid, OtherContent>;
    readonly signal?: AbortSignal | undefined;
  } = {},
): AsyncGenerator<ArchiveEntry> {
  const { signal, others } = options;
  const otherOf = ({ lfs, oid }: PlannedMember) => (lfs ? others?.get(oid) : undefined);
  for (let at = 0; at < members.length; ) {
    signal?.throwIfAborted();
    const batch = await store.run((objects): ArchiveEntry[] | PlannedMember => {
      const wanted = members.slice(at, at + BATCH_FILES);
      const sizes = batchMisses(
        wanted,
        (member) => otherOf(member)?.size ?? (hasContent(member.mode) ? objects.header(member.oid).size : 0),
      );
      let count = 0;
      for (let bytes = 0; count < wanted.length; count++) {
        bytes += sizes[count]!;
        if (count > 0 && bytes > BATCH_BYTES) break;
      }
      const first = wanted[0]!;
      const held = first.ends && !otherOf(first) ? MAX_OBJECT_SIZE : MAX_HELD_BYTES;
      if (sizes[0]! > held) return first;
      return batchMisses(wanted.slice(0, count), (member): ArchiveEntry => {
        const { path, mode, oid, ends } = member;
        const entry = { path, mode, oid, data: NO_BYTES };
        if (!hasContent(mode) || otherOf(member)) return entry;
        const { data, deflated } = readBlob(objects, oid, options.deflated === true && !ends);
        return { ...entry, data: ends ? withCrlf(data, ends) : data, ...(deflated && { deflated }) };
      });
    });
    if (Array.isArray(batch)) {
      const replaced = batch.map(async (entry, i) => {
        const other = otherOf(members[at + i]!);
        return other ? { ...entry, data: await whole(other.read()) } : entry;
      });
      at += batch.length;
      yield* await Promise.all(replaced);
      continue;
    }
    at++;
    // Line ends are converted in memory only.
    const { path, mode, oid } = batch;
    const other = otherOf(batch);
    const large = other ? { size: other.size, content: other.read() } : await streamObject(store, oid);
    yield { path, mode, oid, data: NO_BYTES, large };
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

type Conversion = Pick<PlannedMember, 'ends' | 'lfs'>;

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

  add({ path, mode, oid }: PlannedMember, conversion: Conversion): void {
    for (const directory of this.#pending) this.directory(this.#placed(directory.path), directory.oid);
    this.#pending = [];
    this.#push(this.#placed(path), mode, oid, conversion);
  }

  #placed(path: RawPath): RawPath {
    return (this.#prefix + path) as RawPath;
  }

  #push(path: RawPath, mode: number, oid: Oid, conversion: Conversion = {}): void {
    this.#characters += path.length;
    if (this.#list.length >= this.#most || this.#characters > MAX_PATHS)
      throw new LimitExceeded(`an archive of more than ${this.#most} members`);
    this.#list.push({ path, mode, oid, ...conversion });
  }
}
