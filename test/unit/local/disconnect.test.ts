import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { areas } from '../../../functions/areas.ts';
import { CallerGone } from '../../../lib/domain/caller-gone.ts';
import { MemoryRepository } from '../../../lib/git/memory.ts';
import { PackStore } from '../../../lib/git/pack/store.ts';
import type { ObjectDatabase } from '../../../lib/git/ports.ts';
import type { RefName } from '../../../lib/git/refname.ts';
import { nextTurn, underWatch } from '../../../lib/git/work.ts';
import { rawFunction } from '../../../lib/http/function.ts';
import { reply } from '../../../lib/http/reply.ts';
import { type FunctionModule, gateway, streamThrough } from '../../../local/gateway.ts';
import { installLambdaGlobal } from '../../../local/lambda.ts';
import { gatewayRoutes } from '../../../local/routes.ts';
import { buildPack } from '../../harness/build-pack.ts';

/** A function that works in the engine's steps until the test lets it end. */
let server: Server;
let url: string;
let steps: number;
let release: boolean;
let ended: PromiseWithResolvers<unknown>;
const STREAM = process.env['STREAM'];
beforeEach(async () => {
  steps = 0;
  release = false;
  ended = Promise.withResolvers();
  installLambdaGlobal();
  process.env['STREAM'] = '1';
  const work = async (): Promise<void> => {
    try {
      for (; !release; steps++) await nextTurn();
      ended.resolve('at its end');
    } catch (error) {
      ended.resolve(error);
      throw error;
    }
  };
  const module = rawFunction(async ({ url }) => {
    if (!url.endsWith('?streamed')) await work();
    const body = async function* () {
      yield Buffer.from('begun');
      await work();
    };
    return reply({ body: url.endsWith('?streamed') ? body() : 'done' });
  });
  const serve = gateway({
    route: gatewayRoutes(areas),
    load: async () => module as unknown as FunctionModule,
    baseUrl: 'http://lemnos.test',
    limits: false,
    gitAuthorizer: 'authorizer',
  });
  server = createServer((request, response) => void serve(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  release = true;
  if (STREAM === undefined) delete process.env['STREAM'];
  server.close();
});

/** Sends a request and closes its connection when the function works on it. */
async function cut(path: string, method: string): Promise<void> {
  const connection = new AbortController();
  const request = fetch(url + path, { method, signal: connection.signal });
  request.catch(() => {});
  await expect.poll(() => steps).toBeGreaterThan(5);
  connection.abort();
  await request.then((response) => response.arrayBuffer()).catch(() => {});
}

test.each([
  ['a read', '/api/v4/projects/1/repository/contributors', 'GET'],
  ['a read whose response has begun', '/api/v4/projects/1/repository/archive?streamed', 'GET'],
  ['a fetch', '/group/project.git/git-upload-pack', 'POST'],
  ['a clone whose pack has begun', '/group/project.git/info/refs?streamed', 'GET'],
])('%s ends when its caller has gone', async (_, path, method) => {
  await cut(path, method);
  expect(await ended.promise).toBeInstanceOf(CallerGone);
});

test.each([
  ['a write', '/api/v4/projects/1/repository/commits', 'POST'],
  ['a push', '/group/project.git/git-receive-pack', 'POST'],
])('%s does not stop halfway when its caller has gone', async (_, path, method) => {
  await cut(path, method);
  const before = steps;
  await expect.poll(() => steps).toBeGreaterThan(before + 100);
  release = true;
  expect(await ended.promise).toBe('at its end');
});

test('an answer that comes when its caller has gone is not made', async () => {
  const called = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const cancelled = Promise.withResolvers<string>();
  const answer = async () => {
    called.resolve();
    await closed.promise;
    return new Response(
      new ReadableStream({
        pull: (controller) => controller.enqueue(new Uint8Array(1000)),
        cancel: () => cancelled.resolve('cancelled'),
      }),
    );
  };
  const through = createServer((request, response) => {
    response.once('close', closed.resolve);
    void streamThrough({ baseUrl: 'http://lemnos.test' }, answer, request, response);
  }).listen(0, '127.0.0.1');
  await once(through, 'listening');
  const connection = new AbortController();
  const { port } = through.address() as AddressInfo;
  const request = fetch(`http://127.0.0.1:${port}/`, { signal: connection.signal });
  request.catch(() => {});
  await called.promise;
  connection.abort();
  expect(await cancelled.promise).toBe('cancelled');
  through.close();
});

test('a walk whose caller has gone reads no further block', async () => {
  const { objects, refs } = new MemoryRepository({ head: 'refs/heads/main' as RefName });
  // More than a repository that is fetched whole.
  const blobs = Array.from({ length: 40 }, () => ({ type: 'blob' as const, data: randomBytes(300_000) }));
  const { content, objectCount, oids } = buildPack(blobs);
  const pack = await objects.newPack(content, { source: 'receive', objectCount });
  await refs.compareAndSwap([], { packs: [pack] });
  let reads = 0;
  const gone = new AbortController();
  const counted: ObjectDatabase = {
    listPacks: (options) => objects.listPacks(options),
    newPack: (made, about) => objects.newPack(made, about),
    rollbackPack: (made) => objects.rollbackPack(made),
    open: (of, part) => {
      const access = objects.open(of, part);
      const read = (offset: number, length: number) => {
        if (++reads === 3) gone.abort(new CallerGone());
        return access.read(offset, length);
      };
      return { size: access.size, read };
    },
  };
  const store = new PackStore(counted);
  const walk = underWatch({ signal: gone.signal }, async () => {
    for (const oid of oids) await store.read(oid);
  });
  await expect(walk).rejects.toThrow(CallerGone);
  expect(reads).toBeLessThanOrEqual(4);
});
