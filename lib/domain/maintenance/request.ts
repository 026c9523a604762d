import { MAINTAIN_JOB } from '../../store/maintenance/last-runs.ts';
import { MAINTENANCE, message } from '../../store/outbox/outbox.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Deps } from '../deps.ts';
import { conflict } from '../errors.ts';

/**
 * Requests maintenance of a project's repository: merging packs, collecting garbage and folding refs, as far as they
 * are due.
 * @throws 409 while maintenance is running
 */
export async function requestHousekeeping({ store, now }: Deps, { project }: ProjectAccess): Promise<void> {
  const { repositoryId } = project;
  if (await store.leases.isTaken(repositoryId, now())) throw conflict('Housekeeping is under way already');
  const order = { repositoryId, collect: true, refs: true };
  await store.outbox.commit([], [message(MAINTENANCE, MAINTAIN_JOB, order)]);
}
