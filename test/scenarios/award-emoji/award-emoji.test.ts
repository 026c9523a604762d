import { describe, expect, test } from 'vitest';
import { awardsOfHolder } from '../../../lib/store/row-keys/award-emoji.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { settled } from '../../harness/settled.ts';
import type { Who } from '../../harness/world.ts';

const { service, world, as, root, someone } = ownWorld();

const project = () => `/projects/${world.ids['public']}`;

async function issue(json: object = {}, who: Who = 'owner') {
  const { status, body } = await as(who, 'POST', `${project()}/issues`, { title: 'Fine work', ...json });
  expect(status, JSON.stringify(body)).toBe(201);
  return { path: `${project()}/issues/${body.iid}`, ...(body as { id: number; iid: number }) };
}

async function award(who: Who, path: string, name: string) {
  const { status, body } = await as(who, 'POST', `${path}/award_emoji`, { name });
  expect(status, JSON.stringify(body)).toBe(201);
  return body as { id: number; name: string };
}

const names = async (path: string) =>
  (await as('owner', 'GET', `${path}/award_emoji`)).body.map((each: { name: string }) => each.name);
const votes = async (path: string) => {
  const { upvotes, downvotes } = (await as('owner', 'GET', path)).body;
  return [upvotes, downvotes];
};
const notFound = (what: string) => ({ status: 404, body: { message: `404 ${what} Not Found` } });

describe('emoji are awarded', () => {
  test('to an issue and to a note on it, apart, and listed oldest first in pages', async () => {
    const { path, id } = await issue();
    const note = (await as('owner', 'POST', `${path}/notes`, { body: 'Done' })).body;
    const first = await award('guest', path, 'tada');
    await award('owner', path, 'rocket');
    await award('owner', path, 'tada');
    await award('guest', `${path}/notes/${note.id}`, 'eyes');
    const page = await as('owner', 'GET', `${path}/award_emoji?per_page=2`);
    expect([page.body.length, page.headers.get('x-total'), page.headers.get('x-next-page')]).toEqual([
      ...[2, '3', '2'],
    ]);
    expect(page.body[0]).toEqual({
      ...{ id: first.id, name: 'tada', awardable_id: id, awardable_type: 'Issue' },
      ...{ created_at: expect.any(String), updated_at: expect.any(String) },
      user: expect.objectContaining({ username: 'guest', state: 'active' }),
    });
    expect(await names(path)).toEqual(['tada', 'rocket', 'tada']);
    const onNote = (await as('owner', 'GET', `${path}/notes/${note.id}/award_emoji`)).body;
    expect(onNote).toMatchObject([{ name: 'eyes', awardable_id: note.id, awardable_type: 'Note' }]);
    expect((await as('owner', 'GET', `${path}/award_emoji/${first.id}`)).body).toEqual(page.body[0]);
    // Of the note, it is not found on the issue.
    expect(await as('owner', 'GET', `${path}/award_emoji/${onNote[0].id}`)).toMatchObject(
      notFound('Award Emoji'),
    );
  });

  test('as votes that the issue counts, without a new time of change; those on notes count nowhere', async () => {
    const { path } = await issue();
    const note = (await as('owner', 'POST', `${path}/notes`, { body: 'Done' })).body;
    const before = (await as('owner', 'GET', path)).body.updated_at;
    const up = await award('guest', path, '+1');
    expect(up.name).toBe('thumbsup');
    await award('owner', path, 'thumbsup');
    await award('owner', path, 'thumbsdown');
    await award('owner', `${path}/notes/${note.id}`, 'thumbsup');
    expect(await votes(path)).toEqual([2, 1]);
    expect((await as('guest', 'DELETE', `${path}/award_emoji/${up.id}`)).status).toBe(204);
    expect(await votes(path)).toEqual([1, 1]);
    expect((await as('owner', 'GET', path)).body.updated_at).toBe(before);
  });

  test('once each by a user, also of two who ask at once; taken back, again', async () => {
    const { path } = await issue();
    const both = await Promise.all(
      ['thumbsup', 'thumbsup', '+1', 'heart'].map((name) =>
        as('guest', 'POST', `${path}/award_emoji`, { name }),
      ),
    );
    expect(both.map(({ status }) => status).sort()).toEqual([201, 201, 404, 404]);
    const taken = both.find(({ status }) => status === 404);
    expect(taken).toMatchObject(notFound('Award Emoji Name has already been taken'));
    expect(await votes(path)).toEqual([1, 0]);
    for (const { status, body } of both)
      if (status === 201)
        expect((await as('guest', 'DELETE', `${path}/award_emoji/${body.id}`)).status).toBe(204);
    expect([await names(path), await votes(path)]).toEqual([[], [0, 0]]);
    await award('guest', path, 'heart');
  });

  test('never what is none, nor to what the service wrote', async () => {
    const { path } = await issue();
    for (const name of ['no_such_emoji', ':tada:', 'TADA', '', '__proto__', 'a'.repeat(70_000)])
      expect(await as('owner', 'POST', `${path}/award_emoji`, { name }), name.slice(0, 20)).toMatchObject(
        notFound('Award Emoji Name is not a valid emoji name'),
      );
    expect((await as('owner', 'POST', `${path}/award_emoji`, {})).status).toBe(400);
    await as('owner', 'PUT', path, { title: 'Better' });
    const [told] = (await as('owner', 'GET', `${path}/notes`)).body;
    expect(await as('owner', 'POST', `${path}/notes/${told.id}/award_emoji`, { name: 'tada' })).toMatchObject(
      notFound('Award Emoji Awardable cannot be awarded emoji reactions'),
    );
  });

  test('by who may comment: in a locked discussion members', async () => {
    const { path } = await issue();
    const outsider = await award('stranger', path, 'tada');
    await as('owner', 'PUT', path, { discussion_locked: true });
    expect(await as('stranger', 'POST', `${path}/award_emoji`, { name: 'heart' })).toMatchObject(
      notFound('Award Emoji'),
    );
    await award('guest', path, 'heart');
    // Of others only administrators take them away.
    const other = await as('owner', 'DELETE', `${path}/award_emoji/${outsider.id}`);
    expect([other.status, other.body.message]).toEqual([401, '401 Unauthorized']);
    expect((await root('DELETE', `${path}/award_emoji/${outsider.id}`)).status).toBe(204);
    const hidden = await issue({ confidential: true });
    const note = (await as('owner', 'POST', `${path}/notes`, { body: 'us', internal: true })).body;
    for (const where of [`${hidden.path}/award_emoji`, `${path}/notes/${note.id}/award_emoji`]) {
      expect((await as('guest', 'GET', where)).status).toBe(404);
      expect((await as('guest', 'POST', where, { name: 'tada' })).status).toBe(404);
    }
    expect((await service.call('GET', `${path}/award_emoji`)).status).toBe(401);
  });

  test('by a note that is one emoji, unless commits are commented on', async () => {
    const { path, id } = await issue();
    const said = await as('owner', 'POST', `${path}/notes`, { body: ':tada:' });
    expect([said.status, said.body.name, said.body.awardable_id]).toEqual([201, 'tada', id]);
    const again = await as('owner', 'POST', `${path}/notes`, { body: ':tada:\n' });
    expect(again).toMatchObject(notFound('Award Emoji Name has already been taken'));
    for (const body of [':no_such_emoji:', ':tada: :tada:', 'See :tada:'])
      expect((await as('owner', 'POST', `${path}/notes`, { body })).body.body).toBe(body);
    const talk = await as('owner', 'POST', `${path}/discussions`, { body: ':heart:' });
    expect(talk.body.notes[0].body).toBe(':heart:');
    expect([await names(path), (await as('owner', 'GET', path)).body.user_notes_count]).toEqual([
      ['tada'],
      4,
    ]);
  });
});

describe('lists of issues know what the caller awarded', () => {
  const titles = ({ body }: { body: { title: string }[] }) => body.map(({ title }) => title);
  let at = '';
  let group = 0;

  test('in a project', async () => {
    group = (await as('owner', 'POST', '/groups', { name: 'Fans', path: 'fans', visibility: 'public' })).body
      .id;
    const made = { name: 'fans', namespace_id: group, visibility: 'public' };
    at = `/projects/${(await as('owner', 'POST', '/projects', made)).body.id}/issues`;
    const paths: Record<string, string> = {};
    for (const title of ['tada', 'heart', 'both', 'none', 'hidden']) {
      const labels = title === 'both' ? ['new'] : [];
      paths[title] = `${at}/${(await as('owner', 'POST', at, { title, labels })).body.iid}`;
    }
    for (const title of ['tada', 'both', 'hidden']) await award('guest', paths[title]!, 'tada');
    for (const title of ['heart', 'both']) await award('guest', paths[title]!, 'heart');
    await award('owner', paths['none']!, 'tada');
    for (const who of ['owner', 'guest', 'stranger'] as const) await award(who, paths['heart']!, '+1');
    await award('owner', paths['tada']!, 'thumbsup');
    await award('owner', paths['none']!, 'thumbsdown');
    // An award elsewhere, and one that was taken back.
    await award('guest', (await issue()).path, 'tada');
    const { id } = await award('guest', paths['none']!, 'rocket');
    await as('guest', 'DELETE', `${paths['none']}/award_emoji/${id}`);
    await as('owner', 'PUT', paths['hidden']!, { confidential: true });

    const listed = async (query: string) => {
      const answer = await as('guest', 'GET', `${at}?${query}`);
      expect(answer.headers.get('x-total'), query).toBe(`${answer.body.length}`);
      return titles(answer);
    };
    for (const [query, expected] of [
      ['my_reaction_emoji=tada', ['both', 'tada']],
      ['my_reaction_emoji=heart&sort=asc', ['heart', 'both']],
      ['my_reaction_emoji=%2B1', ['heart']],
      ['my_reaction_emoji=Any', ['both', 'heart', 'tada']],
      ['my_reaction_emoji=None', ['none']],
      ['my_reaction_emoji=rocket', []],
      [`my_reaction_emoji=${encodeURIComponent('tada#')}`, []],
      [`my_reaction_emoji=${'x'.repeat(2000)}`, []],
      ['my_reaction_emoji=tada&labels=new', ['both']],
      ['my_reaction_emoji=tada&state=closed', []],
      ['my_reaction_emoji=Any&order_by=title&sort=asc', ['both', 'heart', 'tada']],
      ['not[my_reaction_emoji]=tada', ['none', 'heart']],
      ['my_reaction_emoji=heart&not[my_reaction_emoji]=tada', ['heart']],
      ['order_by=popularity', ['heart', 'tada', 'none', 'both']],
    ] as const)
      expect(await listed(query), query).toEqual(expected);
    expect(titles(await as('guest', 'GET', `${at}?my_reaction_emoji=Any&per_page=1&page=2`))).toEqual([
      'heart',
    ]);
    // Nobody's reactions are no condition.
    expect((await service.call('GET', `${at}?my_reaction_emoji=tada`)).body).toHaveLength(4);
    const counted = await as('guest', 'GET', `${at}_statistics?my_reaction_emoji=tada`);
    expect(counted.body.statistics.counts).toEqual({ all: 2, closed: 0, opened: 2 });
  });

  test('in a group, and everywhere', async () => {
    const query = 'scope=all&my_reaction_emoji=tada';
    const inGroup = titles(await as('guest', 'GET', `/groups/${group}/issues?${query}`));
    expect(inGroup).toEqual(['both', 'tada']);
    const everywhere = titles(await as('guest', 'GET', `/issues?${query}`));
    expect(everywhere.slice(0, 3)).toEqual(['Fine work', 'both', 'tada']);
    expect(everywhere).not.toContain('hidden');
    expect(titles(await as('owner', 'GET', `/groups/${group}/issues?${query}`))).toEqual(['none']);
  });
});

describe('awards go', () => {
  const rows = async () => {
    const { items } = await world.store.table.query({
      partition: awardsOfHolder({ kind: 'project', id: world.ids['public']! }),
      limit: 1000,
    });
    return items.map(({ sk }) => sk as string);
  };

  test('with their note, and with their issue', async () => {
    const { path, id } = await issue();
    const note = (await as('owner', 'POST', `${path}/notes`, { body: 'Done' })).body;
    await award('guest', `${path}/notes/${note.id}`, 'eyes');
    await award('guest', path, 'tada');
    const left = async () => {
      await settled();
      return (await rows()).filter((sk) => sk.startsWith(`issue#${String(id).padStart(12, '0')}`)).length;
    };
    expect(await left()).toBe(4);
    expect((await as('owner', 'DELETE', `${path}/notes/${note.id}`)).status).toBe(204);
    expect(await left()).toBe(2);
    expect((await as('owner', 'DELETE', path)).status).toBe(204);
    expect(await left()).toBe(0);
  });

  test('to the ghost with their user; a user deleted with all they did takes them along', async () => {
    const { path } = await issue();
    const [kept, gone] = [await someone(), await someone()];
    for (const { token } of [kept, gone]) {
      const json = { name: 'thumbsup' };
      expect((await service.call('POST', `${path}/award_emoji`, { token, json })).status).toBe(201);
    }
    expect(await votes(path)).toEqual([2, 0]);
    await root('DELETE', `/users/${kept.id}`);
    await root('DELETE', `/users/${gone.id}?hard_delete=true`);
    await settled();
    const left = (await as('owner', 'GET', `${path}/award_emoji`)).body;
    expect(left).toMatchObject([{ name: 'thumbsup', user: { username: 'ghost' } }]);
    expect(await votes(path)).toEqual([1, 0]);
    expect((await root('DELETE', `${path}/award_emoji/${left[0].id}`)).status).toBe(204);
    expect(await votes(path)).toEqual([0, 0]);
  });
});
