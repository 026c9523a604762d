import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { bzip2 } from './archive/bzip2.ts';
import {
  type ArchivedPointer,
  type ArchiveEntry,
  type OtherContent,
  planArchive,
  readMembers,
} from './archive/entries.ts';
import { gathered } from './archive/pieces.ts';
import { writeTar } from './archive/tar.ts';
import { writeZip } from './archive/zip.ts';
import type { Oid } from './oid.ts';
import type { PackStore } from './pack/store.ts';
import { parseCommitLinks } from './parse.ts';
import { encodePath, lookupPath } from './tree/path.ts';

const ARCHIVE_FORMATS = ['tar', 'tar.gz', 'tar.bz2', 'zip'] as const;
export type ArchiveFormat = (typeof ARCHIVE_FORMATS)[number];

export interface ArchiveRequest {
  readonly commit: Oid;
  /** Archives only this path, with its parent directories; '' or absent for the whole tree. */
  readonly path?: string;
  /** Name of the top-level directory of the archive. */
  readonly prefix: string;
  readonly format: ArchiveFormat;
}

/** An archive before its content is read. */
export interface PlannedArchive {
  /** Files that Git LFS converts, by the id of the blob. */
  readonly pointers: ReadonlyMap<Oid, ArchivedPointer>;
  /**
   * The archive as a stream whose pieces are made on demand.
   * @param others what pointers stand for, by the id of the blob; those left out stay pointers
   */
  read(others?: ReadonlyMap<Oid, OtherContent>): AsyncIterable<Uint8Array>;
}

/**
 * The output of `git archive --prefix=<prefix>/ --format=<format> <commit> <path>`. Tar archives are byte for byte those
 * of git; compressed ones have the same content.
 *
 * Checks everything that can be checked before the first byte, then returns.
 *
 * @returns undefined when the path does not exist
 * @throws ObjectMissing, LimitExceeded (for too many members)
 */
export async function archive(
  store: PackStore,
  request: ArchiveRequest,
  signal?: AbortSignal,
): Promise<PlannedArchive | undefined> {
  const path = lookupPath(request.path ?? '');
  const prefix = encodePath(request.prefix);
  if (path === undefined || prefix === undefined) return undefined;
  const { tree, committed } = await store.run((objects) =>
    parseCommitLinks(objects.read(request.commit).data),
  );
  const plan = await planArchive(store, { tree, path, prefix }, signal);
  if (plan === undefined) return undefined;
  const { commit, format } = request;
  return {
    pointers: plan.pointers,
    read: (others = new Map()) =>
      write(readMembers(store, plan, { deflated: format === 'zip', others, signal }), format, {
        commit,
        time: committed,
      }),
  };
}

function write(
  members: AsyncIterable<ArchiveEntry>,
  format: ArchiveFormat,
  about: { readonly commit: Oid; readonly time: number },
): AsyncIterable<Uint8Array> {
  switch (format) {
    case 'zip':
      return gathered(writeZip(members, about));
    case 'tar':
      return gathered(writeTar(members, about));
    case 'tar.gz':
      return gzip(gathered(writeTar(members, about)));
    case 'tar.bz2':
      return bzip2(gathered(writeTar(members, about)));
  }
}

async function* gzip(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const input = Readable.from(source, { objectMode: false, highWaterMark: 256 * 1024 });
  const output = createGzip({ chunkSize: 64 * 1024 });
  input.on('error', (error) => output.destroy(error));
  try {
    yield* input.pipe(output) as AsyncIterable<Uint8Array>;
  } finally {
    // When the reader stops early, the source ends too.
    input.destroy();
    output.destroy();
  }
}
