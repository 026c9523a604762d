/** What becomes of open merge requests when their projects are no forks of each other any more, or the source is deleted. */
import { beforeAll, expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { closeSourceless, closeUnrelated } from '../../../lib/domain/merge-requests/unrelated.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { notedOn } from '../../harness/proposals.ts';
import { settled } from '../../harness/settled.ts';
import type { Who } from '../../harness/world.ts';

const { service, world, ok, as, root, someone } = ownWorld();

let source: number;
beforeAll(async () => {
  ({ id: source } = await ok('owner', 'POST', '/projects', { name: 'origin', visibility: 'public' }));
  await commit('owner', source, 'main');
});

async function commit(who: Who, id: number, branch: string, start_branch?: string): Promise<void> {
  const actions = [{ action: 'create', file_path: `${branch}-${id}.txt`, content: 'x' }];
  const json = { branch, commit_message: branch, actions, ...(start_branch && { start_branch }) };
  await ok(who, 'POST', `/projects/${id}/repository/commits`, json);
}

let made = 0;
/** A fork of the stranger. */
async function forked(): Promise<number> {
  const name = `fork-${++made}`;
  const { id } = await ok('stranger', 'POST', `/projects/${source}/fork`, { name, path: name });
  await settled();
  return id;
}

/** A branch of its own, proposed. */
async function propose(who: Who, from: number, to: number): Promise<number> {
  const branch = `branch-${++made}`;
  await commit(who, from, branch, 'main');
  const json = { title: branch, source_branch: branch, target_branch: 'main', target_project_id: to };
  const { iid } = await ok(who, 'POST', `/projects/${from}/merge_requests`, json);
  return iid;
}

const state = async (projectId: number, iid: number) =>
  (await world.store.mergeRequests.get({ projectId, iid }))?.state;

test('those of an unlinked fork, and those to it, are closed once, and its own stay', async () => {
  const fork = await forked();
  const [out, own] = [await propose('stranger', fork, source), await propose('stranger', fork, fork)];
  await ok('stranger', 'POST', `/projects/${fork}/members`, {
    user_id: world.ids['owner'],
    access_level: 30,
  });
  const into = await propose('owner', source, fork);
  const others = await propose('owner', source, source);
  await ok('stranger', 'DELETE', `/projects/${fork}/fork`);
  await settled();
  expect(await Promise.all([state(source, out), state(fork, into)])).toEqual(['closed', 'closed']);
  expect(await Promise.all([state(fork, own), state(source, others)])).toEqual(['opened', 'opened']);
  expect(await notedOn(source, out)).toEqual([['closed', 'stranger']]);
  const again = { projectId: fork, actorId: world.ids['stranger']!, baseUrl: service.url };
  expect(await closeUnrelated(deps(), again, Date.now() + 60_000)).toBeUndefined();
  expect(await notedOn(source, out)).toHaveLength(1);
});

test('a message that comes when the fork is related again closes nothing', async () => {
  const fork = await forked();
  await ok('stranger', 'DELETE', `/projects/${fork}/fork`);
  await settled();
  await ok('stranger', 'POST', `/projects/${fork}/fork/${source}`);
  const iid = await propose('stranger', fork, source);
  const late = { projectId: fork, actorId: world.ids['stranger']!, baseUrl: service.url };
  expect(await closeUnrelated(deps(), late, Date.now() + 60_000)).toBeUndefined();
  const deleted = { mergeRequests: [{ projectId: source, iid }], actorId: world.ids['stranger']! };
  expect(await closeSourceless(deps(), deleted, Date.now() + 60_000)).toBeUndefined();
  expect(await state(source, iid)).toBe('opened');
});

test('a worker without time says where another goes on', async () => {
  const fork = await forked();
  const iid = await propose('stranger', fork, source);
  await world.store.forks.unrelate((await world.store.projects.get(fork))!);
  const unrelated = { projectId: fork, actorId: world.ids['stranger']!, baseUrl: service.url };
  const rest = await closeUnrelated(deps(), unrelated, 0);
  expect(rest).toEqual({ ...unrelated, from: { side: 'source' } });
  const deleted = { mergeRequests: [{ projectId: source, iid }], actorId: world.ids['stranger']! };
  expect(await closeSourceless(deps(), deleted, 0)).toEqual(deleted.mergeRequests);
  expect(await state(source, iid)).toBe('opened');
  expect(await closeUnrelated(deps(), rest!, Date.now() + 60_000)).toBeUndefined();
  expect(await state(source, iid)).toBe('closed');
});

test('those of a deleted fork are closed as who deleted it; of the fork of a deleted group too', async () => {
  const { id: group } = await ok('stranger', 'POST', '/groups', {
    name: 'makers',
    path: 'makers',
    visibility: 'public',
  });
  const { id: fork } = await ok('stranger', 'POST', `/projects/${source}/fork`, { namespace_id: group });
  await settled();
  const [plain, grouped] = [await forked(), fork];
  const iids = [await propose('stranger', plain, source), await propose('stranger', grouped, source)];
  await ok('administrator', 'DELETE', `/projects/${plain}`);
  await ok('stranger', 'DELETE', `/groups/${group}`);
  await settled();
  const closed = await Promise.all(
    iids.map(
      async (iid) =>
        (await ok('owner', 'GET', `/projects/${source}/merge_requests/${iid}`)).closed_by?.username,
    ),
  );
  const { username } = await ok('administrator', 'GET', '/user');
  expect(closed).toEqual([username, 'stranger']);
});

test('those that who ended it may not close stay open, without a source that could be merged', async () => {
  const { id: group } = await ok('stranger', 'POST', '/groups', {
    name: 'b',
    path: 'b',
    visibility: 'public',
  });
  await ok('stranger', 'POST', `/groups/${group}/members`, { user_id: world.ids['guest'], access_level: 50 });
  const { id: fork } = await ok('stranger', 'POST', `/projects/${source}/fork`, { namespace_id: group });
  await settled();
  const iid = await propose('stranger', fork, source);
  await ok('guest', 'DELETE', `/projects/${fork}`);
  await settled();
  const at = `/projects/${source}/merge_requests/${iid}`;
  expect(await ok('owner', 'GET', at)).toMatchObject({
    state: 'opened',
    detailed_merge_status: 'broken_status',
  });
  // Those of the target close it.
  expect((await ok('owner', 'PUT', at, { state_event: 'close' })).state).toBe('closed');
});

test.each([
  ['', 'go to the ghost user'],
  ['?hard_delete=true', 'are deleted'],
])(
  'those of the forks of a deleted user%s are closed as who deleted it; what they proposed elsewhere: %s',
  async (query) => {
    const leaver = await someone();
    const asLeaver = async (method: string, path: string, json: object) => {
      const { status, body } = await service.call(method, path, { token: leaver.token, json });
      expect(status, JSON.stringify(body)).toBeLessThan(300);
      return body;
    };
    const fork: number = (await asLeaver('POST', `/projects/${source}/fork`, {})).id;
    await settled();
    await asLeaver('POST', `/projects/${fork}/members`, { user_id: world.ids['stranger'], access_level: 30 });
    const { id: other } = await ok('owner', 'POST', '/projects', { name: `other-${++made}` });
    await commit('owner', other, 'main');
    await commit('owner', other, 'topic', 'main');
    await ok('owner', 'POST', `/projects/${other}/members`, { user_id: leaver.id, access_level: 30 });
    await commit('stranger', fork, 'mine', 'main');
    const json = { title: 'Mine', target_branch: 'main' };
    const from = { ...json, source_branch: 'mine', target_project_id: source };
    const own: number = (await asLeaver('POST', `/projects/${fork}/merge_requests`, from)).iid;
    const theirs = await propose('stranger', fork, source);
    const elsewhere = { ...json, source_branch: 'topic' };
    const { iid: there } = await asLeaver('POST', `/projects/${other}/merge_requests`, elsewhere);

    expect((await root('DELETE', `/users/${leaver.id}${query}`)).status).toBe(204);
    await settled();
    const { username } = await ok('administrator', 'GET', '/user');
    const left = query === '' ? [own, theirs] : [theirs];
    for (const iid of left) {
      const shown = await ok('owner', 'GET', `/projects/${source}/merge_requests/${iid}`);
      expect(shown).toMatchObject({ state: 'closed', closed_by: { username } });
      expect(await notedOn(source, iid)).toContainEqual(['closed', username]);
    }
    const events = await ok('administrator', 'GET', `/projects/${source}/events?action=closed&per_page=100`);
    const told = events.filter((event: { target_iid: number }) => [own, theirs].includes(event.target_iid));
    expect(told).toHaveLength(left.length);
    const gone = await as('owner', 'GET', `/projects/${source}/merge_requests/${own}`);
    const mine = await as('owner', 'GET', `/projects/${other}/merge_requests/${there}`);
    if (query === '') {
      expect([gone.body.author.username, mine.body.author.username]).toEqual(['ghost', 'ghost']);
      expect(mine.body.state).toBe('opened');
    } else expect([gone.status, mine.status]).toEqual([404, 404]);
  },
);
