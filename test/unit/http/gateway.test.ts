import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { anyone } from '../../../lib/http/access.ts';
import { endpoint } from '../../../lib/http/endpoint.ts';
import { apiFunction, rawFunction } from '../../../lib/http/function.ts';
import { BUFFERED_LIMIT, requestOf } from '../../../lib/http/gateway.ts';
import type { UploadedFile } from '../../../lib/http/multipart.ts';
import { array, file, list, object, params, string } from '../../../lib/http/params.ts';
import { type ReplyBody, reply } from '../../../lib/http/reply.ts';
import { MemoryAccess } from './service.ts';

// Processes that test files share answer in streams.
delete process.env['STREAM'];

const eventOf = (name: string): APIGatewayProxyEvent =>
  JSON.parse(readFileSync(join(import.meta.dirname, '../../../events', `${name}.json`), 'utf8'));
const STAGE = 'https://abcde12345.execute-api.eu-central-1.amazonaws.com/prod';

const common = { area: 'test', summary: 'A test', access: anyone() } as const;
let body: ReplyBody = null;
let type = 'text/plain';
const endpoints = [
  endpoint({
    ...common,
    method: 'GET',
    path: '/projects/:id/repository/branches/:branch',
    query: () => params({ search: string(), iids: list(string()) }),
    paginate: 'offset',
    handle: ({ params, query, request }) => ({ items: [params, query, request.sourceIp], total: 3 }),
  }),
  endpoint({
    ...common,
    method: 'POST',
    path: '/projects/:id/repository/commits',
    body: () =>
      params({
        branch: string(),
        commit_message: string(),
        actions: array(object({ action: string(), file_path: string() })),
      }),
    handle: ({ body }) => body,
  }),
  endpoint({
    ...common,
    method: 'POST',
    path: '/projects/:id/repository/branches',
    body: () => params({ branch: string({ required: true }) }),
    handle: ({ body }) => body.branch,
  }),
  endpoint({
    ...common,
    method: 'POST',
    path: '/projects/:id/uploads',
    body: () => params({ branch: string(), file: file({ required: true }) }),
    handle: ({ body }) => ({ name: body.file.filename, type: body.file.type, bytes: [...body.file.bytes] }),
  }),
  endpoint({ ...common, method: 'GET', path: '/raw', handle: () => reply({ body, type }) }),
  endpoint({ ...common, method: 'DELETE', path: '/raw', returns: { status: 204 }, handle: () => undefined }),
];
// Credentials of the samples belong to no user; the endpoints are public, so they are removed.
const anonymous = (event: APIGatewayProxyEvent): APIGatewayProxyEvent => {
  const { 'PRIVATE-TOKEN': _, ...headers } = event.headers;
  const { 'PRIVATE-TOKEN': __, ...multiValueHeaders } = event.multiValueHeaders;
  return { ...event, headers, multiValueHeaders };
};
const make = () => apiFunction({ endpoints, deps: () => ({ access: new MemoryAccess() }) });
const rawEvent = (method = 'GET'): APIGatewayProxyEvent => ({
  ...anonymous(eventOf('api-get')),
  httpMethod: method,
  path: '/api/v4/raw',
  multiValueQueryStringParameters: null,
  queryStringParameters: null,
});

describe('a request made from a gateway event', () => {
  test('keeps the path as it was sent, and encodes parameters again', async () => {
    const { request, info } = requestOf(eventOf('api-get'), undefined);
    const url = new URL(request.url);
    expect(url.pathname).toBe('/api/v4/projects/group%2Fname/repository/branches/feature%2Fa.b');
    expect(url.search).toBe('?search=a%20b%26c&iids%5B%5D=1&iids%5B%5D=2');
    expect(request.headers.get('private-token')).toBe('a-token-of-nobody');
    expect(info).toEqual({ sourceIp: '203.0.113.7', baseUrl: STAGE });
  });

  test.each<[string, (event: APIGatewayProxyEvent) => void, string | undefined, string, string]>([
    ['the stage', () => {}, undefined, STAGE, '/x%2Fy'],
    [
      'a custom domain',
      (e) => {
        e.requestContext.path = e.path;
        e.requestContext.domainName = 'git.example';
      },
      undefined,
      'https://git.example',
      '/x%2Fy',
    ],
    ['a configured URL', () => {}, 'https://git.example/', 'https://git.example', '/x%2Fy'],
    [
      'a configured URL with a path that stays in the event',
      (e) => {
        e.path = '/forge/x%2Fy';
      },
      'https://git.example/forge',
      'https://git.example/forge',
      '/x%2Fy',
    ],
    [
      'a public path that was decoded on the way',
      (e) => {
        e.requestContext.path = '/prod/x/y';
      },
      undefined,
      STAGE,
      '/x%2Fy',
    ],
    [
      'plain HTTP',
      (e) => {
        e.multiValueHeaders['X-Forwarded-Proto'] = ['http'];
      },
      undefined,
      STAGE.replace('https', 'http'),
      '/x%2Fy',
    ],
  ])('links start with %s', (_, change, configured, baseUrl, path) => {
    const event = eventOf('api-get');
    event.path = '/x%2Fy';
    event.requestContext.path = '/prod/x%2Fy';
    change(event);
    const { request, info } = requestOf(event, configured);
    expect([info.baseUrl, new URL(request.url).pathname]).toEqual([baseUrl, path]);
  });

  test('keeps the elements of lists of objects in a query', () => {
    const event = eventOf('api-get');
    event.queryStringParameters = null;
    event.multiValueQueryStringParameters = { 'a[][x]': ['1', '2'], b: ['c'], 'a[][y]': ['3', '4'] };
    expect(decodeURIComponent(new URL(requestOf(event, undefined).request.url).search)).toBe(
      '?a[][x]=1&a[][y]=3&a[][x]=2&a[][y]=4&b=c',
    );
  });

  test('keeps a path that the gateway decoded as a path', () => {
    const event = { ...eventOf('api-get'), path: '/a?b#c\\d' };
    const url = new URL(
      requestOf({ ...event, multiValueQueryStringParameters: null, queryStringParameters: null }).request.url,
    );
    expect([url.pathname, url.search, url.hash]).toEqual(['/a%3Fb%23c%5Cd', '', '']);
  });

  test('leaves out invalid headers', () => {
    const event = eventOf('api-get');
    event.multiValueHeaders = { 'X-A': ['1', '2'], 'bad name': ['x'], 'X-B': ['a\nb'] };
    event.headers = { 'X-C': '3' };
    const { headers } = requestOf(event, undefined).request;
    expect([...headers]).toEqual([
      ['x-a', '1, 2'],
      ['x-c', '3'],
    ]);
  });
});

describe('a buffered response', () => {
  test('returns a list', async () => {
    const answer = await make().handler(anonymous(eventOf('api-get')));
    expect(answer).toMatchObject({ statusCode: 200, isBase64Encoded: false });
    expect(JSON.parse(answer.body)).toEqual([
      { id: 'group/name', branch: 'feature/a.b' },
      { search: 'a b&c', iids: ['1', '2'] },
      '203.0.113.7',
    ]);
    expect(answer.multiValueHeaders?.['link']?.[0]).toContain(
      `<${STAGE}/api/v4/projects/group%2Fname/repository/branches/feature%2Fa.b?`,
    );
  });

  test('returns the result of a form', async () => {
    const answer = await make().handler(anonymous(eventOf('api-post-form')));
    expect(answer.statusCode).toBe(201);
    expect(JSON.parse(answer.body)).toEqual({
      branch: 'main',
      commit_message: 'Two files',
      actions: [
        { action: 'create', file_path: 'a.txt' },
        { action: 'create', file_path: 'b/c.txt' },
      ],
    });
  });

  test('is the same for JSON sent plain and as Base64', async () => {
    const event = anonymous(eventOf('api-post-json'));
    expect((await make().handler(event)).body).toBe('"neu/ä"');
    const encoded = { ...event, body: Buffer.from(event.body!).toString('base64'), isBase64Encoded: true };
    expect((await make().handler(encoded)).body).toBe('"neu/ä"');
  });

  test('returns a file', async () => {
    const answer = await make().handler(anonymous(eventOf('api-binary')));
    const png = [0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 255, 254];
    expect(JSON.parse(answer.body)).toEqual({
      name: 'logo.png',
      type: 'image/png',
      bytes: png,
    } satisfies Record<keyof Pick<UploadedFile, 'type' | 'bytes'> | 'name', unknown>);
  });

  test.each<[string, Uint8Array | string, string, boolean]>([
    ['text', 'grün', 'text/plain; charset=utf-8', false],
    ['text that is none', new Uint8Array([0xfc]), 'text/plain', true],
    ['bytes', new Uint8Array([1, 2]), 'application/octet-stream', true],
    ['JSON of a kind', '{}', 'application/problem+json', false],
    ['a text that starts with a byte order mark', '\ufeffa', 'text/plain', false],
  ])('%s', async (_, sent, contentType, base64) => {
    body = sent;
    type = contentType;
    const answer = await make().handler(rawEvent());
    expect(answer.isBase64Encoded).toBe(base64);
    expect(Buffer.from(answer.body, base64 ? 'base64' : 'utf8')).toEqual(Buffer.from(sent));
  });

  test('may have no body', async () => {
    expect(await make().handler(rawEvent('DELETE'))).toMatchObject({
      statusCode: 204,
      body: '',
      isBase64Encoded: false,
    });
  });

  test('that is too large becomes an error, and its source is closed', async () => {
    const written = vi.spyOn(console, 'error');
    let closed = false;
    body = (async function* () {
      try {
        for (;;) yield new Uint8Array(1024 * 1024);
      } finally {
        closed = true;
      }
    })();
    const answer = await make().handler(rawEvent());
    expect(answer.statusCode).toBe(413);
    expect(JSON.parse(answer.body)).toEqual({
      message: '413 The response is too large for this deployment, which does not stream',
    });
    await expect.poll(() => closed).toBe(true);
    expect(written).not.toHaveBeenCalled();
    written.mockRestore();
  });

  test('is measured after Base64 encoding', async () => {
    type = 'application/octet-stream';
    body = new Uint8Array(Math.floor((BUFFERED_LIMIT * 3) / 4) - 2);
    expect((await make().handler(rawEvent())).statusCode).toBe(200);
    body = new Uint8Array(Math.ceil((BUFFERED_LIMIT * 3) / 4) + 2);
    expect((await make().handler(rawEvent())).statusCode).toBe(413);
  });

  test('with a failing source is a 500, logged once', async () => {
    const written = vi.spyOn(console, 'error').mockImplementation(() => {});
    body = (async function* () {
      yield new Uint8Array(10);
      throw new Error('the object is gone');
    })();
    const answer = await make().handler(rawEvent());
    const lines = written.mock.calls.length;
    written.mockRestore();
    expect(answer).toMatchObject({ statusCode: 500, body: '{"message":"500 Internal Server Error"}' });
    expect(lines).toBe(1);
  });

  test('is 400 for an event that is not a valid request', async () => {
    vi.spyOn(console, 'error').mockImplementationOnce(() => {});
    expect(await make().handler({ ...rawEvent(), httpMethod: 'A B' })).toMatchObject({ statusCode: 400 });
  });

  test.each(['TRACE', 'CONNECT', 'track', 'BREW'])(
    'is what any method that a path does not have is for %s, which is not logged as a failure',
    async (httpMethod) => {
      const written = vi.spyOn(console, 'error').mockClear();
      const { handler } = make();
      const answer = await handler({ ...rawEvent(), httpMethod });
      expect(answer).toMatchObject({ statusCode: 405, body: '{"error":"405 Not Allowed"}' });
      expect(answer!.multiValueHeaders).toMatchObject({
        allow: ['OPTIONS, GET, HEAD, DELETE'],
        'x-request-id': [expect.any(String)],
      });
      const nowhere = await handler({ ...rawEvent(), path: '/api/v4/nowhere', httpMethod });
      expect(nowhere).toMatchObject({ statusCode: 404, body: '{"error":"404 Not Found"}' });
      expect(written).not.toHaveBeenCalled();
      written.mockRestore();
    },
  );

  test('is served after all when creating the dependencies failed at first', async () => {
    const written = vi.spyOn(console, 'error').mockImplementation(() => {});
    let tries = 0;
    const service = apiFunction({
      endpoints,
      deps: () => {
        if (tries++ === 0) throw new Error('no table yet');
        return { access: new MemoryAccess() };
      },
    });
    const statuses = [
      await service.handler(rawEvent('DELETE')),
      await service.handler(rawEvent('DELETE')),
      await service.handler(rawEvent('DELETE')),
    ];
    written.mockRestore();
    expect(statuses.map((answer) => answer.statusCode)).toEqual([500, 204, 204]);
  });
});

/** The Lambda runtime's streaming part, after the public description: the prelude goes out with the first write. */
class Sink extends Writable {
  prelude: { statusCode: number; headers: Record<string, string> } | undefined;
  promised: typeof this.prelude;
  readonly pieces: Buffer[] = [];
  override _write(piece: Buffer, _: string, done: () => void): void {
    this.prelude ??= this.promised;
    this.pieces.push(piece);
    done();
  }
}
type Streamed = (event: APIGatewayProxyEvent, sink: Sink) => Promise<void>;

describe('a streamed response', () => {
  const streaming = (): Streamed => {
    vi.stubEnv('STREAM', '1');
    vi.stubGlobal('awslambda', {
      streamifyResponse: (handler: Streamed) => handler,
      HttpResponseStream: {
        from(sink: Sink, prelude: Sink['promised']) {
          sink.promised = prelude;
          return sink;
        },
      },
    });
    return make().handler as unknown as Streamed;
  };
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.unstubAllGlobals();
  });

  test('is sent chunk by chunk', async () => {
    const handler = streaming();
    const sink = new Sink();
    type = 'application/octet-stream';
    body = (async function* () {
      for (let index = 0; index < 9; index++) yield new Uint8Array(1024 * 1024).fill(index);
    })();
    await handler(rawEvent(), sink);
    expect(sink.prelude).toMatchObject({
      statusCode: 200,
      headers: { 'content-type': type, 'x-content-type-options': 'nosniff' },
    });
    expect(Buffer.concat(sink.pieces).length).toBe(9 * 1024 * 1024);
    expect(sink.writableFinished).toBe(true);
  });

  test('has status and headers even without a body', async () => {
    const sink = new Sink();
    await streaming()(rawEvent('DELETE'), sink);
    expect(sink.prelude?.statusCode).toBe(204);
    expect(sink.writableFinished).toBe(true);
  });

  test('may be JSON', async () => {
    const sink = new Sink();
    await streaming()(anonymous(eventOf('api-post-json')), sink);
    expect(sink.prelude?.statusCode).toBe(201);
    expect(Buffer.concat(sink.pieces).toString()).toBe('"neu/ä"');
  });

  test('is one piece where it is in memory', async () => {
    const sink = new Sink();
    type = 'application/octet-stream';
    body = new Uint8Array([0, 255, 1]);
    await streaming()(rawEvent(), sink);
    expect(sink.pieces.map((piece) => [...piece])).toEqual([[0, 255, 1]]);
    expect(sink.writableFinished).toBe(true);
  });

  test('is aborted by a failure halfway', async () => {
    const handler = streaming();
    const written = vi.spyOn(console, 'error').mockImplementation(() => {});
    const sink = new Sink();
    body = (async function* () {
      yield new Uint8Array(10);
      throw new Error('the object is gone');
    })();
    await expect(handler(rawEvent(), sink)).rejects.toThrow('the object is gone');
    const lines = written.mock.calls.length;
    written.mockRestore();
    expect(sink.destroyed).toBe(true);
    expect(sink.writableFinished).toBe(false);
    expect(lines).toBe(1);
  });

  test('closes its source when the client disconnects', async () => {
    const handler = streaming();
    const written = vi.spyOn(console, 'error');
    let closed = false;
    const sink = new Sink();
    body = (async function* () {
      try {
        for (;;) {
          yield new Uint8Array(1024);
          if (sink.pieces.length > 5) sink.destroy();
        }
      } finally {
        closed = true;
      }
    })();
    await expect(handler(rawEvent(), sink)).rejects.toThrow();
    await expect.poll(() => closed).toBe(true);
    expect(written).not.toHaveBeenCalled();
    written.mockRestore();
  });

  test.each([[undefined], [{}]])('is buffered outside the Lambda runtime (global %j)', async (awslambda) => {
    vi.stubEnv('STREAM', '1');
    vi.stubGlobal('awslambda', awslambda);
    expect((await make().handler(rawEvent('DELETE'))).statusCode).toBe(204);
  });
});

describe('functions without endpoints', () => {
  test('get Git requests as they were sent', async () => {
    const service = rawFunction(async (request, facts) => {
      const { pathname, search } = new URL(request.url);
      const sent = Buffer.from(await request.arrayBuffer()).toString('latin1');
      return new Response(
        JSON.stringify({ pathname, search, protocol: facts.headers.get('git-protocol'), sent }),
      );
    });
    const refs = await service.handler(eventOf('git-info-refs'));
    expect(JSON.parse(Buffer.from(refs.body, refs.isBase64Encoded ? 'base64' : 'utf8').toString())).toEqual({
      pathname: '/group/name.git/info/refs',
      search: '?service=git-upload-pack',
      protocol: 'version=2',
      sent: '',
    });
    expect(refs.multiValueHeaders?.['x-request-id']?.[0]).toMatch(/^[0-9A-Z]{26}$/);
    const pack = await service.handler(eventOf('git-upload-pack'));
    expect(JSON.parse(pack.body)).toMatchObject({ sent: '0014command=ls-refs\n00010009peel\n0000' });
  });

  test('serve pages outside the API', async () => {
    const service = apiFunction({
      endpoints: [],
      deps: () => ({ access: new MemoryAccess() }),
      pages: { '/': (facts) => reply({ status: 302, headers: { Location: `${facts.baseUrl}/api/docs` } }) },
    });
    const answer = await service.handler({
      ...rawEvent(),
      path: '/',
      requestContext: { ...rawEvent().requestContext, path: '/prod/' },
    });
    expect([answer.statusCode, answer.multiValueHeaders?.['location']]).toEqual([302, [`${STAGE}/api/docs`]]);
    expect((await service.handler({ ...rawEvent('POST'), path: '/' })).statusCode).toBe(404);
  });
});
