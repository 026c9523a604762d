import { beforeAll, describe, expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { CLEAN_JOB } from '../../../lib/domain/storage-moves/run.ts';
import { MOVE_JOB } from '../../../lib/domain/storage-moves/schedule.ts';
import { runJob } from '../../../lib/domain/worker/dispatch.ts';
import { repositoryIdOf } from '../../../lib/records/repository-owner.ts';
import { MAINTAIN_JOB } from '../../../lib/store/maintenance/last-runs.ts';
import { leaseKey } from '../../../lib/store/row-keys/maintenance.ts';
import { packKey } from '../../../lib/store/row-keys/repository.ts';
import { ownService } from '../../harness/own-service.ts';
import { settled } from '../../harness/settled.ts';
import { storeOf } from '../../harness/world.ts';

const service = ownService();
process.env['REPOSITORY_STORAGES'] = 'cold,warm';

let token: string;
const root = (method: string, path: string, json?: unknown) =>
  service.call(method, path, { token: service.rootToken, ...(json === undefined ? {} : { json }) });
const mine = (method: string, path: string, json?: unknown) =>
  service.call(method, path, { token, ...(json === undefined ? {} : { json }) });
const keysIn = async (prefix: string) => (await storeOf().blobs.list(prefix)).keys;

let names = 0;
async function project() {
  const { body } = await mine('POST', '/projects', { name: `p${++names}`, initialize_with_readme: true });
  const { repositoryId } = (await storeOf().projects.get(body.id))!;
  const base = `/projects/${body.id}`;
  return { id: body.id as number, repositoryId, base, moves: `${base}/repository_storage_moves` };
}
const locationsOf = async (repositoryId: string) => {
  const { packs, derived } = await storeOf().repositories.open(repositoryId).listing();
  return [...packs, ...derived].map(({ location }) => location);
};
const commit = (base: string, path: string) =>
  mine('POST', `${base}/repository/files/${path}`, { branch: 'main', content: path, commit_message: path });
const raw = async (base: string, path: string) =>
  (await mine('GET', `${base}/repository/files/${path}/raw?ref=main`)).body;

beforeAll(async () => {
  ({ token } = await service.user('ann'));
});

describe('a move of a project', () => {
  test('brings code and wiki to the other storage, and empties the place a day later', async () => {
    const { id, repositoryId, base, moves } = await project();
    await commit(base, 'a.txt');
    await mine('POST', `${base}/wikis`, { title: 'home', content: 'wiki' });
    const { status, body } = await root('POST', moves, { destination_storage_name: 'cold' });
    expect([status, body]).toEqual([
      201,
      {
        id: expect.any(Number),
        created_at: expect.any(String),
        state: 'scheduled',
        source_storage_name: 'default',
        destination_storage_name: 'cold',
        error_message: null,
        project: {
          id,
          description: null,
          name: `p${names}`,
          name_with_namespace: `ann / p${names}`,
          path: `p${names}`,
          path_with_namespace: `ann/p${names}`,
          created_at: expect.any(String),
        },
      },
    ]);
    await settled();
    expect((await root('GET', `${moves}/${body.id}`)).body.state).toBe('replicated');
    expect((await root('GET', base)).body.repository_storage).toBe('cold');
    const wiki = repositoryIdOf({ kind: 'project-wiki', id });
    for (const location of [...(await locationsOf(repositoryId)), ...(await locationsOf(wiki))])
      expect(location).toMatch(new RegExp(`^@cold/${body.id}/`));
    // Who has read the list before still finds the objects.
    expect((await keysIn(`networks/${repositoryId}/`)).length).toBeGreaterThan(0);
    expect(await raw(base, 'a.txt')).toBe('a.txt');
    await commit(base, 'b.txt');
    expect(await raw(base, 'b.txt')).toBe('b.txt');
    expect((await mine('GET', `${base}/wikis/home`)).body.content).toBe('wiki');
    await clean(body.id, 'project', id, repositoryId, '');
    expect((await root('GET', `/project_repository_storage_moves/${body.id}`)).body.state).toBe('finished');
    expect(await keysIn(`networks/${repositoryId}/`)).toEqual([]);
    expect(await keysIn(`networks/${wiki}/`)).toEqual([]);
    expect(await raw(base, 'a.txt')).toBe('a.txt');
    expect((await mine('GET', `${base}/wikis/home`)).body.content).toBe('wiki');
  });

  test('whose former place cannot be emptied says so, and is finished when it could be', async () => {
    const { id, repositoryId, base, moves } = await project();
    const { body } = await root('POST', moves, { destination_storage_name: 'cold' });
    await settled();
    const there = deps();
    const blobs = new Proxy(there.store.blobs, {
      get(target, name) {
        if (name === 'delete') return () => Promise.reject(new Error('the bucket refuses'));
        const value = Reflect.get(target, name) as unknown;
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const broken = { ...there, store: Object.create(there.store, { blobs: { value: blobs } }) };
    const emptied = (lastDelivery: boolean) =>
      clean(body.id, 'project', id, repositoryId, '', { deps: broken, lastDelivery });
    await expect(emptied(false)).rejects.toThrow('the bucket refuses');
    expect((await root('GET', `${moves}/${body.id}`)).body.state).toBe('replicated');
    await emptied(true);
    expect((await root('GET', `${moves}/${body.id}`)).body).toMatchObject({
      state: 'cleanup failed',
      error_message: 'the bucket refuses',
    });
    expect((await root('GET', base)).body.repository_storage).toBe('cold');
    await clean(body.id, 'project', id, repositoryId, '');
    expect((await root('GET', `${moves}/${body.id}`)).body.state).toBe('finished');
  });

  test('may go on to a third storage and back, each time to keys of its own', async () => {
    const { id, repositoryId, base, moves } = await project();
    const ids: number[] = [];
    for (const name of ['cold', 'warm', 'default']) {
      ids.push((await root('POST', moves, { destination_storage_name: name })).body.id);
      await settled();
      expect((await root('GET', base)).body.repository_storage).toBe(name);
      await commit(base, `${name}.txt`);
    }
    const [first, second, third] = ids as [number, number, number];
    await clean(first, 'project', id, repositoryId, '');
    await clean(second, 'project', id, repositoryId, `@cold/${first}/`);
    await clean(third, 'project', id, repositoryId, `@warm/${second}/`);
    for (const location of await locationsOf(repositoryId)) expect(location).toMatch(/^@default\//);
    for (const name of ['cold', 'warm', 'default'])
      expect(await raw(base, `${name}.txt`)).toBe(`${name}.txt`);
    expect(await keysIn('@cold/')).not.toContainEqual(expect.stringContaining(repositoryId));
    const { body } = await root('GET', moves);
    expect(body.map((move: { id: number }) => move.id)).toEqual([third, second, first]);
    expect(body.map((move: { state: string }) => move.state)).toEqual(['finished', 'finished', 'finished']);
  });

  test('PUT with another storage schedules one', async () => {
    const { base, moves } = await project();
    expect((await root('PUT', base, { repository_storage: 'warm', description: 'd' })).body).toMatchObject({
      description: 'd',
      repository_storage: 'default',
    });
    await settled();
    expect((await root('GET', base)).body.repository_storage).toBe('warm');
    expect((await root('GET', moves)).body).toMatchObject([{ destination_storage_name: 'warm' }]);
    expect((await root('PUT', base, { repository_storage: 'warm' })).status).toBe(200);
    expect((await root('GET', moves)).body).toHaveLength(1);
    const { status, body } = await root('PUT', base, { repository_storage: 'nowhere' });
    expect([status, body]).toEqual([
      400,
      { message: { repository_storage: ['is not included in the list'] } },
    ]);
    // Others may not, and are not told.
    await mine('PUT', base, { repository_storage: 'cold', description: 'e' });
    await settled();
    expect((await root('GET', base)).body).toMatchObject({ repository_storage: 'warm', description: 'e' });
  });

  test('the place is chosen among the other storages where none is named', async () => {
    const { base, moves } = await project();
    await root('PUT', '/application/settings', { repository_storages_weighted: { default: 100, warm: 1 } });
    expect((await root('POST', moves)).body.destination_storage_name).toBe('warm');
    await root('PUT', '/application/settings', { repository_storages_weighted: { default: 100 } });
    await settled();
    expect((await root('GET', base)).body.repository_storage).toBe('warm');
  });

  test.each([
    [{ destination_storage_name: 'nowhere' }, { destination_storage_name: ['is not included in the list'] }],
    [
      { destination_storage_name: 'default' },
      { destination_storage_name: ['cannot be the same as the source'] },
    ],
  ])('%o is refused', async (json, message) => {
    const { moves } = await project();
    const { status, body } = await root('POST', moves, json);
    expect([status, body]).toEqual([400, { message }]);
  });

  test('of two at once, the second is refused, and the project can be moved again after one that failed', async () => {
    const { id, base, moves } = await project();
    const answers = await Promise.all(
      ['cold', 'warm'].map((name) => root('POST', moves, { destination_storage_name: name })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400]);
    expect(answers.find(({ status }) => status === 400)!.body).toEqual({
      message: { project: ['is read-only'] },
    });
    await settled();
    const done = answers.find(({ status }) => status === 201)!.body;
    // A failure that is told: its mark is gone with it.
    const move = (await storeOf().storageMoves.get('project', done.id))!;
    expect(await storeOf().storageMoves.fail(move, 'late', [])).toBe(false);
    expect((await root('GET', base)).body.repository_storage).toBe(done.destination_storage_name);
    expect((await storeOf().projects.get(id))!).not.toHaveProperty('storageMove');
    expect((await root('POST', moves, { destination_storage_name: 'default' })).status).toBe(201);
    await settled();
  });

  test('fails where a copy is not what it should be, and changes nothing', async () => {
    const { repositoryId, base, moves } = await project();
    const [location] = (await locationsOf(repositoryId)) as [string];
    const { blobs } = storeOf();
    const whole = await blobs.read(location, 0, 1_000_000);
    await blobs.put(location, whole.subarray(0, whole.length - 1));
    const { body: move } = await root('POST', moves, { destination_storage_name: 'cold' });
    await settled();
    expect((await root('GET', `${moves}/${move.id}`)).body).toMatchObject({
      state: 'failed',
      error_message: expect.stringContaining('bytes instead of'),
    });
    expect((await root('GET', base)).body.repository_storage).toBe('default');
    await blobs.put(location, whole);
    const { body: again } = await root('POST', moves, { destination_storage_name: 'cold' });
    await settled();
    expect((await root('GET', `${moves}/${again.id}`)).body.state).toBe('replicated');
    expect(await locationsOf(repositoryId)).toEqual([expect.stringContaining(`@cold/${again.id}/`)]);
  });

  test('brings over a day later what a push that began before it listed at the former place', async () => {
    const { id, repositoryId, base, moves } = await project();
    const { body: move } = await root('POST', moves, { destination_storage_name: 'cold' });
    await settled();
    const { table, blobs } = storeOf();
    const [pack] = (await storeOf().repositories.open(repositoryId).listing()).packs;
    const late = pack!.location.replace(`@cold/${move.id}/`, '');
    await blobs.copy(pack!.location, late);
    await blobs.delete([pack!.location]);
    await table.update({ update: packKey(repositoryId, pack!.id), set: { location: late } });
    await clean(move.id, 'project', id, repositoryId, '');
    expect(await locationsOf(repositoryId)).toEqual([pack!.location]);
    expect(await keysIn(`networks/${repositoryId}/`)).toEqual([]);
    expect(await raw(base, 'README.md')).toContain('#');
    expect((await root('GET', `${moves}/${move.id}`)).body.state).toBe('finished');
  });

  test('goes on where a worker died, and may be carried out twice at once', async () => {
    const { id, repositoryId, base, moves } = await project();
    await commit(base, 'a.txt');
    const subject = { kind: 'project', id } as const;
    const move = { kind: 'project', id: 1_000_000, subjectId: id, state: 'scheduled' } as const;
    const about = { source: 'default', destination: 'cold', createdAt: new Date().toISOString() };
    await storeOf().storageMoves.schedule({ ...move, ...about }, []);
    await storeOf().storageMoves.advance({ ...move, ...about }, 'scheduled', 'started');
    const repositories = [{ repositoryId, networkId: repositoryId }];
    const order = { ...subject, id: move.id, subjectId: id, from: '', to: '@cold/1000000/', repositories };
    // One object is there already, and nobody has switched.
    const [location] = (await locationsOf(repositoryId)) as [string];
    await storeOf().blobs.copy(location, `@cold/1000000/${location}`);
    const run = () => runJob(deps(), { id: 'twice', type: MOVE_JOB, body: order });
    await Promise.all([run(), run()]);
    await settled();
    await run();
    expect((await root('GET', `${moves}/${move.id}`)).body.state).toBe('replicated');
    for (const each of await locationsOf(repositoryId)) expect(each).toMatch(/^@cold\/1000000\//);
    expect(await raw(base, 'a.txt')).toBe('a.txt');
  });

  test('that waits for maintenance is next: a visit that goes on after that stands back until it is done', async () => {
    const { id, repositoryId, base, moves } = await project();
    await settled();
    const subject = { kind: 'project', id } as const;
    const move = { kind: 'project', id: 1_000_001, subjectId: id, state: 'scheduled' } as const;
    const about = { source: 'default', destination: 'cold', createdAt: new Date().toISOString() };
    await storeOf().storageMoves.schedule({ ...move, ...about }, []);
    const repositories = [{ repositoryId, networkId: repositoryId }];
    const order = { ...subject, id: move.id, subjectId: id, from: '', to: '@cold/1000001/', repositories };
    const carryOut = () => runJob(deps(), { id: 'waits', type: MOVE_JOB, body: order });
    const body = { repositoryId, collect: true, refs: false };
    const maintain = () => runJob(deps(), { id: 'goes on', type: MAINTAIN_JOB, body });
    const visits = async () => (await storeOf().table.get(leaseKey(repositoryId)))!['fence'] as number;
    const stateOf = async () => (await root('GET', `${moves}/${move.id}`)).body.state;

    const lease = (await storeOf().leases.acquire(repositoryId, 900))!;
    await carryOut();
    expect(await stateOf()).toBe('started');
    await storeOf().leases.release(lease);
    const before = await visits();
    await maintain();
    expect(await visits()).toBe(before);
    await carryOut();
    expect(await stateOf()).toBe('replicated');
    expect(await raw(base, 'README.md')).toContain('#');
    const after = await visits();
    await maintain();
    expect(await visits()).toBe(after + 1);
  });

  test('of a source takes its packs along, and its forks keep theirs; a fork takes copies', async () => {
    const { id, repositoryId, base, moves } = await project();
    await commit(base, 'a.txt');
    const { body: fork } = await root('POST', `${base}/fork`, { path: `f${names}`, name: `f${names}` });
    await settled();
    const forked = (await storeOf().projects.get(fork.id))!;
    const { body: move } = await root('POST', moves, { destination_storage_name: 'cold' });
    await settled();
    await clean(move.id, 'project', id, repositoryId, '');
    // The fork still lists the packs at the first place.
    expect(await keysIn(`networks/${repositoryId}/packs/${repositoryId}/`)).not.toEqual([]);
    const read = async () =>
      (await root('GET', `/projects/${fork.id}/repository/files/a.txt/raw?ref=main`)).body;
    expect(await read()).toBe('a.txt');
    const { body: second } = await root('POST', `/projects/${fork.id}/repository_storage_moves`, {
      destination_storage_name: 'warm',
    });
    await settled();
    for (const location of await locationsOf(forked.repositoryId))
      expect(location).toContain(`@warm/${second.id}/networks/${repositoryId}/packs/${forked.repositoryId}/`);
    expect(await read()).toBe('a.txt');
    // Merge requests between both are compared as before.
    await root('POST', `/projects/${fork.id}/repository/files/c.txt`, {
      branch: 'side',
      start_branch: 'main',
      content: 'c',
      commit_message: 'c',
    });
    const proposed = await root('POST', `/projects/${fork.id}/merge_requests`, {
      source_branch: 'side',
      target_branch: 'main',
      target_project_id: id,
      title: 'c',
    });
    expect(proposed.status).toBe(201);
    await settled();
    const { body: changes } = await root('GET', `${base}/merge_requests/${proposed.body.iid}/changes`);
    expect(changes.changes.map((change: { new_path: string }) => change.new_path)).toEqual(['c.txt']);
  });
});

test('a snippet and the wiki of a group are moved, and shown as the product shows them', async () => {
  const { body: snippet } = await mine('POST', '/snippets', { title: 't', file_name: 'a', content: 'text' });
  const moved = await root('POST', `/snippets/${snippet.id}/repository_storage_moves`, {
    destination_storage_name: 'cold',
  });
  expect(moved.status).toBe(201);
  expect(moved.body.snippet).toMatchObject({ id: snippet.id, title: 't', project_id: null });
  const { body: group } = await mine('POST', '/groups', { name: 'g', path: 'g' });
  await mine('POST', `/groups/${group.id}/wikis`, { title: 'home', content: 'wiki' });
  const ofGroup = await root('POST', `/groups/${group.id}/repository_storage_moves`, {
    destination_storage_name: 'cold',
  });
  expect(ofGroup.body.group).toEqual({ id: group.id, web_url: `${service.url}/groups/g`, name: 'g' });
  await settled();
  expect((await mine('GET', `/snippets/${snippet.id}/raw`)).body).toBe('text');
  expect((await mine('GET', `/groups/${group.id}/wikis/home`)).body.content).toBe('wiki');
  for (const [owner, move] of [
    [{ kind: 'snippet', id: snippet.id }, moved],
    [{ kind: 'group-wiki', id: group.id }, ofGroup],
  ] as const)
    for (const location of await locationsOf(repositoryIdOf(owner)))
      expect(location).toMatch(new RegExp(`^@cold/${move.body.id}/`));
  for (const kind of ['snippet', 'group']) {
    const { body: all } = await root('GET', `/${kind}_repository_storage_moves`);
    expect(all).toMatchObject([{ state: 'replicated', source_storage_name: 'default' }]);
  }
  // What is changed later is written there too.
  expect((await mine('PUT', `/snippets/${snippet.id}`, { content: 'more' })).status).toBe(200);
  expect((await mine('GET', `/snippets/${snippet.id}/raw`)).body).toBe('more');
});

test('what does not exist is not found, and nobody else may ask', async () => {
  for (const [path, message] of [
    ['/projects/99999/repository_storage_moves', '404 Project Not Found'],
    ['/groups/99999/repository_storage_moves', '404 Group Not Found'],
    ['/snippets/99999/repository_storage_moves', '404 Snippet Not Found'],
    ['/snippet_repository_storage_moves/99999', '404 Not found'],
  ] as const) {
    const { status, body } = await root('GET', path);
    expect([status, body]).toEqual([404, { message }]);
    expect((await mine('GET', path)).status).toBe(403);
    expect((await service.call('GET', path, {})).status).toBe(401);
  }
  const { base } = await project();
  const other = await project();
  const { body: move } = await root('POST', other.moves, { destination_storage_name: 'cold' });
  expect((await root('GET', `${base}/repository_storage_moves/${move.id}`)).status).toBe(404);
  await settled();
});

test('all of a storage are moved, and asking twice moves them once', async () => {
  const made = [await project(), await project()];
  for (const [json, error] of [
    [{}, 'source_storage_name is missing'],
    [{ source_storage_name: 'nowhere' }, 'source_storage_name does not have a valid value'],
    [
      { source_storage_name: 'default', destination_storage_name: 'nowhere' },
      'destination_storage_name does not have a valid value',
    ],
  ]) {
    const { status, body } = await root('POST', '/project_repository_storage_moves', json);
    expect([status, body]).toEqual([400, { error }]);
  }
  const order = { source_storage_name: 'default', destination_storage_name: 'warm' };
  const [once, twice] = await Promise.all([
    root('POST', '/project_repository_storage_moves', order),
    root('POST', '/project_repository_storage_moves', order),
  ]);
  for (const { status, body } of [once, twice])
    expect([status, body]).toEqual([202, { message: '202 Accepted' }]);
  await settled();
  expect((await root('GET', '/projects?repository_storage=default')).body).toEqual([]);
  for (const { base, moves } of made) {
    expect((await root('GET', base)).body.repository_storage).toBe('warm');
    expect((await root('GET', moves)).body).toHaveLength(1);
  }
});

test('a project that is deleted while its move waits leaves nothing, and its moves go with it', async () => {
  const { id, repositoryId, base, moves } = await project();
  await root('POST', moves, { destination_storage_name: 'cold' });
  await mine('DELETE', base);
  await settled();
  const rows = await storeOf().table.query({ partition: `MOVESOF#PROJECT#${String(id).padStart(12, '0')}` });
  expect(rows.items).toEqual([]);
  await cleanAll(id, repositoryId);
  for (const prefix of ['networks/', '@cold/'])
    expect((await keysIn(prefix)).filter((key) => key.includes(repositoryId))).toEqual([]);
});

/** Does what the move has promised for a day later. */
async function clean(
  id: number,
  kind: 'project' | 'group' | 'snippet',
  subjectId: number,
  repositoryId: string,
  place: string,
  { deps: through = deps(), lastDelivery = false } = {},
): Promise<void> {
  const wiki = repositoryIdOf({ kind: 'project-wiki', id: subjectId });
  const networkId = (await storeOf().projects.get(subjectId))?.networkId ?? repositoryId;
  const repositories = [
    { repositoryId, networkId },
    { repositoryId: wiki, networkId: wiki },
  ];
  const body = { kind, id, subjectId, place, repositories, givenUp: [] };
  await runJob(through, { id: `clean-${id}`, type: CLEAN_JOB, body }, { lastDelivery });
}

async function cleanAll(subjectId: number, repositoryId: string): Promise<void> {
  const { keys } = await storeOf().blobs.list('@cold/');
  const places = new Set(keys.flatMap((key) => /^@cold\/\d+\//.exec(key)?.[0] ?? []));
  for (const place of places) await clean(999_999, 'project', subjectId, repositoryId, place);
}
