import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, type Service, startService } from '../../harness/service.ts';
import { settled } from '../../harness/settled.ts';
import { storeOf } from '../../harness/world.ts';

let service: Service;
/** A private group, a subgroup of it, and a project in that. */
let group: number;
let sub: number;
let project: number;
let guest: string;

const call = (method: string, path: string, json?: unknown, token = service.rootToken): Promise<Answer> =>
  service.call(method, path, { token, ...(json === undefined ? {} : { json }) });
const made = async (path: string, json: unknown): Promise<Answer['body']> => {
  const answer = await call('POST', path, json);
  expect(answer).toMatchObject({ status: 201 });
  return answer.body;
};
const titles = async (path: string): Promise<string[]> => {
  const answer = await call('GET', path);
  expect(answer).toMatchObject({ status: 200 });
  return answer.body.map(({ title }: { title: string }) => title);
};
const days = (start_date: string, due_date: string) => ({ start_date, due_date });

beforeAll(async () => {
  service = await startService();
  group = (await made('/groups', { name: 'plan', path: 'plan' })).id;
  sub = (await made('/groups', { name: 'sub', path: 'sub', parent_id: group })).id;
  project = (await made('/projects', { name: 'code', namespace_id: sub })).id;
  const user = await service.user('guest');
  guest = user.token;
  await made(`/groups/${group}/members`, { user_id: user.id, access_level: 10 });
  const path = `/groups/${group}/iterations`;
  await made(path, { title: 'Later', ...days('3000-01-01', '3000-01-14') });
  await made(path, { title: ' Past ', description: 'Done', ...days('2020-01-01', '2020-01-14') });
  await made(`/groups/${sub}/iterations`, { title: 'Now', ...days('2020-01-10', '2999-12-31') });
});
afterAll(() => service.stop());

describe('iterations', () => {
  test('are shown as they were created, with the state that the day gives them', async () => {
    const { body } = await call('GET', `/projects/${project}/iterations`);
    const at = expect.stringMatching(/^\d{4}-.*Z$/);
    const shown = (state: number, iid: number, title: string, group_id: number, description: string | null) =>
      expect.objectContaining({ state, iid, title, group_id, description, created_at: at, updated_at: at });
    expect(body).toEqual([
      shown(3, 2, 'Past', group, 'Done'),
      shown(2, 1, 'Now', sub, null),
      shown(1, 1, 'Later', group, null),
    ]);
    expect(body[0]).toMatchObject(days('2020-01-01', '2020-01-14'));
    expect(new URL(body[1].web_url).pathname).toBe(`/groups/plan/sub/-/iterations/${body[1].id}`);
  });

  test.each([
    ['', ['Past', 'Now', 'Later']],
    ['?state=all', ['Past', 'Now', 'Later']],
    ['?state=opened', ['Now', 'Later']],
    ['?state=upcoming', ['Later']],
    ['?state=current', ['Now']],
    ['?state=closed', ['Past']],
    ['?search=A', ['Past', 'Later']],
    ['?search=a&state=closed', ['Past']],
    ['?include_ancestors=false', ['Now']],
    ['?updated_before=2001-01-01T00:00:00Z', []],
    ['?updated_after=2001-01-01T00:00:00Z&per_page=1&page=2', ['Now']],
  ])('%s lists %j', async (query, wanted) => {
    expect(await titles(`/groups/${sub}/iterations${query}`)).toEqual(wanted);
    expect(await titles(`/projects/${project}/iterations${query}`)).toEqual(wanted);
  });

  test('of groups below, and of personal projects there are none', async () => {
    expect(await titles(`/groups/${group}/iterations`)).toEqual(['Past', 'Later']);
    const { id } = await made('/projects', { name: 'mine' });
    expect(await titles(`/projects/${id}/iterations`)).toEqual([]);
  });

  const path = () => `/groups/${group}/iterations`;
  const valid = { title: 'Next', ...days('3001-01-01', '3001-01-02') };
  test.each([
    ['a blank title', { title: ' ' }, 400],
    ['a long title', { title: 'x'.repeat(256) }, 400],
    ['a long description', { description: 'x'.repeat(32 * 1024 + 1) }, 400],
    ['a title that the group has', { title: 'Past' }, 400],
    ['no first day', { start_date: undefined }, 400],
    ['no last day', { due_date: undefined }, 400],
    ['what is no day', { start_date: '3001-02-30' }, 400],
    ['a last day before the first', days('3001-01-02', '3001-01-01'), 400],
    ['the last day of another', days('3000-01-14', '3000-01-20'), 400],
    ['the first day of another', days('2999-12-01', '3000-01-01'), 400],
    ['days within another', days('3000-01-02', '3000-01-03'), 400],
    ['days around another', days('2999-12-31', '3000-02-01'), 400],
    ['a title of another group, and days of one', { title: 'Now', ...days('2020-02-01', '2020-02-02') }, 201],
    ['the days between two others', { title: 'Between', ...days('2020-01-15', '2020-01-31') }, 201],
  ] as const)('with %s are answered as the rule says', async (_, json, status) => {
    const answer = await call('POST', path(), { ...valid, ...json });
    expect(answer).toMatchObject({ status });
    if (status === 201)
      expect(await call('DELETE', `${path()}/${answer.body.id}`)).toMatchObject({ status: 204 });
  });

  test('are changed by those who may, on the same conditions', async () => {
    const { id } = await made(path(), valid);
    const one = `${path()}/${id}`;
    expect(await call('PUT', one, { title: 'Other' }, guest)).toMatchObject({ status: 403 });
    expect(await call('PUT', one, {})).toMatchObject({ status: 400 });
    expect(await call('PUT', one, days('3000-01-14', '3001-01-01'))).toMatchObject({ status: 400 });
    expect(await call('PUT', one, { due_date: '3000-12-31' })).toMatchObject({ status: 400 });
    const change = { title: 'Other', ...days('3000-01-15', '3001-01-01') };
    expect(await call('PUT', one, change)).toMatchObject({ status: 200, body: { id, ...change } });
    expect(await titles(`${path()}?state=upcoming`)).toEqual(['Later', 'Other']);
    expect(await call('DELETE', one, undefined, guest)).toMatchObject({ status: 403 });
    expect(await call('PUT', `/groups/${sub}/iterations/${id}`, change)).toMatchObject({ status: 404 });
    expect(await call('DELETE', one)).toMatchObject({ status: 204 });
    expect(await call('DELETE', one)).toMatchObject({ status: 404 });
  });

  test('that are created at the same time have no day in common', async () => {
    const { id } = await made('/groups', { name: 'many', path: 'many' });
    const answers = await Promise.all(
      ['a', 'b', 'c', 'd', 'e'].map((title) => call('POST', `/groups/${id}/iterations`, { ...valid, title })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 400, 400, 400, 400]);
    expect(await titles(`/groups/${id}/iterations`)).toHaveLength(1);
  });

  test('go with their group', async () => {
    const store = storeOf();
    const { id } = await made('/groups', { name: 'gone', path: 'gone' });
    const iteration = await made(`/groups/${id}/iterations`, valid);
    expect(await store.iterations.get(iteration.id)).toBeDefined();
    const gone = '?permanently_remove=true&full_path=gone';
    await call('DELETE', `/groups/${id}`);
    await call('DELETE', `/groups/${id}${gone}`);
    await settled();
    expect(await store.iterations.get(iteration.id)).toBeUndefined();
  });
});
