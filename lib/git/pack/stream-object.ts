import { createHash } from 'node:crypto';
import { CorruptData } from '../corrupt-data.ts';
import { ObjectMissing, type ObjectType } from '../objects.ts';
import { EMPTY_TREE, type Oid, oidBytes } from '../oid.ts';
import type { RandomAccess } from '../ports.ts';
import { nextTurn, throwIfAbandoned, turnIsOver } from '../work.ts';
import { EntryHeader, MAX_ENTRY_HEADER, OFS_DELTA, REF_DELTA, typeName } from './entry.ts';
import { InflateStream } from './inflate.ts';
import { Replay } from './replay.ts';
import type { PackStore } from './store.ts';

export interface StreamedObject {
  readonly type: ObjectType;
  /** Bytes of the content. */
  readonly size: number;
  /** Lazy, in pieces that are valid until the next one is requested; one use. @throws CorruptData, I/O errors */
  readonly content: AsyncIterable<Uint8Array>;
}

/** Objects up to this size are read whole, through the cache. */
const MAX_WHOLE_BYTES = 4 * 2 ** 20;
/** Bytes of the pack per read; one read ahead. */
const READ_BYTES = 2 * 2 ** 20;
const INPUT_STEP_BYTES = 8 * 1024;
/** Bytes of a piece of what was read whole. */
const PIECE_BYTES = 256 * 1024;

/**
 * Reads an object of any size without holding it in memory, unless it is stored as a delta; the size of those was
 * limited when they were received. Bypasses the cache, because large sequential reads would evict everything else.
 *
 * @throws ObjectMissing; CorruptData, `object-too-large` for a delta above the store's limit
 */
export async function streamObject(store: PackStore, oid: Oid): Promise<StreamedObject> {
  const { type, size, stored } = await open(store, oid);
  if (stored instanceof Uint8Array) return { type, size, content: piecesOf(stored) };
  return { type, size, content: inflated(stored.read(), stored.from, size) };
}

/** An object and the SHA-256 of its content in hex. */
export interface DigestedObject extends StreamedObject {
  readonly sha256: string;
}

/**
 * As {@link streamObject}, with the digest, for which all of the object is read first. Its part of the pack is kept for
 * `content`, where the process has room for it, and read again where not.
 */
export async function digestObject(store: PackStore, oid: Oid): Promise<DigestedObject> {
  const { type, size, stored } = await open(store, oid);
  const sha256 = createHash('sha256');
  if (stored instanceof Uint8Array) {
    for await (const bytes of piecesOf(stored)) sha256.update(bytes);
    return { type, size, sha256: sha256.digest('hex'), content: piecesOf(stored) };
  }
  const replay = new Replay(stored.read);
  try {
    for await (const bytes of inflated(replay.first(), stored.from, size)) sha256.update(bytes);
  } catch (error) {
    replay.drop();
    throw error;
  }
  const content = ending(inflated(replay.second(), stored.from, size), () => replay.drop());
  return { type, size, sha256: sha256.digest('hex'), content };
}

interface Entry {
  readonly type: ObjectType;
  readonly size: number;
  readonly stored: Uint8Array | { readonly from: number; readonly read: () => AsyncIterable<Uint8Array> };
}

/** The content, or where a pack has it and how that is read. */
async function open(store: PackStore, oid: Oid): Promise<Entry> {
  const entry = await store.run((objects) => {
    if (!objects.locate(oidBytes(oid), 0)) {
      if (oid === EMPTY_TREE) return undefined;
      throw new ObjectMissing(oid);
    }
    const { pack, position } = objects;
    const offset = pack.index.offset(position);
    const head = new EntryHeader();
    const { file, description } = pack;
    if (!head.read(file.slice(offset, Math.min(offset + MAX_ENTRY_HEADER, file.size - 20)), 0)) {
      throw new CorruptData('pack-truncated', `entry at ${offset} is cut short`);
    }
    const { type, size, dataAt } = head;
    const whole = type !== OFS_DELTA && type !== REF_DELTA;
    return whole && size > MAX_WHOLE_BYTES ? { description, type, size, from: offset + dataAt } : undefined;
  });
  if (entry === undefined) {
    const { type, data } = await store.read(oid);
    return { type, size: data.length, stored: data };
  }
  const { description, type, size, from } = entry;
  const read = () => readInOrder(store.database.open(description, 'pack'), from);
  return { type: typeName(type), size, stored: { from, read } };
}

/** What takes them works within the same turn of the event loop. */
async function* piecesOf(data: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < data.length; at += PIECE_BYTES) {
    yield data.subarray(at, at + PIECE_BYTES);
    if (turnIsOver()) await nextTurn();
  }
}

/** Calls `end` when no more pieces are requested, which may be before the first one. */
function ending(source: AsyncGenerator<Uint8Array>, end: () => void): AsyncIterable<Uint8Array> {
  const iterator: AsyncIterator<Uint8Array> = {
    async next() {
      try {
        const result = await source.next();
        if (result.done) end();
        return result;
      } catch (error) {
        end();
        throw error;
      }
    },
    return() {
      end();
      return source.return(undefined);
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}

async function* inflated(
  input: AsyncIterable<Uint8Array>,
  from: number,
  size: number,
): AsyncGenerator<Uint8Array> {
  const inflate = new InflateStream(size);
  try {
    for await (const bytes of input) {
      // A few input bytes at a time, because they may inflate to a thousand times as many.
      for (let at = 0; at < bytes.length; at += INPUT_STEP_BYTES) {
        const made: Buffer[] = [];
        inflate.push(bytes, at, Math.min(at + INPUT_STEP_BYTES, bytes.length), (piece) =>
          made.push(Buffer.from(piece)),
        );
        for (const piece of made) {
          yield piece;
          if (turnIsOver()) await nextTurn();
        }
        if (inflate.ended) return;
      }
    }
    throw new CorruptData('pack-truncated', `entry at ${from} is cut short`);
  } finally {
    inflate.close();
  }
}

/** Reads from an offset on, with one read ahead. */
async function* readInOrder(file: RandomAccess, from: number): AsyncGenerator<Uint8Array> {
  const read = (at: number) => {
    const reading = at < file.size ? file.read(at, Math.min(READ_BYTES, file.size - at)) : undefined;
    // Errors are thrown where the promise is awaited.
    reading?.catch(() => {});
    return reading;
  };
  let next = read(from);
  for (let at = from; next !== undefined; ) {
    throwIfAbandoned();
    const bytes = await next;
    at += bytes.length;
    next = bytes.length > 0 ? read(at) : undefined;
    yield bytes;
  }
}
