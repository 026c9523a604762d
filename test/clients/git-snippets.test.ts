/** Snippets as git sees them: repositories that begin with the snippet, with one branch of a few files. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../harness/service.ts';
import { GitCli, withToken } from './git-cli.ts';

const git = new GitCli();
let service: Service;
let ada: { readonly token: string };
let bob: { readonly token: string; readonly id: number };
beforeAll(async () => {
  service = await startService();
  ada = await service.user('ada');
  bob = await service.user('bob');
});
afterAll(async () => {
  await service.stop();
  git[Symbol.dispose]();
});

const url = (path: string, { token } = ada) => withToken(service.url, path, token);
const files = [{ file_path: 'a.txt', content: 'one\n' }];

async function created(json: object = {}, path = '/snippets') {
  const { body } = await service.call('POST', path, {
    token: ada.token,
    json: { title: 'x', files, ...json },
  });
  return body as { readonly id: number; readonly http_url_to_repo: string };
}
const get = async (path: string) => (await service.call('GET', path, { token: ada.token })).body;

async function commit(work: string, contents: Readonly<Record<string, string>>) {
  for (const [name, text] of Object.entries(contents)) writeFileSync(join(work, name), text);
  await git.ok(work, 'add', '.');
  await git.ok(work, 'commit', '--quiet', '-m', 'Change');
}

test('a clone has the files, and a push changes what the snippet shows', async () => {
  const { id, http_url_to_repo } = await created();
  expect(http_url_to_repo).toBe(`${service.url}/snippets/${id}.git`);
  const work = await git.clone(url(`snippets/${id}`), 'first');
  expect(readFileSync(join(work, 'a.txt'), 'utf8')).toBe('one\n');
  await git.ok(work, 'mv', 'a.txt', 'z.txt');
  await commit(work, { 'b.md': '# b\n', 'z.txt': 'two\n' });
  await git.ok(work, 'push', '--quiet', 'origin', 'main');
  const snippet = await get(`/snippets/${id}`);
  expect(snippet.file_name).toBe('b.md');
  expect(snippet.files.map(({ path }: { path: string }) => path)).toEqual(['b.md', 'z.txt']);
  expect(await get(`/snippets/${id}/files/main/z.txt/raw`)).toBe('two\n');
  const change = { files: [{ action: 'update', file_path: 'b.md', content: '# c\n' }] };
  await service.call('PUT', `/snippets/${id}`, { token: ada.token, json: change });
  await git.ok(work, 'pull', '--quiet');
  expect(readFileSync(join(work, 'b.md'), 'utf8')).toBe('# c\n');
});

test('a push that makes it no snippet is refused, and changes nothing', async () => {
  const { id } = await created();
  const work = await git.clone(url(`snippets/${id}`), 'refused');
  const push = async (...args: string[]) => {
    const { code, stderr } = await git.run(['-C', work, 'push', 'origin', ...args]);
    return code === 0 ? 'accepted' : stderr;
  };
  expect(await push('main:other')).toContain('A snippet has one branch, main.');
  await git.ok(work, 'tag', 'v1');
  expect(await push('v1')).toContain('A snippet has one branch, main.');
  expect(await push(':main')).not.toBe('accepted');
  await commit(work, Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`${n}.txt`, `${n}`])));
  expect(await push('main')).toContain('files count must be less than or equal to 10');
  await git.ok(work, 'reset', '--quiet', '--hard', 'origin/main');
  const head = await git.ok(work, 'rev-parse', 'HEAD');
  await git.ok(work, 'update-index', '--add', '--cacheinfo', `160000,${head.trim()},module`);
  await git.ok(work, 'commit', '--quiet', '-m', 'Module');
  expect(await push('main')).toContain('Submodules are not allowed');
  await git.ok(work, 'reset', '--quiet', '--hard', 'origin/main');
  await git.ok(work, 'rm', '--quiet', 'a.txt');
  await git.ok(work, 'commit', '--quiet', '-m', 'Empty');
  expect(await push('main')).toContain('must have at least one file');
  expect((await get(`/snippets/${id}`)).files).toHaveLength(1);
});

test('who may see a snippet fetches it, and who may change it pushes', async () => {
  const { id } = await created({ visibility: 'public' });
  const secret = await created();
  const clone = (path: string, name: string, by = bob) =>
    git.run(['clone', '--quiet', url(path, by), git.path(name)]);
  expect(await git.run(['ls-remote', `${service.url}/snippets/${id}`])).toMatchObject({ code: 0 });
  expect(await clone(`snippets/${id}`, 'theirs')).toMatchObject({ code: 0 });
  await commit(git.path('theirs'), { 'b.txt': 'mine\n' });
  const pushed = await git.run(['-C', git.path('theirs'), 'push', 'origin', 'main']);
  expect(pushed.stderr).toContain('You are not allowed to update this snippet.');
  const missing = await clone(`snippets/${secret.id}`, 'secret');
  expect(missing.stderr).toContain('404 Snippet Not Found');
  // Strangers are asked for credentials, whether there is one or not.
  for (const path of [`snippets/${secret.id}`, 'snippets/999999'])
    expect((await fetch(`${service.url}/${path}/info/refs?service=git-upload-pack`)).status).toBe(401);
});

test('a snippet of a project is below it, by both paths', async () => {
  const project = await service.call('POST', '/projects', { token: ada.token, json: { name: 'shelf' } });
  const { id } = await created({}, `/projects/${project.body.id}/snippets`);
  const work = await git.clone(url(`ada/shelf/snippets/${id}`), 'in-project');
  mkdirSync(join(work, 'deep'));
  await commit(work, { 'deep/b.txt': 'deep\n' });
  await git.ok(work, 'push', '--quiet', url(`ada/shelf/-/snippets/${id}`), 'main');
  expect((await get(`/projects/${project.body.id}/snippets/${id}`)).files).toHaveLength(2);
  expect((await git.run(['ls-remote', url(`snippets/${id}`)])).stderr).toContain('not found');
  expect((await git.run(['ls-remote', url(`ada/shelf/snippets/${id}`, bob)])).code).not.toBe(0);
  await service.call('POST', `/projects/${project.body.id}/archive`, { token: ada.token });
  await commit(work, { 'c.txt': 'late\n' });
  const late = await git.run(['-C', work, 'push', 'origin', 'main']);
  expect(late.stderr).toContain('the project is archived');
});

test('of a push and a change at once both are made, or one is told', async () => {
  const { id } = await created();
  const work = await git.clone(url(`snippets/${id}`), 'racing');
  await commit(work, { 'pushed.txt': 'pushed\n' });
  const json = { title: 'renamed', files: [{ action: 'create', file_path: 'made.txt', content: 'x' }] };
  const [pushed, changed] = await Promise.all([
    git.run(['-C', work, 'push', '--quiet', 'origin', 'main']),
    service.call('PUT', `/snippets/${id}`, { token: ada.token, json }),
  ]);
  const snippet = await get(`/snippets/${id}`);
  const fresh = await git.clone(url(`snippets/${id}`), 'raced');
  const tree = await git.lines(fresh, 'ls-tree', '-r', '--name-only', 'HEAD');
  expect(snippet.files.map(({ path }: { path: string }) => path)).toEqual(tree);
  expect(tree.includes('pushed.txt')).toBe(pushed.code === 0);
  expect(tree.includes('made.txt')).toBe(changed.status === 200);
});
