/** Issues in the order that people arrange by hand. */
import { beforeAll, describe, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';

const { as, world } = ownWorld();

const issues = () => `/projects/${world.ids['public']}/issues`;
const made: { id: number; iid: number; title: string }[] = [];
beforeAll(async () => {
  for (const title of 'abcde') made.push((await as('owner', 'POST', issues(), { title })).body);
});

const one = (title: string) => made.find((each) => each.title === title)!;
const put = (title: string, json: object, who: 'owner' | 'guest' | 'reporter' = 'reporter') =>
  as(who, 'PUT', `${issues()}/${one(title).iid}/reorder`, json);
const order = async (query = '') => {
  const { body } = await as('owner', 'GET', `${issues()}?order_by=relative_position&sort=asc${query}`);
  return body.map(({ title }: { title: string }) => title).join('');
};

describe('an issue', () => {
  test('is put between two others, after one, before one; others stay, and new ones come last', async () => {
    expect(await order()).toBe('abcde');
    const behind = (title: string) => ({ move_before_id: one(title).id });
    const ahead = (title: string) => ({ move_after_id: one(title).id });
    for (const [title, json, expected] of [
      ['e', { ...behind('a'), ...ahead('b') }, 'aebcd'],
      ['a', behind('d'), 'ebcda'],
      ['d', ahead('e'), 'debca'],
      ['b', ahead('c'), 'debca'],
      ['a', { move_before_id: one('b').id, move_after_id: one('e').id }, 'deabc'],
      ['c', behind('d'), 'dceab'],
    ] as const) {
      const { status, body } = await put(title, json);
      expect([status, body.title], JSON.stringify(body)).toEqual([200, title]);
      expect(await order()).toBe(expected);
    }
    made.push((await as('owner', 'POST', issues(), { title: 'f' })).body);
    expect(await order()).toBe('dceabf');
    await as('owner', 'PUT', `${issues()}/${one('e').iid}`, { state_event: 'close', title: 'e' });
    expect(await order()).toBe('dceabf');
    expect(await order('&state=opened')).toBe('dcabf');
    expect(await order('&per_page=2&page=2')).toBe('ea');
    expect(await order('&search=a')).toBe('a');
  });

  test('is put there as others are put there at the same time', async () => {
    const between = { move_before_id: one('d').id, move_after_id: one('c').id };
    const answers = await Promise.all(['a', 'b', 'f'].map((title) => put(title, between)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const found = await order();
    expect(found).toMatch(/^d[abf]{3}ce$/);
    // Also between those.
    const [x, y] = [found[1]!, found[2]!];
    expect((await put('e', { move_before_id: one(x).id, move_after_id: one(y).id })).status).toBe(200);
    expect((await order()).slice(0, 4)).toBe(`d${x}e${y}`);
  });

  test('finds its place however often something was put at the same one', async () => {
    const [low, high] = [one('d'), one('c')];
    const { issues: store } = world.store;
    const record = async ({ iid }: { iid: number }) =>
      (await store.get({ projectId: world.ids['public']!, iid }))!;
    // As after hundreds of moves.
    await store.arrange([
      { issue: await record(low), position: `5${'z'.repeat(220)}U` },
      { issue: await record(high), position: `5${'z'.repeat(220)}V` },
    ]);
    const others = (await order()).replace(/[cdb]/g, '');
    expect((await put('b', { move_before_id: low.id, move_after_id: high.id })).status).toBe(200);
    expect(await order()).toContain('dbc');
    expect((await order()).replace(/[cdb]/g, '')).toBe(others);
    expect((await record(one('b'))).relativePosition!.length).toBeLessThan(100);
  });

  test.each([
    [
      'reporter',
      {},
      400,
      { error: 'move_after_id, move_before_id are missing, at least one parameter must be provided' },
    ],
    ['reporter', { move_after_id: 999_999 }, 422, { message: { error: 'Unprocessable Entity' } }],
    ['reporter', { move_after_id: 'own' }, 422, { message: { error: 'Unprocessable Entity' } }],
    ['guest', { move_after_id: 1 }, 403, { message: '403 Forbidden' }],
  ] as const)('is not put anywhere by a %s who says %j', async (who, json, status, body) => {
    const sent =
      'move_after_id' in json && json.move_after_id === 'own' ? { move_after_id: one('a').id } : json;
    expect(await put('a', sent, who)).toMatchObject({ status, body });
    expect((await as(who, 'PUT', `${issues()}/999/reorder`, { move_after_id: 1 })).status).toBe(404);
  });
});
