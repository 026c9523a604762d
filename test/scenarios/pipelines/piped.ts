/** Projects with a configuration of pipelines, whose jobs end as tests want them. */
import { expect } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import type { Answer } from '../../harness/service.ts';
import { settled } from '../../harness/settled.ts';
import { ask, type Who, type World } from '../../harness/world.ts';

let projects = 0;
export type Piped = Awaited<ReturnType<typeof piped>>;

export async function piped(
  world: World,
  config: string,
  more: object = {},
  files: Record<string, string> = {},
) {
  const json = { name: `of pipelines ${projects++}`, visibility: 'public', ...more };
  const { id } = (await ask(world, 'owner', 'POST', '/projects', json)).body;
  for (const [who, access_level] of [
    ['developer', 30],
    ['reporter', 20],
  ] as const)
    await ask(world, 'owner', 'POST', `/projects/${id}/members`, { user_id: world.ids[who], access_level });
  const call = (method: string, path: string, body?: object, who: Who = 'owner'): Promise<Answer> =>
    ask(world, who, method, `/projects/${id}${path}`, body);
  const commit = async (message: string, files: Record<string, string>, branch = 'main', start?: string) => {
    const actions = Object.entries(files).map(([file_path, content]) => ({
      action: 'create',
      file_path,
      content,
    }));
    const body = { branch, commit_message: message, actions, ...(start && { start_branch: start }) };
    const made = await call('POST', '/repository/commits', body);
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    await settled();
    return made.body.id as string;
  };
  const sha = await commit('first', { '.gitlab-ci.yml': config, ...files });
  const pipelines = async (query = '') => (await call('GET', `/pipelines${query}`)).body;
  const jobs = async (pipelineId: number, query = '') => {
    const { body } = await call('GET', `/pipelines/${pipelineId}/jobs${query}`);
    return Object.fromEntries(body.map(({ name, status }: Record<string, string>) => [name, status]));
  };
  const jobOf = async (pipelineId: number, name: string) =>
    (await deps().store.jobs.all(pipelineId)).find((each) => each.name === name && !each.retried)!;
  /** As a runner takes it. */
  const start = async (pipelineId: number, name: string) => {
    const job = await jobOf(pipelineId, name);
    await deps().store.jobs.take(job, { runnerId: 1, tokenHash: `${job.id} ${name}` }, new Date());
    await settled();
    return job.id;
  };
  /** As a runner would end it, after it took it. */
  const end = async (pipelineId: number, name: string, status: 'success' | 'failed') => {
    if ((await jobOf(pipelineId, name)).status === 'pending') await start(pipelineId, name);
    const job = await jobOf(pipelineId, name);
    const failureReason = status === 'failed' ? 'script_failure' : null;
    await deps().store.jobs.finish(job, { status, failureReason }, new Date());
    await settled();
    return job.id;
  };
  return { id: id as number, sha, call, commit, pipelines, jobs, end, start };
}
