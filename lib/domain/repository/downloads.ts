import type { Oid } from '../../git/oid.ts';
import type { GitRepository } from '../../git/repository.ts';
import { beforeLongWork } from '../../git/work.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { type Download, DownloadTooLarge, type MakingLimits } from '../../store/blobs/downloads.ts';
import type { Deps } from '../deps.ts';
import { tooLarge } from '../errors.ts';

/** Bytes of the largest download. */
const MAX_DOWNLOAD_BYTES = 10 * 1024 ** 3;
/** How long a caller waits for a large download: the gateway ends a response after five minutes without a byte. */
const MAKING_MS = 240_000;

const TOO_LARGE = '413 Request Entity Too Large: clone instead';

/** Making that takes longer is long work: compressing does not show in the engine's own time. */
const LONG_MS = 1_000;

/**
 * Makes a download.
 * @param size in bytes, as far as it is known
 * @throws 413 for one that is too large, or takes too long; 429 for one among too many
 */
export async function making(make: (limits: MakingLimits) => Promise<Download>, size = 0): Promise<Download> {
  if (size > MAX_DOWNLOAD_BYTES) throw tooLarge(TOO_LARGE);
  const signal = AbortSignal.timeout(MAKING_MS);
  const began = performance.now();
  const beforePiece = async () => {
    if (performance.now() - began > LONG_MS) await beforeLongWork();
  };
  try {
    return await make({ maxBytes: MAX_DOWNLOAD_BYTES, signal, beforePiece });
  } catch (error) {
    if (error instanceof DownloadTooLarge || (signal.aborted && error === signal.reason))
      throw tooLarge(TOO_LARGE);
    throw error;
  }
}

/** A copy of a large blob, made unless there is one. @returns undefined for a blob that a response can carry */
export async function largeBlob(
  { store: { downloads } }: Deps,
  { repositoryId }: ProjectRecord,
  git: GitRepository,
  oid: Oid,
): Promise<Download | undefined> {
  const header = await git.blobHeader(oid);
  if (header === undefined || !downloads.isLarge(header.size)) return undefined;
  const name = { blob: oid };
  const copy = await downloads.find(repositoryId, name);
  if (copy !== undefined) return copy;
  return making(async (limits) => {
    const blob = await git.streamBlob(oid);
    return downloads.make(repositoryId, name, lasting(blob!.content), limits);
  });
}

/** The same pieces, which stay valid. */
async function* lasting(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) yield Buffer.from(piece);
}
