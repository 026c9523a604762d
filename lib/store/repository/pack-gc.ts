/** Takes away the bytes of packs that nobody reads any more. */
import { decodeTime } from 'ulid';
import type { Blobs } from '../blobs/blobs.ts';
import { networkOf } from '../maintenance/leases.ts';
import { leaseKey } from '../row-keys/maintenance.ts';
import type { Table } from '../table/table.ts';
import { type NetworkMember, type Networks, packPrefix } from './fork-networks.ts';
import { packObjectKeys } from './pack-objects.ts';
import type { Repositories } from './repositories.ts';
import { markUnlisted, packIdOf, UNLISTED_MS } from './unlisted-pack-gc.ts';

/** Longer than any request, any presigned URL and any listing that somebody may still hold. */
export const SUPERSEDED_MS = 24 * 3600_000;

/** Packs removed in one step. */
const BATCH = 400;

interface Stores {
  readonly table: Table;
  readonly blobs: Blobs;
  readonly repositories: Repositories;
  readonly networks: Networks;
}

/**
 * Packs that were superseded a day ago: the bytes first, then the row, so that what is left is found again. In a
 * network of several repositories the row alone: others may list the pack, so its bytes are marked and swept later.
 */
export async function removeSuperseded(stores: Stores, repositoryId: string, now: Date): Promise<void> {
  const { blobs, repositories } = stores;
  const until = new Date(now.getTime() - SUPERSEDED_MS);
  const member = await memberOf(stores, repositoryId);
  const shared = await stores.networks.hasOthers(member);
  const forgotten: string[] = [];
  for (;;) {
    const over = await repositories.superseded(repositoryId, { until, most: BATCH });
    if (shared) forgotten.push(...over.map(({ id }) => id));
    else if (over.length > 0) await blobs.delete(over.flatMap(packObjectKeys));
    for (let i = 0; i < over.length; i += 16) {
      await Promise.all(over.slice(i, i + 16).map((pack) => repositories.removePackRow(repositoryId, pack)));
    }
    if (over.length < BATCH) break;
  }
  // If this is interrupted, a later pass finds them as it finds packs that were never listed.
  if (forgotten.length > 0) await markUnlisted(stores, member, now, { forgotten });
}

/**
 * Deletes what failed writers left: objects that no row lists, a week after they were written.
 * @returns when the oldest of those that are too young may be deleted, in milliseconds since 1970
 */
export async function removeUnlisted(
  stores: Stores,
  repositoryId: string,
  now: Date,
): Promise<number | undefined> {
  const { blobs, networks, repositories } = stores;
  const member = await memberOf(stores, repositoryId);
  if (await networks.hasOthers(member)) return markUnlisted(stores, member, now);
  const prefix = packPrefix(member);
  let next: number | undefined;
  let after: string | undefined;
  do {
    const page = await blobs.list(prefix, after === undefined ? {} : { after });
    // Read behind the keys: what is listed by now was stored before.
    const listed = new Set((await repositories.open(repositoryId).catalogue()).flatMap(packObjectKeys));
    const goes: string[] = [];
    for (const key of page.keys) {
      const id = packIdOf(key.slice(prefix.length));
      if (id === undefined || listed.has(key)) continue;
      const at = decodeTime(id) + UNLISTED_MS;
      if (at <= now.getTime()) goes.push(key);
      else next = Math.min(next ?? at, at);
    }
    if (goes.length > 0) await blobs.delete(goes);
    after = page.more ? page.keys.at(-1) : undefined;
  } while (after !== undefined);
  return next;
}

async function memberOf({ table }: Stores, repositoryId: string): Promise<NetworkMember> {
  return { repositoryId, networkId: networkOf(repositoryId, await table.get(leaseKey(repositoryId))) };
}
