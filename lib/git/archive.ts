import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { bzip2 } from './archive/bzip2.ts';
import { type ArchivePlan, planArchive, readMembers } from './archive/entries.ts';
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
  /** Only what stands here, with the directories that lead there; '' or absent for all. */
  readonly path?: string;
  /** Name of the directory that everything is put into. */
  readonly prefix: string;
  readonly format: ArchiveFormat;
}

/**
 * What `git archive --prefix=<prefix>/ --format=<format> <commit> <path>` writes, as a stream in pieces that are
 * made when they are asked for. Tar is the same to the byte; what is compressed has the same content.
 *
 * Everything that can be found wrong before the first byte is found before this returns.
 *
 * @returns undefined when nothing stands at the path
 * @throws ObjectMissing, CorruptData (`limit` for too many members)
 */
export async function archive(
  store: PackStore,
  request: ArchiveRequest,
  signal?: AbortSignal,
): Promise<AsyncIterable<Uint8Array> | undefined> {
  const path = lookupPath(request.path ?? '');
  const prefix = encodePath(request.prefix);
  if (path === undefined || prefix === undefined) return undefined;
  const { tree, committed } = await store.run((objects) =>
    parseCommitLinks(objects.read(request.commit).data),
  );
  const plan = await planArchive(store, { tree, path, prefix }, signal);
  return plan && write(store, plan, request.format, { commit: request.commit, time: committed }, signal);
}

function write(
  store: PackStore,
  plan: ArchivePlan,
  format: ArchiveFormat,
  about: { readonly commit: Oid; readonly time: number },
  signal: AbortSignal | undefined,
): AsyncIterable<Uint8Array> {
  const members = readMembers(store, plan, { deflated: format === 'zip', signal });
  switch (format) {
    case 'zip':
      return writeZip(members, about);
    case 'tar':
      return writeTar(members, about);
    case 'tar.gz':
      return gzip(writeTar(members, about));
    case 'tar.bz2':
      return bzip2(writeTar(members, about));
  }
}

async function* gzip(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const input = Readable.from(source, { objectMode: false, highWaterMark: 256 * 1024 });
  const output = createGzip({ chunkSize: 64 * 1024 });
  input.on('error', (error) => output.destroy(error));
  try {
    yield* input.pipe(output) as AsyncIterable<Uint8Array>;
  } finally {
    // A reader that leaves early ends the source too.
    input.destroy();
    output.destroy();
  }
}
