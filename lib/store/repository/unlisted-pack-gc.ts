/**
 * Garbage collection of packs that no repository of a fork network lists any more, in two passes a day apart: the first
 * marks them, in the message that enqueues the second; the second deletes those that still nobody lists.
 */
import { decodeTime } from 'ulid';
import type { Blobs } from '../blobs/blobs.ts';
import { MAINTENANCE, messageAt, outboxWrite } from '../outbox/outbox.ts';
import { guardKey, packKey } from '../row-keys/repository.ts';
import type { Table } from '../table/table.ts';
import { type ForkNetworks, type NetworkMember, packPrefix, writerOf } from './fork-networks.ts';
import type { CataloguedPack } from './pack-list.ts';
import type { Repositories } from './repositories.ts';
import { randomStripe } from './state.ts';

/** Time between marking and sweeping: longer than any request, any presigned URL and any pack list held in memory. */
export const SWEEP_DELAY_MS = 24 * 3600_000;
/** Age from which an unlisted pack is garbage: no writer takes so long to list a pack it stored. */
export const UNLISTED_MS = 7 * 24 * 3600_000;
/** Packs marked by one message. Later passes find the others. */
const MAX_MARKED = 2000;

interface Stores {
  readonly table: Table;
  readonly blobs: Blobs;
  readonly networks: ForkNetworks;
  readonly repositories: Repositories;
}

/** The maintenance queue's job that runs {@link sweepUnlisted}. */
export const PACKS_GC_JOB = 'packs.gc';

/** Body of that job. */
export interface UnlistedMark extends NetworkMember {
  /** Ids of packs that nobody listed when they were marked. */
  readonly unlisted: readonly string[];
  /** ISO 8601, when they were marked. */
  readonly since: string;
}

/**
 * Marks packs that this repository wrote and nobody lists, and enqueues their sweep.
 * @param options.forgotten ids of packs that were listed once: they need not be a week old
 * @returns when the oldest of those that are too young may be marked, in milliseconds since 1970
 */
export async function markUnlisted(
  stores: Stores,
  writer: NetworkMember,
  now: Date,
  options: { readonly forgotten?: readonly string[] } = {},
): Promise<number | undefined> {
  const forgotten = new Set(options.forgotten);
  const unlisted = new Set<string>();
  let next: number | undefined;
  for await (const { id, closed } of unlistedOf(stores, writer)) {
    const at = decodeTime(id) + UNLISTED_MS;
    if (!closed && !forgotten.has(id) && at > now.getTime()) next = Math.min(next ?? at, at);
    else if (unlisted.size < MAX_MARKED) unlisted.add(id);
  }
  if (unlisted.size > 0) {
    const body = { ...writer, unlisted: [...unlisted], since: now.toISOString() } satisfies UnlistedMark;
    const at = new Date(now.getTime() + SWEEP_DELAY_MS);
    await stores.table.put(outboxWrite(messageAt(MAINTENANCE, PACKS_GC_JOB, { ...body }, at)));
  }
  return next;
}

/** Deletes the bytes of marked packs that nobody lists a day later either; marks what is unlisted only now. */
export async function sweepUnlisted(
  stores: Stores,
  { unlisted, since, ...writer }: UnlistedMark,
  now: Date,
): Promise<void> {
  const noted = new Set(Date.parse(since) + SWEEP_DELAY_MS <= now.getTime() ? unlisted : []);
  const goes: string[] = [];
  for await (const { id, key } of unlistedOf(stores, writer)) {
    if (noted.has(id)) goes.push(key);
  }
  for (let i = 0; i < goes.length; i += 1000) await stores.blobs.delete(goes.slice(i, i + 1000));
  await markUnlisted(stores, writer, now);
}

/** Ends the protection of packs that a repository inherited, and marks those that nobody lists now. */
export async function disinheritPacks(
  stores: Stores,
  repositoryId: string,
  packs: readonly Pick<CataloguedPack, 'id' | 'location'>[],
  now: Date,
): Promise<void> {
  await stores.networks.disinherit(repositoryId, packs);
  for (const [, some] of Map.groupBy(packs, (pack) => packPrefix(writerOf(pack)))) {
    await markUnlisted(stores, writerOf(some[0]!), now, { forgotten: some.map(({ id }) => id) });
  }
}

/** Removes inherited packs from a repository's list. */
export async function releasePacks(
  stores: Stores,
  repositoryId: string,
  packs: readonly CataloguedPack[],
  now: Date,
): Promise<void> {
  // Before the rows of the packs are deleted: a run that is interrupted in between starts again.
  await disinheritPacks(stores, repositoryId, packs, now);
  for (const { id } of packs) await stores.table.delete({ delete: packKey(repositoryId, id) });
}

interface Unlisted {
  /** Of the pack. */
  readonly id: string;
  readonly key: string;
  /** Its writer is gone, or about to be, and lists nothing. */
  readonly closed: boolean;
}

/** The stored objects that neither their writer nor an heir lists. Objects that are not named as packs are skipped. */
async function* unlistedOf(
  { table, blobs, networks, repositories }: Stores,
  writer: NetworkMember,
): AsyncGenerator<Unlisted> {
  const prefix = packPrefix(writer);
  let after: string | undefined;
  do {
    const page = await blobs.list(prefix, after === undefined ? {} : { after });
    const stored = page.keys.flatMap((key) => {
      const id = packIdOf(key.slice(prefix.length));
      return id === undefined ? [] : [{ id, key, location: prefix + id }];
    });
    if (stored.length > 0) {
      // Read behind the keys: what is listed by now was stored before.
      const guard = await table.get(guardKey(writer.repositoryId, randomStripe()));
      const closed = guard === undefined || guard['state'] === 'deleted';
      const own = new Set(
        closed
          ? []
          : (await repositories.open(writer.repositoryId).catalogue()).map(({ location }) => location),
      );
      const candidates = new Map(stored.map(({ id, location }) => [location, { id, location }]));
      for (const location of own) candidates.delete(location);
      const inherited = await networks.inherited([...candidates.values()]);
      for (const { id, key, location } of stored) {
        if (!own.has(location) && !inherited.has(location)) yield { id, key, closed };
      }
    }
    after = page.more ? page.keys.at(-1) : undefined;
  } while (after !== undefined);
}

/** The name of a pack's object begins with a ULID. */
export function packIdOf(name: string): string | undefined {
  return /^([0-7][0-9A-HJKMNP-TV-Z]{25})(?:\.\w+)?$/.exec(name)?.[1];
}
