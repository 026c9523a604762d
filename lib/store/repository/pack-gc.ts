/** Deletes the objects of packs that are no longer read. */
import { decodeTime } from 'ulid';
import type { Blobs } from '../blobs/blobs.ts';
import { memberOf as memberOfRow } from '../maintenance/leases.ts';
import { leaseKey } from '../row-keys/maintenance.ts';
import type { Table } from '../table/table.ts';
import { type ForkNetworks, type NetworkMember, packPrefix } from './fork-networks.ts';
import { packObjectKeys } from './pack-objects.ts';
import type { Repositories } from './repositories.ts';
import { markUnlisted, packIdOf, UNLISTED_MS } from './unlisted-pack-gc.ts';

/** Longer than any request, presigned URL or listing in use may last. */
export const SUPERSEDED_MS = 24 * 3600_000;

/** Packs removed per step. */
const BATCH_SIZE = 400;

interface Stores {
  readonly table: Table;
  readonly blobs: Blobs;
  readonly repositories: Repositories;
  readonly networks: ForkNetworks;
}

/**
 * Deletes packs that were superseded a day ago: the objects first, then the row, so that an interrupted run is continued.
 * In a network of several repositories only the row: others may list the pack, so the gc of unlisted packs deletes it.
 */
export async function removeSuperseded(stores: Stores, repositoryId: string, now: Date): Promise<void> {
  const { blobs, repositories } = stores;
  const until = new Date(now.getTime() - SUPERSEDED_MS);
  const member = await memberOf(stores, repositoryId);
  const shared = await stores.networks.hasOthers(member);
  const forgotten: string[] = [];
  for (;;) {
    const superseded = await repositories.superseded(repositoryId, { until, most: BATCH_SIZE });
    if (shared) forgotten.push(...superseded.map(({ id }) => id));
    else if (superseded.length > 0) await blobs.delete(superseded.flatMap(packObjectKeys));
    for (let i = 0; i < superseded.length; i += 16) {
      await Promise.all(
        superseded.slice(i, i + 16).map((pack) => repositories.removePackRow(repositoryId, pack)),
      );
    }
    if (superseded.length < BATCH_SIZE) break;
  }
  // If this is interrupted, a later pass finds them as it finds packs that were never listed.
  if (forgotten.length > 0) await markUnlisted(stores, member, now, { forgotten });
}

/**
 * Deletes what failed writers left: objects that no row lists, a week after they were written.
 * @returns when the oldest of the remaining ones may be deleted, in milliseconds since 1970
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
    // Read after the keys: everything stored and listed before is included.
    const listed = new Set((await repositories.open(repositoryId).catalogue()).flatMap(packObjectKeys));
    const deletable: string[] = [];
    for (const key of page.keys) {
      const id = packIdOf(key.slice(prefix.length));
      if (id === undefined || listed.has(key)) continue;
      const at = decodeTime(id) + UNLISTED_MS;
      if (at <= now.getTime()) deletable.push(key);
      else next = Math.min(next ?? at, at);
    }
    if (deletable.length > 0) await blobs.delete(deletable);
    after = page.more ? page.keys.at(-1) : undefined;
  } while (after !== undefined);
  return next;
}

async function memberOf({ table }: Stores, repositoryId: string): Promise<NetworkMember> {
  return memberOfRow(repositoryId, await table.get(leaseKey(repositoryId)));
}
