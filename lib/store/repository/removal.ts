/** Deletes a closed repository: its objects, its ref tables and its rows. */

import type { Blobs } from '../blobs/blobs.ts';
import { downloadPrefix } from '../blobs/downloads.ts';
import { memberOf } from '../maintenance/leases.ts';
import type { Key } from '../row-keys/key.ts';
import { leaseKey } from '../row-keys/maintenance.ts';
import {
  GUARD_STRIPES,
  guardKey,
  REF_TABLES,
  refTablePartition,
  repositoryPartition,
} from '../row-keys/repository.ts';
import type { Table } from '../table/table.ts';
import { derivedPrefix } from './derived-files.ts';
import { type ForkNetworks, type NetworkMember, packPrefix } from './fork-networks.ts';
import { listingOf } from './pack-list.ts';
import type { Repositories } from './repositories.ts';
import { markUnlisted, releasePacks } from './unlisted-pack-gc.ts';

/** Rows read, or objects deleted, per step. */
const BATCH_SIZE = 500;
/**
 * A writer that began before the repository was closed may still write a pack or chunks of a ref table, but not for
 * longer than this. The sweep after this time deletes what it left.
 */
export const WRITERS_GONE_MS = 24 * 3600_000;

export interface Stores {
  readonly table: Table;
  readonly blobs: Blobs;
  readonly networks: ForkNetworks;
  readonly repositories: Repositories;
}

export const guardsOf = (repositoryId: string): readonly Key[] =>
  Array.from({ length: GUARD_STRIPES }, (_, stripe) => guardKey(repositoryId, stripe));

/**
 * Idempotent; continues where an earlier call stopped. The guards, which mark the repository as closed, are deleted last.
 *
 * Inherited packs are not deleted, nor are its own while its network has other members: of both, packs that no repository
 * lists are deleted by a sweep a day later.
 *
 * @param deadline milliseconds since 1970; no further step is started after it
 * @returns whether everything is deleted, or scheduled for that sweep
 * @throws Error when the repository is not closed; then nothing was deleted
 */
export async function removeRepository(
  stores: Stores,
  { repositoryId, networkId, storagePrefix }: Pick<NetworkMember, 'repositoryId'> & Partial<NetworkMember>,
  deadline: number,
  now = new Date(),
): Promise<boolean> {
  const { table, blobs, networks } = stores;
  const guards = guardsOf(repositoryId);
  const current = await table.batchGet(guards);
  if (current.some((guard) => guard !== undefined && guard['state'] !== 'deleted')) {
    throw new Error(`repository ${repositoryId} is not closed`);
  }
  const member = {
    ...memberOf(repositoryId, await table.get(leaseKey(repositoryId))),
    ...(networkId === undefined ? {} : { networkId }),
    ...(storagePrefix === undefined ? {} : { storagePrefix }),
  };
  const shared = await networks.hasOthers(member);
  const inherited = (await listingOf(table, repositoryId)).packs.filter((pack) => pack.inherited === true);
  await releasePacks(stores, repositoryId, inherited, now);
  if (shared) await markUnlisted(stores, member, now);
  const done =
    (shared || (await removeBytes(blobs, packPrefix(member), deadline))) &&
    (await removeBytes(blobs, downloadPrefix(repositoryId), deadline)) &&
    (await removeBytes(blobs, derivedPrefix(repositoryId, member.storagePrefix), deadline)) &&
    (await removeRefTables(table, repositoryId, deadline)) &&
    (await removeRows(table, repositoryId, deadline));
  if (done) {
    await networks.leave(member);
    await Promise.all(guards.map((guard) => table.delete({ delete: guard })));
  }
  return done;
}

/** @returns false when the deadline passed first */
export async function removeBytes(blobs: Blobs, prefix: string, deadline: number): Promise<boolean> {
  for (let more = true; more; ) {
    if (Date.now() > deadline) return false;
    const page = await blobs.list(prefix, { limit: BATCH_SIZE });
    if (page.keys.length > 0) await blobs.delete(page.keys);
    more = page.more;
  }
  return true;
}

/** The row of a table is kept as long as a writer may still be writing its chunks. */
async function removeRefTables(table: Table, repositoryId: string, deadline: number): Promise<boolean> {
  const tables = table.queryAll({ partition: repositoryPartition(repositoryId), prefix: REF_TABLES });
  for await (const row of tables) {
    const { pk, sk, writtenAt } = row as { pk: string; sk: string; writtenAt: string };
    const chunks = refTablePartition(repositoryId, sk.slice(REF_TABLES.length));
    if (!(await removeRange(table, { partition: chunks }, () => true, deadline))) return false;
    if (Date.parse(writtenAt) + WRITERS_GONE_MS <= Date.now()) await table.delete({ delete: { pk, sk } });
  }
  return true;
}

function removeRows(table: Table, repositoryId: string, deadline: number): Promise<boolean> {
  const stays = (sk: string) => sk.startsWith('GUARD#') || sk.startsWith(REF_TABLES);
  const rows = { partition: repositoryPartition(repositoryId) };
  return removeRange(table, rows, (sk) => !stays(sk), deadline);
}

/** @returns false when the deadline passed first */
async function removeRange(
  table: Table,
  range: { readonly partition: string },
  goes: (sk: string) => boolean,
  deadline: number,
): Promise<boolean> {
  let startKey: Record<string, unknown> | undefined;
  do {
    if (Date.now() > deadline) return false;
    const page = await table.query({
      ...range,
      limit: BATCH_SIZE,
      only: ['pk', 'sk'],
      ...(startKey === undefined ? {} : { startKey }),
    });
    const keys = (page.items as { pk: string; sk: string }[]).filter(({ sk }) => goes(sk));
    for (let i = 0; i < keys.length; i += 25) {
      await Promise.all(keys.slice(i, i + 25).map((key) => table.delete({ delete: key })));
    }
    startKey = page.next;
  } while (startKey !== undefined);
  return true;
}
