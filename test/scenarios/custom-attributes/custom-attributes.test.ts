import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { type Answer, type Service, startService } from '../../harness/service.ts';

let service: Service;
let root: string;
let person: { id: number; token: string };

beforeAll(async () => {
  service = await startService({ background: false });
  root = service.rootToken;
  person = await service.user('person');
});
afterAll(() => service.stop());

const group = async (path: string): Promise<number> =>
  (await service.call('POST', '/groups', { token: person.token, json: { name: path, path } })).body.id;
const set = (on: string, key: string, value: string): Promise<Answer> =>
  service.call('PUT', `${on}/custom_attributes/${key}`, { token: root, json: { value } });
const get = (path: string, token = root): Promise<Answer> => service.call('GET', path, { token });

async function subjects(): Promise<[kind: string, path: string][]> {
  const json = { name: `p${Math.random().toString(36).slice(2)}` };
  const project = await service.call('POST', '/projects', { token: person.token, json });
  const id = await group(`g${Math.random().toString(36).slice(2)}`);
  return [
    ['user', `/users/${person.id}`],
    ['group', `/groups/${id}`],
    ['project', `/projects/${project.body.id}`],
  ];
}

test('custom attributes are set, changed, listed and deleted on users, groups and projects', async () => {
  for (const [, path] of await subjects()) {
    expect(await get(`${path}/custom_attributes`)).toMatchObject({ status: 200, body: [] });
    expect(await set(path, 'location', 'Antarctica')).toMatchObject({
      status: 200,
      body: { key: 'location', value: 'Antarctica' },
    });
    await set(path, 'room', '7');
    await set(path, 'location', 'Pole');
    expect((await get(`${path}/custom_attributes`)).body).toEqual([
      { key: 'location', value: 'Pole' },
      { key: 'room', value: '7' },
    ]);
    expect((await get(`${path}/custom_attributes/location`)).body).toEqual({
      key: 'location',
      value: 'Pole',
    });
    const gone = `${path}/custom_attributes/location`;
    expect((await service.call('DELETE', gone, { token: root })).status).toBe(204);
    expect((await service.call('DELETE', gone, { token: root })).status).toBe(404);
    expect((await get(gone)).status).toBe(404);
  }
});

test('keys that objects of JavaScript have by themselves are keys like others, but for __proto__, which is refused', async () => {
  for (const [, path] of await subjects()) {
    for (const key of ['constructor', 'toString', 'hasOwnProperty']) {
      expect((await get(`${path}/custom_attributes/${key}`)).status).toBe(404);
      expect((await set(path, key, 'x')).status).toBe(200);
    }
    expect((await get(`${path}/custom_attributes/constructor`)).body).toEqual({
      key: 'constructor',
      value: 'x',
    });
    const gone = `${path}/custom_attributes/constructor`;
    expect((await service.call('DELETE', gone, { token: root })).status).toBe(204);
    expect(await set(path, '__proto__', 'x')).toMatchObject({
      status: 400,
      body: { message: { key: ['is invalid'] } },
    });
  }
});

test('custom attributes are for administrators only', async () => {
  for (const [, path] of await subjects()) {
    await set(path, 'secret', 'x');
    expect((await get(`${path}/custom_attributes`, person.token)).status).toBe(403);
    expect((await get(`${path}/custom_attributes/secret`, person.token)).status).toBe(403);
    const json = { value: 'y' };
    const changed = await service.call('PUT', `${path}/custom_attributes/secret`, {
      token: person.token,
      json,
    });
    expect(changed.status).toBe(403);
    expect((await service.call('GET', `${path}/custom_attributes`)).status).toBe(401);
  }
});

test.each([
  ['without a value', 'k', {}, { error: 'value is missing' }],
  ['with a long value', 'k', { value: 'x'.repeat(256) }, { message: { value: [expect.any(String)] } }],
  ['with a long name', 'k'.repeat(256), { value: 'x' }, { message: { key: [expect.any(String)] } }],
])('custom attributes refuse %s', async (_how, key, json, body) => {
  const path = `/users/${person.id}/custom_attributes/${key}`;
  expect(await service.call('PUT', path, { token: root, json })).toMatchObject({ status: 400, body });
});

test('an owner has at most a hundred custom attributes', async () => {
  const path = `/groups/${await group('many')}`;
  const id = Number(path.split('/').at(-1));
  const { customAttributes } = deps().store;
  for (let i = 0; i < 100; i++) await customAttributes.set({ kind: 'group', id }, `k${i}`, 'v');
  expect(await set(path, 'one-more', 'v')).toMatchObject({ status: 400 });
  expect(await set(path, 'k7', 'other')).toMatchObject({ status: 200 });
});

test('two custom attributes set at once are both kept', async () => {
  const path = `/groups/${await group('both')}`;
  const names = ['a', 'b', 'c', 'd', 'e'];
  await Promise.all(names.map((name) => set(path, name, name)));
  const listed = (await get(`${path}/custom_attributes`)).body as { key: string }[];
  expect(listed.map(({ key }) => key).sort()).toEqual(names);
});

describe('custom attributes in lists of groups', () => {
  test('filter for administrators only; other callers’ lists are not filtered', async () => {
    const [one, two] = [await group('found-1'), await group('found-2')];
    await set(`/groups/${one}`, 'team', 'blue');
    await set(`/groups/${one}`, 'site', 'north');
    await set(`/groups/${two}`, 'team', 'blue');
    const found = async (query: string, token = root) =>
      ((await get(`/groups?${query}`, token)).body as { path: string }[]).map(({ path }) => path);
    expect(await found('custom_attributes[team]=blue')).toEqual(['found-1', 'found-2']);
    expect(await found('custom_attributes[team]=blue&sort=desc')).toEqual(['found-2', 'found-1']);
    expect(await found('custom_attributes[team]=blue&custom_attributes[site]=north')).toEqual(['found-1']);
    expect(await found(`custom_attributes[team]=blue&skip_groups[]=${one}`)).toEqual(['found-2']);
    expect(await found('custom_attributes[team]=red')).toEqual([]);
    expect(await found('custom_attributes[team]=red', person.token)).toContain('found-1');

    await set(`/groups/${two}`, 'team', 'red');
    expect(await found('custom_attributes[team]=red')).toEqual(['found-2']);
    await service.call('DELETE', `/groups/${two}/custom_attributes/team`, { token: root });
    expect(await found('custom_attributes[team]=red')).toEqual([]);
  });

  test('are shown to administrators on request', async () => {
    const id = await group('shown');
    await set(`/groups/${id}`, 'team', 'blue');
    const shown = [{ key: 'team', value: 'blue' }];
    const list = '/groups?owned=true&order_by=id&sort=desc&per_page=1&with_custom_attributes=true';
    const all = list.replace('owned=true&', '');
    expect((await get(all)).body).toMatchObject([{ path: 'shown', custom_attributes: shown }]);
    expect((await get(list, person.token)).body).toMatchObject([{ path: 'shown' }]);
    expect((await get(list, person.token)).body[0]).not.toHaveProperty('custom_attributes');
    const single = `/groups/${id}?with_custom_attributes=true`;
    expect((await get(single)).body).toMatchObject({ custom_attributes: shown });
    expect((await get(single, person.token)).body).not.toHaveProperty('custom_attributes');
    expect((await get(`/groups/${id}`)).body).not.toHaveProperty('custom_attributes');
  });

  test('refuse an invalid filter', async () => {
    expect((await get('/groups?custom_attributes=x')).status).toBe(400);
    expect((await get('/groups?custom_attributes[a][b]=x')).status).toBe(400);
  });
});

test('lists of users can be filtered by custom attributes and show them', async () => {
  const [one, two] = [await service.user('noted-1'), await service.user('noted-2')];
  for (const { id } of [one, two]) await set(`/users/${id}`, 'desk', '12');
  await set(`/users/${two.id}`, 'floor', '3');
  const found = async (query: string, token = root) =>
    ((await get(`/users?${query}`, token)).body as { username: string }[]).map(({ username }) => username);
  expect(await found('custom_attributes[desk]=12')).toEqual(['noted-2', 'noted-1']);
  expect(await found('custom_attributes[desk]=12&order_by=name&sort=asc')).toEqual(['noted-1', 'noted-2']);
  expect(await found('custom_attributes[desk]=12&custom_attributes[floor]=3')).toEqual(['noted-2']);
  expect(await found('custom_attributes[desk]=12&blocked=true')).toEqual([]);
  expect(await found('custom_attributes[desk]=12', person.token)).toContain('person');
  const shown = (await get('/users?custom_attributes[floor]=3&with_custom_attributes=true')).body;
  const both = [
    { key: 'desk', value: '12' },
    { key: 'floor', value: '3' },
  ];
  expect(shown).toMatchObject([{ custom_attributes: both }]);
  expect((await get(`/users/${two.id}?with_custom_attributes=true`)).body.custom_attributes).toEqual(both);
  expect((await get(`/users/${two.id}?with_custom_attributes=true`, two.token)).body).not.toHaveProperty(
    'custom_attributes',
  );
});

test('lists of projects can be filtered by custom attributes and show them', async () => {
  const team = await group('noted-team');
  const make = async (path: string, more = {}): Promise<number> =>
    (await service.call('POST', '/projects', { token: person.token, json: { path, ...more } })).body.id;
  const one = await make('noted-a');
  const two = await make('noted-b', { namespace_id: team });
  for (const id of [one, two]) await set(`/projects/${id}`, 'desk', '12');
  await set(`/projects/${two}`, 'floor', '3');
  const found = async (query: string, token = root) =>
    ((await get(`/projects?${query}`, token)).body as { path: string }[]).map(({ path }) => path);
  const desk = 'custom_attributes[desk]=12';
  expect(await found(desk)).toEqual(['noted-b', 'noted-a']);
  expect(await found(`${desk}&order_by=name&sort=asc`)).toEqual(['noted-a', 'noted-b']);
  expect(await found(`${desk}&custom_attributes[floor]=3`)).toEqual(['noted-b']);
  expect(await found(`${desk}&owned=true`)).toEqual([]);
  expect(await found(`${desk}&pagination=keyset&order_by=id&sort=asc`)).toEqual(['noted-a', 'noted-b']);
  expect(await found('custom_attributes[desk]=13')).toEqual([]);
  expect(await found('custom_attributes[desk]=13', person.token)).toContain('noted-a');
  expect((await get('/projects?custom_attributes[a][b]=x')).status).toBe(400);

  await service.call('POST', `/projects/${two}/fork`, { token: person.token });
  const first = [{ key: 'desk', value: '12' }];
  const both = [...first, { key: 'floor', value: '3' }];
  for (const [path, shown] of [
    ['/projects?simple=true', [both, first]],
    [`/projects/${two}`, [both]],
    [`/groups/${team}/projects`, [both]],
    [`/users/${person.id}/projects`, [first]],
    [`/projects/${two}/forks`, []],
  ] as const) {
    const asked = `${path}${path.includes('?') ? '&' : '?'}with_custom_attributes=true`;
    const of = async (address: string, token: string): Promise<object[]> =>
      [(await get(address, token)).body].flat();
    const attributes = (await of(asked, root)).map(
      (project) => (project as { custom_attributes: unknown[] }).custom_attributes,
    );
    expect([path, attributes.filter(([any]) => (any as { key: string })?.key === 'desk')]).toEqual([
      path,
      shown,
    ]);
    for (const project of [...(await of(path, root)), ...(await of(asked, person.token))])
      expect(project).not.toHaveProperty('custom_attributes');
  }
});
