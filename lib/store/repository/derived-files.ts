/**
 * Files that maintenance derives from a repository's packs: a row per kind, listed with the packs, and immutable objects
 * under the repository's own prefix, even if its packs are in another network.
 */
import { decodeTime, ulid } from 'ulid';
import type { DerivedContent, DerivedFile, DerivedKind, Provenance, RandomAccess } from '../../git/ports.ts';
import type { Blobs } from '../blobs/blobs.ts';
import { derivedKey } from '../row-keys/repository.ts';
import { ABSENT, type Item, type Put, type Update } from '../table/write.ts';

/** A replaced file, until its object is deleted. */
interface Replaced {
  readonly location: string;
  /** ISO 8601. */
  readonly at: string;
}

export interface DerivedRow extends DerivedFile {
  /** Newest first. */
  readonly replaced: readonly Replaced[];
}

/** Longer than any request, presigned URL or listing in use may last. */
const REPLACED_MS = 24 * 3600_000;
/** A stored file is listed much sooner than this, or never. */
const UNLISTED_MS = 7 * 24 * 3600_000;
/** Per kind and day. Beyond that, readers of the oldest find it missing and do without it. */
const MAX_REPLACED = 16;

interface Place {
  readonly repositoryId: string;
  readonly storagePrefix?: string;
}

/** Prefix of a repository's derived files. */
export const derivedPrefix = (repositoryId: string, storagePrefix = ''): string =>
  `${storagePrefix}derived/${repositoryId}/`;

/** Stores the content of a file without listing it. */
export async function storeDerived(
  blobs: Blobs,
  { repositoryId, storagePrefix }: Place,
  kind: DerivedKind,
  content: DerivedContent,
  provenance: Provenance,
): Promise<DerivedFile> {
  const id = ulid();
  const location = `${derivedPrefix(repositoryId, storagePrefix)}${id}.${kind}`;
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

/** The row of a file that replaces the one of its kind, for a transaction. */
export function listDerived(
  repositoryId: string,
  { kind, id, size, checksumsCrc, provenance, location }: DerivedFile,
  previous: DerivedRow | undefined,
  now: Date,
): Put {
  const replaced =
    previous === undefined
      ? []
      : [{ location: previous.location, at: now.toISOString() }, ...previous.replaced];
  return {
    put: {
      ...derivedKey(repositoryId, kind),
      // `madeFrom` and `sums` are what rows have always called them.
      ...{ kind, id, size, madeFrom: provenance, location },
      ...(checksumsCrc === undefined ? {} : { sums: checksumsCrc }),
      replaced: replaced.filter(({ at }) => isKept(at, now)).slice(0, MAX_REPLACED),
    },
    ...(previous === undefined ? { if: ABSENT } : { if: '#id = :was', values: { was: previous.id } }),
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

/** Removes entries of replaced files whose objects are deleted by now. */
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

/** When the objects of replaced files may be deleted, in milliseconds since 1970. */
export function replacedUntil(rows: readonly DerivedRow[]): number[] {
  return rows.flatMap(({ replaced }) => replaced.map(({ at }) => Date.parse(at) + REPLACED_MS));
}

/**
 * Deletes the objects of files that were replaced a day ago, and of those that no row has listed for a week.
 * @param listed reads the rows
 * @returns when the oldest of the remaining ones may be deleted, in milliseconds since 1970
 */
export async function sweepDerived(
  blobs: Blobs,
  { repositoryId, storagePrefix }: Place,
  listed: () => Promise<readonly DerivedRow[]>,
  now: Date,
): Promise<number | undefined> {
  const prefix = derivedPrefix(repositoryId, storagePrefix);
  let next: number | undefined;
  let after: string | undefined;
  do {
    const page = await blobs.list(prefix, after === undefined ? {} : { after });
    if (page.keys.length === 0) return next;
    // Read after the keys: everything stored and listed before is included.
    const rows = await listed();
    const used = new Set(rows.map(({ location }) => location));
    const replaced = new Map(rows.flatMap((row) => row.replaced.map(({ location, at }) => [location, at])));
    const deletable: string[] = [];
    for (const key of page.keys) {
      if (used.has(key)) continue;
      const at = replaced.get(key);
      const until = at === undefined ? storedAt(key) + UNLISTED_MS : Date.parse(at) + REPLACED_MS;
      if (until <= now.getTime()) deletable.push(key);
      else next = Math.min(next ?? until, until);
    }
    if (deletable.length > 0) await blobs.delete(deletable);
    after = page.more ? page.keys.at(-1) : undefined;
  } while (after !== undefined);
  return next;
}

/** The name begins with a ULID; other objects belong to no row and count as oldest. */
function storedAt(key: string): number {
  const [, id] = /\/([0-7][0-9A-HJKMNP-TV-Z]{25})\.[a-z-]+$/.exec(key) ?? [];
  return id === undefined ? 0 : decodeTime(id);
}
