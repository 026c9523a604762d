/**
 * Files that maintenance makes of a repository's packs: a row per kind, listed with the packs, and immutable objects
 * under a prefix of the repository's own, whatever network its packs lie in.
 */
import { decodeTime, ulid } from 'ulid';
import type { DerivedContent, DerivedFile, DerivedKind, Provenance, RandomAccess } from '../../git/ports.ts';
import type { Blobs } from '../blobs/blobs.ts';
import { derivedKey } from '../row-keys/repository.ts';
import { ABSENT, type Item, type Put, type Update } from '../table/write.ts';

/** One that was replaced, until its bytes are removed. */
interface Replaced {
  readonly location: string;
  /** ISO 8601. */
  readonly at: string;
}

export interface DerivedRow extends DerivedFile {
  /** Newest first. */
  readonly replaced: readonly Replaced[];
}

/** Longer than any request, any presigned URL and any listing that somebody may still hold. */
const REPLACED_MS = 24 * 3600_000;
/** Nobody who stored a file takes so long to list it. */
const UNLISTED_MS = 7 * 24 * 3600_000;
/** Of one kind, within a day. Beyond it, whoever still reads the oldest finds it missing and does without. */
const MAX_REPLACED = 16;

/** Where the derived files of a repository lie. */
export const derivedPrefix = (repositoryId: string): string => `derived/${repositoryId}/`;

/** Stores the bytes of a file, unlisted. */
export async function storeDerived(
  blobs: Blobs,
  repositoryId: string,
  kind: DerivedKind,
  content: DerivedContent,
  provenance: Provenance,
): Promise<DerivedFile> {
  const id = ulid();
  const location = `${derivedPrefix(repositoryId)}${id}.${kind}`;
  if (content.kind === 'bytes') await blobs.put(location, content.bytes);
  else await blobs.putFile(location, content.path, content.fileSize);
  const { size, checksumsCrc } = content;
  return {
    kind,
    id,
    size,
    ...(checksumsCrc === undefined ? {} : { checksumsCrc }),
    provenance,
    location,
  };
}

export function openDerived(blobs: Blobs, { location }: DerivedFile): RandomAccess {
  return {
    size: Number.POSITIVE_INFINITY,
    read: (offset, length) => blobs.read(location, offset, length),
  };
}

/** For the transaction that lists a file in place of the one of its kind. */
export function listDerived(
  repositoryId: string,
  { kind, id, size, checksumsCrc, provenance, location }: DerivedFile,
  was: DerivedRow | undefined,
  now: Date,
): Put {
  const replaced =
    was === undefined ? [] : [{ location: was.location, at: now.toISOString() }, ...was.replaced];
  return {
    put: {
      ...derivedKey(repositoryId, kind),
      // `madeFrom` and `sums` are what rows have always called them.
      ...{ kind, id, size, madeFrom: provenance, location },
      ...(checksumsCrc === undefined ? {} : { sums: checksumsCrc }),
      replaced: replaced.filter(({ at }) => isKept(at, now)).slice(0, MAX_REPLACED),
    },
    ...(was === undefined ? { if: ABSENT } : { if: '#id = :was', values: { was: was.id } }),
    reason: 'derived',
  };
}

export function derivedOf(item: Item): DerivedRow {
  const { pk: _p, sk: _s, w: _w, sums, madeFrom, ...row } = item;
  return {
    ...row,
    provenance: madeFrom,
    ...(sums === undefined ? {} : { checksumsCrc: sums }),
  } as unknown as DerivedRow;
}

const isKept = (at: string, now: Date) => Date.parse(at) + REPLACED_MS > now.getTime();

/** For a row whose replaced files are removed by now. */
export function forgetReplaced(
  repositoryId: string,
  { kind, id, replaced }: DerivedRow,
  now: Date,
): Update[] {
  const kept = replaced.filter(({ at }) => isKept(at, now));
  if (kept.length === replaced.length) return [];
  return [
    { update: derivedKey(repositoryId, kind), set: { replaced: kept }, if: '#id = :id', values: { id } },
  ];
}

/** When bytes of these may be removed, in milliseconds since 1970. */
export function replacedUntil(rows: readonly DerivedRow[]): number[] {
  return rows.flatMap(({ replaced }) => replaced.map(({ at }) => Date.parse(at) + REPLACED_MS));
}

/**
 * Takes away the bytes of files that were replaced a day ago, and of those that no row has listed for a week.
 * @param listed reads the rows
 * @returns when the oldest of those that are too young may go, in milliseconds since 1970
 */
export async function sweepDerived(
  blobs: Blobs,
  repositoryId: string,
  listed: () => Promise<readonly DerivedRow[]>,
  now: Date,
): Promise<number | undefined> {
  const prefix = derivedPrefix(repositoryId);
  let next: number | undefined;
  let after: string | undefined;
  do {
    const page = await blobs.list(prefix, after === undefined ? {} : { after });
    if (page.keys.length === 0) return next;
    // Read behind the keys: what is listed by now was stored before.
    const rows = await listed();
    const used = new Set(rows.map(({ location }) => location));
    const replaced = new Map(rows.flatMap((row) => row.replaced.map(({ location, at }) => [location, at])));
    const goes: string[] = [];
    for (const key of page.keys) {
      if (used.has(key)) continue;
      const at = replaced.get(key);
      const until = at === undefined ? storedAt(key) + UNLISTED_MS : Date.parse(at) + REPLACED_MS;
      if (until <= now.getTime()) goes.push(key);
      else next = Math.min(next ?? until, until);
    }
    if (goes.length > 0) await blobs.delete(goes);
    after = page.more ? page.keys.at(-1) : undefined;
  } while (after !== undefined);
  return next;
}

/** The name begins with a ULID; what does not is nobody's, and as old as can be. */
function storedAt(key: string): number {
  const [, id] = /\/([0-7][0-9A-HJKMNP-TV-Z]{25})\.[a-z-]+$/.exec(key) ?? [];
  return id === undefined ? 0 : decodeTime(id);
}
