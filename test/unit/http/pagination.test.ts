import { describe, expect, test } from 'vitest';
import { anyone } from '../../../lib/http/access.ts';
import { endpoint } from '../../../lib/http/endpoint.ts';
import { boolean, list, object, oneOf, params, string } from '../../../lib/http/params.ts';
import { serviceOf } from './service.ts';

const common = { method: 'GET', area: 'test', summary: 'A list', access: anyone() } as const;
const rows = (count: number) => Array.from({ length: count }, (_, index) => index);

const { send } = serviceOf([
  endpoint({
    ...common,
    path: '/projects/:id/notes',
    query: () =>
      params({
        order_by: oneOf(['created_at', 'updated_at'], { default: 'created_at' }),
        sort: oneOf(['asc', 'desc'], { default: 'desc' }),
        iids: list(string()),
        not: object({ labels: string() }),
        simple: boolean(),
      }),
    paginate: 'offset',
    handle: ({ page }) => ({ items: rows(8).slice(page.offset, page.offset + page.perPage), total: 8 }),
  }),
  endpoint({
    ...common,
    path: '/many/:total',
    paginate: 'offset',
    handle: ({ params, page }) => ({ items: rows(page.perPage), total: Number(params.total) }),
  }),
  endpoint({
    ...common,
    path: '/commits/:count',
    paginate: 'offset',
    handle: ({ params, page }) => ({
      items: rows(Number(params.count)).slice(page.offset, page.offset + page.perPage),
    }),
  }),
  endpoint({
    ...common,
    path: '/projects',
    query: () =>
      params({
        order_by: oneOf(['id', 'name'], { default: 'name' }),
        sort: oneOf(['asc', 'desc'], { default: 'desc' }),
      }),
    paginate: 'offset+keyset',
    keyset: { marker: 'id', orderBy: ['id'] },
    noun: 'Project',
    handle: ({ page }) =>
      page.kind === 'keyset'
        ? { items: [page], ...(page.after === '40' ? {} : { next: '42' }) }
        : { items: [page], total: 1 },
  }),
  endpoint({
    ...common,
    path: '/issues',
    query: () => params({ order_by: oneOf(['created_at', 'title'], { default: 'created_at' }) }),
    paginate: 'offset+keyset',
    keyset: { marker: 'cursor', orderBy: ['created_at'], links: true },
    handle: ({ page }) => ({ items: [page], total: 100, more: true, next: 'here' }),
  }),
  endpoint({
    ...common,
    path: '/rows/:total',
    query: () => params({ sort: oneOf(['asc', 'desc'], { default: 'asc' }), marker: string() }),
    paginate: 'offset',
    keyset: { marker: 'cursor', rows: true },
    noun: 'Row',
    handle: ({ params, query, page }) => {
      const from = page.keyset ? Number(page.after ?? 0) : page.offset;
      const items = rows(Number(params.total)).slice(from, from + page.perPage);
      const more = from + page.perPage < Number(params.total);
      if (more) page.ended?.(String(from + page.perPage));
      const total = page.keyset ? undefined : Number(params.total);
      return { items, more, total, next: query.marker };
    },
  }),
  endpoint({
    ...common,
    path: '/tree',
    paginate: 'keyset',
    keyset: { marker: 'page_token' },
    handle: ({ page }) => ({ items: [page], next: 'a/ö' }),
  }),
]);

const pageHeaders = (headers: Headers) =>
  Object.fromEntries(
    ['x-page', 'x-per-page', 'x-next-page', 'x-prev-page', 'x-total', 'x-total-pages'].map((name) => [
      name.slice(2),
      headers.get(name),
    ]),
  );
const linksOf = (headers: Headers) =>
  Object.fromEntries(
    [...(headers.get('link') ?? '').matchAll(/<([^>]*)>; rel="(\w+)"/g)].map(([, url, rel]) => [rel, url]),
  );

describe('offset pagination', () => {
  test('gives the headers of the documented example', async () => {
    const { headers, body } = await send('GET /projects/8/notes?page=2&per_page=3');
    const url = 'http://lemnos.test/api/v4/projects/8/notes?id=8&order_by=created_at&page=';
    expect(headers.get('link')).toBe(
      `<${url}1&per_page=3&sort=desc>; rel="prev", <${url}3&per_page=3&sort=desc>; rel="next", ` +
        `<${url}1&per_page=3&sort=desc>; rel="first", <${url}3&per_page=3&sort=desc>; rel="last"`,
    );
    expect(pageHeaders(headers)).toEqual({
      page: '2',
      'per-page': '3',
      'next-page': '3',
      'prev-page': '1',
      total: '8',
      'total-pages': '3',
    });
    expect(body).toEqual([3, 4, 5]);
  });

  test('repeats the query in links, encoded and without secrets', async () => {
    const { headers } = await send(
      'GET /projects/group%2Fn%20ä/notes?iids[]=1&iids[]=2&not[labels]=a%26b+c&simple=yes&private_token=dev&unknown=x',
    );
    expect(linksOf(headers)['first']).toBe(
      'http://lemnos.test/api/v4/projects/group%2Fn%20%C3%A4/notes?id=group%2Fn+%C3%A4&iids%5B%5D=1&iids%5B%5D=2' +
        '&not%5Blabels%5D=a%26b+c&order_by=created_at&page=1&per_page=20&simple=yes&sort=desc&unknown=x',
    );
    expect([...headers].flat().join()).not.toContain('dev');
  });

  test('has no previous or next link when there is one page', async () => {
    const { headers } = await send('GET /projects/8/notes');
    expect(pageHeaders(headers)).toEqual({
      page: '1',
      'per-page': '20',
      'next-page': '',
      'prev-page': '',
      total: '8',
      'total-pages': '1',
    });
    expect(Object.keys(linksOf(headers))).toEqual(['first', 'last']);
  });

  test('returns an empty page beyond the end', async () => {
    const { headers, body } = await send('GET /projects/8/notes?page=9');
    expect(body).toEqual([]);
    expect(pageHeaders(headers)).toMatchObject({ page: '9', 'next-page': '', 'prev-page': '8' });
  });

  test('counts one page for an empty list', async () => {
    expect(pageHeaders((await send('GET /many/0')).headers)).toMatchObject({
      total: '0',
      'total-pages': '1',
    });
  });

  test.each([
    ['per_page=0', 400, 'per_page has a value not allowed'],
    ['per_page=x', 400, 'per_page is invalid'],
    ['page=x', 400, 'page is invalid'],
    [
      'page=502&per_page=100',
      405,
      'Offset pagination has a maximum allowed offset of 50000 for requests that return objects of type Project. Remaining records can be retrieved using keyset pagination.',
    ],
    [
      'page=9007199254740991',
      405,
      'Offset pagination has a maximum allowed offset of 50000 for requests that return objects of type Project. Remaining records can be retrieved using keyset pagination.',
    ],
  ])('%s: %i', async (query, status, error) => {
    expect(await send(`GET /projects?${query}`)).toMatchObject({ status, body: { error } });
  });

  test('names no other way where a list has none', async () => {
    expect(await send('GET /many/60000?page=502&per_page=100')).toMatchObject({
      status: 405,
      body: {
        error:
          'Offset pagination has a maximum allowed offset of 50000 for requests that return objects of type record.',
      },
    });
  });

  test('has empty pages beyond the end of a list, however far', async () => {
    for (const [list, total, pages] of [
      ['/many/8', '8', '1'],
      ['/many/50100', null, null],
    ]) {
      const { status, headers, body } = await send(`GET ${list}?page=700&per_page=100`);
      expect([status, body]).toEqual([200, []]);
      const [page, next] = ['700', ''];
      expect(pageHeaders(headers)).toMatchObject({
        page,
        'next-page': next,
        'prev-page': '699',
        total,
        'total-pages': pages,
      });
    }
  });

  test.each([
    ['page=0', { page: 1, perPage: 20, offset: 0 }],
    ['page=-3', { page: 1, perPage: 20, offset: 0 }],
    ['per_page=1000&page=3', { page: 3, perPage: 100, offset: 200 }],
    ['per_page=-1', { page: 1, perPage: 20, offset: 0 }],
    ['page=501&per_page=100', { page: 501, perPage: 100, offset: 50_000 }],
    ['page=&per_page=', { page: 1, perPage: 20, offset: 0 }],
  ])('%s', async (query, page) => {
    expect((await send(`GET /projects?${query}`)).body).toEqual([{ kind: 'offset', ...page }]);
  });

  test('omits a total above 10,000', async () => {
    const at = await send('GET /many/10000?page=2');
    expect(pageHeaders(at.headers)).toMatchObject({ total: '10000', 'total-pages': '500' });
    const above = await send('GET /many/10001?page=2');
    expect(pageHeaders(above.headers)).toEqual({
      page: '2',
      'per-page': '20',
      'next-page': '3',
      'prev-page': '1',
      total: null,
      'total-pages': null,
    });
    expect(Object.keys(linksOf(above.headers))).toEqual(['prev', 'next', 'first']);
  });

  test('assumes a next page after a full page when there is no total', async () => {
    expect(pageHeaders((await send('GET /commits/40?page=2')).headers)).toMatchObject({
      'next-page': '3',
      total: null,
    });
    expect(pageHeaders((await send('GET /commits/39?page=2')).headers)).toMatchObject({
      'next-page': '',
      total: null,
    });
  });

  test('has links that can be followed to the end', async () => {
    const seen: unknown[] = [];
    let next: string | undefined = '/projects/8/notes?per_page=3';
    for (let guard = 0; next !== undefined && guard < 9; guard++) {
      const { headers, body } = await send(`GET ${next}`);
      seen.push(...(body as unknown[]));
      next = linksOf(headers)['next']?.replace('http://lemnos.test/api/v4', '');
    }
    expect(seen).toEqual(rows(8));
  });
});

describe('a link to the next offset page that has a marker', () => {
  const follow = async (query: string) => (await send(`GET /issues?per_page=10&${query}`)).body;

  test('tells how many items stand before it; the other links have none', async () => {
    const { headers } = await send('GET /issues?per_page=10&page=3&cursor=20.before');
    const { next, ...others } = linksOf(headers);
    expect(new URL(next!).searchParams.get('cursor')).toBe('30.here');
    expect(Object.keys(others)).toEqual(['prev', 'first', 'last']);
    expect(JSON.stringify(others)).not.toContain('cursor');
  });

  test.each([
    ['page=3&cursor=20.before', { page: 3, offset: 20, after: 'before' }],
    ['page=4&cursor=20.before', { page: 4, offset: 30 }],
    ['page=3&cursor=before', { page: 3, offset: 20 }],
    ['page=3&cursor=', { page: 3, offset: 20 }],
    ['page=3&cursor=20.before&order_by=title', { page: 3, offset: 20 }],
  ])('begins the page that it is of, and no other: %s', async (query, page) => {
    expect(await follow(query)).toEqual([{ kind: 'offset', perPage: 10, ...page }]);
  });

  test('is there only in the order that the marker is of', async () => {
    const { headers } = await send('GET /issues?order_by=title');
    expect(linksOf(headers)['next']).not.toContain('cursor');
  });
});

describe('keyset pagination', () => {
  const base = 'http://lemnos.test/api/v4';
  test('works by id in both directions, within a bound at the other end', async () => {
    const down = await send('GET /projects?pagination=keyset&order_by=id&per_page=50');
    expect(down.headers.get('link')).toBe(
      `<${base}/projects?id_before=42&order_by=id&pagination=keyset&per_page=50&sort=desc>; rel="next"`,
    );
    expect(down.headers.has('x-page')).toBe(false);
    expect(down.body).toEqual([{ kind: 'keyset', perPage: 50, orderBy: 'id', sort: 'desc' }]);
    const up = await send('GET /projects?pagination=keyset&order_by=id&sort=asc&id_after=41&id_before=90');
    expect(linksOf(up.headers)['next']).toBe(
      `${base}/projects?id_after=42&id_before=90&order_by=id&pagination=keyset&per_page=20&sort=asc`,
    );
    expect(up.body).toMatchObject([{ after: '41' }]);
  });

  test('has no link on the last page', async () => {
    expect((await send('GET /projects?pagination=keyset&order_by=id&id_before=40')).headers.has('link')).toBe(
      false,
    );
  });

  test('refuses an unsupported order', async () => {
    for (const query of ['pagination=keyset', 'pagination=keyset&order_by=name']) {
      expect(await send(`GET /projects?${query}`)).toMatchObject({
        status: 405,
        body: { error: 'Keyset pagination is not yet available for this type of request' },
      });
    }
  });

  test('works by page token', async () => {
    const { headers, body } = await send('GET /tree?page_token=x%2Fy&per_page=1');
    expect(body).toEqual([{ kind: 'keyset', perPage: 1, after: 'x/y' }]);
    expect(headers.get('link')).toBe(`<${base}/tree?page_token=a%2F%C3%B6&per_page=1>; rel="next"`);
  });

  test('requires a marker in the declaration of the endpoint', () => {
    expect(() =>
      endpoint({ ...common, path: '/x', paginate: 'keyset', handle: () => ({ items: [] }) }),
    ).toThrow(TypeError);
  });
});

describe('a list of rows', () => {
  const base = 'http://lemnos.test/api/v4';
  const nextOf = (headers: Headers) => linksOf(headers)['next']?.replace(base, '');

  test('has its pages by number, as others have', async () => {
    const { headers } = await send('GET /rows/60000?per_page=100');
    expect(linksOf(headers)).toEqual(
      Object.fromEntries(
        [
          ['next', 2],
          ['first', 1],
        ].map(([rel, page]) => [rel, `${base}/rows/60000?page=${page}&per_page=100&sort=asc&total=60000`]),
      ),
    );
  });

  test('can be followed by links beyond the last page that has a number, to its end', async () => {
    const seen: unknown[] = [];
    const pages: (string | null)[] = [];
    let next: string | undefined = '/rows/50250?per_page=100&page=500';
    while (next !== undefined) {
      const { headers, body } = await send(`GET ${next}`);
      seen.push(...(body as unknown[]));
      pages.push(headers.get('x-page'));
      next = nextOf(headers);
    }
    expect(seen).toEqual(rows(50_250).slice(49_900));
    expect(pages).toEqual(['500', '501', null, null]);
  });

  test('goes on by keyset from its beginning, without a number or a total', async () => {
    const { headers, body } = await send('GET /rows/5?pagination=keyset&per_page=2');
    expect([body, headers.get('x-page'), headers.get('x-total')]).toEqual([[0, 1], null, null]);
    expect(linksOf(headers)).toEqual({
      next: `${base}/rows/5?cursor=2&pagination=keyset&per_page=2&sort=asc&total=5`,
    });
    const last = await send('GET /rows/5?pagination=keyset&per_page=2&cursor=4');
    expect([last.body, last.headers.get('link')]).toEqual([[4], null]);
  });

  test('tells no other marker than that of the row where a page ended', async () => {
    for (const query of ['', '&pagination=keyset']) {
      const { headers } = await send(`GET /rows/5?per_page=5${query}&marker=of+others`);
      expect([query, linksOf(headers)['next']]).toEqual([query, undefined]);
    }
  });

  test('counts pages for those who name one, also by keyset', async () => {
    const { headers, body } = await send('GET /rows/5?pagination=keyset&per_page=2&page=2');
    expect([body, headers.get('x-page'), headers.get('x-next-page')]).toEqual([[2, 3], '2', '3']);
    const last = await send(`GET ${nextOf(headers)}`);
    expect([last.body, nextOf(last.headers)]).toEqual([[4], undefined]);
    const marked = await send('GET /rows/5?pagination=keyset&per_page=2&page=2&cursor=4');
    expect([marked.body, marked.headers.get('x-page')]).toEqual([[4], null]);
  });

  test('says how to go on where it is asked for a page too far', async () => {
    expect(await send('GET /rows/60000?page=502&per_page=100')).toMatchObject({
      status: 405,
      body: {
        error:
          'Offset pagination has a maximum allowed offset of 50000 for requests that return objects of type Row. Remaining records can be retrieved using keyset pagination.',
      },
    });
  });

  test('takes another method of pagination, and a cursor without one, as none', async () => {
    for (const query of ['pagination=legacy', 'pagination=x', 'cursor=2'])
      expect((await send(`GET /rows/5?per_page=2&${query}`)).body).toEqual([0, 1]);
  });
});

test('the link from the last page that has a number goes on by keyset, in an order that has one', async () => {
  const at = async (query: string) => {
    const { headers } = await send(`GET /issues?per_page=100&page=501&${query}`);
    return new URL(linksOf(headers)['next']!).searchParams;
  };
  expect(Object.fromEntries(await at(''))).toEqual({
    cursor: 'here',
    order_by: 'created_at',
    pagination: 'keyset',
    per_page: '100',
  });
  expect((await at('order_by=title')).get('page')).toBe('502');
});
