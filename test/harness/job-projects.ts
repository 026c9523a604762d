/** Projects of the tests' whose jobs a small runner takes. */
import { expect } from 'vitest';
import type { ownWorld } from './own-world.ts';
import { settled } from './settled.ts';
import { report, type SmallRunner, smallRunner, type Taken } from './small-runner.ts';

export interface JobProject {
  readonly id: number;
  readonly path: string;
  readonly runner: SmallRunner;
  /** Commits another configuration, and waits for its pipeline. */
  configure(content: string, branch?: string): Promise<void>;
  /** Takes the next job: its payload. */
  // biome-ignore lint/suspicious/noExplicitAny: what runners get has every shape
  take(): Promise<Taken & Record<string, any>>;
  end(job: Taken, state?: string): Promise<void>;
}

/** Makes a project of the owner's whose first pipeline waits for a runner. */
export async function jobProject(
  { service, as }: Pick<ReturnType<typeof ownWorld>, 'service' | 'as'>,
  name: string,
  config: string,
  more: Record<string, unknown> = {},
): Promise<JobProject> {
  const json = { name, shared_runners_enabled: false, ...more };
  const { id, path_with_namespace: path } = (await as('owner', 'POST', '/projects', json)).body;
  const { runners_token } = (await as('owner', 'GET', `/projects/${id}`)).body;
  const runner = await smallRunner(service, runners_token);
  let commits = 0;
  const configure = async (content: string, branch = 'main') => {
    const action = commits++ === 0 ? 'create' : 'update';
    const actions = [{ action, file_path: '.gitlab-ci.yml', content: `# ${commits}\n${content}` }];
    const made = await as('owner', 'POST', `/projects/${id}/repository/commits`, {
      branch,
      commit_message: 'Configure',
      actions,
      ...(branch === 'main' ? {} : { start_branch: 'main' }),
    });
    expect(made.status).toBe(201);
    await settled();
  };
  await configure(config);
  return {
    id,
    path,
    runner,
    configure,
    async take() {
      const { status, body } = await runner.take();
      expect(status).toBe(201);
      return body;
    },
    async end(job, state = 'success') {
      expect((await report(service, job, state)).status).toBe(200);
      await settled();
    },
  };
}
