/** Takes away the bytes of packs that nobody reads any more. */
import { decodeTime } from 'ulid';
import type { Blobs } from './blobs.ts';
import { packObjectKeys, packPrefix } from './git-objects.ts';
import type { Repositories } from './repositories.ts';

/** Longer than any request, any presigned URL and any listing that somebody may still hold. */
export const SUPERSEDED_MS = 24 * 3600_000;
/** Nobody who stored a pack takes so long to list it. */
export const UNLISTED_MS = 7 * 24 * 3600_000;

/** Packs removed in one step. */
const BATCH = 400;

interface Stores {
  readonly blobs: Blobs;
  readonly repositories: Repositories;
}

/** Packs that were superseded a day ago: the bytes first, then the row, so that what is left is found again. */
export async function removeSuperseded(
  { blobs, repositories }: Stores,
  repositoryId: string,
  now: Date,
): Promise<void> {
  const until = new Date(now.getTime() - SUPERSEDED_MS);
  for (;;) {
    const over = await repositories.superseded(repositoryId, { until, most: BATCH });
    const own = over.filter(({ location }) => location.startsWith(packPrefix(repositoryId)));
    if (own.length > 0) await blobs.delete(own.flatMap(packObjectKeys));
    for (let i = 0; i < over.length; i += 16) {
      await Promise.all(over.slice(i, i + 16).map((pack) => repositories.forgetPack(repositoryId, pack)));
    }
    if (over.length < BATCH) return;
  }
}

/**
 * What failed writers left: objects that no row lists, a week after they were written. While a fork network is one
 * repository, that repository's rows are all that could list them.
 * @returns when the oldest of those that are too young may go, in milliseconds since 1970
 */
export async function sweepUnlisted(
  { blobs, repositories }: Stores,
  repositoryId: string,
  now: Date,
): Promise<number | undefined> {
  const prefix = packPrefix(repositoryId);
  let next: number | undefined;
  let after: string | undefined;
  do {
    const page = await blobs.list(prefix, after === undefined ? {} : { after });
    // Read behind the keys: what is listed by now was stored before.
    const listed = new Set((await repositories.open(repositoryId).catalogue()).flatMap(packObjectKeys));
    const unlisted = page.keys.filter((key) => !listed.has(key));
    const goes: string[] = [];
    for (const key of unlisted) {
      const at = timeOf(key.slice(prefix.length));
      if (at === undefined) continue;
      if (at + UNLISTED_MS <= now.getTime()) goes.push(key);
      else next = Math.min(next ?? Number.POSITIVE_INFINITY, at + UNLISTED_MS);
    }
    if (goes.length > 0) await blobs.delete(goes);
    after = page.more ? page.keys.at(-1) : undefined;
  } while (after !== undefined);
  return next;
}

/** When the pack of an object was stored: its name begins with a ULID. Anything else is not ours to judge. */
function timeOf(name: string): number | undefined {
  const [, id] = /^([0-7][0-9A-HJKMNP-TV-Z]{25})(?:\.\w+)?$/.exec(name) ?? [];
  return id === undefined ? undefined : decodeTime(id);
}
