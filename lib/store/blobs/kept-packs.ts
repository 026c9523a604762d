/**
 * Copies of packs that clones were answered with. They are kept as the copies of archives are (see `downloads.ts`): a copy
 * never becomes stale, and can be lost.
 */
import type { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import type { UnlistedPack } from '../../git/pack/store.ts';
import type { PackDescription } from '../../git/ports.ts';
import { give } from '../../git/wire/given-bytes.ts';
import type { KeptPack } from '../../git/wire/kept-pack.ts';
import { log } from '../../telemetry/log.ts';
import { AlreadyExists, Missing } from '../errors.ts';
import type { Blobs } from './blobs.ts';
import { downloadPrefix } from './downloads.ts';

/** Bytes. Larger packs are seldom asked for twice, and are mostly copied from those that are stored. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Names of packs that were sent lately, in this process. */
const MAX_ASKED = 1000;

/** Bytes of the largest index that is kept: that of 112,000 objects. Packs of more than 100,000 are made without one. */
const MAX_INDEX_BYTES = 3 * 1024 * 1024;
/** Copies are deleted after seven days; an older one may be gone before the pack is written that needs it. */
const USED_FOR_MS = 6 * 24 * 60 * 60 * 1000;

/** The copy that was kept last with its index. */
interface Latest {
  readonly key: string;
  readonly packSize: number;
  readonly indexSize: number;
  readonly objects: number;
  /** Milliseconds since 1970. */
  readonly keptAt: number;
}

export class KeptPacks {
  readonly #blobs: Blobs;
  /** Most packs are asked for once: a copy is made for the second who asks. */
  readonly #asked = new Set<string>();

  constructor(blobs: Blobs) {
    this.#blobs = blobs;
  }

  of(repositoryId: string, name: string): KeptPack {
    const prefix = `${downloadPrefix(repositoryId)}pack-`;
    const key = prefix + name;
    const latest = `${prefix}latest`;
    return {
      open: async () => {
        const copy = await this.#open(key);
        return copy && giving(copy);
      },
      keep: (pack, indexed) => {
        if (!this.#isAskedAgain(key) && indexed?.atOnce !== true) return pack;
        const kept = (size: number) => this.#keepIndex(latest, key, size, indexed?.index);
        return storing(this.#blobs, key, pack, kept);
      },
      latest: () => this.#latest(latest),
      forgetLatest: () => this.#forget(latest),
    };
  }

  async #open(key: string): Promise<Readable | undefined> {
    try {
      return (await this.#blobs.open(key)).body;
    } catch (error) {
      if (!(error instanceof Missing)) log('warn', 'pack not read', { cause: String(error) });
      return undefined;
    }
  }

  async #latest(name: string): Promise<UnlistedPack | undefined> {
    const found = await this.#open(name);
    if (found === undefined) return undefined;
    try {
      const { key, packSize, indexSize, objects, keptAt } = (await json(found)) as Latest;
      if (Date.now() - keptAt > USED_FOR_MS) return undefined;
      const description: PackDescription = {
        // The same name may have other bytes once a copy was deleted, and processes remember bytes.
        id: `${key} of ${keptAt}`,
        source: 'compact',
        objectCount: objects,
        packSize,
        indexSize,
        layout: 'split',
        location: key,
      };
      const of = { pack: { key, size: packSize }, index: { key: indexKey(key), size: indexSize } };
      return {
        description,
        open: (part) => ({
          size: of[part].size,
          read: (offset, length) =>
            this.#blobs.read(of[part].key, offset, length).catch(async (error: unknown) => {
              if (error instanceof Missing) await this.#forget(name);
              throw error;
            }),
        }),
      };
    } catch (error) {
      log('warn', 'pack not read', { cause: String(error) });
      return undefined;
    }
  }

  #forget(latest: string): Promise<void> {
    return this.#blobs.delete([latest]).catch(notKept);
  }

  /** Keeps the index of a copy, which is then the latest. Never fails. */
  async #keepIndex(
    latest: string,
    key: string,
    packSize: number,
    index: Uint8Array | undefined,
  ): Promise<void> {
    if (index === undefined || index.length > MAX_INDEX_BYTES) return;
    const objects = new DataView(index.buffer, index.byteOffset).getUint32(LAST_OF_FANOUT);
    const about: Latest = { key, packSize, indexSize: index.length, objects, keptAt: Date.now() };
    try {
      await this.#blobs.put(indexKey(key), index);
      await this.#blobs.put(latest, Buffer.from(JSON.stringify(about)));
    } catch (error) {
      notKept(error);
    }
  }

  #isAskedAgain(key: string): boolean {
    if (this.#asked.delete(key)) return true;
    this.#asked.add(key);
    if (this.#asked.size > MAX_ASKED) this.#asked.delete(this.#asked.values().next().value!);
    return false;
  }
}

const indexKey = (key: string): string => `${key}-index`;

/** Where an index says how many objects it has (gitformat-pack). */
const LAST_OF_FANOUT = 8 + 4 * 255;

const notKept = (error: unknown): void => log('warn', 'pack not kept', { cause: String(error) });

/** A chunk that is not a part of anything has been read for this stream alone. */
async function* giving(copy: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of copy) yield chunk.byteLength === chunk.buffer.byteLength ? give(chunk) : chunk;
}

/**
 * Passes the pieces on, and stores them unless the pack ends early or is too large.
 * @param kept called when they are stored
 */
async function* storing(
  blobs: Blobs,
  key: string,
  pack: AsyncIterable<Uint8Array>,
  kept: (size: number) => Promise<void>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let writer: ReturnType<Blobs['writer']> | undefined = blobs.writer(key);
  let size = 0;
  const giveUp = async (error?: unknown) => {
    if (error !== undefined && !(error instanceof AlreadyExists)) notKept(error);
    await writer?.abort();
    writer = undefined;
  };
  try {
    for await (const piece of pack) {
      size += piece.length;
      if (size > MAX_BYTES) await giveUp();
      await writer?.write(piece).catch(giveUp);
      yield piece;
    }
    await writer?.finish().catch(giveUp);
    if (writer !== undefined) await kept(size);
    writer = undefined;
  } finally {
    await giveUp();
  }
}
