/**
 * Copies of what is downloaded: archives, snapshots of repositories, and large files taken out of their packs. A copy
 * never becomes stale, because its name says of which commit, blob, refs and packs it is, and can be lost, because it can be made again: a lifecycle rule of the bucket deletes
 * copies after some days, the deletion of the repository deletes them at once.
 */
import { createHash } from 'node:crypto';
import { log } from '../../telemetry/log.ts';
import { AlreadyExists, Missing } from '../errors.ts';
import { ARCHIVES } from '../table/schema.ts';
import type { Blobs } from './blobs.ts';

/**
 * Prefix of the copies of a repository. It is per repository: although a fork network shares its objects, not every
 * repository of the network may read all of them.
 */
export const downloadPrefix = (repositoryId: string): string => `${ARCHIVES}${repositoryId}/`;

export interface ArchiveName {
  readonly commit: string;
  readonly path: string;
  readonly prefix: string;
  readonly format: string;
  /** Where files are pointers of Git LFS: the ids of the objects that it has in place of them. */
  readonly lfs?: readonly string[];
}

/** What a copy is of. */
export type DownloadName =
  | ArchiveName
  | { readonly blob: string }
  | { readonly snapshot: string }
  /** A file of an archive that a job has left. */
  | { readonly artifact: string; readonly path: string };

/** How a presigned URL serves a copy. */
export interface ServedAs {
  readonly type: string;
  /** `Content-Disposition` */
  readonly disposition: string;
}

/** Content that a response can carry, or the key of a copy that is too large for one. */
export type Download = { readonly body: AsyncIterable<Uint8Array> } | { readonly key: string };

export class DownloadTooLarge extends Error {
  constructor() {
    super('the download exceeds its limit');
    this.name = 'DownloadTooLarge';
  }
}

export interface MakingLimits {
  /** Bytes of the largest copy. */
  readonly maxBytes: number;
  /** Ends the making. */
  readonly signal?: AbortSignal | undefined;
  /** Called for each piece of the content, before anything was answered. What it throws ends the making. */
  readonly beforePiece?: () => Promise<void>;
}

/** How long a presigned URL is valid, in seconds; a download that has started may finish later. */
const URL_SECONDS = 300;

export class Downloads {
  readonly #blobs: Blobs;
  readonly #maxBody: number;

  /** @param maxBody bytes of the largest copy that a response carries */
  constructor(blobs: Blobs, maxBody: number) {
    this.#blobs = blobs;
    this.#maxBody = maxBody;
  }

  /** Whether content of this size is to be copied and downloaded from the bucket. */
  isLarge(size: number): boolean {
    return size > this.#maxBody;
  }

  /** @returns undefined without a copy */
  async get(repositoryId: string, name: DownloadName): Promise<Download | undefined> {
    const key = keyOf(repositoryId, name);
    try {
      const { size, body } = await this.#blobs.open(key);
      if (!this.isLarge(size)) return { body };
      body.destroy();
      return { key };
    } catch (error) {
      if (error instanceof Missing) return undefined;
      throw error;
    }
  }

  /** @returns whether there is a copy, for content that {@link isLarge} */
  async find(repositoryId: string, name: DownloadName): Promise<{ readonly key: string } | undefined> {
    const key = keyOf(repositoryId, name);
    return (await this.#blobs.head(key)) && { key };
  }

  /**
   * Makes a copy. Small content is returned while its copy is stored; a failure to store that is only logged. Of large
   * content the copy is complete when this returns. What is not finished leaves no copy.
   * @param source pieces that stay valid
   * @throws DownloadTooLarge, the signal's reason, StoreUnavailable for large content
   */
  async make(
    repositoryId: string,
    name: DownloadName,
    source: AsyncIterable<Uint8Array>,
    { maxBytes, signal, beforePiece }: MakingLimits,
  ): Promise<Download> {
    const key = keyOf(repositoryId, name);
    const writer = this.#blobs.writer(key);
    let pieces: Uint8Array[] = [];
    let size = 0;
    try {
      for await (const piece of source) {
        signal?.throwIfAborted();
        await beforePiece?.();
        size += piece.length;
        if (size > maxBytes) throw new DownloadTooLarge();
        if (!this.isLarge(size)) {
          pieces.push(piece);
          continue;
        }
        for (const held of pieces) await writer.write(held);
        pieces = [];
        await writer.write(piece);
      }
      if (!this.isLarge(size)) return { body: stored(this.#blobs, key, pieces) };
      await writer.finish();
    } catch (error) {
      await writer.abort();
      // Another request made the same copy.
      if (!(error instanceof AlreadyExists)) throw error;
    }
    return { key };
  }

  /** A URL that serves a copy for some minutes, without credentials. */
  url(key: string, as: ServedAs): Promise<string> {
    return this.#blobs.presignedGet(key, URL_SECONDS, as);
  }

  /** Deletes the copies that were made before. @returns how many */
  async sweep(before: Date): Promise<number> {
    let swept = 0;
    for (let after: string | undefined; ; ) {
      const page = await this.#blobs.list(ARCHIVES, after === undefined ? {} : { after });
      for (const key of page.keys) {
        const copy = await this.#blobs.head(key);
        if (copy === undefined || copy.modified >= before) continue;
        await this.#blobs.delete([key]);
        swept++;
      }
      after = page.keys.at(-1);
      if (!page.more || after === undefined) return swept;
    }
  }
}

/** Yields the pieces while a copy of them is stored. */
async function* stored(blobs: Blobs, key: string, pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  const storing = blobs.put(key, Buffer.concat(pieces), { ifAbsent: true }).catch((error: unknown) => {
    if (!(error instanceof AlreadyExists)) log('warn', 'archive not kept', { cause: String(error) });
  });
  try {
    yield* pieces;
  } finally {
    await storing;
  }
}

/**
 * The key is a digest, because paths and names are the caller's text. Increase `version` when the format of the
 * archives changes.
 */
function keyOf(repositoryId: string, name: DownloadName): string {
  const prefix = downloadPrefix(repositoryId);
  if ('blob' in name) return `${prefix}blob-${name.blob}`;
  if ('snapshot' in name) return `${prefix}snapshot-${name.snapshot}`;
  if ('artifact' in name) {
    const digest = createHash('sha256').update(JSON.stringify([name.artifact, name.path]));
    return `${prefix}artifact-${digest.digest('hex')}`;
  }
  const version = 2;
  const { commit, path, format, lfs } = name;
  const facts = [version, commit, path, name.prefix, format, ...(lfs ? [lfs] : [])];
  const digest = createHash('sha256').update(JSON.stringify(facts));
  return `${prefix}${digest.digest('hex')}`;
}
