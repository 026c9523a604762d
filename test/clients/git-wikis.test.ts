/** Wikis as git sees them: repositories beside a project's code that begin with their first push. */
import { readFileSync, writeFileSync } from 'node:fs';
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

async function written(name: string, text: string): Promise<string> {
  const work = git.path(name);
  await git.ok(git.home, 'init', '--quiet', '-b', 'main', work);
  writeFileSync(join(work, 'home.md'), text);
  await git.ok(work, 'add', '.');
  await git.ok(work, 'commit', '--quiet', '-m', 'Home');
  return work;
}

const created = async (json: object) =>
  (await service.call('POST', '/projects', { token: ada.token, json })).body as { id: number };

test('an empty wiki is cloned, and begins with the first push', async () => {
  await created({ name: 'book' });
  const empty = git.path('empty');
  expect(await git.run(['clone', '--quiet', url('ada/book.wiki'), empty])).toMatchObject({ code: 0 });
  expect(await git.ok(empty, 'symbolic-ref', 'HEAD')).toBe('refs/heads/main');
  const work = await written('book', 'Hello\n');
  await git.ok(work, 'push', '--quiet', url('ada/book.wiki'), 'main');
  const clone = await git.clone(url('ada/book.wiki'), 'book-clone');
  expect(readFileSync(join(clone, 'home.md'), 'utf8')).toBe('Hello\n');
  await git.ok(work, 'tag', 'v1');
  await git.ok(work, 'push', '--quiet', url('ada/book.wiki'), 'v1');
  expect(await git.lines(git.home, 'ls-remote', url('ada/book.wiki'))).toHaveLength(3);
  // The project's own repository is another one.
  expect(await git.lines(git.home, 'ls-remote', url('ada/book'))).toEqual([]);
});

test('of two first pushes to different branches both are kept', async () => {
  await created({ name: 'race' });
  const [one, two] = await Promise.all([written('race-1', 'one\n'), written('race-2', 'two\n')]);
  await Promise.all([
    git.ok(one!, 'push', '--quiet', url('ada/race.wiki'), 'main:one'),
    git.ok(two!, 'push', '--quiet', url('ada/race.wiki'), 'main:two'),
  ]);
  expect(await git.lines(git.home, 'ls-remote', '--heads', url('ada/race.wiki'))).toHaveLength(2);
});

test('a group has a wiki, also one without a parent', async () => {
  await service.call('POST', '/groups', { token: ada.token, json: { name: 'Team', path: 'team' } });
  const work = await written('team', 'Team\n');
  await git.ok(work, 'push', '--quiet', url('team.wiki'), 'main');
  await git.clone(url('team.wiki'), 'team-clone');
  expect(await git.fails(git.home, 'ls-remote', url('team.wiki', bob))).toContain('not found');
});

test('guests read the wiki of a private project, developers write it, strangers see none', async () => {
  const { id } = await created({ name: 'closed' });
  const work = await written('closed', 'Closed\n');
  await git.ok(work, 'push', '--quiet', url('ada/closed.wiki'), 'main');
  expect(await git.fails(git.home, 'ls-remote', url('ada/closed.wiki', bob))).toContain('not found');
  const level = (access_level: number, method: 'POST' | 'PUT' = 'PUT') =>
    service.call(method, `/projects/${id}/members${method === 'PUT' ? `/${bob.id}` : ''}`, {
      token: ada.token,
      json: { user_id: bob.id, access_level },
    });
  await level(10, 'POST');
  await git.clone(url('ada/closed.wiki', bob), 'closed-guest');
  expect(await git.fails(work, 'push', url('ada/closed.wiki', bob), 'main:guest')).toContain('403');
  await level(30);
  await git.ok(work, 'push', '--quiet', url('ada/closed.wiki', bob), 'main:developer');
});

test('a wiki that is switched off is closed to everyone, and the wiki of a deleted project is gone', async () => {
  const { id } = await created({ name: 'off', visibility: 'public', wiki_access_level: 'disabled' });
  expect(await git.fails(git.home, 'ls-remote', url('ada/off.wiki'))).toContain('403');
  await service.call('PUT', `/projects/${id}`, {
    token: ada.token,
    json: { wiki_access_level: 'enabled' },
  });
  const work = await written('off', 'On\n');
  await git.ok(work, 'push', '--quiet', url('ada/off.wiki'), 'main');
  await git.clone(`${service.url}/ada/off.wiki.git`, 'off-anonymous');
  await service.call('DELETE', `/projects/${id}`, { token: ada.token });
  expect(await git.fails(git.home, 'ls-remote', url('ada/off.wiki'))).toContain('not found');
});

test('no project takes the path of a wiki', async () => {
  const refused = await service.call('POST', '/projects', {
    token: ada.token,
    json: { name: 'Book wiki', path: 'book.wiki' },
  });
  expect(refused).toMatchObject({ status: 400, body: { message: { path: ["cannot end in '.wiki'"] } } });
});
