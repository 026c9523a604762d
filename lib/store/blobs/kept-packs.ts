/**
 * Copies of packs that clones were answered with. They are kept as the copies of archives are (see `downloads.ts`): a copy
 * never becomes stale, and can be lost.
 */
import type { KeptPack } from '../../git/wire/kept-pack.ts';
import { log } from '../../telemetry/log.ts';
import { AlreadyExists, Missing } from '../errors.ts';
import type { Blobs } from './blobs.ts';
import { downloadPrefix } from './downloads.ts';

/** Bytes. Larger packs are seldom asked for twice, and are mostly copied from those that are stored. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Names of packs that were sent lately, in this process. */
const MAX_ASKED = 1000;

export class KeptPacks {
  readonly #blobs: Blobs;
  /** Most packs are asked for once: a copy is made for the second who asks. */
  readonly #asked = new Set<string>();

  constructor(blobs: Blobs) {
    this.#blobs = blobs;
  }

  of(repositoryId: string, name: string): KeptPack {
    const key = `${downloadPrefix(repositoryId)}pack-${name}`;
    return {
      open: () => this.#open(key),
      keep: (pack) => (this.#isAskedAgain(key) ? storing(this.#blobs, key, pack) : pack),
    };
  }

  async #open(key: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    try {
      return (await this.#blobs.open(key)).body;
    } catch (error) {
      if (!(error instanceof Missing)) log('warn', 'pack not read', { cause: String(error) });
      return undefined;
    }
  }

  #isAskedAgain(key: string): boolean {
    if (this.#asked.delete(key)) return true;
    this.#asked.add(key);
    if (this.#asked.size > MAX_ASKED) this.#asked.delete(this.#asked.values().next().value!);
    return false;
  }
}

/** Passes the pieces on, and stores them unless the pack ends early or is too large. */
async function* storing(
  blobs: Blobs,
  key: string,
  pack: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let writer: ReturnType<Blobs['writer']> | undefined = blobs.writer(key);
  let size = 0;
  const giveUp = async (error?: unknown) => {
    if (error !== undefined && !(error instanceof AlreadyExists))
      log('warn', 'pack not kept', { cause: String(error) });
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
    writer = undefined;
  } finally {
    await giveUp();
  }
}
