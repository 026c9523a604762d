import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import * as domain from '../../../lib/domain/errors.ts';
import { administrator, anyone, project, signedIn } from '../../../lib/http/access.ts';
import { endpoint } from '../../../lib/http/endpoint.ts';
import { boundHeaders, brandHeaders } from '../../../lib/http/headers.ts';
import { integer, params, routeInteger, string } from '../../../lib/http/params.ts';
import { accepted, noContent, notModified, reply } from '../../../lib/http/reply.ts';
import { serviceOf } from './service.ts';

const common = { area: 'test', summary: 'A test' } as const;
const required = () => params({ name: string({ required: true }) });
let thrown: unknown;

const { send, access, fetch } = serviceOf([
  endpoint({
    ...common,
    method: 'GET',
    path: '/projects/:id',
    access: project('read_project', { anonymous: true }),
    query: () => params({ limit: integer() }),
    handle: ({ actor, project, query }) => ({ who: actor.kind, project: project.project.fullPath, ...query }),
  }),
  endpoint({
    ...common,
    method: 'POST',
    path: '/projects/:id/things',
    access: project('push_code'),
    body: required,
    handle: ({ body, actor }) => ({ name: body.name, by: actor.user.username }),
  }),
  endpoint({
    ...common,
    method: 'GET',
    path: '/projects/:id/files/:file_path',
    access: project('read_code', { anonymous: true }),
    scopes: ['read_repository'],
    handle: ({ params }) => params,
  }),
  endpoint({
    ...common,
    method: 'GET',
    path: '/user',
    access: signedIn(),
    handle: ({ actor }) => actor.user.username,
  }),
  endpoint({
    ...common,
    method: 'POST',
    path: '/admin',
    access: administrator(),
    body: required,
    handle: () => true,
  }),
  endpoint({ ...common, method: 'GET', path: '/open', access: anyone(), handle: () => ({ a: 1 }) }),
  endpoint({
    ...common,
    method: 'POST',
    path: '/open',
    access: anyone(),
    returns: { status: 200 },
    handle: () => null,
  }),
  endpoint({
    ...common,
    method: 'DELETE',
    path: '/things/:thing_id',
    access: anyone(),
    params: () => params({ thing_id: integer({ required: true }) }),
    handle: (context) => {
      context.unmodifiedSince('2026-03-01T12:00:00.500Z');
      return context.params.thing_id === 1 ? noContent() : accepted();
    },
  }),
  endpoint({
    ...common,
    method: 'GET',
    path: '/users/:id',
    access: anyone(),
    params: () => params({ id: routeInteger() }),
    handle: ({ params }) => params.id,
  }),
  endpoint({ ...common, method: 'POST', path: '/star', access: anyone(), handle: () => notModified() }),
  endpoint({
    ...common,
    method: 'GET',
    path: '/fail',
    access: anyone(),
    handle: () => {
      throw thrown;
    },
  }),
  endpoint({
    ...common,
    method: 'GET',
    path: '/raw',
    access: anyone(),
    handle: () =>
      reply({
        type: 'application/octet-stream',
        headers: { 'Cache-Control': 'no-store', Vary: 'Accept' },
        body: (async function* () {
          yield new Uint8Array([1, 2]);
          yield new Uint8Array([3]);
        })(),
      }),
  }),
  endpoint({
    ...common,
    method: 'GET',
    path: '/long',
    access: anyone(),
    handle: () =>
      reply({
        headers: {
          ...brandHeaders('Lemnos', { 'File-Path': 'ä'.repeat(5000), Ref: 'main' }),
          Link: 'x'.repeat(5000),
        },
        body: '{}',
        type: 'application/json',
      }),
  }),
  endpoint({ ...common, method: 'HEAD', path: '/branch', access: anyone(), handle: () => noContent() }),
  endpoint({ ...common, method: 'GET', path: '/branch', access: anyone(), handle: () => 'branch' }),
]);

afterEach(() => {
  access.opened.length = 0;
});

describe('authentication', () => {
  const form = { body: new URLSearchParams({ name: 'n' }) };
  test.each<[string, string, { token?: string; body?: URLSearchParams }, number, unknown]>([
    ['anyone sees what is public', 'GET /projects/1', {}, 200, { who: 'anonymous', project: 'group/open' }],
    ['by full path', 'GET /projects/group%2Fopen', {}, 200, { who: 'anonymous', project: 'group/open' }],
    [
      'by full path with a dot',
      'GET /projects/group%2Fclosed%2Ed',
      { token: 'dev' },
      200,
      { who: 'user', project: 'group/closed.d' },
    ],
    ['hidden from anonymous callers', 'GET /projects/2', {}, 404, { message: '404 Project Not Found' }],
    [
      'hidden from strangers',
      'GET /projects/2',
      { token: 'stranger' },
      404,
      { message: '404 Project Not Found' },
    ],
    [
      'an id beyond every counter',
      'GET /projects/9223372036854775808',
      { token: 'dev' },
      404,
      { message: '404 Project Not Found' },
    ],
    [
      'an unknown token, even where it is public',
      'GET /projects/1',
      { token: 'x' },
      401,
      { message: '401 Unauthorized' },
    ],
    [
      'an unknown token and an id beyond every counter',
      'GET /projects/99999999999999999999',
      { token: 'x' },
      401,
      { message: '401 Unauthorized' },
    ],
    [
      'an unknown token on an endpoint for all',
      'GET /open',
      { token: 'x' },
      401,
      { message: '401 Unauthorized' },
    ],
    ['nobody, where one signs in', 'GET /user', {}, 401, { message: '401 Unauthorized' }],
    ['nobody, on a hidden project', 'POST /projects/2/things', form, 401, { message: '401 Unauthorized' }],
    [
      'too low a level',
      'POST /projects/1/things',
      { token: 'stranger', ...form },
      403,
      { message: '403 Forbidden' },
    ],
    ['enough', 'POST /projects/1/things', { token: 'dev', ...form }, 201, { name: 'n', by: 'dev' }],
    ['an administrator', 'POST /admin', { token: 'root', ...form }, 201, true],
    ['no administrator', 'POST /admin', { token: 'dev', ...form }, 403, { message: '403 Forbidden' }],
    [
      'no administrator, before the parameters',
      'POST /admin',
      { token: 'dev' },
      403,
      { message: '403 Forbidden' },
    ],
    ['nobody, before the parameters', 'POST /admin', {}, 401, { message: '401 Unauthorized' }],
    [
      'a bad token, before the parameters',
      'GET /projects/1?limit=x',
      { token: 'x' },
      401,
      { message: '401 Unauthorized' },
    ],
    ['the parameters, before the project', 'GET /projects/2?limit=x', {}, 400, { error: 'limit is invalid' }],
    [
      'the parameters, before the right',
      'POST /projects/1/things',
      { token: 'stranger' },
      400,
      { error: 'name is missing' },
    ],
  ])('%s: %s', async (_, line, options, status, body) => {
    expect(await send(line, options)).toMatchObject({ status, body });
  });

  const scope = (needed: string) => ({
    error: 'insufficient_scope',
    error_description: 'The request requires higher privileges than provided by the access token.',
    scope: needed,
  });
  test.each<[string, string, string, number, unknown]>([
    ['read_api reads', 'GET /user', 'reader', 200, 'dev'],
    ['read_api does not write', 'POST /projects/1/things?name=n', 'reader', 403, scope('api')],
    ['read_repository does not read what is not its', 'GET /user', 'cloner', 403, scope('api read_api')],
    ['read_repository reads files', 'GET /projects/1/files/a', 'cloner', 200, { id: '1', file_path: 'a' }],
    ['the scope, before the parameters', 'GET /projects/1?limit=x', 'cloner', 403, scope('api read_api')],
    ['the scope, before whether a project exists', 'GET /projects/77', 'cloner', 403, scope('api read_api')],
  ])('%s: %s', async (_, line, token, status, body) => {
    const answer = await send(line, { token });
    expect(answer).toMatchObject({ status, body });
    expect(answer.headers.has('www-authenticate')).toBe(false);
  });

  test('reports a revoked token as revoked', async () => {
    const { status, body, headers } = await send('GET /user', { token: 'revoked' });
    const description = 'Token was revoked. You have to re-authorize from the user.';
    expect({ status, body }).toEqual({
      status: 401,
      body: { error: 'invalid_token', error_description: description },
    });
    expect(headers.get('www-authenticate')).toBe(
      `Bearer realm="The API", error="invalid_token", error_description="${description}"`,
    );
  });

  test('refuses a request that lacks a required credential without a lookup', async () => {
    await send('GET /user');
    expect(access.opened).toEqual([]);
  });

  test('looks up the token and the project concurrently', async () => {
    await send('GET /projects/group%2Fopen?private_token=dev');
    expect(access.opened).toEqual([
      {
        credential: { kind: 'token', token: 'dev', via: 'private-token' },
        project: 'group/open',
        origin: {
          address: expect.any(String),
          requestId: expect.any(String),
          baseUrl: 'http://lemnos.test',
        },
      },
    ]);
  });

  test('passes sudo on', async () => {
    await send('GET /user', { token: 'root', headers: { Sudo: 'dev' } });
    expect(access.opened[0]).toMatchObject({ sudo: 'dev' });
  });
});

describe('a response', () => {
  test('may be a bare value or null', async () => {
    expect(await send('GET /users/7')).toMatchObject({ status: 200, text: '7' });
    expect(await send('POST /open')).toMatchObject({ status: 200, text: 'null' });
  });

  test('has a body only where its status has one', async () => {
    expect(await send('DELETE /things/1')).toMatchObject({ status: 204, text: '' });
    expect(await send('POST /star')).toMatchObject({ status: 304, text: '' });
    expect(await send('DELETE /things/2')).toMatchObject({ status: 202, body: { message: '202 Accepted' } });
  });

  test.each([
    ['an integer in a path', 'DELETE /things/one', 400, { error: 'thing_id is invalid' }],
    [
      'an integer in a path beyond 2^63',
      'DELETE /things/9223372036854775808',
      400,
      { error: 'thing_id is invalid' },
    ],
    ['an integer that is part of the route', 'GET /users/one', 404, { error: '404 Not Found' }],
    ['no route', 'GET /nothing', 404, { error: '404 Not Found' }],
    ['bad encoding in the path', 'GET /projects/%ff', 400, { error: 'invalid %-encoding' }],
    ['NUL in the path', 'GET /projects/a%00', 400, { error: 'a path may not contain NUL' }],
    ['bad encoding in the query', 'GET /open?a=%ff', 400, { error: 'invalid %-encoding' }],
  ])('%s: %s', async (_, line, status, body) => {
    expect(await send(line)).toMatchObject({ status, body });
  });

  test('is 405 for a known path with another method', async () => {
    const answer = await send('PUT /open');
    expect(answer).toMatchObject({ status: 405, body: { error: '405 Not Allowed' } });
    expect(answer.headers.get('allow')).toBe('OPTIONS, GET, HEAD, POST');
  });

  test('to HEAD has the headers of GET and no body', async () => {
    const get = await send('GET /open');
    const head = await send('HEAD /open');
    expect(head).toMatchObject({ status: 200, text: '' });
    for (const name of ['content-type', 'etag', 'cache-control'])
      expect(head.headers.get(name)).toBe(get.headers.get(name));
    expect(await send('HEAD /raw')).toMatchObject({ status: 200, text: '' });
  });

  test('to HEAD comes from the HEAD endpoint if there is one', async () => {
    expect(await send('HEAD /branch')).toMatchObject({ status: 204 });
    expect(await send('GET /branch')).toMatchObject({ status: 200, body: 'branch' });
  });

  test('is 304 for a client that already has it', async () => {
    const { headers } = await send('GET /open');
    const etag = headers.get('etag')!;
    expect(etag).toMatch(/^W\/"[0-9a-f]{32}"$/);
    expect(headers.get('cache-control')).toBe('max-age=0, private, must-revalidate');
    for (const asked of [etag, etag.slice(2), `"x", ${etag}`, '*']) {
      const again = await send('GET /open', { headers: { 'If-None-Match': asked } });
      expect(again).toMatchObject({ status: 304, text: '' });
      expect(again.headers.get('etag')).toBe(etag);
      expect(again.headers.has('content-type')).toBe(false);
    }
    expect(await send('GET /open', { headers: { 'If-None-Match': '"other"' } })).toMatchObject({
      status: 200,
    });
  });

  test('of streamed bytes has its own headers and no ETag', async () => {
    const { headers, text } = await send('GET /raw');
    expect(text).toBe('\x01\x02\x03');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('vary')).toBe('Accept, Origin');
    expect(headers.has('etag')).toBe(false);
  });

  test.each([
    ['Sun, 01 Mar 2026 12:00:00 GMT', 204],
    ['Sun, 01 Mar 2026 11:59:59 GMT', 412],
    ['Mon, 02 Mar 2026 00:00:00 GMT', 204],
    ['whenever', 204],
  ])('If-Unmodified-Since %s: %i', async (date, status) => {
    const answer = await send('DELETE /things/1', { headers: { 'If-Unmodified-Since': date } });
    expect(answer.status).toBe(status);
    if (status === 412) expect(answer.body).toEqual({ message: '412 Precondition Failed' });
  });

  test('has the common headers', async () => {
    const { headers } = await send('GET /open');
    expect(headers.get('content-type')).toBe('application/json');
    expect(headers.get('x-request-id')).toMatch(/^[0-9A-Z]{26}$/);
    expect(Number(headers.get('x-runtime'))).toBeGreaterThan(0);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('x-frame-options')).toBe('SAMEORIGIN');
    expect(headers.get('vary')).toBe('Origin');
    expect(headers.has('access-control-allow-origin')).toBe(false);
  });

  test.each(['build-7.2', 'a b"', 'x'.repeat(129)])(
    'has an id of the service, whatever id the client sent: %s',
    async (id) => {
      const { headers } = await send('GET /open', { headers: { 'X-Request-Id': id } });
      expect(headers.get('x-request-id')).toMatch(/^[0-9A-Z]{26}$/);
    },
  );

  test('allows scripts of other origins to read it', async () => {
    const { headers } = await send('GET /open', { headers: { Origin: 'https://app.example' } });
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-expose-headers')).toContain('X-Total-Pages');
    expect(headers.get('access-control-expose-headers')).toContain('X-Lemnos-Blob-Id, X-Gitlab-Blob-Id');
    const asked = await send('OPTIONS /open', {
      headers: { Origin: 'https://app.example', 'Access-Control-Request-Headers': 'private-token' },
    });
    expect(asked.status).toBe(204);
    expect(asked.headers.get('access-control-allow-methods')).toBe('OPTIONS, GET, HEAD, POST');
    expect(asked.headers.get('access-control-allow-headers')).toBe('private-token');
    expect(await send('OPTIONS /nothing')).toMatchObject({ status: 404 });
  });

  test('drops the longest headers first when there are too many', () => {
    const headers = new Headers({ 'Content-Type': 'text/plain' });
    for (let index = 0; index < 5; index++) headers.set(`x-fact-${index}`, 'v'.repeat(3000 + index));
    boundHeaders(headers);
    expect([...headers.keys()]).toEqual(['content-type', 'x-fact-0', 'x-fact-1', 'x-fact-2']);
  });

  test('has no more headers than the gateway accepts', async () => {
    const { headers } = await send('GET /long');
    const size = [...headers].reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0);
    expect(size).toBeLessThan(10_240);
    expect(headers.get('x-lemnos-ref')).toBe('main');
    expect(headers.get('x-gitlab-file-path') ?? headers.get('x-lemnos-file-path')).toMatch(
      /^(%C3%A4)+(%C3)?$/,
    );
    expect(headers.has('link')).toBe(false);
  });
});

describe('failures', () => {
  test.each<[Error, number, unknown]>([
    [domain.notFound(), 404, { message: '404 Not Found' }],
    [domain.notFound('Branch'), 404, { message: '404 Branch Not Found' }],
    [domain.recordNotFound(), 404, { message: '404 Not found' }],
    [domain.unauthorized(), 401, { message: '401 Unauthorized' }],
    [domain.forbidden(), 403, { message: '403 Forbidden' }],
    [
      domain.forbidden('Must be admin to use sudo'),
      403,
      { message: '403 Forbidden - Must be admin to use sudo' },
    ],
    [domain.badRequest(), 400, { message: '400 Bad request' }],
    [domain.badRequest('"file" not given'), 400, { message: '400 Bad request - "file" not given' }],
    [domain.refused('no', { error_code: 'x' }), 400, { message: 'no', error_code: 'x' }],
    [domain.invalid({ name: ["can't be blank"] }), 400, { message: { name: ["can't be blank"] } }],
    [domain.conflict(), 409, { message: '409 Conflict' }],
    [domain.preconditionFailed(), 412, { message: '412 Precondition Failed' }],
    [domain.tooLarge(), 413, { message: '413 Request Entity Too Large' }],
    [domain.unprocessable(['a', 'b']), 422, { message: ['a', 'b'] }],
    [domain.unavailable(), 503, { message: '503 Service Unavailable' }],
    [
      new domain.DomainError('method-not-allowed', '405 Method Not Allowed'),
      405,
      { message: '405 Method Not Allowed' },
    ],
    [new domain.DomainError('not-acceptable', '406 Not Acceptable'), 406, { message: '406 Not Acceptable' }],
    [new domain.DomainError('gone', '410 Gone'), 410, { message: '410 Gone' }],
    [new domain.DomainError('too-many-requests', '429'), 429, { message: '429' }],
    [
      new domain.DomainError('insufficient-scope', ['sudo']),
      403,
      {
        error: 'insufficient_scope',
        error_description: 'The request requires higher privileges than provided by the access token.',
        scope: 'sudo',
      },
    ],
  ])('%s: %i', async (error, status, body) => {
    thrown = error;
    const answer = await send('GET /fail');
    expect({ status: answer.status, body: answer.body }).toEqual({ status, body });
    expect(answer.headers.get('content-type')).toBe('application/json');
  });

  test('from an unknown error reveals nothing internal, and the error is logged once, without secrets', async () => {
    thrown = new Error('table lemnos: token dev was rejected at /x?private_token=glpat-1', {
      cause: new Error('Authorization: Bearer abcdef'),
    });
    const written = vi.spyOn(console, 'error').mockImplementation(() => {});
    const answer = await send('GET /fail?private_token=dev', {
      token: 'dev',
    });
    const lines = written.mock.calls.map(([line]) => String(line));
    written.mockRestore();
    expect(answer).toMatchObject({ status: 500, body: { message: '500 Internal Server Error' } });
    expect(answer.text).not.toContain('lemnos');
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0]!)).toMatchObject({
      level: 'ERROR',
      requestId: answer.headers.get('x-request-id'),
      method: 'GET',
      path: '/api/v4/fail',
    });
    expect(lines[0]).not.toMatch(/glpat-1|abcdef|token dev/);
  });

  test('for an old API version is 410', async () => {
    const response = await fetch(new Request('http://h/api/v3/projects'), {
      sourceIp: '',
      baseUrl: 'http://h',
    });
    expect(response.status).toBe(410);
    expect(await response.json()).toEqual({ error: 'API V3 is no longer supported. Use API V4 instead.' });
  });

  test('is never an internal error, for any request', async () => {
    const piece = fc.constantFrom(
      '/',
      'projects',
      'a%2Fb',
      '1',
      '%',
      '%ff',
      '..',
      '%2e',
      '\u0000',
      '?',
      '#',
      '\\',
      'ä',
      '&',
      '=',
      '[',
      ']',
      '[]',
      '9'.repeat(30),
      'things',
      'users',
      'open',
      'files',
      '.json',
      'name',
      'page',
    );
    const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
    const type = fc.constantFrom(
      'application/json',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'text/plain',
      '',
    );
    const token = fc.constantFrom('dev', 'root', 'x', '');
    const written = vi.spyOn(console, 'error').mockImplementation(() => {});
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH'),
        text,
        text,
        type,
        token,
        async (method, path, body, contentType, shown) => {
          const request = new Request(`http://lemnos.test/api/v4/${path}`, {
            method,
            headers: {
              'content-type': contentType,
              'private-token': shown,
              sudo: shown,
              'if-none-match': 'W/',
            },
            ...(method === 'GET' || method === 'HEAD' ? {} : { body }),
          });
          const { status } = await fetch(request, { sourceIp: '', baseUrl: 'http://lemnos.test' });
          expect(status).toBeLessThan(500);
        },
      ),
      { numRuns: 1500 },
    );
    written.mockRestore();
  });
});
