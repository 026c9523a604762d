import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GitCli, withToken } from '../../clients/git-cli.ts';
import { type Service, startService } from '../../harness/service.ts';
import { ask, makeWorld, type World } from '../../harness/world.ts';

const git = new GitCli();
let service: Service;
let world: World;
let work: string;
beforeAll(async () => {
  service = await startService();
  world = await makeWorld(service);
  work = git.path('work');
  await git.ok(git.home, 'init', '--quiet', '--initial-branch=main', work);
  await commit('one');
});
afterAll(async () => {
  await service.stop();
  git[Symbol.dispose]();
});

const url = () => withToken(service.url, 'owner/private-thing', world.tokens.owner);
async function commit(name: string): Promise<void> {
  writeFileSync(join(work, name), name);
  await git.ok(work, 'add', '.');
  await git.ok(work, 'commit', '--quiet', '-m', name);
  await git.ok(work, 'push', '--quiet', url(), 'HEAD:main');
}
const path = () => `/projects/${world.ids['private']}/statistics`;
const fetches = async () => (await ask(world, 'reporter', 'GET', path())).body.fetches;
const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);

test('a clone and a fetch count once each, with every version of the protocol; a push and a listing do not', async () => {
  expect(await fetches()).toEqual({ total: 0, days: [] });
  const before = day(0);
  await git.ok(work, 'ls-remote', url());
  for (const version of ['0', '2'])
    await git.ok(
      git.home,
      '-c',
      `protocol.version=${version}`,
      'clone',
      '--quiet',
      url(),
      git.path(`v${version}`),
    );
  expect(await fetches()).toMatchObject({ total: 2 });
  await commit('two');
  await git.ok(git.path('v2'), 'fetch', '--quiet');
  // Nothing new: no pack.
  await git.ok(git.path('v2'), 'fetch', '--quiet');
  const { total, days } = await fetches();
  expect(total).toBe(3);
  if (day(0) === before) expect(days).toEqual([{ count: 3, date: before }]);
});

test('fetches at once are all counted', async () => {
  const { total } = await fetches();
  await Promise.all(
    Array.from({ length: 6 }, (_, i) =>
      git.ok(git.home, 'clone', '--quiet', url(), git.path(`at-once-${i}`)),
    ),
  );
  expect((await fetches()).total).toBe(total + 6);
});

test('thirty days are shown, the latest first', async () => {
  const { store } = world;
  const id = world.ids['public']!;
  for (const ago of [31, 30, 29, 29, 1])
    await store.fetches.count(id, new Date(Date.now() - ago * 86_400_000));
  const { body } = await ask(world, 'reporter', 'GET', `/projects/${id}/statistics`);
  expect(body).toEqual({
    fetches: {
      total: 3,
      days: [
        { count: 1, date: day(1) },
        { count: 2, date: day(29) },
      ],
    },
  });
});
