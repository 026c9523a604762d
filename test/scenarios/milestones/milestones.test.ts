import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BAD, NO_RECORD } from '../../harness/refusals.ts';
import { scenarios } from '../../harness/scenarios.ts';
import { expectSchema } from '../../harness/schemas.ts';
import { type Answer, type Service, startService } from '../../harness/service.ts';
import { settled } from '../../harness/settled.ts';
import { ask, makeWorld, type Who, type World } from '../../harness/world.ts';

let service: Service;
let world: World;
/** `top` is above `sub`, which has the project `inside`. */
let top: number;
let sub: number;
let inside: number;

const as = (who: Who, method: string, path: string, json?: unknown) => ask(world, who, method, path, json);
const owner = async (method: string, path: string, json?: unknown): Promise<Answer> =>
  as('owner', method, path, json);
const made = async (path: string, json: unknown): Promise<Answer['body']> => {
  const answer = await owner('POST', path, json);
  expect(answer).toMatchObject({ status: 201 });
  return answer.body;
};
const titlesOf = (answer: Answer): string[] => answer.body.map(({ title }: { title: string }) => title);
const own = () => `/projects/${world.ids['private']}/milestones`;
const absent = { status: 404, body: NO_RECORD.holds };
/** A new project with nothing planned. */
const empty = async (name: string) => `/projects/${(await made('/projects', { name })).id}/milestones`;
const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

beforeAll(async () => {
  service = await startService();
  world = await makeWorld(service);
  top = (await made('/groups', { name: 'top', path: 'top' })).id;
  sub = (await made('/groups', { name: 'sub', path: 'sub', parent_id: top })).id;
  inside = (await made('/projects', { name: 'inside', namespace_id: sub })).id;
});
afterAll(() => service.stop());

describe('who may see and change milestones of a project', () => {
  const json = () => ({ title: `v ${Math.random()}` });
  scenarios(
    () => world,
    [
      {
        request: 'GET /projects/{public}/milestones',
        as: {
          anonymous: 401,
          stranger: 200,
          external: 200,
          guest: 200,
          read_api: 200,
          read_user: 403,
          ...BAD,
        },
      },
      { request: 'GET /projects/{private}/milestones', as: { anonymous: 401, stranger: 404, guest: 200 } },
      {
        request: 'POST /projects/{public}/milestones',
        json,
        as: { anonymous: 401, stranger: 403, guest: 403, reporter: 201, developer: 201, read_api: 403 },
      },
      {
        request: 'POST /projects/{private}/milestones',
        json,
        as: { anonymous: 401, stranger: 404, guest: 403, reporter: 201, administrator: 201 },
      },
    ],
  );
});

describe('a milestone', () => {
  test('is shown as it was created', async () => {
    const given = { title: ' v1.0 ', description: 'first', start_date: day(-2), due_date: day(1) };
    const milestone = await made(own(), given);
    expectSchema('milestone', { ...milestone, start_date: null, due_date: null });
    expect(milestone).toEqual({
      id: expect.any(Number),
      iid: expect.any(Number),
      project_id: world.ids['private'],
      title: 'v1.0',
      description: 'first',
      state: 'active',
      created_at: expect.any(String),
      updated_at: milestone.created_at,
      start_date: given.start_date,
      due_date: given.due_date,
      expired: false,
      web_url: expect.stringMatching(new RegExp(`/private-thing/-/milestones/${milestone.iid}$`)),
    });
    expect((await owner('GET', `${own()}/${milestone.id}`)).body).toEqual(milestone);
  });

  test('has expired on the day after its due date', async () => {
    const path = await empty('expiring');
    expect(await made(path, { title: 'today', due_date: day(0) })).toMatchObject({ expired: false });
    expect(await made(path, { title: 'yesterday', due_date: day(-1) })).toMatchObject({ expired: true });
    expect(await made(path, { title: 'never' })).toMatchObject({ expired: false, due_date: null });
  });

  test('is due on the day of a date and time, as clients send it', async () => {
    const path = await empty('timed');
    const times = { start_date: '2020-01-01T00:00:00Z', due_date: '2020-01-31T23:30:00-05:00' };
    const { id, ...milestone } = await made(path, { title: 'timed', ...times });
    expect(milestone).toMatchObject({ start_date: '2020-01-01', due_date: '2020-01-31', expired: true });
    const later = await owner('PUT', `${path}/${id}`, { due_date: '2020-02-29T00:00:00.000Z' });
    expect(later).toMatchObject({ status: 200, body: { due_date: '2020-02-29' } });
    const none = await owner('PUT', `${path}/${id}`, { due_date: '2021-02-29T00:00:00Z' });
    expect(none).toMatchObject({ status: 400, body: { error: 'due_date is invalid' } });
  });

  test('has the next number of its project', async () => {
    const path = await empty('numbered');
    const created = await Promise.all(['a', 'b', 'c', 'd'].map((title) => made(path, { title })));
    expect(created.map(({ iid }) => iid).sort()).toEqual([1, 2, 3, 4]);
    const last = created.find(({ iid }) => iid === 4);
    expect(await owner('DELETE', `${path}/${last.id}`)).toMatchObject({ status: 204 });
    expect(await made(path, { title: 'e' })).toMatchObject({ iid: 5 });
  });

  test.each([
    [{}, { error: 'title is missing' }],
    [{ title: ' ' }, { message: `Failed to create milestone {:title=>["can't be blank"]}` }],
    [
      { title: 'x'.repeat(256) },
      { message: 'Failed to create milestone {:title=>["is too long (maximum is 255 characters)"]}' },
    ],
    [
      { title: 'x', start_date: '2021-02-01', due_date: '2021-01-31' },
      { message: 'Failed to create milestone {:due_date=>["must be greater than start date"]}' },
    ],
    [{ title: 'x', due_date: 'soon' }, { error: 'due_date is invalid' }],
    [
      { title: 'x', description: 'ä'.repeat(16_385) },
      { message: 'Failed to create milestone {:description=>["is too long (maximum is 32768 bytes)"]}' },
    ],
  ])('is refused as %j', async (json, body) => {
    expect(await owner('POST', own(), json)).toMatchObject({ status: 400, body });
  });

  test('cannot have a title that is taken, here or in a group above', async () => {
    const taken = { message: 'Failed to create milestone {:title=>["has already been taken"]}' };
    await made(`/groups/${top}/milestones`, { title: 'taken' });
    for (const place of [`/groups/${top}`, `/groups/${sub}`, `/projects/${inside}`]) {
      const again = await owner('POST', `${place}/milestones`, { title: 'taken' });
      expect(again).toMatchObject({ status: 400, body: taken });
    }
  });

  test('changes, closes and opens again; a day is taken back by an empty one', async () => {
    const path = await empty('changing');
    const { id } = await made(path, { title: 'a', description: 'd', due_date: day(3), start_date: day(1) });
    const item = `${path}/${id}`;
    expect(await owner('PUT', item, { title: 'b', due_date: '', description: '' })).toMatchObject({
      status: 200,
      body: { id, title: 'b', due_date: null, start_date: day(1), description: null, state: 'active' },
    });
    for (const [state_event, state] of [
      ['close', 'closed'],
      ['close', 'closed'],
      ['activate', 'active'],
    ]) {
      expect(await owner('PUT', item, { state_event })).toMatchObject({ status: 200, body: { state } });
      expect(titlesOf(await owner('GET', `${path}?state=${state}`))).toEqual(['b']);
    }
    expect(titlesOf(await owner('GET', `${path}?state=closed`))).toEqual([]);
    const query = await owner('PUT', `${item}?title=c`);
    expect(query).toMatchObject({ status: 200, body: { title: 'c' } });
  });

  test('is not changed into an invalid one', async () => {
    const path = await empty('unchanged');
    const { id } = await made(path, { title: 'a', start_date: '2021-02-01' });
    await made(path, { title: 'b' });
    const refusals: readonly (readonly [object, object])[] = [
      [
        {},
        {
          error:
            'title, description, start_date, due_date, state_event are missing, at least one parameter must be provided',
        },
      ],
      [{ state_event: 'open' }, { error: 'state_event does not have a valid value' }],
      [{ title: 'b' }, { message: 'Failed to update milestone {:title=>["has already been taken"]}' }],
      [{ title: '' }, { message: `Failed to update milestone {:title=>["can't be blank"]}` }],
      [
        { due_date: '2021-01-31' },
        { message: 'Failed to update milestone {:due_date=>["must be greater than start date"]}' },
      ],
    ];
    for (const [json, body] of refusals)
      expect(await owner('PUT', `${path}/${id}`, json)).toMatchObject({ status: 400, body });
    expect(await owner('PUT', `${own()}/${id}`, { title: 'c' })).toMatchObject(absent);
    expect(await owner('GET', `${path}/first`)).toMatchObject({
      status: 400,
      body: { error: 'milestone_id is invalid' },
    });
  });

  test('is deleted unless it was changed since, and its title is free then', async () => {
    const path = await empty('deleting');
    const { id } = await made(path, { title: 'a' });
    const headers = { 'If-Unmodified-Since': 'Thu, 01 Jan 2015 00:00:00 GMT' };
    const late = await service.call('DELETE', `${path}/${id}`, { token: world.tokens.owner!, headers });
    expect(late.status).toBe(412);
    expect(await owner('DELETE', `${path}/${id}`)).toMatchObject({ status: 204 });
    expect(await owner('DELETE', `${path}/${id}`)).toMatchObject(absent);
    expect(await owner('GET', `${path}/${id}`)).toMatchObject(absent);
    await made(path, { title: 'a' });
  });
});

describe('the list of milestones', () => {
  test('has the earliest due date first, those without one at the end, the newest first among them', async () => {
    const path = await empty('listed');
    await made(path, { title: 'none 1' });
    await made(path, { title: 'late', due_date: '2022-02-01' });
    await made(path, { title: 'none 2' });
    await made(path, { title: 'early 1', due_date: '2022-01-01' });
    const closed = await made(path, { title: 'early 2', due_date: '2022-01-01' });
    await owner('PUT', `${path}/${closed.id}`, { state_event: 'close' });
    const order = ['early 2', 'early 1', 'late', 'none 2', 'none 1'];
    const all = await owner('GET', path);
    expect(titlesOf(all)).toEqual(order);
    expect(all.headers.get('X-Total')).toBe('5');
    expectSchema(
      'milestones',
      all.body.map((item: object) => ({ ...item, due_date: null })),
    );
    const second = await owner('GET', `${path}?per_page=2&page=2`);
    expect(titlesOf(second)).toEqual(order.slice(2, 4));
    expect(second.headers.get('X-Next-Page')).toBe('3');
    const active = await owner('GET', `${path}?state=active`);
    expect(titlesOf(active)).toEqual(order.slice(1));
    expect(active.headers.get('X-Total')).toBe('4');
    expect(titlesOf(await owner('GET', `${path}?search=EARLY`))).toEqual(order.slice(0, 2));
    expect(titlesOf(await owner('GET', `${path}?title=late`))).toEqual(['late']);
    expect(titlesOf(await owner('GET', `${path}?iids[]=5&iids[]=1&iids[]=99`))).toEqual([
      'early 2',
      'none 1',
    ]);
    expect(titlesOf(await owner('GET', `${path}?iids=5,1&state=active`))).toEqual(['none 1']);
    expect(await owner('GET', `${path}?state=open`)).toMatchObject({
      status: 400,
      body: { error: 'state does not have a valid value' },
    });
  });

  test('of a project has those of groups above when they are asked for', async () => {
    await made(`/groups/${top}/milestones`, { title: 'of the top', due_date: '2022-03-01' });
    await made(`/projects/${inside}/milestones`, { title: 'of its own', due_date: '2022-02-01' });
    const path = `/projects/${inside}/milestones`;
    expect(titlesOf(await owner('GET', path))).not.toContain('of the top');
    const all = await owner('GET', `${path}?include_parent_milestones=true&search=of%20`);
    expect(all.body).toMatchObject([
      { title: 'of its own', project_id: inside },
      { title: 'of the top', group_id: top, web_url: expect.stringContaining('/groups/top/-/milestones/') },
    ]);
    expect(all.body[1]).not.toHaveProperty('project_id');
  });
});

describe('promoting a milestone', () => {
  test('makes it one of the group, in the other projects of the group too', async () => {
    const second = await made('/projects', { name: 'second', namespace_id: sub });
    const { id } = await made(`/projects/${inside}/milestones`, { title: 'wide' });
    await made(`/projects/${second.id}/milestones`, { title: 'wide' });
    const promoted = await owner('POST', `/projects/${inside}/milestones/${id}/promote`);
    expect(promoted).toMatchObject({ status: 200, body: { id, iid: 1, group_id: sub } });
    await settled();
    expect(titlesOf(await owner('GET', `/projects/${second.id}/milestones`))).toEqual([]);
    expect(titlesOf(await owner('GET', `/groups/${sub}/milestones`))).toEqual(['wide']);
    expect(await owner('GET', `/projects/${inside}/milestones/${id}`)).toMatchObject(absent);
  });

  test('is refused outside of groups', async () => {
    const { id } = await made(own(), { title: 'personal' });
    expect(await owner('POST', `${own()}/${id}/promote`)).toMatchObject({
      status: 400,
      body: { message: 'Project does not belong to a group.' },
    });
  });
});

describe('feeds', () => {
  test('tell of milestones that were created, closed, opened again and deleted', async () => {
    const path = await empty('fed');
    const { id, iid } = await made(path, { title: 'v1' });
    await owner('PUT', `${path}/${id}`, { state_event: 'close' });
    await owner('PUT', `${path}/${id}`, { title: 'v2', state_event: 'activate' });
    await owner('PUT', `${path}/${id}`, { description: 'no event' });
    await owner('DELETE', `${path}/${id}`);
    const events = path.replace('milestones', 'events?target_type=milestone');
    const target = { target_type: 'Milestone', target_id: id, target_iid: iid };
    const { body } = await owner('GET', events);
    expect(body).toMatchObject([
      { ...target, action_name: 'destroyed', target_title: 'v2' },
      { ...target, action_name: 'opened', target_title: 'v2' },
      { ...target, action_name: 'closed', target_title: 'v1' },
      { ...target, action_name: 'opened', target_title: 'v1' },
    ]);
    const reopened = await owner('GET', `${events}&action=reopened`);
    expect(reopened.body).toHaveLength(1);
  });

  test('hide them from strangers where issues and merge requests are for members', async () => {
    const project = await made('/projects', { name: 'partly', visibility: 'public' });
    const path = `/projects/${project.id}`;
    await made(`${path}/milestones`, { title: 'seen' });
    const feed = `${path}/events?target_type=milestone`;
    expect((await as('stranger', 'GET', feed)).body).toHaveLength(1);
    await owner('PUT', path, { issues_access_level: 'private', merge_requests_access_level: 'private' });
    expect((await as('stranger', 'GET', feed)).body).toEqual([]);
    expect((await as('stranger', 'GET', `/users/${world.ids['owner']}/events`)).body).not.toContainEqual(
      expect.objectContaining({ target_title: 'seen' }),
    );
    expect((await owner('GET', feed)).body).toHaveLength(1);
    expect(await as('stranger', 'GET', `${path}/milestones`)).toMatchObject({ status: 403 });
  });
});

test('milestones by their numbers go on behind the last one, also where that is deleted meanwhile', async () => {
  const path = await empty('walked');
  const due = [3, 1, 2, 2].map((days) => ({ title: `in ${days}, ${Math.random()}`, due_date: day(days) }));
  for (const one of [...due, { title: 'never' }]) await made(path, one);
  const asked = `${path}?${[1, 2, 3, 4, 5].map((iid) => `iids[]=${iid}`).join('&')}&per_page=2`;
  const whole = (await owner('GET', `${asked}&per_page=100`)).body;
  expect(whole.map(({ iid }: { iid: number }) => iid)).toEqual([2, 4, 3, 1, 5]);
  const first = await owner('GET', `${asked}&pagination=keyset`);
  expect(first.body).toEqual(whole.slice(0, 2));
  for (const { id } of first.body)
    expect(await owner('DELETE', `${path}/${id}`)).toMatchObject({ status: 204 });
  const { searchParams } = new URL(/<([^>]+)>; rel="next"/.exec(first.headers.get('link')!)![1]!);
  const next = `${asked}&pagination=keyset&cursor=${searchParams.get('cursor')}`;
  expect((await owner('GET', next)).body).toEqual(whole.slice(2, 4));
});

describe('the issues of a milestone', () => {
  test('are those of its project or group that the caller may see', async () => {
    const { id } = await made(`/projects/${inside}/milestones`, { title: 'planned' });
    const wide = await made(`/groups/${sub}/milestones`, { title: 'planned wide' });
    const issues = `/projects/${inside}/issues`;
    const first = await made(issues, { title: 'first', milestone_id: id });
    const second = await made(issues, { title: 'second', milestone_id: id, confidential: true });
    const third = await made(issues, { title: 'third', milestone_id: wide.id });
    expect(first.milestone).toMatchObject({ id, title: 'planned' });
    const planned = await owner('GET', `/projects/${inside}/milestones/${id}/issues`);
    expect(titlesOf(planned)).toEqual(['second', 'first']);
    expect(planned.headers.get('X-Total')).toBe('2');
    await owner('POST', `/projects/${inside}/members`, { user_id: world.ids['guest'], access_level: 10 });
    const seen = await as('guest', 'GET', `/projects/${inside}/milestones/${id}/issues`);
    expect(titlesOf(seen)).toEqual(['first']);
    expect(titlesOf(await owner('GET', `/groups/${sub}/milestones/${wide.id}/issues`))).toEqual(['third']);
    expect((await owner('GET', `/projects/${inside}/milestones/${id}/merge_requests`)).body).toEqual([]);
    expect(await owner('DELETE', `/projects/${inside}/milestones/${id}`)).toMatchObject({ status: 204 });
    for (const { iid } of [first, second])
      expect((await owner('GET', `${issues}/${iid}`)).body.milestone).toBeNull();
    await settled();
    expect(titlesOf(await owner('GET', `${issues}?milestone=None`))).toEqual(['second', 'first']);
    expect((await owner('GET', `${issues}/${third.iid}`)).body.milestone).toMatchObject({ id: wide.id });
  });
});
