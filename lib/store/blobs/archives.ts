/**
 * A cache of repository archives. An entry never becomes stale, because a commit does not change, and can be lost,
 * because the archive can be made again: a lifecycle rule of the bucket deletes entries after some days, the deletion
 * of the repository deletes them at once.
 */
import { createHash } from 'node:crypto';
import { log } from '../../telemetry/log.ts';
import { AlreadyExists, Missing } from '../errors.ts';
import { ARCHIVES } from '../table/schema.ts';
import type { Blobs } from './blobs.ts';

/**
 * Prefix of a repository's archives. It is per repository: although a fork network shares its objects, not every
 * repository of the network may read all of them.
 */
export const archivePrefix = (repositoryId: string): string => `${ARCHIVES}${repositoryId}/`;

/** Larger archives are not stored, but made again for each request. */
const MAX_KEPT_BYTES = 2 * 1024 ** 3;

export interface ArchiveName {
  readonly commit: string;
  readonly path: string;
  readonly prefix: string;
  readonly format: string;
}

export class Archives {
  readonly #blobs: Blobs;
  constructor(blobs: Blobs) {
    this.#blobs = blobs;
  }

  async get(repositoryId: string, name: ArchiveName): Promise<AsyncIterable<Uint8Array> | undefined> {
    try {
      return await this.#blobs.stream(keyOf(repositoryId, name));
    } catch (error) {
      if (error instanceof Missing) return undefined;
      throw error;
    }
  }

  /**
   * Passes an archive through and stores a copy once it is complete. A failure to store the copy is logged and does not
   * interrupt the stream.
   */
  async *keep(
    repositoryId: string,
    name: ArchiveName,
    source: AsyncIterable<Uint8Array>,
  ): AsyncGenerator<Uint8Array> {
    const writer = this.#blobs.writer(keyOf(repositoryId, name));
    let size = 0;
    let keeping = true;
    const attempt = async (work: () => Promise<void>) => {
      try {
        await work();
      } catch (error) {
        keeping = false;
        if (error instanceof AlreadyExists) return;
        log('warn', 'archive not kept', { cause: String(error) });
      }
    };
    let complete = false;
    try {
      for await (const piece of source) {
        size += piece.length;
        keeping &&= size <= MAX_KEPT_BYTES;
        if (keeping) await attempt(() => writer.write(piece));
        yield piece;
      }
      complete = true;
    } finally {
      if (complete && keeping) await attempt(() => writer.finish());
      if (!complete || !keeping) await writer.abort();
    }
  }
}

/**
 * The key is a digest, because paths and names are the caller's text. Increase `version` when the format of the
 * archives changes.
 */
function keyOf(repositoryId: string, { commit, path, prefix, format }: ArchiveName): string {
  const version = 1;
  const digest = createHash('sha256').update(JSON.stringify([version, commit, path, prefix, format]));
  return `${archivePrefix(repositoryId)}${digest.digest('hex')}`;
}
