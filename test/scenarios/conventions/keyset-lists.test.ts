import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, request, type Service, startService } from '../../harness/service.ts';
import { ask, makeWorld, type Who, type World } from '../../harness/world.ts';

let service: Service;
let world: World;
let groupId: number;
beforeAll(async () => {
  service = await startService({ background: false });
  world = await makeWorld(service);
  const group = await ask(world, 'owner', 'POST', '/groups', {
    name: 'many',
    path: 'many',
    visibility: 'public',
  });
  expect(group.status, JSON.stringify(group.body)).toBe(201);
  groupId = group.body.id;
  const json = { name: 'inside', namespace_id: groupId, visibility: 'public' };
  world.ids['inside'] = (await ask(world, 'owner', 'POST', '/projects', json)).body.id;
  for (const [i, who] of (['developer', 'guest', 'reporter', 'maintainer'] as const).entries()) {
    const to = i % 2 === 0 ? `/groups/${groupId}` : `/projects/${world.ids['inside']}`;
    const member = { user_id: world.ids[who], access_level: 20 };
    expect((await ask(world, 'owner', 'POST', `${to}/members`, member)).status).toBe(201);
  }
});
afterAll(() => service.stop());

const idsOf = ({ body }: Answer): number[] => body.map(({ id }: { id: number }) => id);
const nextOf = ({ headers }: Answer): string | undefined =>
  /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
const opened = (who: Who, url: string) =>
  request(url, 'GET', { headers: { 'PRIVATE-TOKEN': world.tokens[who]! } });

/** The ids of all pages, by the link to the next one. */
async function follow(who: Who, path: string): Promise<{ ids: number[]; pages: number }> {
  const ids: number[] = [];
  let pages = 0;
  for (let url: string | undefined = `${service.url}/api/v4${path}`; url !== undefined; pages++) {
    const answer = await opened(who, url);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-total')).toBeNull();
    ids.push(...idsOf(answer));
    url = nextOf(answer);
  }
  return { ids, pages };
}
const all = async (who: Who, path: string) =>
  (await ask(world, who, 'GET', `${path}per_page=100`)).body.map(({ id }: { id: number }) => id);

test.each([
  ['administrator', 'asc'],
  ['administrator', 'desc'],
  ['stranger', 'asc'],
  ['stranger', 'desc'],
] as const)('users for the %s, %s: keyset pages are the whole list, once', async (who, sort) => {
  const users = await all(who, '/users?');
  const read = await follow(who, `/users?pagination=keyset&per_page=4&order_by=id&sort=${sort}`);
  expect(users.length).toBeGreaterThan(8);
  expect(read.pages).toBe(Math.ceil(users.length / 4));
  expect(read.ids).toEqual(users.toSorted((a: number, b: number) => (sort === 'asc' ? a - b : b - a)));
});

test('users: keyset pages obey filters, and id_after and id_before bound offset pages too', async () => {
  const active = await all('administrator', '/users?active=true&');
  const read = await follow('administrator', '/users?pagination=keyset&per_page=3&active=true');
  expect(read.ids).toEqual(active);
  const [first, , third] = active.toSorted((a: number, b: number) => a - b);
  expect(await all('administrator', `/users?active=true&id_after=${first}&id_before=${third}&`)).toHaveLength(
    1,
  );
  // Links lead to the next page, and no further than the bound at the other end.
  const above = await follow(
    'administrator',
    `/users?pagination=keyset&per_page=1&active=true&id_after=${third}`,
  );
  expect(above.ids).toEqual(active.filter((id: number) => id > third));
});

test('users: an order other than by id has no keyset', async () => {
  const { status, body } = await ask(world, 'administrator', 'GET', '/users?pagination=keyset&order_by=name');
  expect([status, body]).toEqual([
    405,
    { error: 'Keyset pagination is not yet available for this type of request' },
  ]);
});

test.each(['/members', '/members/all', '/members?query=e', '/members/all?query=e'])(
  '%s: keyset pages are the whole list, once',
  async (list) => {
    for (const of of [`/groups/${groupId}`, `/projects/${world.ids['inside']}`]) {
      const path = `${of}${list}${list.includes('?') ? '&' : '?'}`;
      const members = await all('owner', path);
      const read = await follow('owner', `${path}pagination=keyset&per_page=1`);
      expect(read.ids).toEqual(members);
      expect(read.pages).toBe(Math.max(1, members.length));
    }
  },
);

test.each(['x', '-1', '1.5', '9999999999999'])('members after %s: 400', async (token) => {
  const path = `/groups/${groupId}/members?pagination=keyset&page_token=${token}`;
  const { status, body } = await ask(world, 'owner', 'GET', path);
  expect([status, body]).toEqual([400, { message: '400 Bad request - page_token is invalid' }]);
});

test('issues and events: keyset pages are the whole list, once, for each who may see some of it', async () => {
  const inside = `/projects/${world.ids['inside']}`;
  const issue = (who: Who, json: object) => ask(world, who, 'POST', `${inside}/issues`, json);
  for (let i = 1; i <= 7; i++)
    expect(
      (await issue(i % 2 ? 'owner' : 'stranger', { title: `Issue ${i}`, confidential: i > 4 })).status,
    ).toBe(201);
  for (const [who, count] of [
    ['owner', 7],
    ['guest', 7],
    ['stranger', 5],
  ] as const)
    for (const sort of ['asc', 'desc'])
      for (const path of [
        `${inside}/issues?`,
        `/groups/${groupId}/issues?scope=all&`,
        `/issues?scope=all&search=issue&`,
      ]) {
        const whole = await all(who, `${path}sort=${sort}&`);
        const read = await follow(who, `${path}sort=${sort}&pagination=keyset&per_page=2`);
        expect([who, path, read.ids.length, read.ids]).toEqual([who, path, count, whole]);
      }
  for (const who of ['owner', 'stranger'] as const)
    for (const sort of ['asc', 'desc'])
      for (const path of [
        `${inside}/events?`,
        '/users/owner/events?',
        '/events?scope=all&',
        '/events?action=created&',
      ]) {
        const whole = await all(who, `${path}sort=${sort}&`);
        const read = await follow(who, `${path}sort=${sort}&pagination=keyset&per_page=2`);
        expect([who, path, read.ids]).toEqual([who, path, whole]);
      }
  const filtered = await follow(
    'owner',
    `${inside}/issues?author_username=stranger&pagination=keyset&per_page=1`,
  );
  expect(filtered.ids).toHaveLength(3);
});

test('issues by page number: the link to the next page begins where the page ended, whatever came before it since', async () => {
  const json = { name: 'numbered', namespace_id: groupId, visibility: 'public' };
  const issues = `/projects/${(await ask(world, 'owner', 'POST', '/projects', json)).body.id}/issues`;
  const make = async (title: string) =>
    expect((await ask(world, 'owner', 'POST', issues, { title, confidential: title > '6' })).status).toBe(
      201,
    );
  for (let i = 1; i <= 9; i++) await make(`${i}`);
  for (const [list, filter] of [
    [issues, ''],
    [issues, '&not[labels]=none'],
    [`/groups/${groupId}/issues`, '&scope=all'],
    ['/issues', '&scope=all'],
    ['/issues', ''],
  ])
    for (const sort of ['asc', 'desc'])
      for (const who of ['owner', 'stranger'] as const) {
        const path = `${list}?sort=${sort}${filter}&`;
        const whole = await all(who, path);
        const numbers: (string | null)[] = [];
        const found: number[] = [];
        for (let url: string | undefined = `${service.url}/api/v4${path}per_page=2`; url !== undefined; ) {
          const answer: Answer = await opened(who, url);
          const { headers } = answer;
          found.push(...idsOf(answer));
          numbers.push(headers.get('x-page'));
          expect([path, headers.get('x-total')]).toEqual([path, String(whole.length)]);
          url = nextOf(answer);
        }
        expect([who, path, found]).toEqual([who, path, whole]);
        expect(numbers).toEqual(numbers.map((_, i) => String(i + 1)));
      }
  const second = nextOf(await opened('owner', `${service.url}/api/v4${issues}?per_page=2`))!;
  const titles = async (who: Who, url: string) =>
    (await opened(who, url)).body.map(({ title }: { title: string }) => title);
  await make('10');
  expect(await titles('owner', second)).toEqual(['7', '6']);
  // Where it is not of this list or page, the number counts.
  expect(await titles('owner', second.replace('page=2', 'page=3'))).toEqual(['6', '5']);
  expect(await titles('owner', `${second}&state=opened`)).toEqual(['8', '7']);
  expect(await titles('owner', second.replace(/cursor=2\.../, 'cursor=2.xx'))).toEqual(['8', '7']);
  expect(await titles('stranger', second)).toEqual(['5', '4']);
});

describe('issues by page number alone', () => {
  /** A list of issues that are called by their numbers, and what pages of it hold for somebody. */
  async function numbered(name: string, count: number) {
    const json = { name, namespace_id: groupId, visibility: 'public' };
    const { id } = (await ask(world, 'owner', 'POST', '/projects', json)).body;
    const path = `/projects/${id}/issues`;
    const make = async (title: string) =>
      expect((await ask(world, 'owner', 'POST', path, { title })).status).toBe(201);
    for (let i = 1; i <= count; i++) await make(`${i}`);
    const page = async (who: Who, number: number, more = '') => {
      const { body } = await ask(world, who, 'GET', `${path}?per_page=2&page=${number}${more}`);
      return body.map(({ title }: { title: string }) => title);
    };
    return { id, make, page };
  }

  test('the next page begins where the page ended, for who read it of the same list', async () => {
    const { make, page } = await numbered('followed', 7);
    expect(await page('owner', 2)).toEqual(['5', '4']);
    await make('8');
    expect(await page('owner', 3)).toEqual(['3', '2']);
    expect(await page('owner', 4)).toEqual(['1']);
    // Any other page is what its number says: of others, of another list, again, or further on.
    expect(await page('guest', 3)).toEqual(['4', '3']);
    expect(await page('owner', 3, '&state=all')).toEqual(['4', '3']);
    expect(await page('owner', 3)).toEqual(['4', '3']);
    expect(await page('owner', 2)).toEqual(['6', '5']);
    expect(await page('owner', 4)).toEqual(['2', '1']);
  });

  test('who begins again is not taken on from where they ended before', async () => {
    const { make, page } = await numbered('again', 7);
    expect(await page('owner', 1)).toEqual(['7', '6']);
    await make('8');
    expect(await page('owner', 2)).toEqual(['5', '4']);
    expect(await page('owner', 1)).toEqual(['8', '7']);
    expect(await page('owner', 3)).toEqual(['4', '3']);
    await make('9');
    expect(await page('owner', 1)).toEqual(['9', '8']);
    await make('10');
    expect(await page('owner', 2)).toEqual(['7', '6']);
  });

  test('a page shows what its reader may see when they ask for it', async () => {
    const { id, page } = await numbered('hidden', 7);
    expect(await page('stranger', 2)).toEqual(['5', '4']);
    const hidden = { confidential: true };
    await ask(world, 'owner', 'PUT', `/projects/${id}/issues/3`, hidden);
    expect(await page('stranger', 3)).toEqual(['2', '1']);
    expect(await page('owner', 3)).toEqual(['3', '2']);
    await ask(world, 'owner', 'PUT', `/projects/${id}`, { visibility: 'private' });
    const { status } = await ask(world, 'stranger', 'GET', `/projects/${id}/issues?per_page=2&page=3`);
    expect(status).toBe(404);
  });
});

test('merge requests: keyset pages are the whole list, once, in any state and for each person', async () => {
  const json = {
    name: 'proposed',
    namespace_id: groupId,
    initialize_with_readme: true,
    visibility: 'public',
  };
  const { id } = (await ask(world, 'owner', 'POST', '/projects', json)).body;
  const make = async (path: string, more: object) =>
    expect((await ask(world, 'owner', 'POST', `/projects/${id}/${path}`, more)).status).toBe(201);
  for (const branch of ['a', 'b', 'c', 'd', 'e']) {
    const actions = [{ action: 'create', file_path: branch, content: branch }];
    await make('repository/commits', { branch, start_branch: 'main', commit_message: branch, actions });
    await make('merge_requests', { title: branch, source_branch: branch, target_branch: 'main' });
  }
  await ask(world, 'owner', 'PUT', `/projects/${id}/merge_requests/2`, { state_event: 'close' });
  for (const sort of ['asc', 'desc'])
    for (const path of [
      `/projects/${id}/merge_requests?`,
      `/projects/${id}/merge_requests?state=opened&`,
      `/groups/${groupId}/merge_requests?author_username=owner&`,
      '/merge_requests?',
    ]) {
      const whole = await all('owner', `${path}sort=${sort}&`);
      const read = await follow('owner', `${path}sort=${sort}&pagination=keyset&per_page=2`);
      expect([path, read.ids]).toEqual([path, whole]);
      expect(whole.length).toBe(path.includes('opened') ? 4 : 5);
    }
});

test('snippets: keyset pages are the whole list, once, for each who may see some of it', async () => {
  const inside = `/projects/${world.ids['inside']}/snippets`;
  const files = [{ file_path: 'a.txt', content: 'text' }];
  for (let i = 1; i <= 7; i++)
    for (const path of ['/snippets', inside]) {
      const visibility = ['private', 'internal', 'public'][i % 3];
      const { status } = await ask(world, 'owner', 'POST', path, { title: `${i}`, visibility, files });
      expect(status).toBe(201);
    }
  for (const [who, list, count] of [
    ['owner', '/snippets', 7],
    ['stranger', '/snippets', 0],
    ['stranger', '/snippets/public', 2],
    ['owner', inside, 7],
    ['stranger', inside, 5],
    ['external', inside, 2],
  ] as const) {
    const whole = await all(who, `${list}?`);
    for (const perPage of [1, 2, 100]) {
      const read = await follow(who, `${list}?pagination=keyset&per_page=${perPage}`);
      expect([who, list, read.ids]).toEqual([who, list, whole]);
      expect(read.pages).toBe(Math.max(1, Math.ceil(count / perPage)));
    }
  }
});

test('snippets: a cursor is that of one list, for who sees the same of it', async () => {
  const inside = `/projects/${world.ids['inside']}/snippets`;
  const keyset = 'pagination=keyset&per_page=1';
  const cursorOf = async (path: string) =>
    /cursor=([^&>]+)/.exec((await ask(world, 'owner', 'GET', `${path}?${keyset}`)).headers.get('link')!)![1]!;
  const at = async (who: Who, path: string, cursor: string) =>
    (await ask(world, who, 'GET', `${path}?${keyset}&cursor=${cursor}`)).status;
  const lists = ['/snippets', '/snippets/public', inside];
  for (const path of lists) {
    const cursor = await cursorOf(path);
    expect(await at('owner', path, cursor)).toBe(200);
    for (const other of lists.filter((each) => each !== path))
      expect(await at('owner', other, cursor)).toBe(400);
    expect(await at('owner', path, `x${cursor}`)).toBe(400);
  }
  expect(await at('stranger', '/snippets', await cursorOf('/snippets'))).toBe(400);
  expect(await at('stranger', inside, await cursorOf(inside))).toBe(400);
});

test('commits have no largest offset: they are walked from the first one in any case', async () => {
  const { id } = (
    await ask(world, 'owner', 'POST', '/projects', { name: 'walked', initialize_with_readme: true })
  ).body;
  const commits = `/projects/${id}/repository/commits?per_page=100&page=`;
  expect((await ask(world, 'owner', 'GET', `${commits}1`)).body).toHaveLength(1);
  const far = await ask(world, 'owner', 'GET', `${commits}1000000`);
  expect([far.status, far.body]).toEqual([200, []]);
});

test('issues: a cursor is that of one list, for one reader', async () => {
  const path = `/projects/${world.ids['inside']}/issues?pagination=keyset&per_page=2`;
  const { headers } = await ask(world, 'owner', 'GET', path);
  const cursor = /cursor=([^&>]+)/.exec(headers.get('link')!)![1]!;
  const at = async (who: Who, more: string) =>
    (await ask(world, who, 'GET', `${path}&cursor=${more}`)).status;
  expect(await at('owner', cursor)).toBe(200);
  expect(await at('guest', cursor)).toBe(400);
  expect(await at('owner', `${cursor}&state=opened`)).toBe(400);
  expect(await at('owner', `x${cursor}`)).toBe(400);
  const other = await ask(world, 'owner', 'GET', `${path}&order_by=updated_at`);
  expect(other.status).toBe(405);
});
