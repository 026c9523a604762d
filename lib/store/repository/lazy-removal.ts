/** Removes the repositories of wikis and snippets, which may never have been written to. */
import { type RepositoryOwner, repositoryIdOf } from '../../records/repository-owner.ts';
import { TransactionRefused } from '../errors.ts';
import { memberOf } from '../maintenance/leases.ts';
import { MAINTENANCE, messageAt, outboxWrite } from '../outbox/outbox.ts';
import { leaseKey } from '../row-keys/maintenance.ts';
import { outboxKey } from '../row-keys/outbox.ts';
import type { Delete, Put } from '../table/write.ts';
import { packPrefix } from './fork-networks.ts';
import { guardsOf, removeBytes, removeRepository, type Stores, WRITERS_GONE_MS } from './removal.ts';
import { closeRepository, guardOf } from './state.ts';

/** The queue's job that removes what late writers put into a deleted repository: `{ repositoryId, networkId?, storagePrefix? }`. */
export const SWEEP_JOB = 'repository.sweep';

/**
 * Bytes are stored before the transaction that begins a repository and makes its owner. Where that fails, nothing leads to
 * them: they are swept a day later.
 * @returns what to write before the bytes, and what to write in the transaction
 */
export function sweptUnlessBegun(
  owner: RepositoryOwner,
  storagePrefix: string,
  now: Date,
): { readonly before: Put; readonly begun: Delete } {
  const at = new Date(now.getTime() + WRITERS_GONE_MS);
  const repository = {
    repositoryId: repositoryIdOf(owner),
    ...(storagePrefix === '' ? {} : { storagePrefix }),
  };
  const sweep = messageAt(MAINTENANCE, SWEEP_JOB, repository, at);
  return { before: outboxWrite(sweep), begun: { delete: outboxKey(sweep.id) } };
}

/**
 * Closes the repository of a deleted owner, and deletes its rows and bytes. The owner's record must tell that it is
 * deleted, so that no first write follows. Idempotent; continues where an earlier call stopped.
 * @param deadline milliseconds since 1970; no further step is started after it
 * @returns whether nothing remains
 */
export async function removeLazyRepository(
  stores: Stores,
  { storagePrefix, ...owner }: RepositoryOwner & { readonly storagePrefix?: string | undefined },
  deadline: number,
  now = new Date(),
): Promise<boolean> {
  const repositoryId = repositoryIdOf(owner);
  const [lease, ...guards] = await stores.table.batchGet([leaseKey(repositoryId), ...guardsOf(repositoryId)]);
  // It never began, as nearly all do not: there may be bytes of a first write that failed, and nothing else.
  if (guards.every((guard) => guard === undefined)) {
    const place = { repositoryId, networkId: repositoryId, ...(storagePrefix ? { storagePrefix } : {}) };
    return removeBytes(stores.blobs, packPrefix(place), deadline);
  }
  const guard = guardOf(guards[0]);
  if (guard !== undefined && guard.state !== 'deleted') {
    const at = new Date(now.getTime() + WRITERS_GONE_MS);
    const sweep = outboxWrite(messageAt(MAINTENANCE, SWEEP_JOB, memberOf(repositoryId, lease), at));
    try {
      await stores.table.transact([...closeRepository(repositoryId), sweep]);
    } catch (error) {
      // A concurrent run has closed it, and deleted the guards.
      if (!(error instanceof TransactionRefused)) throw error;
    }
  }
  return removeRepository(stores, { repositoryId }, deadline, now);
}
