import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { parseAllowList } from '../../../lib/outbound/allow-list.ts';
import type { DestinationPolicy, Resolver } from '../../../lib/outbound/destination.ts';
import { OutboundError } from '../../../lib/outbound/errors.ts';
import {
  mayForwardCredentials,
  type OutboundLimits,
  type OutboundRequest,
  outboundRequest,
} from '../../../lib/outbound/request.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A server on loopback that records its requests. */
async function serve(answer: RequestListener, host = '127.0.0.1', port = 0) {
  const seen: IncomingMessage[] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    seen.push(request);
    answer(request, response);
  });
  server.on('connection', () => connections++);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  return {
    port: (server.address() as AddressInfo).port,
    seen,
    get connections() {
      return connections;
    },
  };
}

const hello: RequestListener = (_request, response) => void response.end('hello');

async function ask(
  url: string,
  policy: DestinationPolicy,
  limits: Partial<OutboundLimits> = {},
  more: Partial<OutboundRequest> = {},
) {
  const wanted = { method: 'GET', url: new URL(url), ...more } as const;
  const answer = await outboundRequest(wanted, { maxBytes: 1000, ...limits }, policy);
  const pieces: Uint8Array[] = [];
  for await (const piece of answer.body) pieces.push(piece);
  return { ...answer, text: Buffer.concat(pieces).toString() };
}

const failure = async (asked: Promise<unknown>): Promise<string> => {
  const error = await asked.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(OutboundError);
  return (error as OutboundError).failure;
};

const resolver = (...answers: string[][]): Resolver & { asked: string[] } => {
  const asked: string[] = [];
  const resolve = async (host: string) => {
    asked.push(host);
    return (answers[asked.length - 1] ?? answers.at(-1)!).map((address) => ({ address }));
  };
  return Object.assign(resolve, { asked });
};

describe('the connection is pinned to the checked addresses', () => {
  test('a name that resolves to another address a moment later has no effect', async () => {
    const open = await serve(hello);
    const secret = await serve(hello, '127.0.0.2', open.port);
    const resolve = resolver(['127.0.0.1'], ['127.0.0.2']);
    const policy = { allow: parseAllowList(`127.0.0.1:${open.port}`), resolve };
    expect((await ask(`http://rebind.example:${open.port}/`, policy)).text).toBe('hello');
    expect(open.seen[0]!.headers.host).toBe(`rebind.example:${open.port}`);
    expect(resolve.asked).toEqual(['rebind.example']);
    // The next call resolves again, and is refused.
    expect(await failure(ask(`http://rebind.example:${open.port}/`, policy))).toBe('blocked');
    expect(secret.connections).toBe(0);
  });

  test('one local address among public ones is refused', async () => {
    const secret = await serve(hello);
    for (const addresses of [
      ['127.0.0.1'],
      ['8.8.8.8', '127.0.0.1'],
      ['::ffff:127.0.0.1'],
      ['64:ff9b::7f00:1'],
      ['fe80::1%lo'],
      ['not an address'],
      [],
    ]) {
      const policy = { allow: parseAllowList(''), resolve: resolver(addresses) };
      expect(await failure(ask(`http://a.example:${secret.port}/`, policy)), String(addresses)).toBe(
        'blocked',
      );
    }
    expect(secret.connections).toBe(0);
  });

  test('unknown and local hosts give the same error', async () => {
    const absent = { allow: parseAllowList(''), resolve: () => Promise.reject(new Error('ENOTFOUND')) };
    const local = { allow: parseAllowList(''), resolve: resolver(['10.0.0.1']) };
    const [one, other] = await Promise.all(
      [absent, local].map((policy) => ask('http://a.example/', policy).catch((error: unknown) => error)),
    );
    expect(one).toMatchObject({ failure: 'blocked', message: 'blocked' });
    expect(other).toMatchObject({ failure: 'blocked', message: 'blocked' });
  });

  test('proxies of the environment are not used', async () => {
    const [open, proxy] = [await serve(hello), await serve(hello)];
    process.env['http_proxy'] = `http://127.0.0.1:${proxy.port}`;
    process.env['NODE_USE_ENV_PROXY'] = '1';
    const policy = { allow: parseAllowList(`127.0.0.1:${open.port}`) };
    await ask(`http://127.0.0.1:${open.port}/`, policy).finally(() => {
      delete process.env['http_proxy'];
      delete process.env['NODE_USE_ENV_PROXY'];
    });
    expect(proxy.connections).toBe(0);
  });
});

describe('redirects', () => {
  test.each(['127.0.0.1', 'localhost', '[::1]', '0x7f.1', '2130706433', '[::ffff:7f00:1]', '0.0.0.0'])(
    'into %s are refused',
    async (host) => {
      const secret = await serve(hello);
      const target = `http://${host}:${secret.port}/`;
      const open = await serve(
        (_request, response) => void response.writeHead(302, { Location: target }).end(),
      );
      const policy = { allow: parseAllowList(`127.0.0.1:${open.port}`) };
      expect(await failure(ask(`http://127.0.0.1:${open.port}/`, policy, { maxRedirects: 5 }))).toBe(
        'blocked',
      );
      expect(secret.connections).toBe(0);
    },
  );

  test('are checked and pinned again', async () => {
    const secret = await serve(hello, '127.0.0.2');
    const open = await serve(
      (_request, response) =>
        void response.writeHead(307, { Location: `http://inner.example:${secret.port}/` }).end(),
    );
    const resolve = resolver(['127.0.0.1'], ['127.0.0.2']);
    const policy = { allow: parseAllowList(`127.0.0.1:${open.port}`), resolve };
    expect(await failure(ask(`http://outer.example:${open.port}/`, policy, { maxRedirects: 5 }))).toBe(
      'blocked',
    );
    expect(resolve.asked).toEqual(['outer.example', 'inner.example']);
    expect(secret.connections).toBe(0);
  });

  test('are limited, must be valid, and are not followed with a body', async () => {
    const open = await serve((request, response) => {
      const location = { '/nowhere': undefined, '/bad': 'http://[', '/file': 'file:///etc/passwd' }[
        request.url!
      ];
      response.writeHead(
        302,
        location === undefined && request.url === '/nowhere' ? {} : { Location: location ?? '/loop' },
      );
      response.end();
    });
    const policy = { allow: parseAllowList(`127.0.0.1:${open.port}`) };
    const base = `http://127.0.0.1:${open.port}`;
    expect(await failure(ask(`${base}/loop`, policy, { maxRedirects: 3 }))).toBe('redirects');
    expect(open.seen).toHaveLength(4);
    expect(await failure(ask(`${base}/nowhere`, policy, { maxRedirects: 3 }))).toBe('redirects');
    expect(await failure(ask(`${base}/bad`, policy, { maxRedirects: 3 }))).toBe('redirects');
    expect(await failure(ask(`${base}/file`, policy, { maxRedirects: 3 }))).toBe('bad-url');
    const before = open.seen.length;
    const post = { method: 'POST', body: Buffer.from('secret') } as const;
    expect(await failure(ask(`${base}/x`, policy, { maxRedirects: 3 }, post))).toBe('redirects');
    expect(open.seen.length).toBe(before + 1);
  });

  test('forward credentials to the same server only', async () => {
    const other = await serve(hello);
    const open = await serve((request, response) => {
      const there = request.url === '/away' ? `http://ada:pw@127.0.0.1:${other.port}/` : '/end';
      if (request.url === '/end') hello(request, response);
      else response.writeHead(301, { Location: there }).end();
    });
    const policy = { allow: parseAllowList('127.0.0.1') };
    const more = { authorization: 'Basic c2VjcmV0' };
    await ask(`http://127.0.0.1:${open.port}/here`, policy, { maxRedirects: 1 }, more);
    expect(open.seen.map(({ headers }) => headers.authorization)).toEqual([
      more.authorization,
      more.authorization,
    ]);
    await ask(`http://127.0.0.1:${open.port}/away`, policy, { maxRedirects: 1 }, more);
    expect(other.seen[0]!.headers.authorization).toBeUndefined();
  });
});

test.each([
  ['http://a.example/x', 'http://a.example/y', true],
  ['http://a.example/x', 'https://a.example/x', true],
  ['https://a.example/x', 'http://a.example/x', false],
  ['http://a.example:8080/x', 'https://a.example/x', false],
  ['http://a.example/x', 'https://a.example:8443/x', false],
  ['https://a.example/x', 'https://b.a.example/x', false],
])('credentials of %s at %s: %s', (from, to, may) => {
  expect(mayForwardCredentials(new URL(from), new URL(to))).toBe(may);
});

describe('limits', () => {
  test('a server that does not answer, stops halfway, sends too much, or disconnects', async () => {
    const open = await serve((request, response) => {
      if (request.url === '/silent') return;
      if (request.url === '/large') return void response.end(Buffer.alloc(100_000));
      response.writeHead(200, request.url === '/short' ? { 'Content-Length': '10' } : {});
      response.write('begun');
      if (request.url !== '/stops') setTimeout(() => response.destroy(), 20);
    });
    const policy = { allow: parseAllowList(`127.0.0.1:${open.port}`) };
    const times = { headMs: 100, idleMs: 100 };
    const base = `http://127.0.0.1:${open.port}`;
    expect(await failure(ask(`${base}/silent`, policy, times))).toBe('timeout');
    expect(await failure(ask(`${base}/stops`, policy, times))).toBe('timeout');
    expect(await failure(ask(`${base}/large`, policy))).toBe('too-large');
    expect(await failure(ask(`${base}/short`, policy))).toBe('unreachable');
    expect(await failure(ask(`${base}/breaks`, policy))).toBe('unreachable');
  });

  test('a resolver that does not answer, and a caller that aborts', async () => {
    const never: Resolver = () => new Promise(() => {});
    const policy = { allow: parseAllowList(''), resolve: never };
    expect(await failure(ask('http://a.example/', policy, { headMs: 50 }))).toBe('timeout');
    const open = await serve((_request, response) => void response.write('drip'));
    const patient = { allow: parseAllowList(`127.0.0.1:${open.port}`) };
    const signal = AbortSignal.timeout(100);
    expect(await failure(ask(`http://127.0.0.1:${open.port}/`, patient, {}, { signal }))).toBe('timeout');
    await sleep(20);
  });

  test('connection refused', async () => {
    const gone = await serve(hello);
    servers.pop()!.close();
    await sleep(10);
    const policy = { allow: parseAllowList('127.0.0.1') };
    expect(await failure(ask(`http://127.0.0.1:${gone.port}/`, policy))).toBe('unreachable');
    const plain = await serve(hello);
    expect(await failure(ask(`https://127.0.0.1:${plain.port}/`, policy))).toBe('tls');
  });
});
