/** libgit2, which many editors and tools use instead of git: https://libgit2.org */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { run } from '../deploy/process.ts';
import { pythonWith } from '../deploy/python.ts';
import { type Service, startService } from '../harness/service.ts';
import { GitCli } from './git-cli.ts';

const files = join(import.meta.dirname, 'libgit2');
const git = new GitCli();
let service: Service;
let python: string | undefined;
beforeAll(async () => {
  service = await startService();
  python = await pythonWith(join(files, 'requirements.txt'), 'libgit2').catch((error: unknown) => {
    process.stderr.write(`pygit2 cannot be installed: ${error}\n`);
    return undefined;
  });
}, 300_000);
afterAll(async () => {
  await service.stop();
  git[Symbol.dispose]();
});

test('libgit2 clones a part of the history, deepens it, clones everything and pushes', async (context) => {
  if (python === undefined) return context.skip('it needs Python 3.11 and its package index once');
  const { token } = await service.user('ada');
  const json = { name: 'thing', visibility: 'private' };
  const { id } = (await service.call('POST', '/projects', { token, json })).body;
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
    const file = { branch: 'main', commit_message: name, content: name };
    await service.call('POST', `/projects/${id}/repository/files/${name}`, { token, json: file });
  }
  const url = `${service.url}/ada/thing.git`;
  const { stdout } = await run(python, [join(files, 'run.py'), url, git.path('libgit2'), 'ada', token]);
  const branch = await service.call('GET', `/projects/${id}/repository/branches/main`, { token });
  const tip = branch.body.commit.id;
  expect(JSON.parse(stdout)).toEqual({ shallow: 2, deepened: 4, full: 6, pushed: tip, fetched: tip });
  expect(branch.body.commit.message).toBe('from libgit2\n');
  for (const clone of ['shallow', 'full']) await git.sound(git.path(`libgit2/${clone}`));
});
