import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Answer, type Service, startService } from '../../harness/service.ts';

let service: Service;
let owner: { id: number; username: string; token: string };
let stranger: { id: number; username: string; token: string };
let outer: number;
let inner: number;
let shown: number;

const get = (path: string, token?: string): Promise<Answer> =>
  service.call('GET', path, token === undefined ? {} : { token });
const made = async (path: string, json: object, token = owner.token): Promise<number> =>
  (await service.call('POST', path, { token, json })).body.id;
/** What stands in the answer, once the worker has written it down. */
async function settled(path: string, token: string, names: readonly string[]): Promise<void> {
  const of = (body: { name: string }[]) => body.map(({ name }) => name);
  await vi.waitFor(async () => expect(of((await get(path, token)).body)).toEqual(names), {
    timeout: 60_000,
    interval: 20,
  });
}

beforeAll(async () => {
  service = await startService();
  owner = await service.user('zebra-owner');
  stranger = await service.user('stranger');
  outer = await made('/groups', { name: 'Zebra group', path: 'outer', visibility: 'private' });
  inner = await made('/groups', { name: 'inner', path: 'zebra-inner', parent_id: outer });
  shown = await made('/projects', { name: 'zebra shown', visibility: 'public' });
  await made('/projects', { name: 'zebra hidden' });
  await made('/projects', { name: 'zebra inside', namespace_id: inner });
  await made('/projects', { name: 'other' });
  await settled('/search?scope=projects&search=zebra', owner.token, [
    'zebra inside',
    'zebra hidden',
    'zebra shown',
  ]);
  await settled('/search?scope=users&search=zebra', owner.token, ['zebra-owner']);
  await settled('/search?scope=groups&search=zebra&sort=asc', owner.token, ['Zebra group', 'inner']);
});
afterAll(() => service.stop());

describe('search finds', () => {
  test.each([
    ['projects', ['zebra shown']],
    ['groups', []],
    ['users', ['zebra-owner']],
  ])('%s that the caller can see, and no others', async (scope, names) => {
    const answer = await get(`/search?scope=${scope}&search=zebra`, stranger.token);
    expect(answer.status).toBe(200);
    expect(answer.body.map(({ name }: { name: string }) => name)).toEqual(names);
    expect(answer.headers.get('x-total')).toBe(String(names.length));
  });

  test('projects at any depth of a group', async () => {
    await settled(`/groups/${outer}/search?scope=projects&search=zebra`, owner.token, ['zebra inside']);
    expect((await get(`/groups/${outer}/search?scope=projects&search=zebra`, stranger.token)).status).toBe(
      404,
    );
  });

  test('users among the members of a group or project', async () => {
    await settled(`/groups/${inner}/search?scope=users&search=ZEBRA`, owner.token, ['zebra-owner']);
    await settled(`/projects/${shown}/search?scope=users&search=zebra`, stranger.token, ['zebra-owner']);
    await settled(`/projects/${shown}/search?scope=users&search=stranger`, owner.token, []);
  });

  test('no members for a caller who sees the group only because of a descendant', async () => {
    const json = { user_id: stranger.id, access_level: 30 };
    const project = await made('/projects', { name: 'shared', namespace_id: inner });
    await service.call('POST', `/projects/${project}/members`, { token: owner.token, json });
    expect((await get(`/groups/${outer}`, stranger.token)).status).toBe(200);
    await settled(`/groups/${outer}/search?scope=users&search=zebra`, stranger.token, []);
    await settled(`/groups/${outer}/search?scope=projects&search=share`, stranger.token, ['shared']);
  });

  test('users by a full email address only where it is public, or for administrators', async () => {
    const path = '/search?scope=users&search=zebra-owner@example.com';
    await settled(path, stranger.token, []);
    await settled(path, service.rootToken, ['zebra-owner']);
  });
});

test.each([
  ['', { error: 'scope is missing, search is missing, search is empty' }],
  ['?scope=projects', { error: 'search is missing, search is empty' }],
  ['?scope=projects&search=', { error: 'search is empty' }],
  ['?scope=everything&search=x', { error: 'scope does not have a valid value' }],
  ['?scope=blobs&search=x', { message: 'Scope not supported without a full-text index' }],
  [`?scope=users&search=${'x'.repeat(4097)}`, { message: { search: [expect.any(String)] } }],
])('search refuses %.40s', async (query, body) => {
  expect(await get(`/search${query}`, owner.token)).toMatchObject({ status: 400, body });
});

test('search requires authentication', async () => {
  expect((await get('/search?scope=projects&search=zebra')).status).toBe(401);
});
