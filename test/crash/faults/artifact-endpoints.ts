import { SWEEP_ARTIFACTS_JOB } from '../../../lib/store/artifacts/artifacts.ts';
import { sendArtifact } from '../../harness/small-runner.ts';
import type { Operation } from './driver.ts';
import type { Fixtures } from './fixtures.ts';
import { taken } from './runner-endpoints.ts';
import { countOf, endpoint, flip, toldBy } from './sent.ts';

/** Writes of files that jobs leave. */
export const artifactWrites: readonly Operation[] = [
  endpoint('POST /jobs/:id/artifacts/authorize', async (fixtures) => {
    const { job } = await taken(fixtures);
    // Nothing of it is seen but the promise to sweep.
    const state = async () => ((await promised(fixtures, job.id)) ? 'after' : 'before');
    const json = { token: job.token, filesize: 3 };
    const path = `/jobs/${job.id}/artifacts/authorize`;
    return { path, token: fixtures.service.rootToken, json, state };
  }),
  endpoint('POST /projects/:id/jobs/:job_id/artifacts/keep', async (fixtures) => {
    const { path, owner, job } = await left(fixtures);
    const state = async () =>
      (await fixtures.store.jobs.get(job.id))!.artifactsExpireAt === null ? 'after' : 'before';
    return { path: `${path}/keep`, token: owner, state };
  }),
  endpoint('DELETE /projects/:id/jobs/:job_id/artifacts', async (fixtures) => {
    const { path, owner, job } = await left(fixtures);
    const state = async () => flip(countOf((await fixtures.store.jobs.get(job.id))!.artifacts));
    return { path, token: owner, state };
  }),
  endpoint('DELETE /projects/:id/artifacts', async (fixtures) => {
    const { job, projectId, owner } = await left(fixtures);
    await fixtures.done('PUT', `/jobs/${job.id}`, { json: { token: job.token, state: 'failed' } });
    const state = async () => {
      await fixtures.settle();
      return flip(countOf((await fixtures.store.jobs.get(job.id))!.artifacts));
    };
    return { path: `/projects/${projectId}/artifacts`, token: owner, state };
  }),
  {
    name: 'POST /jobs/:id/artifacts',
    records: true,
    async prepare(fixtures) {
      const { job } = await taken(fixtures);
      return {
        run: async () => toldBy(await sendArtifact(fixtures.service, job, 'the archive')),
        state: async () => countOf((await fixtures.store.jobs.get(job.id))!.artifacts),
      };
    },
  },
];

/** A job that has left an archive. */
async function left(fixtures: Fixtures) {
  const { job, projectId, owner } = await taken(fixtures);
  await sendArtifact(fixtures.service, job, 'the archive');
  return { job, owner, projectId, path: `/projects/${projectId}/jobs/${job.id}/artifacts` };
}

async function promised({ store }: Fixtures, jobId: number): Promise<boolean> {
  for (let shard = 0; shard < 8; shard++)
    for await (const { type, body } of store.table.queryAll({ partition: `OUTBOX#${shard}` }))
      if (type === SWEEP_ARTIFACTS_JOB && (body as { jobId: number }).jobId === jobId) return true;
  return false;
}
