import type { JobRecord } from '../../records/pipelines.ts';
import { tokenHash } from '../access/token-check.ts';
import type { Deps } from '../deps.ts';
import { DomainError, forbidden } from '../errors.ts';

/** A job that ended before what its runner reports of it: 403, and the runner is told how. */
export class NotRunning extends DomainError {
  readonly job: JobRecord;
  constructor(job: JobRecord) {
    super('forbidden', '403 Forbidden - Job is not running');
    this.name = 'NotRunning';
    this.job = job;
  }
}

/** Returns the running job that has a token. @throws 403 */
export async function jobOfToken({ store }: Deps, token: string): Promise<JobRecord> {
  const job = token === '' ? undefined : await store.jobs.withToken(tokenHash(token));
  if (job?.status !== 'running') throw forbidden();
  return job;
}

/** Returns a running job by its id and token. @throws NotRunning, with the token that it had; 403 */
export async function runningJob({ store }: Deps, id: number, token: string): Promise<JobRecord> {
  if (token === '') throw forbidden();
  const hash = tokenHash(token);
  const job = await store.jobs.withToken(hash);
  if (job?.status === 'running' && job.id === id) return job;
  const ended = job === undefined ? await store.jobs.get(id) : undefined;
  throw ended?.endedTokenHash === hash && ended.erasedAt === null ? new NotRunning(ended) : forbidden();
}
