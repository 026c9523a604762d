/**
 * What nobody in a fork network lists any more. It is looked at twice, a day apart, before its bytes go: the first look
 * notes what it found in the message that promises the second.
 */
import { decodeTime } from 'ulid';
import type { Blobs } from '../blobs/blobs.ts';
import { MAINTENANCE, messageAt, outboxWrite } from '../outbox/outbox.ts';
import { guardKey, packKey } from '../row-keys/repository.ts';
import type { Table } from '../table/table.ts';
import { type NetworkMember, type Networks, packPrefix, writerOf } from './fork-networks.ts';
import type { CataloguedPack } from './pack-list.ts';
import type { Repositories } from './repositories.ts';
import { randomStripe } from './state.ts';

/** Between the two looks: longer than any request, any presigned URL and any listing that somebody may still hold. */
export const LOOKS_MS = 24 * 3600_000;
/** Nobody who stored a pack takes so long to list it. */
export const UNLISTED_MS = 7 * 24 * 3600_000;
/** Packs that one message carries to the second look. What is beyond them is found by the looks after it. */
const MAX_NOTED = 2000;

interface Stores {
  readonly table: Table;
  readonly blobs: Blobs;
  readonly networks: Networks;
  readonly repositories: Repositories;
}

/** The message of a second look. */
export interface SecondLook extends NetworkMember {
  /** Ids of packs that nobody listed at the first. */
  readonly unlisted: readonly string[];
  /** ISO 8601, when that was. */
  readonly since: string;
}

/**
 * Looks for what this repository wrote and nobody lists, and promises a second look at it.
 * @param options.forgotten ids of packs that were listed once: they need not be a week old
 * @returns when the oldest of those that are too young may go, in milliseconds since 1970
 */
export async function firstLook(
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
    else if (unlisted.size < MAX_NOTED) unlisted.add(id);
  }
  if (unlisted.size > 0) {
    const body = { ...writer, unlisted: [...unlisted], since: now.toISOString() } satisfies SecondLook;
    const at = new Date(now.getTime() + LOOKS_MS);
    await stores.table.put(outboxWrite(messageAt(MAINTENANCE, 'network.look', { ...body }, at)));
  }
  return next;
}

/** Removes the bytes of what nobody lists a day later either; what is found unlisted now waits for another look. */
export async function secondLook(
  stores: Stores,
  { networkId, repositoryId, unlisted, since }: SecondLook,
  now: Date,
): Promise<void> {
  const noted = new Set(Date.parse(since) + LOOKS_MS <= now.getTime() ? unlisted : []);
  const goes: string[] = [];
  for await (const { id, key } of unlistedOf(stores, { networkId, repositoryId })) {
    if (noted.has(id)) goes.push(key);
  }
  for (let i = 0; i < goes.length; i += 1000) await stores.blobs.delete(goes.slice(i, i + 1000));
  await firstLook(stores, { networkId, repositoryId }, now);
}

/** Takes inherited packs off the list of a repository, and looks at what their writers left. */
export async function releasePacks(
  stores: Stores,
  repositoryId: string,
  packs: readonly CataloguedPack[],
  now: Date,
): Promise<void> {
  await stores.networks.disinherit(repositoryId, packs);
  // Before the rows that tell of the packs: whoever dies in between begins anew.
  const writers = new Map(packs.map((pack) => [writerOf(pack).repositoryId, pack]));
  for (const [writer, pack] of writers) {
    const ids = packs.filter((other) => writerOf(other).repositoryId === writer).map(({ id }) => id);
    await firstLook(stores, writerOf(pack), now, { forgotten: ids });
  }
  for (const { id } of packs) await stores.table.delete({ delete: packKey(repositoryId, id) });
}

interface Unlisted {
  /** Of the pack. */
  readonly id: string;
  readonly key: string;
  /** Its writer is gone, or about to be, and lists nothing. */
  readonly closed: boolean;
}

/** The stored objects that neither their writer nor an heir lists. What is not named as a pack is not ours to judge. */
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
      return id === undefined ? [] : [{ id, key }];
    });
    if (stored.length > 0) {
      // Read behind the keys: what is listed by now was stored before.
      const guard = await table.get(guardKey(writer.repositoryId, randomStripe()));
      const closed = guard === undefined || guard['state'] === 'deleted';
      const own = new Set(
        closed ? [] : (await repositories.open(writer.repositoryId).catalogue()).map(({ id }) => id),
      );
      const candidates = [...new Set(stored.map(({ id }) => id))].filter((id) => !own.has(id));
      const inherited = await networks.inherited(candidates);
      for (const { id, key } of stored) {
        if (!own.has(id) && !inherited.has(id)) yield { id, key, closed };
      }
    }
    after = page.more ? page.keys.at(-1) : undefined;
  } while (after !== undefined);
}

/** The name of a pack's object begins with a ULID. */
export function packIdOf(name: string): string | undefined {
  return /^([0-7][0-9A-HJKMNP-TV-Z]{25})(?:\.\w+)?$/.exec(name)?.[1];
}
