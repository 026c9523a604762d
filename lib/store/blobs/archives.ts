/**
 * Archives that were made once. They are never wrong, because a commit does not change, and never needed, because
 * they can be made again: a rule of the bucket takes them away after some days, the repository's removal at once.
 */
import { createHash } from 'node:crypto';
import { log } from '../../telemetry/log.ts';
import { AlreadyExists, Missing } from '../errors.ts';
import { ARCHIVES } from '../table/schema.ts';
import type { Blobs } from './blobs.ts';

/** Where the archives of a repository lie: what its network shares, not every repository of it may read. */
export const archivePrefix = (repositoryId: string): string => `${ARCHIVES}${repositoryId}/`;

/** Larger ones are made again each time. */
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

  /** Passes an archive on and keeps a copy, if it comes to its end. What prevents the copy does not prevent the rest. */
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

/** A digest: paths and names are the caller's text. Another `version` when archives come to be written otherwise. */
function keyOf(repositoryId: string, { commit, path, prefix, format }: ArchiveName): string {
  const version = 1;
  const digest = createHash('sha256').update(JSON.stringify([version, commit, path, prefix, format]));
  return `${archivePrefix(repositoryId)}${digest.digest('hex')}`;
}
