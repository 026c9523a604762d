import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { GitFixture } from '../../git/history-fixture.ts';
import type { Service } from '../../harness/service.ts';

export interface Pushed {
  readonly id: number;
  /** `/projects/:id/repository` */
  readonly repository: string;
  readonly git: GitFixture;
}

/** A project that got the branches and tags of a repository on disk by a real push. */
export async function pushedProject(
  service: Service,
  owner: { readonly username: string; readonly token: string },
  name: string,
  fill: (git: GitFixture) => void,
  more: Readonly<Record<string, unknown>> = { visibility: 'public' },
): Promise<Pushed> {
  const git = new GitFixture();
  fill(git);
  const json = { name, ...more };
  const { status, body } = await service.call('POST', '/projects', { token: owner.token, json });
  if (status !== 201) throw new Error(`${name}: ${status} ${JSON.stringify(body)}`);
  const remote = new URL(`${service.url}/${body.path_with_namespace}.git`);
  remote.username = owner.username;
  remote.password = owner.token;
  const refs = ['refs/heads/*:refs/heads/*', 'refs/tags/*:refs/tags/*'];
  // The service runs in this process: git must not be waited for synchronously.
  await promisify(execFile)('git', ['push', '--quiet', remote.href, ...refs], {
    cwd: git.directory,
    env: {
      PATH: process.env['PATH'],
      HOME: git.directory,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_TERMINAL_PROMPT: '0',
    },
  });
  return { id: body.id, repository: `/projects/${body.id}/repository`, git };
}
