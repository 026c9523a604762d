import { connect } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { type Answer, request, type Service } from '../../harness/service.ts';
import { ask, type Who } from '../../harness/world.ts';

const { service, world } = ownWorld();

const outcome = ({ status, body }: Answer) => [status, body];

describe('API routes', () => {
  test.each([
    ['GET', '/nothing', 404, { error: '404 Not Found' }],
    ['GET', '/projects/1/nothing', 404, { error: '404 Not Found' }],
    ['POST', '/users/1/nothing', 404, { error: '404 Not Found' }],
    ['GET', '/users/abc', 404, { error: '404 Not Found' }],
    ['GET', '/users/1.5', 404, { error: '404 Not Found' }],
    ['GET', '/users/-1', 404, { error: '404 Not Found' }],
    ['PUT', '/users', 405, { error: '405 Not Allowed' }],
    ['PATCH', '/projects', 405, { error: '405 Not Allowed' }],
    ['POST', '/version', 405, { error: '405 Not Allowed' }],
    ['GET', '/projects/%ff', 400, { error: 'invalid %-encoding' }],
    ['GET', '/projects/a%00b', 400, { error: 'a path may not contain NUL' }],
  ])('%s %s is answered with %i', async (method, path, status, body) => {
    expect(outcome(await ask(world, 'owner', method, path))).toEqual([status, body]);
    // Whether there is such an address is no secret: it is told before who asks.
    if (status !== 405) expect((await ask(world, 'anonymous', method, path)).status).toBe(status);
  });

  test('name the allowed methods in a 405', async () => {
    const { headers } = await ask(world, 'owner', 'PATCH', '/projects');
    expect(headers.get('allow')).toBe('OPTIONS, GET, HEAD, POST');
  });

  test('do not exist in version 3', async () => {
    const answer = await request(`${service.url}/api/v3/projects`, 'GET');
    expect(outcome(answer)).toEqual([410, { error: 'API V3 is no longer supported. Use API V4 instead.' }]);
  });

  test.each(['/projects/', '/user/', '/version.json', '/metadata.json'])(
    '%s is the same route without the suffix',
    async (path) => {
      expect((await ask(world, 'owner', 'GET', path)).status).toBe(200);
    },
  );
  test('send callers from .json to the path itself, with method, query and body', async () => {
    const labels = `${service.url}/api/v4/projects/${world.ids['private']}/labels`;
    const sent = {
      method: 'POST',
      headers: { 'Private-Token': world.tokens['owner']!, 'Content-Type': 'application/json' },
      body: JSON.stringify({ name: 'by another path' }),
    };
    const first = await fetch(`${labels}.json?color=red`, { ...sent, redirect: 'manual' });
    expect([first.status, first.headers.get('location')]).toEqual([308, `${labels}?color=red`]);
    const followed = await fetch(`${labels}.json?color=red`, sent);
    expect([followed.status, (await followed.json()).name]).toEqual([201, 'by another path']);
  });
  test('are absent with .json where they are without', async () => {
    expect((await fetch(`${service.url}/api/v4/projects/1/nothing.json`)).status).toBe(404);
  });
  test('accept an id that ends in .json', async () => {
    const { body } = await ask(world, 'owner', 'GET', `/projects/${world.ids['private']}.json`);
    expect(body.id).toBe(world.ids['private']);
  });
});

describe('ids beyond every counter are absent, and never a server error', () => {
  const far = [
    '9223372036854775808',
    '9007199254740993',
    '9007199254740991',
    '999999999999999999999999',
    '0',
    '00',
    '1000000000000',
  ];
  const paths = far.flatMap((id) => [
    ['GET', `/projects/${id}`],
    ['DELETE', `/projects/${id}`],
    ['GET', `/projects/${id}/members`],
    ['GET', `/users/${id}`],
    ['GET', `/personal_access_tokens/${id}`],
    ['DELETE', `/personal_access_tokens/${id}`],
    ['POST', `/users/${id}/personal_access_tokens`],
    ['POST', `/projects/user/${id}`],
    ['GET', `/projects/{private}/members/${id}`],
    ['PUT', `/projects/{private}/members/${id}`],
    ['DELETE', `/projects/{private}/members/${id}`],
  ]);
  test.each(paths)('%s %s', async (method, path) => {
    const json =
      method === 'POST' || method === 'PUT' ? { name: 'a', scopes: ['api'], access_level: 10 } : undefined;
    const url = path!.replace('{private}', String(world.ids['private']));
    for (const who of ['owner', 'administrator'] as const) {
      const { status } = await ask(world, who, method!, url, json);
      expect([400, 403, 404]).toContain(status);
    }
    expect([400, 401, 403, 404]).toContain((await ask(world, 'anonymous', method!, url, json)).status);
  });

  test.each([
    'id_after=9223372036854775808',
    'id_after=9007199254740991',
    'id_after=1000000000000',
    'id_after=-1',
    'id_before=9007199254740991',
    'id_before=-9007199254740991',
    'id_after=10&id_before=5',
    'id_after=9007199254740991&id_before=1&order_by=name',
    'last_activity_after=2030-01-01&last_activity_before=2020-01-01&order_by=last_activity_at',
    'last_activity_after=0001-01-01',
    'last_activity_before=9999-12-31',
    'min_access_level=9223372036854775808',
    'page=9223372036854775808',
    'page=9007199254740991',
    'page=0',
    'page=-1',
    'per_page=9007199254740991',
    'per_page=-5',
  ])('in /projects?%s', async (query) => {
    for (const who of ['anonymous', 'owner', 'administrator'] as const) {
      for (const keyset of ['', '&pagination=keyset&order_by=id']) {
        expect([200, 400, 405]).toContain(
          (await ask(world, who, 'GET', `/projects?${query}${keyset}`)).status,
        );
      }
    }
  });

  test.each([
    ['/projects', { name: 'a', namespace_id: 9007199254740991 }],
    ['/projects/{private}/members', { user_id: '9007199254740993', access_level: 10 }],
    ['/projects/{private}/members', { user_id: 9.1e15, access_level: 10 }],
    ['/projects/{private}/members', { user_id: 1e300, access_level: 10 }],
    ['/projects/{private}/members', { user_id: 2, access_level: 1e30 }],
  ])('in POST %s %j', async (path, json) => {
    const url = path.replace(/\{(\w+)\}/, (_, name: string) => String(world.ids[name]));
    expect([400, 404]).toContain((await ask(world, 'administrator', 'POST', url, json)).status);
  });
});

describe('overlong names in paths and queries match nothing, without a server error:', () => {
  const long = 'x'.repeat(4000);
  const asked: readonly (readonly [Who, string, number])[] = [
    ['anonymous', `/projects/${long}`, 404],
    ['owner', `/projects/owner%2F${long}`, 404],
    ['owner', `/projects/${'%2F'.repeat(1000)}`, 404],
    ['owner', `/projects/${'%C3%9F'.repeat(1500)}%2Fa`, 404],
    ['anonymous', `/users?username=${long}`, 200],
    ['owner', `/users?search=${long}`, 200],
    ['owner', `/users?search=${long}@example.com`, 200],
    ['owner', `/projects?search=${long}`, 200],
    ['owner', `/projects?search=${'a+'.repeat(3000)}`, 200],
    ['owner', `/projects?topic=${long}`, 200],
    ['owner', `/projects/{public}/members?query=${long}`, 200],
  ];
  test.each(asked.map((row) => [`${row[0]} ${row[1].slice(0, 40)}`, ...row] as const))(
    '%s',
    async (_, who, path, status) => {
      const url = path.replace('{public}', String(world.ids['public']));
      const answer = await ask(world, who, 'GET', url);
      expect(answer.status).toBe(status);
      if (status === 200) expect(answer.body).toEqual([]);
    },
  );
});

describe('request parameters', () => {
  const create = (options: Parameters<Service['call']>[2]) =>
    service.call('POST', '/projects', { token: world.tokens.owner!, ...options });

  test('mean the same as JSON, form, multipart and query', async () => {
    const multipart = new FormData();
    for (const [name, value] of [
      ['name', 'by multipart'],
      ['topics[]', 'ü'],
      ['topics[]', 'b'],
      ['wiki_enabled', 'no'],
      ['build_timeout', '700'],
    ]) {
      multipart.append(name!, value!);
    }
    const text = 'topics[]=%C3%BC&topics[]=b&wiki_enabled=0&build_timeout=700';
    const answers = await Promise.all([
      create({ json: { name: 'by json', topics: ['ü', 'b'], wiki_enabled: false, build_timeout: 700 } }),
      create({ json: { name: 'by lenient json', topics: 'ü,b', wiki_enabled: 'f', build_timeout: '700' } }),
      create({ form: `name=by+form&${text}` }),
      create({ form: `name=by%20commas&topics=%C3%BC,b&wiki_enabled=off&build_timeout=700` }),
      create({ raw: multipart }),
      service.call('POST', `/projects?name=by+query&${text}`, { token: world.tokens.owner! }),
    ]);
    for (const { status, body } of answers) {
      expect([status, body.topics, body.wiki_enabled, body.build_timeout]).toEqual([
        201,
        ['ü', 'b'],
        false,
        700,
      ]);
    }
    await Promise.all(answers.map(({ body }) => ask(world, 'owner', 'DELETE', `/projects/${body.id}`)));
  });

  test.each([
    ['true', true],
    ['TRUE', true],
    ['True', true],
    ['1', true],
    ['t', true],
    ['T', true],
    ['on', true],
    ['yes', true],
    ['Y', true],
    ['false', false],
    ['FALSE', false],
    ['0', false],
    ['f', false],
    ['off', false],
    ['No', false],
    ['n', false],
    ['tRuE', 400],
    ['2', 400],
    ['maybe', 400],
    ['-1', 400],
    ['', null],
  ] as const)('accept as boolean %j', async (text, expected) => {
    const { status, body } = await ask(world, 'owner', 'GET', `/projects?owned=true&simple=${text}`);
    if (expected === 400) expect([status, body]).toEqual([400, { error: 'simple is invalid' }]);
    else expect([status, 'visibility' in body[0]]).toEqual([200, expected !== true]);
  });

  test.each([
    ['id_after=abc', 'id_after is invalid'],
    ['id_after=1.5', 'id_after is invalid'],
    ['id_after=0x10', 'id_after is invalid'],
    ['last_activity_after=yesterday', 'last_activity_after is invalid'],
    ['last_activity_after=2021-02-30', 'last_activity_after is invalid'],
    ['last_activity_after=2021-01-01T25:00:00Z', 'last_activity_after is invalid'],
    ['order_by=stars', 'order_by does not have a valid value'],
    ['sort=ASC', 'sort does not have a valid value'],
    ['visibility=', 'visibility does not have a valid value'],
    ['min_access_level=15', 'min_access_level does not have a valid value'],
    ['per_page=0', 'per_page has a value not allowed'],
    ['per_page=ten', 'per_page is invalid'],
    ['page=one', 'page is invalid'],
    ['simple=x&owned=x&per_page=z', 'owned is invalid, simple is invalid, per_page is invalid'],
    ['simple[a]=1', 'simple is invalid'],
    ['search[]=1', 'search is invalid'],
  ])('are validated: ?%s: %s', async (query, error) => {
    for (const who of ['anonymous', 'owner'] as const) {
      expect(outcome(await ask(world, who, 'GET', `/projects?${query}`))).toEqual([400, { error }]);
    }
    // A bad token is told first.
    expect((await ask(world, 'expired', 'GET', `/projects?${query}`)).status).toBe(401);
  });

  test('are validated before the project is looked up', async () => {
    const path = (id: number) => `/projects/${id}?statistics=perhaps`;
    const hidden = await ask(world, 'stranger', 'GET', path(world.ids['private']!));
    const absent = await ask(world, 'stranger', 'GET', path(999999));
    expect(outcome(hidden)).toEqual([400, { error: 'statistics is invalid' }]);
    expect(outcome(absent)).toEqual(outcome(hidden));
  });

  test('that are unknown are ignored', async () => {
    expect(
      (await ask(world, 'owner', 'GET', '/projects?unheard=of&a[b][]=c&__proto__[x]=1&constructor=2')).status,
    ).toBe(200);
    const made = await create({
      json: { name: 'unknowing', __proto__: { admin: true }, id: 5, creator_id: 1, version: 9 },
    });
    expect([made.status, made.body.creator_id]).toEqual([201, world.ids['owner']]);
    expect(made.body.id).not.toBe(5);
    await ask(world, 'owner', 'DELETE', `/projects/${made.body.id}`);
  });

  test.each([
    ['{', 'application/json', 'Problems parsing JSON'],
    ['{"name": "a",}', 'application/json', 'Problems parsing JSON'],
    ['{"name": NaN}', 'application/json; charset=utf-8', 'Problems parsing JSON'],
    [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), 'application/json', 'the request is not valid UTF-8'],
    ['['.repeat(100), 'application/json', 'parameters are nested too deeply'],
    [`{"a":[${'1,'.repeat(200_000)}1]}`, 'application/json', 'too many parameters'],
    [
      'a=1&a[b]=2',
      'application/x-www-form-urlencoded',
      'parameter a[b] conflicts with an earlier parameter of the same name',
    ],
    ['a=%zz', 'application/x-www-form-urlencoded', 'invalid %-encoding'],
    ['a=%00', 'application/x-www-form-urlencoded', 'parameters may not contain NUL'],
    ['--x\r\nnothing', 'multipart/form-data; boundary=x', 'the multipart body is malformed'],
    ['whatever', 'multipart/form-data', 'the multipart body is malformed'],
  ])('of body %.20j as %s: %s', async (raw, type, error) => {
    const answer = await create({ raw: raw as BodyInit, headers: { 'Content-Type': type } });
    expect(outcome(answer)).toEqual([400, { error }]);
  });

  test.each(['[]', '"text"', 'null', '1', ''])('are none in the JSON body %j', async (raw) => {
    const answer = await create({ raw, headers: { 'Content-Type': 'application/json' } });
    expect(outcome(answer)).toEqual([
      400,
      { error: 'name, path are missing, at least one parameter must be provided' },
    ]);
  });

  test('a body over the limit is refused with 413 without reading it to the end', async () => {
    const raw = Buffer.alloc(33 * 1024 * 1024, 0x20);
    const answer = await create({ raw, headers: { 'Content-Type': 'application/json' } });
    expect(outcome(answer)).toEqual([413, { message: '413 Request Entity Too Large' }]);
  });
});

describe('response headers', () => {
  const answers = () =>
    Promise.all([
      ask(world, 'owner', 'GET', '/projects'),
      ask(world, 'owner', 'GET', `/projects/${world.ids['private']}`),
      ask(world, 'stranger', 'GET', `/projects/${world.ids['private']}`),
      ask(world, 'expired', 'GET', '/user'),
      ask(world, 'owner', 'GET', '/nothing'),
      ask(world, 'owner', 'GET', '/projects?per_page=0'),
    ]);
  test('hold ids, times and security headers', async () => {
    for (const { headers, status } of await answers()) {
      expect([status, headers.get('x-request-id')]).toEqual([
        status,
        expect.stringMatching(/^[0-9A-Z]{26}$/),
      ]);
      expect(Number(headers.get('x-runtime'))).toBeGreaterThan(0);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('x-frame-options')).toBe('SAMEORIGIN');
      expect(headers.get('vary')).toMatch(/Origin/);
      expect(headers.get('content-type')).toBe('application/json');
      expect(headers.get('access-control-allow-origin')).toBeNull();
    }
  });

  test.each(['trace-1.a:b@c', 'a b', 'x'.repeat(129), '<script>'])(
    'have an id of the service, whatever the caller sent: %s',
    async (given) => {
      const { headers } = await service.call('GET', '/projects', { headers: { 'X-Request-Id': given } });
      expect(headers.get('x-request-id')).toMatch(/^[0-9A-Z]{26}$/);
    },
  );

  test('let scripts of any origin read answers, and preflight', async () => {
    const { headers } = await service.call('GET', '/projects', {
      headers: { Origin: 'https://app.example' },
    });
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-allow-credentials')).toBeNull();
    const exposed = headers.get('access-control-expose-headers')!.split(', ');
    for (const name of ['Link', 'X-Total', 'X-Next-Page', 'X-Lemnos-Blob-Id', 'X-Gitlab-Blob-Id'])
      expect(exposed).toContain(name);

    const preflight = await service.call('OPTIONS', '/projects', {
      headers: {
        Origin: 'https://app.example',
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'private-token, content-type',
      },
    });
    expect([preflight.status, preflight.body]).toEqual([204, null]);
    expect(preflight.headers.get('access-control-allow-methods')).toBe('OPTIONS, GET, HEAD, POST');
    expect(preflight.headers.get('access-control-allow-headers')).toBe('private-token, content-type');
    expect((await service.call('OPTIONS', '/nothing')).status).toBe(404);
  });

  test('of HEAD equal those of GET, without a body', async () => {
    for (const path of ['/projects', `/projects/${world.ids['private']}`, '/user', '/users']) {
      const get = await ask(world, 'owner', 'GET', path);
      const head = await ask(world, 'owner', 'HEAD', path);
      expect([path, head.status, head.body]).toEqual([path, 200, null]);
      for (const name of ['etag', 'content-type', 'x-total', 'link', 'cache-control']) {
        expect([path, name, head.headers.get(name)]).toEqual([path, name, get.headers.get(name)]);
      }
    }
    expect((await ask(world, 'anonymous', 'HEAD', '/user')).status).toBe(401);
  });

  test('carry an ETag that answers a repeated request with 304', async () => {
    for (const path of [
      '/projects',
      `/projects/${world.ids['private']}`,
      `/projects/${world.ids['private']}/members`,
    ]) {
      const call = (headers: Record<string, string>) =>
        service.call('GET', path, { token: world.tokens.owner!, headers });
      const first = await call({});
      const etag = first.headers.get('etag')!;
      expect(etag).toMatch(/^W\/"[0-9a-f]{32}"$/);
      expect(first.headers.get('cache-control')).toBe('max-age=0, private, must-revalidate');
      for (const given of [etag, etag.slice(2), `"other", ${etag}`, '*']) {
        const again = await call({ 'If-None-Match': given });
        expect([given, again.status, again.body]).toEqual([given, 304, null]);
        expect(again.headers.get('etag')).toBe(etag);
        expect(again.headers.get('x-total')).toBe(first.headers.get('x-total'));
      }
      expect((await call({ 'If-None-Match': '"other"' })).status).toBe(200);
    }
    // A validator is no way around a right.
    const { headers } = await ask(world, 'owner', 'GET', `/projects/${world.ids['private']}`);
    const stranger = await service.call('GET', `/projects/${world.ids['private']}`, {
      token: world.tokens.stranger!,
      headers: { 'If-None-Match': headers.get('etag')! },
    });
    expect(stranger.status).toBe(404);
    for (const { headers: refused, status } of await answers())
      if (status !== 200) expect(refused.get('etag')).toBeNull();
  });
});

test('a token is accepted in a query, a header or a body, and never appears in an answer', async () => {
  const token = world.tokens.owner!;
  const list = await service.call('GET', `/projects?private_token=${token}&per_page=1&access_token=${token}`);
  expect(list.status).toBe(200);
  expect(list.headers.get('link')).toContain('rel="next"');
  expect(JSON.stringify([[...list.headers], list.body])).not.toContain(token);
  const made = await service.call('POST', '/projects', { json: { name: 'by body', private_token: token } });
  expect(made.status).toBe(201);
  expect(JSON.stringify(made.body)).not.toContain(token);
  await ask(world, 'owner', 'DELETE', `/projects/${made.body.id}`);
  // Empty credentials are none; bad ones are not passed over for good ones.
  expect((await service.call('GET', '/projects?private_token=')).status).toBe(200);
  const bad = await service.call('GET', `/user?private_token=${token}`, {
    headers: { 'PRIVATE-TOKEN': 'nonsense' },
  });
  expect(bad.status).toBe(401);
});

test.each([
  'PATCH /api/v4/user',
  'TRACE /api/v4/user',
  'TRACE /a/b.git/info/refs',
  'BREW /api/v4/user',
  'OPTIONS *',
  'GET http://lemnos.example/api/v4/version',
])('the unusual method in %s is no server error', async (line) => {
  const written = vi.spyOn(console, 'error');
  const { host, hostname, port } = new URL(service.url);
  const text = await new Promise<string>((resolve, reject) => {
    // fetch sends no such lines. A client that ends its side before there is an answer gets none.
    const socket = connect(Number(port), hostname, () => {
      socket.write(`${line} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    });
    let all = '';
    socket.on('data', (data) => {
      all += String(data);
    });
    socket.on('end', () => resolve(all));
    socket.on('error', reject);
  });
  expect(text).toMatch(/^HTTP\/1\.1 4\d\d /);
  if (/^(PATCH|TRACE) .api/.test(line)) {
    expect(text).toMatch(/^allow: OPTIONS, GET, HEAD\r$/im);
    expect(text).toContain('{"error":"405 Not Allowed"}');
  }
  expect(written).not.toHaveBeenCalled();
  written.mockRestore();
});
