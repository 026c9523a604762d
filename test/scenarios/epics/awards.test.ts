/** Emoji on epics and on notes on them. */
import { beforeAll, describe, expect, test } from 'vitest';
import { awardsOfHolder } from '../../../lib/store/row-keys/award-emoji.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { settled } from '../../harness/settled.ts';
import type { Who } from '../../harness/world.ts';

const { as, world } = ownWorld();

async function made(path: string, json: object, who: Who = 'owner') {
  const { status, body } = await as(who, 'POST', path, json);
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}

let group = 0;
let epics = '';
beforeAll(async () => {
  group = (await made('/groups', { name: 'fleet', path: 'fleet', visibility: 'public' })).id;
  epics = `/groups/${group}/epics`;
  for (const [who, access_level] of [
    ['guest', 10],
    ['reporter', 20],
  ] as const)
    await made(`/groups/${group}/members`, { user_id: world.ids[who], access_level });
});

const epic = (json: object = {}): Promise<{ id: number; iid: number }> =>
  made(epics, { title: 'x', ...json });
const votes = async (iid: number) => {
  const { body } = await as('owner', 'GET', `${epics}/${iid}`);
  return [body.upvotes, body.downvotes];
};
const award = (who: Who, path: string, name: string) => as(who, 'POST', `${path}/award_emoji`, { name });

describe('awards on an epic', () => {
  test('are given, listed, counted as votes, and taken back', async () => {
    const { id, iid } = await epic();
    const path = `${epics}/${iid}`;
    const { status, body } = await award('guest', path, '+1');
    expect([status, body]).toMatchObject([
      201,
      { name: 'thumbsup', user: { username: 'guest' }, awardable_id: id, awardable_type: 'Epic' },
    ]);
    expect((await award('guest', path, 'thumbsup')).status).toBe(404);
    expect((await award('stranger', path, 'thumbsdown')).status).toBe(201);
    expect((await award('reporter', path, 'none-such')).status).toBe(404);
    expect(await votes(iid)).toEqual([1, 1]);
    const listed = (await as('stranger', 'GET', `${path}/award_emoji`)).body;
    expect(listed.map(({ name }: { name: string }) => name)).toEqual(['thumbsup', 'thumbsdown']);
    expect((await as('guest', 'GET', `${path}/award_emoji/${body.id}`)).body).toEqual(body);
    expect((await as('reporter', 'DELETE', `${path}/award_emoji/${body.id}`)).status).toBe(401);
    expect((await as('guest', 'DELETE', `${path}/award_emoji/${body.id}`)).status).toBe(204);
    expect(await votes(iid)).toEqual([0, 1]);
  });

  test('are kept by changes of the epic at the same time', async () => {
    const { iid } = await epic();
    const path = `${epics}/${iid}`;
    const given = (['guest', 'reporter', 'stranger'] as const).map((who) => award(who, path, 'thumbsup'));
    const changes = ['a', 'b', 'c'].map((title) => as('owner', 'PUT', path, { title }));
    for (const { status } of await Promise.all(given)) expect(status).toBe(201);
    for (const { status } of await Promise.all(changes)) expect(status).toBe(200);
    expect(await votes(iid)).toEqual([3, 0]);
  });

  test('of a confidential one are for those who see it', async () => {
    const { iid } = await epic({ confidential: true });
    const path = `${epics}/${iid}`;
    expect((await award('reporter', path, 'tada')).status).toBe(201);
    for (const who of ['guest', 'stranger'] as const) {
      expect((await as(who, 'GET', `${path}/award_emoji`)).status).toBe(404);
      expect((await award(who, path, 'tada')).status).toBe(404);
    }
  });

  test('are given by a note that is one emoji', async () => {
    const { id, iid } = await epic();
    const given = await as('guest', 'POST', `${epics}/${id}/notes`, { body: ':tada:' });
    expect([given.status, given.body]).toMatchObject([201, { name: 'tada', awardable_type: 'Epic' }]);
    expect((await as('guest', 'GET', `${epics}/${iid}/award_emoji`)).body).toHaveLength(1);
  });

  test('find epics by what the caller awarded', async () => {
    const { id } = await made('/groups', { name: 'found', path: 'found', visibility: 'public' });
    const titles = async (query: string) => {
      const { body } = await as('guest', 'GET', `/groups/${id}/epics?sort=asc&${query}`);
      return body.map(({ title }: { title: string }) => title);
    };
    for (const title of ['none', 'up', 'star']) await made(`/groups/${id}/epics`, { title });
    await award('guest', `/groups/${id}/epics/2`, 'thumbsup');
    await award('guest', `/groups/${id}/epics/3`, 'star');
    await award('owner', `/groups/${id}/epics/1`, 'star');
    expect(await titles('my_reaction_emoji=%2B1')).toEqual(['up']);
    expect(await titles('my_reaction_emoji=Any')).toEqual(['up', 'star']);
    expect(await titles('my_reaction_emoji=None')).toEqual(['none']);
    expect(await titles('not[my_reaction_emoji]=star')).toEqual(['none', 'up']);
  });
});

describe('awards on a note on an epic', () => {
  test('are given and taken back, are no votes, and go with the epic', async () => {
    const { id, iid } = await epic();
    const note = await made(`${epics}/${id}/notes`, { body: 'Done' });
    const path = `${epics}/${iid}/notes/${note.id}`;
    const { body } = await award('guest', path, 'thumbsup');
    expect(body).toMatchObject({ awardable_id: note.id, awardable_type: 'Note' });
    expect(await votes(iid)).toEqual([0, 0]);
    expect((await as('guest', 'DELETE', `${path}/award_emoji/${body.id}`)).status).toBe(204);
    await award('reporter', path, 'eyes');
    await award('reporter', `${epics}/${iid}`, 'eyes');
    expect((await as('owner', 'DELETE', `${epics}/${iid}`)).status).toBe(204);
    await settled();
    const rows = {
      partition: awardsOfHolder({ kind: 'group', id: group }),
      prefix: `epic#${String(id).padStart(12, '0')}`,
    };
    expect((await world.store.table.query(rows)).items).toEqual([]);
  });

  test('go with their user who is deleted with all they did', async () => {
    const { iid } = await epic();
    const leaver = await world.service.user('leaver');
    const json = { name: 'thumbsup' };
    const { status } = await world.service.call('POST', `${epics}/${iid}/award_emoji`, {
      token: leaver.token,
      json,
    });
    expect([status, await votes(iid)]).toEqual([201, [1, 0]]);
    await world.service.call('DELETE', `/users/${leaver.id}?hard_delete=true`, {
      token: world.service.rootToken,
    });
    await settled();
    expect(await votes(iid)).toEqual([0, 0]);
  });
});
