/** Forks as git and a client library see them: clones that are whole, whatever becomes of the source. */
import { Gitlab } from '@gitbeaker/rest';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { cachedSettings } from '../../lib/domain/settings/current.ts';
import { runJob } from '../../lib/domain/worker/dispatch.ts';
import { HistoryCache } from '../../lib/git/history/known.ts';
import { PackCache } from '../../lib/git/pack/pack-cache.ts';
import { type Service, startService } from '../harness/service.ts';
import { storeOf } from '../harness/world.ts';
import { GitCli, withToken } from './git-cli.ts';

const git = new GitCli();
let service: Service;
type Client = InstanceType<typeof Gitlab>;
let [ada, bob]: Client[] = [];
const tokens: Record<string, string> = {};
let source: number;
let fork: number;
beforeAll(async () => {
  service = await startService();
  [ada, bob] = await Promise.all(
    ['ada', 'bob'].map(async (name) => {
      const { token } = await service.user(name);
      tokens[name] = token;
      return new Gitlab({ host: service.url, token }) as Client;
    }),
  );
  source = (await ada!.Projects.create({ name: 'thing', visibility: 'public' })).id;
  const work = git.path('work');
  await git.ok(git.home, 'init', '--quiet', '-b', 'main', work);
  for (const name of ['one', 'two', 'three']) {
    await git.ok(work, 'commit', '--quiet', '--allow-empty', '-m', name);
    await git.ok(work, 'branch', `at-${name}`);
  }
  await git.ok(work, 'tag', '-a', 'v1', '-m', 'Version 1');
  await git.ok(
    work,
    'push',
    '--quiet',
    withToken(service.url, 'ada/thing', tokens['ada']),
    '--all',
    '--follow-tags',
  );
  fork = (await bob!.Projects.fork(source, { path: 'thing', name: 'Thing of Bob' })).id as number;
  await finished(fork);
});
afterAll(async () => {
  await service.stop();
  git[Symbol.dispose]();
});

const finished = (id: number) =>
  vi.waitFor(
    async () => {
      const { body } = await service.call('GET', `/projects/${id}`, { token: service.rootToken });
      expect(body.import_status).toBe('finished');
    },
    { timeout: 60_000, interval: 20 },
  );
const refs = (directory: string) => git.lines(directory, 'for-each-ref', '--format=%(refname) %(objectname)');
/** Everything the remote has, found sound. */
const mirror = (path: string, name: string, who = path.split('/')[0]!) =>
  git.clone(withToken(service.url, path, tokens[who]), name, '--mirror');

test('@gitbeaker/rest creates and lists forks, and creates and deletes the fork relation', async () => {
  expect(await bob!.Projects.show(fork)).toMatchObject({
    name: 'Thing of Bob',
    path_with_namespace: 'bob/thing',
    import_status: 'finished',
    forked_from_project: { id: source, path_with_namespace: 'ada/thing' },
  });
  expect(await ada!.Projects.allForks(source)).toMatchObject([{ id: fork }]);
  expect((await ada!.Projects.show(source)).forks_count).toBe(1);
  await expect(bob!.Projects.fork(source)).rejects.toMatchObject({ cause: { response: { status: 409 } } });
  await bob!.Projects.removeForkRelationship(fork);
  expect(await ada!.Projects.allForks(source)).toEqual([]);
  await bob!.Projects.createForkRelationship(fork, source);
  expect(await ada!.Projects.allForks(source)).toMatchObject([{ id: fork }]);
});

test('a clone of a fork equals one of its source', async () => {
  const [of, from] = [await mirror('bob/thing', 'of'), await mirror('ada/thing', 'from')];
  expect(await refs(of)).toEqual(await refs(from));
  expect(await git.ok(of, 'symbolic-ref', 'HEAD')).toBe('refs/heads/main');
});

test('commits pushed to a fork stay there, and can be compared with the source and built upon', async () => {
  const work = await git.clone(withToken(service.url, 'bob/thing', tokens['bob']), 'bobs');
  await git.ok(work, 'commit', '--quiet', '--allow-empty', '-m', 'of Bob');
  await git.ok(work, 'push', '--quiet', 'origin', 'HEAD:feature');
  const tip = await git.ok(work, 'rev-parse', 'HEAD');
  const main = await git.ok(work, 'rev-parse', 'HEAD~1');
  const as = (who: string) => ({ token: tokens[who]! });
  expect((await service.call('GET', `/projects/${source}/repository/commits/${tip}`, as('ada'))).status).toBe(
    404,
  );

  // In the fork, from the source; and in the source, from the fork.
  const compare = (id: number, query: string, who = 'ada') =>
    service.call('GET', `/projects/${id}/repository/compare?${query}`, as(who));
  const ahead = await compare(fork, `from=main&to=feature&from_project_id=${source}`, 'bob');
  expect(ahead.body).toMatchObject({ commits: [{ id: tip, title: 'of Bob' }], compare_same_ref: false });
  const behind = await compare(source, `from=feature&to=main&from_project_id=${fork}`);
  expect(behind).toMatchObject({ status: 200, body: { commits: [], diffs: [] } });
  expect((await compare(source, 'from=feature&to=main')).status).toBe(404);

  const actions = [{ action: 'create', file_path: 'new.txt', content: 'new\n' }];
  const commit = (json: Record<string, unknown>, who = 'ada') =>
    service.call('POST', `/projects/${source}/repository/commits`, {
      ...as(who),
      json: { commit_message: 'On Bob', actions, ...json },
    });
  const made = await commit({ branch: 'from-fork', start_project: fork, start_branch: 'feature' });
  expect(made).toMatchObject({ status: 201, body: { parent_ids: [tip], title: 'On Bob' } });
  const bySha = await commit({ branch: 'by-sha', start_project: 'bob/thing', start_sha: tip });
  expect(bySha).toMatchObject({ status: 201, body: { parent_ids: [tip] } });
  expect(await commit({ branch: 'feature', start_project: fork })).toMatchObject({
    status: 201,
    body: { parent_ids: [tip] },
  });
  expect(await commit({ branch: 'feature', start_project: fork, start_branch: 'nope' })).toMatchObject({
    status: 400,
  });
  expect(await commit({ branch: 'main', start_project: fork })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining("'main' already exists") },
  });
  const whole = await mirror('ada/thing', 'whole');
  expect(await git.lines(whole, 'rev-list', 'from-fork')).toContain(tip);
  expect(await git.ok(whole, 'rev-parse', 'main')).toBe(main);
});

test('objects of a related project outside the fork network are copied with all they reach', async () => {
  const other = (await bob!.Projects.create({ name: 'elsewhere', visibility: 'private' })).id as number;
  const work = git.path('elsewhere');
  await git.ok(git.home, 'init', '--quiet', '-b', 'main', work);
  for (const name of ['a', 'b']) await git.ok(work, 'commit', '--quiet', '--allow-empty', '-m', name);
  await git.ok(work, 'push', '--quiet', withToken(service.url, 'bob/elsewhere', tokens['bob']), 'main');
  const tip = await git.ok(work, 'rev-parse', 'HEAD');
  const actions = [{ action: 'create', file_path: 'x', content: 'x' }];
  const json = { branch: 'mine', commit_message: 'x', actions, start_project: other, start_branch: 'main' };
  const commit = (who: string) =>
    service.call('POST', `/projects/${fork}/repository/commits`, { token: tokens[who]!, json });
  expect(await commit('bob')).toMatchObject({
    status: 403,
    body: {
      message: '403 Forbidden - Project is not included in the fork network for bob / Thing of Bob',
    },
  });
  await bob!.Projects.createForkRelationship(other, fork);
  // A user who may push here, and not read there, gets "not found".
  const member = { user_id: (await ada!.Users.showCurrentUser()).id, access_level: 40 };
  await service.call('POST', `/projects/${fork}/members`, { token: tokens['bob']!, json: member });
  expect(await commit('ada')).toMatchObject({ status: 404, body: { message: '404 Project Not Found' } });
  const hidden = `/projects/${fork}/repository/compare?from=main&to=main&from_project_id=${other}`;
  expect(await service.call('GET', hidden, { token: tokens['ada']! })).toMatchObject({
    status: 400,
    body: { message: `Target project id:${other} is not a fork of project id:${fork}` },
  });
  // A guest sees the project and not its code.
  await service.call('POST', `/projects/${other}/members`, {
    token: tokens['bob']!,
    json: { ...member, access_level: 10 },
  });
  expect(await commit('ada')).toMatchObject({ status: 403 });
  expect(await service.call('GET', hidden, { token: tokens['ada']! })).toMatchObject({
    status: 403,
    body: { message: "403 Forbidden - You don't have access to this fork's parent project" },
  });
  expect(await commit('bob')).toMatchObject({ status: 201, body: { parent_ids: [tip] } });
  const copy = await mirror('bob/thing', 'copy');
  expect(await git.lines(copy, 'rev-list', 'mine')).toHaveLength(3);
});

test('clones of a fork stay valid after its source is deleted and garbage is collected', async () => {
  const before = await refs(await mirror('bob/thing', 'before'));
  await ada!.Projects.remove(source);
  const store = storeOf();
  await vi.waitFor(async () => expect(await store.projects.getEvenDeleted(source)).toBeUndefined(), {
    timeout: 60_000,
  });
  const { repositoryId, networkId } = (await store.projects.get(fork))!;
  expect(networkId).not.toBe(repositoryId);
  const deps = (days: number) => ({
    store,
    packs: new PackCache(),
    histories: new HistoryCache(),
    settings: cachedSettings(store.settings, store.environment),
    environment: store.environment,
    now: () => new Date(Date.now() + days * 86_400_000 + 60_000),
  });
  const unlisted = { networkId, repositoryId: networkId };
  for (const days of [1, 2, 8, 10]) {
    const since = new Date(Date.now()).toISOString();
    const body = { ...unlisted, unlisted: await allPacks(networkId!), since };
    await runJob(deps(days), { id: 'l', type: 'packs.gc', body });
    await runJob(deps(days), {
      id: 'm',
      type: 'repository.maintain',
      body: { repositoryId, collect: true },
    });
  }
  expect(await refs(await mirror('bob/thing', 'after'))).toEqual(before);
  expect((await bob!.Projects.show(fork)).forked_from_project).toBeUndefined();

  const again = (await ada!.Projects.fork(fork, { path: 'thing' })).id as number;
  await finished(again);
  expect(await refs(await mirror('ada/thing', 'again'))).toEqual(before);

  async function allPacks(network: string): Promise<string[]> {
    const { keys } = await store.blobs.list(`networks/${network}/packs/${network}/`);
    return keys.map((key) => key.split('/').at(-1)!.split('.')[0]!);
  }
});
