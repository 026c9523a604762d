import { createServer, get, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterEach, describe, expect, test } from 'vitest';
import { areas } from '../../../functions/areas.ts';
import { AWS_LIMITS, type FunctionModule, type GatewayLimits, gateway } from '../../../local/gateway.ts';
import type { ResponseStream } from '../../../local/lambda.ts';
import { gatewayRoutes } from '../../../local/routes.ts';

let server: Server | undefined;
afterEach(
  () => new Promise<void>((resolve) => (server === undefined ? resolve() : server.close(() => resolve()))),
);

/** A gateway before one function that does what the test says. */
async function front(
  handler: FunctionModule['handler'],
  options: { limits?: boolean | Partial<GatewayLimits>; authorizer?: FunctionModule['handler'] } = {},
) {
  const serve = gateway({
    route: gatewayRoutes(areas),
    load: async (entry) => ({ handler: entry === 'authorizer' ? (options.authorizer ?? handler) : handler }),
    baseUrl: 'http://lemnos.test',
    limits: options.limits ?? false,
    gitAuthorizer: 'authorizer',
  });
  server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const answers = (result: object) => async () => result;

describe('the event', () => {
  test('keeps the path encoded, decodes the query, carries the body as Base64', async () => {
    let seen: APIGatewayProxyEvent | undefined;
    const url = await front(async (event) => {
      seen = event as APIGatewayProxyEvent;
      return { statusCode: 200, body: '' };
    });
    await fetch(`${url}/api/v4/projects/a%2Fb?x[]=1&x[]=a%20b+c&y=`, {
      method: 'POST',
      body: 'né',
      headers: { 'X-Two': 'v' },
    });
    expect(seen).toMatchObject({
      path: '/api/v4/projects/a%2Fb',
      resource: '/api/v4/projects/{id}',
      httpMethod: 'POST',
      pathParameters: { id: 'a%2Fb' },
      queryStringParameters: { 'x[]': 'a b c', y: '' },
      body: Buffer.from('né').toString('base64'),
      isBase64Encoded: true,
    });
    expect(seen?.multiValueQueryStringParameters?.['x[]']).toEqual(['1', 'a b c']);
    expect(Object.entries(seen?.headers ?? {}).find(([name]) => name.toLowerCase() === 'x-two')?.[1]).toBe(
      'v',
    );
    expect(seen?.requestContext).toMatchObject({ httpMethod: 'POST', path: '/api/v4/projects/a%2Fb' });
  });

  test('has headers of any name', async () => {
    let seen: APIGatewayProxyEvent | undefined;
    const url = await front(async (event) => {
      seen = event as APIGatewayProxyEvent;
      return { statusCode: 200, body: '' };
    });
    // What fetch sends has no such name.
    const headers = ['Host', 'lemnos.test', '__proto__', 'a', 'constructor', 'b'];
    const status = await new Promise((resolve) =>
      get(`${url}/api/v4/version`, { headers, agent: false }, (response) =>
        resolve(response.resume().statusCode),
      ),
    );
    expect(status).toBe(200);
    const names = Object.entries(seen?.multiValueHeaders ?? {});
    expect(names).toContainEqual(['__proto__', ['a']]);
    expect(names).toContainEqual(['constructor', ['b']]);
  });
});

describe('the answer', () => {
  test('buffered: bytes come back as bytes, repeated headers stay apart', async () => {
    const bytes = Buffer.from([0, 255, 10]);
    const url = await front(
      answers({
        statusCode: 201,
        headers: { 'Content-Type': 'application/x-test' },
        multiValueHeaders: { 'Set-Cookie': ['a=1', 'b=2'] },
        body: bytes.toString('base64'),
        isBase64Encoded: true,
      }),
    );
    const answer = await fetch(`${url}/api/v4/version`);
    expect(answer.status).toBe(201);
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(bytes);
    expect(answer.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  });

  test('streamed: the first bytes arrive before the last are written', async () => {
    let release: () => void = () => {};
    const url = await front(async (_event, stream) => {
      const answer = stream as ResponseStream;
      answer.begin({ statusCode: 200, headers: { 'Content-Type': 'text/plain' } });
      answer.write('first');
      await new Promise<void>((resolve) => (release = resolve));
      answer.end('last');
      return undefined;
    });
    const body = (await fetch(`${url}/api/v4/version`)).body!.getReader();
    expect(Buffer.from((await body.read()).value!).toString()).toBe('first');
    release();
    expect(Buffer.from((await body.read()).value!).toString()).toBe('last');
  });

  test('streamed: what is written at once is sent at once, with its head', async () => {
    const url = await front(async (_event, stream) => {
      const answer = stream as ResponseStream;
      answer.begin({ statusCode: 200, headers: { 'Content-Type': 'text/plain' } });
      answer.write('all of ');
      await new Promise<void>((resolve) => answer.end('it', () => resolve()));
      return undefined;
    });
    let sent = 0;
    server!.on('connection', (socket) => {
      for (const name of ['_write', '_writev'] as const) {
        const write = socket[name]!.bind(socket) as (...args: unknown[]) => void;
        socket[name] = (...args: unknown[]) => {
          sent++;
          write(...args);
        };
      }
    });
    expect(await (await fetch(`${url}/api/v4/version`)).text()).toBe('all of it');
    expect(sent).toBe(1);
  });

  test('streamed: the head is sent before a body that takes time', async () => {
    let release: () => void = () => {};
    const url = await front(async (_event, stream) => {
      const answer = stream as ResponseStream;
      answer.begin({ statusCode: 202, headers: { 'Content-Type': 'text/plain' } });
      await new Promise<void>((resolve) => (release = resolve));
      answer.end('late');
      return undefined;
    });
    const answer = await fetch(`${url}/api/v4/version`);
    expect(answer.status).toBe(202);
    release();
    expect(await answer.text()).toBe('late');
  });

  test('a client that goes away does not stop the host', async () => {
    let broken: unknown;
    const url = await front(async (_event, stream) => {
      const answer = stream as ResponseStream;
      answer.begin({ statusCode: 200 });
      answer.on('close', () => (broken = true));
      for (let i = 0; i < 1000 && !answer.destroyed; i++) {
        answer.write(Buffer.alloc(64 * 1024));
        await delay(1);
      }
      return undefined;
    });
    const reader = (await fetch(`${url}/api/v4/version`)).body!.getReader();
    await reader.read();
    await reader.cancel();
    await expect.poll(() => broken).toBe(true);
    expect((await fetch(`${url}/nothing/here`, { method: 'HEAD' })).status).toBe(200);
  });

  test('a function that fails is a 502 without details', async () => {
    const url = await front(async () => {
      throw new Error('secret');
    });
    const answer = await fetch(`${url}/api/v4/version`);
    expect(answer.status).toBe(502);
    expect(await answer.text()).toBe('{"message":"Internal server error"}');
  });
});

describe('with the limits of API Gateway', () => {
  const ok = answers({ statusCode: 401, headers: { 'WWW-Authenticate': 'Basic' }, body: '' });

  test('renames WWW-Authenticate', async () => {
    const answer = await fetch(`${await front(ok, { limits: true })}/api/v4/version`);
    expect(answer.headers.get('www-authenticate')).toBeNull();
    expect(answer.headers.get('x-amzn-remapped-www-authenticate')).toBe('Basic');
  });

  test.each([
    ['a body above the event', 4.6 * 1024 * 1024, 413],
    ['a body that fits', 4.4 * 1024 * 1024, 401],
  ])('%s', async (_name, size, status) => {
    const url = await front(ok, { limits: true });
    const answer = await fetch(`${url}/api/v4/version`, { method: 'POST', body: Buffer.alloc(size) });
    expect(answer.status).toBe(status);
  });

  test('refuses headers above 10,240 bytes', async () => {
    const url = await front(
      answers({ statusCode: 200, headers: { 'X-Long': 'x'.repeat(10_300) }, body: '' }),
      { limits: true },
    );
    expect((await fetch(`${url}/api/v4/version`)).status).toBe(502);
  });

  const streaming = (pieces: number) => async (_event: unknown, stream: unknown) => {
    const out = stream as ResponseStream;
    out.begin({ statusCode: 200 });
    for (let n = 0; n < pieces; n++) out.write(Buffer.alloc(1000));
    out.end();
  };

  test('the limits are those of AWS', () => {
    expect(AWS_LIMITS).toEqual({ body: 10_485_760, event: 6_291_456, streamed: 200_000_000, seconds: 900 });
  });

  test('cuts a streamed response above its limit, after the 200, and no other', async () => {
    const fits = await fetch(
      `${await front(streaming(10), { limits: { streamed: 10_000 } })}/api/v4/version`,
    );
    expect([fits.status, (await fits.arrayBuffer()).byteLength]).toEqual([200, 10_000]);
    server!.close();
    const url = await front(streaming(11), { limits: { streamed: 10_000 } });
    await expect(fetch(`${url}/api/v4/version`).then((answer) => answer.arrayBuffer())).rejects.toThrow();
  });

  test('a function that takes too long is answered 504, or cut once it has begun', async () => {
    const never = async () => new Promise(() => {});
    const late = await fetch(`${await front(never, { limits: { seconds: 0.2 } })}/api/v4/version`);
    expect([late.status, await late.json()]).toEqual([504, { message: 'Endpoint request timed out' }]);
    server!.close();
    const begun = async (_event: unknown, stream: unknown) => {
      (stream as ResponseStream).begin({ statusCode: 200 });
      (stream as ResponseStream).write('begun');
      return never();
    };
    const url = await front(begun, { limits: { seconds: 0.2 } });
    const answer = await fetch(`${url}/api/v4/version`);
    expect(answer.status).toBe(200);
    await expect(answer.text()).rejects.toThrow();
  });

  test('the authorizer stands before Git alone, and its refusal carries the challenge', async () => {
    const url = await front(answers({ statusCode: 200, body: '' }), {
      limits: true,
      authorizer: async () => {
        throw new Error('Unauthorized');
      },
    });
    const git = await fetch(`${url}/a/b.git/info/refs?service=git-upload-pack`);
    expect([git.status, git.headers.get('www-authenticate')]).toEqual([401, 'Basic realm="Lemnos"']);
    expect((await fetch(`${url}/api/v4/version`)).status).toBe(200);
  });
});
