/** What git is told about merge requests when it pushes, and what it asks for with push options. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../harness/service.ts';
import { GitCli, withToken } from './git-cli.ts';

const git = new GitCli();
let service: Service;
let token: string;
beforeAll(async () => {
  service = await startService();
  ({ token } = await service.user('ada'));
});
afterAll(async () => {
  await service.stop();
  git[Symbol.dispose]();
});

const call = async (method: string, path: string, json?: object) =>
  (await service.call(method, path, { token, ...(json && { json }) })).body as never as Record<string, never>;

/** A clone of a new project, and what git prints after `remote:` when it pushes. */
async function projectOf(name: string, settings: object = {}) {
  const { id } = await call('POST', '/projects', { name, initialize_with_readme: true, ...settings });
  const at = await git.clone(withToken(service.url, `ada/${name}`, token), name);
  return {
    id,
    at: `/projects/${id}`,
    url: `${service.url}/ada/${name}`,
    commit: (message: string) => git.ok(at, 'commit', '--quiet', '--allow-empty', '-m', message),
    push: async (...args: string[]) => {
      const { code, stderr } = await git.run(['push', ...args], { cwd: at });
      expect(code, stderr).toBe(0);
      return stderr
        .split('\n')
        .flatMap((line) => /^remote: (.*\S) *$/.exec(line)?.[1] ?? [])
        .filter((line) => !/^(Indexing|Checking|Resolving)/.test(line));
    },
  };
}

test('a push of branches is told where each can be proposed, but not of the default branch and of tags', async () => {
  const { push, commit, url } = await projectOf('links');
  await commit('one');
  const proposing = (branch: string) => [
    `To create a merge request for ${branch}, visit:`,
    `  ${url}/-/merge_requests/new?merge_request%5Bsource_branch%5D=${encodeURIComponent(branch)}`,
  ];
  expect(await push('origin', 'HEAD:refs/heads/topic/a&b')).toEqual(proposing('topic/a&b'));
  expect(await push('origin', 'HEAD', 'HEAD:refs/heads/x', 'HEAD:refs/heads/y', 'HEAD:refs/tags/v1')).toEqual(
    [...proposing('x'), ...proposing('y')],
  );
  expect(await push('origin', ':x')).toEqual([]);
  const many = Array.from({ length: 8 }, (_, i) => `HEAD:refs/heads/many-${i}`);
  expect(await push('origin', ...many)).toHaveLength(10);
});

test('a push is told of no merge requests where the project does not want that, has none, or was empty', async () => {
  const off = await projectOf('off', { printing_merge_request_link_enabled: false });
  expect(await off.push('origin', 'HEAD:refs/heads/topic')).toEqual([]);
  const without = await projectOf('without', { merge_requests_access_level: 'disabled' });
  expect(await without.push('origin', 'HEAD:refs/heads/topic')).toEqual([]);
  await call('POST', '/projects', { name: 'empty' });
  const into = withToken(service.url, 'ada/empty', token);
  expect(await off.push(into, 'HEAD:refs/heads/main', 'HEAD:refs/heads/topic')).toEqual([]);
});

test('options that are not understood are told beside it', async () => {
  const { push } = await projectOf('options');
  const told = await push('-o', 'merge_request.craete', '-o', 'ci.skip', 'origin', 'HEAD:refs/heads/topic');
  expect(told[0]).toBe("warning: push option 'merge_request.craete' is unknown");
  expect(told).toHaveLength(3);
});
