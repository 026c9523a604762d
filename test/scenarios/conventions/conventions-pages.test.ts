import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, request, type Service, startService } from '../../harness/service.ts';

const COUNT = 45;
let service: Service;
let token: string;
let ids: number[];
beforeAll(async () => {
  service = await startService();
  ({ token } = await service.user('collector'));
  const made = await Promise.all(
    Array.from({ length: COUNT }, (_, n) => create(`n${String(n).padStart(2, '0')}`)),
  );
  ids = made.map(({ body }) => body.id).sort((a, b) => a - b);
});
afterAll(() => service.stop());

const create = (name: string, visibility = 'private') =>
  service.call('POST', '/projects', { token, json: { name, visibility } });
const get = (path: string) => service.call('GET', path, { token });

/** Every page behind `Link: rel="next"`, the first one too. */
async function follow(path: string, between?: () => Promise<unknown>): Promise<Answer[]> {
  const pages: Answer[] = [];
  let url: string | undefined = `${service.url}/api/v4${path}`;
  while (url !== undefined) {
    const page: Answer = await request(url, 'GET', { headers: { 'PRIVATE-TOKEN': token } });
    expect([url, page.status]).toEqual([url, 200]);
    pages.push(page);
    if (pages.length > 60) throw new Error('the pages never end');
    url = linksOf(page)['next'];
    if (url !== undefined) await between?.();
  }
  return pages;
}

const linksOf = ({ headers }: Answer): Record<string, string> =>
  Object.fromEntries(
    [...(headers.get('link') ?? '').matchAll(/<([^>]*)>; rel="(\w+)"/g)].map(([, url, rel]) => [rel!, url!]),
  );
const idsOf = (pages: Answer[]): number[] =>
  pages.flatMap((page) => page.body.map((project: { id: number }) => project.id));

test.each([
  ['asc', 10, 5],
  ['desc', 10, 5],
  ['asc', 20, 3],
  ['desc', 45, 1],
  ['asc', 44, 2],
  ['desc', 1, 45],
] as const)('keyset pages %s by %i: %i pages hold all rows once', async (sort, perPage, pages) => {
  const read = await follow(`/projects?pagination=keyset&order_by=id&sort=${sort}&per_page=${perPage}`);
  expect(read.length).toBe(pages);
  expect(idsOf(read)).toEqual(sort === 'asc' ? ids : ids.toReversed());
  for (const page of read) {
    for (const name of ['x-total', 'x-total-pages', 'x-page', 'x-next-page'])
      expect(page.headers.get(name)).toBeNull();
    expect(Object.keys(linksOf(page))).toEqual(page === read.at(-1) ? [] : ['next']);
  }
});

test.each([
  ['', 'id', 'desc'],
  ['&membership=true', 'id', 'asc'],
  ['&owned=true', 'id', 'desc'],
  ['&order_by=name', 'name', 'asc'],
  ['&order_by=path&owned=true', 'name', 'desc'],
  ['&order_by=updated_at&visibility=private', 'id', 'asc'],
  ['&with_issues_enabled=true', 'id', 'asc'],
])('offset pages %s by %s %s hold all rows once', async (query, by, sort) => {
  const read = await follow(`/projects?sort=${sort}&per_page=8${query}`);
  expect(read.length).toBe(6);
  const found = read.flatMap((page) => page.body.map((project: Record<string, unknown>) => project[by]));
  const compare = (a: unknown, b: unknown) =>
    by === 'id' ? Number(a) - Number(b) : String(a) < String(b) ? -1 : 1;
  if (query !== '&order_by=updated_at&visibility=private') {
    expect(found).toEqual(sort === 'asc' ? found.toSorted(compare) : found.toSorted(compare).reverse());
  }
  expect(idsOf(read).sort((a, b) => a - b)).toEqual(ids);
  for (const [index, { headers }] of read.entries()) {
    expect([headers.get('x-page'), headers.get('x-per-page')]).toEqual([String(index + 1), '8']);
    expect([headers.get('x-total'), headers.get('x-total-pages')]).toEqual(['45', '6']);
    expect(headers.get('x-next-page')).toBe(index === 5 ? '' : String(index + 2));
    expect(headers.get('x-prev-page')).toBe(index === 0 ? '' : String(index));
  }
});

test('offset pages can be read backwards', async () => {
  const seen: number[] = [];
  let url: string | undefined = linksOf(await get('/projects?per_page=7'))['last'];
  while (url !== undefined) {
    const page: Answer = await request(url, 'GET', { headers: { 'PRIVATE-TOKEN': token } });
    seen.push(...page.body.map((project: { id: number }) => project.id).reverse());
    url = linksOf(page)['prev'];
  }
  expect(seen).toEqual(ids);
});

test('the Link header repeats all parameters in force, sorted', async () => {
  const { headers } = await get(
    '/projects?per_page=10&page=2&search=n&topic[]=&sort=asc&with_programming_language=',
  );
  const url = `${service.url}/api/v4/projects`;
  const simple = await get('/projects?page=2&per_page=20&owned=true');
  const rest = (page: number) =>
    `archived=x&membership=false&order_by=created_at&owned=true&page=${page}&per_page=20&` +
    'repository_checksum_failed=false&search_namespaces=false&simple=false&sort=desc&starred=false&statistics=false&' +
    'wiki_checksum_failed=false&with_custom_attributes=false&with_issues_enabled=false&with_merge_requests_enabled=false';
  const expected = (page: number) => rest(page).replace('archived=x&', '');
  expect(simple.headers.get('link')).toBe(
    [
      `<${url}?${expected(1)}>; rel="prev"`,
      `<${url}?${expected(3)}>; rel="next"`,
      `<${url}?${expected(1)}>; rel="first"`,
      `<${url}?${expected(3)}>; rel="last"`,
    ].join(', '),
  );
  // Given lists and odd texts come back percent-encoded, in their place.
  expect(headers.get('link')).toMatch(/sort=asc&starred=false&statistics=false&topic%5B%5D=&/);
  const odd = await get(`/projects?search=${encodeURIComponent('a b>;,"ü&=')}&per_page=1`);
  expect(odd.headers.get('link')).toContain('search=a+b%3E%3B%2C%22%C3%BC%26%3D&');
  expect(odd.headers.get('link')!.match(/[<>]/g)!.length % 2).toBe(0);
});

test('per_page is 20 by default and at most 100', async () => {
  expect((await get('/projects')).body.length).toBe(20);
  const most = await get('/projects?per_page=1000');
  expect([most.headers.get('x-per-page'), most.body.length, most.headers.get('x-total-pages')]).toEqual([
    '100',
    45,
    '1',
  ]);
  expect(most.headers.get('link')).toContain('per_page=100');
  const zero = await get('/projects?per_page=0');
  expect([zero.status, zero.body]).toEqual([400, { error: 'per_page has a value not allowed' }]);
});

test('pages before the first are the first; pages after the last are empty', async () => {
  for (const page of ['0', '-3', '1']) {
    const answer = await get(`/projects?page=${page}&per_page=5`);
    expect([answer.headers.get('x-page'), answer.body[0].id]).toEqual(['1', ids.at(-1)]);
  }
  const beyond = await get('/projects?page=99&per_page=5');
  expect([
    beyond.status,
    beyond.body,
    beyond.headers.get('x-next-page'),
    beyond.headers.get('x-total'),
  ]).toEqual([200, [], '', '45']);
  const none = await get('/projects?starred=true');
  expect([none.headers.get('x-total'), none.headers.get('x-total-pages')]).toEqual(['0', '1']);
});

test('offset pagination ends at 50,000 rows, and keyset pagination only supports order_by=id', async () => {
  const far = await get('/projects?page=501&per_page=100');
  expect(far.status).toBe(200);
  const beyond = await get('/projects?page=502&per_page=100');
  expect([beyond.status, beyond.body]).toEqual([
    405,
    {
      error:
        'Offset pagination has a maximum allowed offset of 50000 for requests that return objects of type Project. Remaining records can be retrieved using keyset pagination.',
    },
  ]);
  for (const query of ['', '&order_by=name', '&order_by=created_at']) {
    const other = await get(`/projects?pagination=keyset${query}`);
    expect([other.status, other.body]).toEqual([
      405,
      { error: 'Keyset pagination is not yet available for this type of request' },
    ]);
  }
});

test('lists without keyset support ignore pagination=keyset', async () => {
  const answer = await get('/user/keys?pagination=keyset&per_page=1');
  expect([answer.status, answer.headers.get('x-per-page')]).toEqual([200, '1']);
});

test('keyset pages repeat and hide nothing while rows are created and deleted', async () => {
  for (const sort of ['asc', 'desc'] as const) {
    const before = idsOf(await follow('/projects?pagination=keyset&order_by=id&sort=asc&per_page=100'));
    const extra: number[] = [];
    const read = await follow(
      `/projects?pagination=keyset&order_by=id&sort=${sort}&per_page=10`,
      async () => {
        const made = await create(`meanwhile ${sort} ${extra.length}`);
        extra.push(made.body.id);
      },
    );
    const found = idsOf(read);
    expect(new Set(found).size).toBe(found.length);
    expect(found.filter((id) => !extra.includes(id)).sort((a, b) => a - b)).toEqual(before);
    // New rows stand at the far end: only who reads towards it meets them.
    if (sort === 'desc') expect(found.some((id) => extra.includes(id))).toBe(false);

    const doomed = [...extra];
    const shrinking = await follow(
      `/projects?pagination=keyset&order_by=id&sort=${sort}&per_page=10`,
      async () => {
        const id = doomed.pop();
        if (id !== undefined) await service.call('DELETE', `/projects/${id}`, { token });
      },
    );
    const left = idsOf(shrinking);
    expect(new Set(left).size).toBe(left.length);
    for (const id of before) expect(left).toContain(id);
    for (const id of doomed) await service.call('DELETE', `/projects/${id}`, { token });
  }
});

test('members, tokens and users have the same pagination', async () => {
  for (const path of [`/projects/${ids[0]}/members`, '/personal_access_tokens', '/users']) {
    const answer = await service.call('GET', `${path}?per_page=1`, { token: service.rootToken });
    const url = `${service.url}/api/v4${path}?`;
    expect([path, answer.status, answer.body.length]).toEqual([path, 200, 1]);
    const { first, last, next } = linksOf(answer);
    for (const link of [first, last]) expect(link).toContain(url);
    const total = Number(answer.headers.get('x-total'));
    expect(answer.headers.get('x-total-pages')).toBe(String(total));
    if (total > 1) expect(next).toContain('page=2');
    else expect(next).toBeUndefined();
    const beyond = await service.call('GET', `${path}?page=502&per_page=100`, { token: service.rootToken });
    // The end of a list of tokens is before; the others have a keyset that goes on there.
    expect([path, beyond.status]).toEqual([path, path === '/personal_access_tokens' ? 200 : 405]);
  }
});
