import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, type Service, startService } from '../../harness/service.ts';
import { settled } from '../../harness/settled.ts';
import { storeOf } from '../../harness/world.ts';

let service: Service;
/** A private group with a subgroup; a public one. */
let group: number;
let sub: number;
let open: number;
const tokens: Record<string, string> = {};
const ids: Record<string, number> = {};

const as = (who: string | undefined, method: string, path: string, json?: unknown): Promise<Answer> =>
  service.call(method, path, {
    ...(who === undefined ? {} : { token: who === 'root' ? service.rootToken : tokens[who]! }),
    ...(json === undefined ? {} : { json }),
  });
const made = async (path: string, json: unknown, who = 'root'): Promise<Answer['body']> => {
  const answer = await as(who, 'POST', path, json);
  expect(answer).toMatchObject({ status: 201 });
  return answer.body;
};
const titles = async (path: string, who = 'root'): Promise<string[]> => {
  const answer = await as(who, 'GET', path);
  expect(answer).toMatchObject({ status: 200 });
  return answer.body.map(({ title }: { title: string }) => title);
};

beforeAll(async () => {
  service = await startService();
  group = (await made('/groups', { name: 'plan', path: 'plan' })).id;
  sub = (await made('/groups', { name: 'sub', path: 'sub', parent_id: group })).id;
  open = (await made('/groups', { name: 'open', path: 'open', visibility: 'public' })).id;
  for (const [name, level] of [
    ['guest', 10],
    ['reporter', 20],
    ['owner', 50],
    ['stranger', 0],
  ] as const) {
    const user = await service.user(name);
    tokens[name] = user.token;
    ids[name] = user.id;
    for (const id of level === 0 ? [] : [group, open])
      await made(`/groups/${id}/members`, { user_id: user.id, access_level: level });
  }
});
afterAll(() => service.stop());

describe('an epic', () => {
  test('is shown as it was created', async () => {
    await made(`/groups/${group}/labels`, { name: 'known', color: 'red' });
    const created = await made(
      `/groups/${group}/epics`,
      {
        title: ' All of it ',
        description: 'Text',
        labels: 'known,fresh',
        start_date_fixed: '2030-01-01',
        start_date_is_fixed: true,
        due_date_fixed: '2030-02-01',
      },
      'reporter',
    );
    expect(created).toMatchObject({
      iid: 1,
      group_id: group,
      parent_id: null,
      title: 'All of it',
      description: 'Text',
      state: 'opened',
      confidential: false,
      labels: ['fresh', 'known'],
      references: { short: '&1', relative: '&1', full: 'plan&1' },
      author: { username: 'reporter' },
      start_date: '2030-01-01',
      due_date: null,
      due_date_fixed: '2030-02-01',
      closed_at: null,
    });
    expect(created.web_url).toMatch(/\/groups\/plan\/-\/epics\/1$/);
    expect((await as('guest', 'GET', `/groups/${group}/epics/1`)).body).toEqual(created);
    expect((await as('stranger', 'GET', `/groups/${group}/epics/1`)).status).toBe(404);
  });

  test('changes, closes, opens again, and has an epic of the group or above over it', async () => {
    const above = await made(`/groups/${group}/epics`, { title: 'above' });
    const { iid, id } = await made(`/groups/${sub}/epics`, { title: 'below', parent_id: above.id });
    const path = `/groups/${sub}/epics/${iid}`;
    expect((await as('root', 'GET', path)).body).toMatchObject({
      parent_id: above.id,
      parent_iid: above.iid,
    });
    const changed = await as('root', 'PUT', path, {
      title: 'other',
      add_labels: 'known',
      state_event: 'close',
      description: '',
    });
    expect(changed.body).toMatchObject({ title: 'other', labels: ['known'], state: 'closed' });
    expect(changed.body.closed_at).not.toBeNull();
    const again = await as('root', 'PUT', path, { state_event: 'reopen', parent_id: 0 });
    expect(again.body).toMatchObject({ state: 'opened', closed_at: null, parent_id: null });
    const circle = await as('root', 'PUT', `/groups/${group}/epics/${above.iid}`, { parent_id: id });
    expect(circle).toMatchObject({ status: 400, body: { message: { parent: ['is invalid'] } } });
  });

  test('of two that are put below each other at once, one is', async () => {
    const titles = ['a', 'b', 'c', 'd', 'e', 'f'];
    const [first, ...others] = await Promise.all(
      titles.map((title) => made(`/groups/${group}/epics`, { title })),
    );
    for (const other of others) {
      const put = (iid: number, json: object) => as('root', 'PUT', `/groups/${group}/epics/${iid}`, json);
      const answers = await Promise.all([
        put(first.iid, { parent_id: other.id }),
        put(other.iid, { parent_id: first.id }),
      ]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
      await put(first.iid, { parent_id: 0 });
    }
  });

  test.each([
    ['a blank title', { title: ' ' }, 400],
    ['a long title', { title: 'x'.repeat(256) }, 400],
    ['no title', {}, 400],
    [
      'an end before its start',
      { title: 'x', start_date_fixed: '2030-02-01', due_date_fixed: '2030-01-01' },
      400,
    ],
    ['a day that is none', { title: 'x', due_date_fixed: '2030-02-31' }, 400],
    ['an epic over it that does not exist', { title: 'x', parent_id: 99_999_999 }, 400],
  ])('is not created with %s', async (_, json, status) => {
    expect((await as('root', 'POST', `/groups/${group}/epics`, json)).status).toBe(status);
  });

  test('is deleted by owners, with its notes', async () => {
    const { iid, id } = await made(`/groups/${group}/epics`, { title: 'gone' });
    await made(`/groups/${group}/epics/${id}/notes`, { body: 'x' });
    expect((await as('reporter', 'DELETE', `/groups/${group}/epics/${iid}`)).status).toBe(403);
    expect((await as('owner', 'DELETE', `/groups/${group}/epics/${iid}`)).status).toBe(204);
    expect((await as('owner', 'GET', `/groups/${group}/epics/${iid}`)).status).toBe(404);
    expect((await as('owner', 'GET', `/groups/${group}/epics/${id}/notes`)).status).toBe(404);
    await settled();
    const rows = {
      partition: `NOTES#GROUP#${String(group).padStart(12, '0')}`,
      prefix: `epic#${String(id).padStart(12, '0')}`,
    };
    expect((await storeOf().table.query(rows)).items).toEqual([]);
  });
});

describe('a confidential epic', () => {
  test('is seen by its author and by Reporters, and by nobody else in lists, notes and parents', async () => {
    const { iid, id } = await made(`/groups/${open}/epics`, { title: 'secret', confidential: true });
    const child = await made(`/groups/${open}/epics`, { title: 'plain', parent_id: id });
    const seen = async (who: string | undefined) => [
      (await as(who, 'GET', `/groups/${open}/epics/${iid}`)).status,
      (await as(who, 'GET', `/groups/${open}/epics`)).body.length,
      (await as(who, 'GET', `/groups/${open}/epics/${child.iid}`)).body.parent_id,
    ];
    expect(await seen('reporter')).toEqual([200, 2, id]);
    for (const who of ['guest', 'stranger', undefined]) expect(await seen(who)).toEqual([404, 1, null]);
    for (const who of ['guest', 'stranger'])
      expect((await as(who, 'GET', `/groups/${open}/epics/${id}/notes`)).status).toBe(404);
  });
});

describe('a list of epics', () => {
  let listed: number;
  beforeAll(async () => {
    listed = (await made('/groups', { name: 'listed', path: 'listed' })).id;
    const below = (await made('/groups', { name: 'below', path: 'below', parent_id: listed })).id;
    ids['below'] = below;
    await made(`/groups/${listed}/members`, { user_id: ids['reporter'], access_level: 20 });
    await made(`/groups/${listed}/epics`, { title: 'b one', labels: 'red,blue' });
    await made(
      `/groups/${listed}/epics`,
      { title: 'a two', description: 'needle', labels: 'red' },
      'reporter',
    );
    const { iid } = await made(`/groups/${below}/epics`, { title: 'c three' });
    await as('root', 'PUT', `/groups/${below}/epics/${iid}`, { state_event: 'close' });
  });

  test.each([
    ['', ['c three', 'a two', 'b one']],
    ['?sort=asc', ['b one', 'a two', 'c three']],
    ['?order_by=title&sort=asc', ['a two', 'b one', 'c three']],
    ['?order_by=updated_at', ['c three', 'a two', 'b one']],
    ['?state=opened', ['a two', 'b one']],
    ['?state=closed', ['c three']],
    ['?include_descendant_groups=false', ['a two', 'b one']],
    ['?labels=red', ['a two', 'b one']],
    ['?labels=red,blue', ['b one']],
    ['?labels=None', ['c three']],
    ['?labels=Any', ['a two', 'b one']],
    ['?not[labels]=blue', ['c three', 'a two']],
    ['?author_username=reporter', ['a two']],
    ['?not[author_username]=reporter', ['c three', 'b one']],
    ['?author_username=nobody', []],
    ['?search=NEEDLE two', ['a two']],
    ['?search=e', ['c three', 'a two', 'b one']],
    ['?created_after=2100-01-01T00:00:00Z', []],
    ['?updated_before=2100-01-01T00:00:00Z&my_reaction_emoji=None', ['c three', 'a two', 'b one']],
    ['?my_reaction_emoji=star', []],
    ['?per_page=1&page=2', ['a two']],
  ])('%s', async (query, expected) => {
    expect(await titles(`/groups/${listed}/epics${query}`)).toEqual(expected);
  });

  test('of a subgroup has those above when they are asked for', async () => {
    const path = `/groups/${ids['below']}/epics`;
    expect(await titles(path)).toEqual(['c three']);
    expect(await titles(`${path}?include_ancestor_groups=true`)).toEqual(['c three', 'a two', 'b one']);
    const [, above] = (await as('root', 'GET', `${path}?include_ancestor_groups=true`)).body;
    expect(above.references).toEqual({ short: '&2', relative: 'listed&2', full: 'listed&2' });
  });

  test('has the epics of a subgroup that is moved there, and loses them where they were', async () => {
    const other = (await made('/groups', { name: 'other', path: 'other' })).id;
    const moving = (await made('/groups', { name: 'moving', path: 'moving', parent_id: other })).id;
    await made(`/groups/${moving}/epics`, { title: 'moved' });
    await as('root', 'POST', `/groups/${moving}/transfer`, { group_id: listed });
    await settled();
    expect(await titles(`/groups/${listed}/epics?search=moved`)).toEqual(['moved']);
    expect(await titles(`/groups/${other}/epics`)).toEqual([]);
  });

  test('has none below epics of groups that theirs left', async () => {
    const [from, to] = [
      (await made('/groups', { name: 'from', path: 'from', parent_id: listed })).id,
      (await made('/groups', { name: 'to', path: 'to', parent_id: listed })).id,
    ];
    const moving = (await made('/groups', { name: 'unit', path: 'unit', parent_id: from })).id;
    const left = await made(`/groups/${from}/epics`, { title: 'left' });
    const kept = await made(`/groups/${listed}/epics`, { title: 'kept' });
    for (const parent_id of [left.id, kept.id])
      await made(`/groups/${moving}/epics`, { title: 'x', parent_id });
    await as('root', 'POST', `/groups/${moving}/transfer`, { group_id: to });
    await settled();
    const parents = (await as('root', 'GET', `/groups/${moving}/epics?sort=asc`)).body.map(
      ({ parent_id }: { parent_id: number | null }) => parent_id,
    );
    expect(parents).toEqual([null, kept.id]);
  });
});

describe('notes of an epic', () => {
  test('are written, listed, changed and deleted, and are of the epic', async () => {
    const { id, iid } = await made(`/groups/${group}/epics`, { title: 'discussed' });
    const path = `/groups/${group}/epics/${id}/notes`;
    const note = await made(path, { body: 'first' }, 'guest');
    expect(note).toMatchObject({ body: 'first', noteable_type: 'Epic', noteable_id: id, noteable_iid: iid });
    const internal = await made(path, { body: 'inside', confidential: true }, 'reporter');
    const bodies = async (who: string) =>
      (await as(who, 'GET', `${path}?sort=asc`)).body.map(({ body }: { body: string }) => body);
    expect(await bodies('reporter')).toEqual(['first', 'inside']);
    expect(await bodies('guest')).toEqual(['first']);
    expect((await as('guest', 'GET', `${path}/${internal.id}`)).status).toBe(404);
    expect((await as('reporter', 'PUT', `${path}/${note.id}`, { body: 'mine' })).status).toBe(403);
    expect((await as('guest', 'PUT', `${path}/${note.id}`, { body: 'second' })).body.body).toBe('second');
    const long = 'x'.repeat(40_000);
    expect((await as('guest', 'PUT', `${path}/${note.id}`, { body: long })).body.body).toBe(long);
    expect((await as('owner', 'DELETE', `${path}/${note.id}`)).status).toBe(204);
    expect(await bodies('reporter')).toEqual(['inside']);
    const discussion = await made(`/groups/${group}/epics/${id}/discussions`, { body: 'thread' }, 'guest');
    await made(`/groups/${group}/epics/${id}/discussions/${discussion.id}/notes`, { body: 'reply' });
    expect(await bodies('guest')).toEqual(['thread', 'reply']);
  });

  test('go with their group, and with their author who is deleted with all contributions', async () => {
    const { id } = await made('/groups', { name: 'short', path: 'short', visibility: 'public' });
    const epic = await made(`/groups/${id}/epics`, { title: 'x' });
    const leaver = await service.user('leaver');
    tokens['leaver'] = leaver.token;
    await made(`/groups/${id}/epics/${epic.id}/notes`, { body: 'x' }, 'leaver');
    await as('root', 'DELETE', `/users/${leaver.id}?hard_delete=true`);
    await settled();
    expect((await as('root', 'GET', `/groups/${id}/epics/${epic.id}/notes`)).body).toEqual([]);
  });
});
