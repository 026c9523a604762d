import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { crc32 } from 'node:zlib';
import { batchMisses } from '../batch-misses.ts';
import { CorruptData } from '../corrupt-data.ts';
import { Fsck, type FsckFinding, type FsckOptions, MAX_ATTRIBUTES_BYTES } from '../fsck.ts';
import { checkStoredGitmodules } from '../fsck-stored.ts';
import { type ObjectType, SMALL_BLOB_BYTES } from '../objects.ts';
import { type Oid, oidBytes, oidFromBytes } from '../oid.ts';
import type { PackContent } from '../ports.ts';
import { inTurns, Pace, type Steps } from '../work.ts';
import { deflatedBeside } from './build-pack.ts';
import { findCollision, openContent } from './collision.ts';
import { BLOB, typeCode, typeName, writeEntryHeader } from './entry.ts';
import type { EntryTable } from './entry-table.ts';
import { LinkSet } from './link-set.ts';
import { ObjectHasher } from './object-hasher.ts';
import { PackNames } from './pack-names.ts';
import { PackParser } from './pack-parser.ts';
import { DeltaResolver } from './resolve-deltas.ts';
import { Spool } from './spool.ts';
import { MAX_OBJECT_SIZE, type PackStore } from './store.ts';
import { writeIndex } from './write-index.ts';

export interface IndexPackLimits {
  /** Bytes of the received pack. Default 4 GiB. */
  readonly maxBytes: number;
  /** Objects in it. Default 16 million. */
  readonly maxObjects: number;
  /** Inflated bytes of an object that is held in memory: any but blobs that are not deltas. Default 128 MiB. */
  readonly maxObjectSize: number;
  /** Inflated bytes of a commit or an annotated tag, which lists hold by the hundred. Default 4 MiB. */
  readonly maxTextSize: number;
  /** Inflated bytes of a blob that is not a delta. Default 4 GiB minus one byte. */
  readonly maxBlobSize: number;
  /** Such blobs above this size are hashed while they are received, and never held in memory. Default 8 MiB. */
  readonly wholeBlobSize: number;
  /** Default 4,095, as git writes at most. */
  readonly maxDeltaDepth: number;
  /** Inflated bytes of all objects, with deltas applied: limits the work of a delta bomb. Default 256 GiB. */
  readonly maxInflatedBytes: number;
  /**
   * Inflated bytes per byte of the pack, and a total that is allowed whatever the size of the pack. Of real histories,
   * those of large files or directories that change often come nearest. Default 2,048, and 1 GiB.
   */
  readonly maxRatio: number;
  readonly minInflated: number;
  /** A pack up to this size stays in memory, a larger one goes to a scratch file. Default 16 MiB. */
  readonly memoryPackBytes: number;
  /** Bytes of inflated deltas, and of delta bases, kept in memory: this much of each. Default 96 MiB. */
  readonly memoryBytes: number;
}

export interface IndexPackOptions {
  /** Source of the bases of a thin pack; new objects are also checked for collisions with its objects. */
  readonly store?: PackStore;
  /** Directory for packs too large for memory. Default: the system's. */
  readonly scratchDir?: string;
  readonly limits?: Partial<IndexPackLimits>;
  /** Options for the checks of `receive.fsckObjects`; `false` checks only that objects can be parsed. */
  readonly fsck?: FsckOptions | false;
  readonly onProgress?: (progress: IndexPackProgress) => void;
  /**
   * Called with every received blob of at most {@link SMALL_BLOB_BYTES}, which is valid during the call only: what stands
   * for a file that is stored elsewhere is as small.
   */
  readonly onSmallBlob?: ((data: Uint8Array) => void) | undefined;
}

export interface IndexPackProgress {
  readonly phase: 'receiving' | 'resolving';
  readonly done: number;
  readonly total: number;
  /** Bytes received so far. */
  readonly bytes: number;
}

/** A received pack, verified and complete. */
export interface IndexedPack {
  readonly content: PackContent;
  /** Objects in the pack, including bases that were added to a thin pack. */
  readonly objectCount: number;
  /** Bases that were added to a thin pack. {@link links} does not include what they refer to. */
  readonly basesAdded: readonly Oid[];
  /** The pack's trailer in hex. */
  readonly checksum: string;
  /** Ids that objects in the pack refer to, whether the pack has them or not; see `connectivity.ts`. */
  readonly links: LinkSet;
  /** fsck findings that are reported but accepted. */
  readonly warnings: readonly FsckFinding[];
  /** @returns the type of an object in the pack, or undefined when it is not there. */
  type(oid: Oid): ObjectType | undefined;
  /** Ids of the objects in the pack, in its order. */
  oids(): Iterable<Oid>;
  /** Position-independent lookup of the 20 bytes at `name[at]`: the type code, or 0. */
  typeAt(name: Uint8Array, at: number): number;
  /** Removes the scratch file, where there is one. */
  discard(): Promise<void>;
}

/** fsck refused objects; the message has the first finding, `findings` all of them with git's ids. */
export class FsckRefused extends CorruptData {
  readonly findings: readonly FsckFinding[];
  constructor(findings: readonly FsckFinding[]) {
    const [first] = findings;
    super('object-malformed', `object ${first?.oid}: ${first?.id}: ${first?.message}`);
    this.name = 'FsckRefused';
    this.findings = findings;
  }
}

const INDEX_PACK_LIMITS: IndexPackLimits = {
  maxBytes: 4 * 2 ** 30,
  maxObjects: 16_000_000,
  maxObjectSize: MAX_OBJECT_SIZE,
  maxTextSize: 4 * 2 ** 20,
  maxBlobSize: 2 ** 32 - 1,
  wholeBlobSize: 8 * 2 ** 20,
  maxDeltaDepth: 4095,
  maxInflatedBytes: 256 * 2 ** 30,
  maxRatio: 2048,
  minInflated: 2 ** 30,
  memoryPackBytes: 16 * 2 ** 20,
  memoryBytes: 96 * 2 ** 20,
};

/**
 * Receives a pack as `git index-pack --stdin --fix-thin --strict` does: parses, inflates and hashes every object,
 * applies deltas, completes a thin pack from the store, does the checks of receive.fsckObjects, and builds the index.
 * Stores nothing; the caller passes `content` to `ObjectDatabase.newPack`.
 *
 * @throws CorruptData when the pack is malformed or exceeds a limit; FsckRefused. Removes its scratch file then.
 */
export async function indexPack(
  input: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  options: IndexPackOptions = {},
): Promise<IndexedPack> {
  const limits = { ...INDEX_PACK_LIMITS, ...options.limits };
  const spool = new Spool(limits.memoryPackBytes, options.scratchDir ?? tmpdir());
  try {
    return await receive(input, spool, limits, options);
  } catch (error) {
    await spool.discard();
    throw error;
  }
}

/** Bytes parsed at once: they may inflate to a thousand times as much. */
const PIECE = 16 * 1024;

async function receive(
  input: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  spool: Spool,
  limits: IndexPackLimits,
  options: IndexPackOptions,
): Promise<IndexedPack> {
  const links = new LinkSet();
  const fsck = new Fsck(options.fsck === false ? { off: true } : (options.fsck ?? {}), links);
  let table: EntryTable;
  const { onSmallBlob } = options;
  const hasher = new ObjectHasher((entry, type, data, shared) => {
    fsck.check(type, data, table.names, 20 * entry, shared);
    if (type === BLOB && data.length <= SMALL_BLOB_BYTES) onSmallBlob?.(data);
  });
  const parser = new PackParser(spool, hasher, limits);
  table = parser.table;
  const pace = new Pace();
  for await (const chunk of input) {
    for (let at = 0; at < chunk.length; at += PIECE) {
      parser.push(chunk.subarray(at, at + PIECE));
      if (pace.due()) await pace.rest();
    }
    options.onProgress?.({ phase: 'receiving', done: table.count, total: parser.total, bytes: spool.size });
  }
  parser.end();

  const received = table.count;
  const source = { content: (entry: number) => parser.content(entry) };
  const resolver = new DeltaResolver(table, source, hasher, limits, table.baseNameCount);
  const bases = received - parser.deltas;
  const resolve = async (root: number): Promise<void> => {
    for (const _ of resolver.resolveFrom(root)) {
      if (!pace.due()) continue;
      const done = bases + resolver.resolved;
      options.onProgress?.({ phase: 'resolving', done, total: received, bytes: spool.size });
      await pace.rest();
    }
  };
  for (let entry = 0; entry < received; entry++) {
    if (table.bases[entry] === -1) await resolve(entry);
  }
  let checksum = parser.checksum;
  if (resolver.resolved < parser.deltas) {
    if (options.store) await completeThin(options.store, spool, table, resolver, resolve);
    if (resolver.resolved < parser.deltas) {
      throw new CorruptData('delta-base', `${parser.deltas - resolver.resolved} deltas have no base`);
    }
    checksum = await inTurns(rewriteFrame(spool, table.count));
  }
  if (fsck.errors.length > 0) throw new FsckRefused(fsck.errors);

  const index = await inTurns(writeIndex(table, checksum));
  const content: PackContent = spool.path
    ? { kind: 'file', packPath: spool.path, packSize: spool.size, index }
    : { kind: 'bytes', pack: Buffer.from(spool.read(0, spool.size)), index };
  spool.close();
  const names = new PackNames(table);
  const contents = openContent(content, table.count);
  for (const oid of fsck.gitattributesBlobs) {
    if (options.fsck === false || names.type(oidBytes(oid), 0) !== BLOB) continue;
    const small = (await contents.header(oid)).size <= MAX_ATTRIBUTES_BYTES;
    await inTurns(fsck.gitattributes(oid, small ? (await contents.read(oid)).data : undefined));
  }
  for (const oid of fsck.gitmodulesBlobs) {
    if (options.fsck !== false && names.type(oidBytes(oid), 0) === BLOB) {
      await inTurns(fsck.gitmodules(oid, (await contents.read(oid)).data));
    }
  }
  if (options.fsck !== false && options.store)
    await checkStoredGitmodules(fsck, options.store, (oid) => names.type(oidBytes(oid), 0) !== 0);
  if (fsck.errors.length > 0) throw new FsckRefused(fsck.errors);
  if (options.store) await findCollision(options.store, contents, table, received);
  return {
    content,
    objectCount: table.count,
    basesAdded: Array.from({ length: table.count - received }, (_, i) =>
      oidFromBytes(table.names, 20 * (received + i)),
    ),
    checksum: checksum.toString('hex'),
    links,
    warnings: fsck.warnings,
    type: (oid) => {
      const code = names.type(oidBytes(oid), 0);
      return code === 0 ? undefined : typeName(code);
    },
    oids: () => names.oids(),
    typeAt: (name, at) => names.type(name, at),
    discard: () => spool.discard(),
  };
}

/** Appends bases that the sender left out because the receiver has them (gitprotocol-capabilities, "thin-pack"). */
async function completeThin(
  store: PackStore,
  spool: Spool,
  table: EntryTable,
  resolver: DeltaResolver,
  resolve: (root: number) => Promise<void>,
): Promise<void> {
  const waiting = resolver.waiting();
  const absent = new Set(await store.missing(waiting));
  spool.truncate(spool.size - 20);
  for (let at = 0; at < waiting.length; at += 20) {
    if (at % (20 * BASES_PER_BATCH) === 0)
      await prefetchBases(store, waiting.subarray(at, at + 20 * BASES_PER_BATCH), absent);
    const oid = oidFromBytes(waiting, at);
    if (absent.has(oid) || !resolver.isWaiting(waiting, at)) continue;
    const { type, data } = await store.read(oid);
    const deflated = await deflatedBeside(data);
    const room = Buffer.alloc(16);
    const head = room.subarray(0, writeEntryHeader(room, 0, typeCode(type), data.length));
    const entry = table.add(spool.size, typeCode(type), head.length, data.length);
    table.types[entry] = typeCode(type);
    table.names.set(waiting.subarray(at, at + 20), 20 * entry);
    table.crcs[entry] = await inTurns(appended(spool, [head, deflated]));
    table.end = spool.size;
    await resolve(entry);
  }
}

/** Bytes that are written between two stops. */
const WRITTEN = 2 ** 20;

/** @returns the CRC-32 of what was appended */
function* appended(spool: Spool, parts: readonly Uint8Array[]): Steps<number> {
  let crc = 0;
  for (const part of parts)
    for (let at = 0; at < part.length; at += WRITTEN) {
      yield;
      const piece = part.subarray(at, at + WRITTEN);
      crc = crc32(piece, crc);
      spool.append(piece, spool.size);
    }
  return crc;
}

/** Bases located in one batch. */
const BASES_PER_BATCH = 64;

/** Prefetches most of what reading the bases needs: one by one, each would be a round trip, or several. */
async function prefetchBases(store: PackStore, names: Uint8Array, absent: ReadonlySet<Oid>): Promise<void> {
  const oids = Array.from({ length: names.length / 20 }, (_, i) => oidFromBytes(names, 20 * i));
  const present = oids.filter((oid) => !absent.has(oid));
  await store.run((objects) => void batchMisses(present, (oid) => objects.header(oid)));
}

/** Writes the object count into the header and the checksum after the end. @returns the checksum */
function* rewriteFrame(spool: Spool, count: number): Steps<Buffer> {
  const header = Buffer.alloc(4);
  header.writeUInt32BE(count);
  spool.patch(header, 8);
  const sha = createHash('sha1');
  for (const piece of spool.pieces(spool.size)) {
    sha.update(piece);
    yield;
  }
  const checksum = sha.digest();
  spool.append(checksum, spool.size);
  return checksum;
}
