import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { requestHandler } from '@lemnos/embedded-aws/request-handler';
import { openS3 } from '@lemnos/embedded-aws/s3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { FunctionModule } from '../../../local/gateway.ts';
import { lambdaContext, type ResponseMetadata, ResponseStream } from '../../../local/lambda.ts';
import { FunctionThread } from '../../../local/threads/function-thread.ts';
import { giveBackUnused } from '../../../local/unused-memory.ts';

const CLIENTS = new URL('../../../lib/store/clients.ts', import.meta.url).href;
const SDK = import.meta.resolve('@aws-sdk/client-s3');

let folder: string;
let thread: FunctionThread;
/** What the bucket was sent. */
const sent: { method: string; path: string; body: string }[] = [];
const OBJECT = Buffer.alloc(9_000_000, 'an object ');

const service = requestHandler(async ({ method, path, body }) => {
  const content = body === undefined ? '' : Buffer.from(body as Uint8Array).toString();
  sent.push({ method, path, body: content });
  if (path.endsWith('/absent')) {
    throw Object.assign(new Error('the line was cut'), { name: 'TimeoutError', code: 'ECONNRESET' });
  }
  const answer =
    method === 'PUT' ? Buffer.alloc(0) : path.endsWith('/large') ? OBJECT : OBJECT.subarray(0, 20);
  return {
    response: {
      statusCode: 200,
      headers: { 'content-length': String(answer.length) },
      body: Readable.from([Buffer.from(answer)]),
    },
  };
});

const options = () => ({
  name: 'of the test',
  functions: pathToFileURL(`${folder}/`),
  services: { dynamodb: service, s3: service, sqs: service, ses: service, ssm: service },
  baseUrl: 'http://lemnos.test',
  packCache: 48,
});

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lemnos-thread-'));
  sent.length = 0;
  thread = new FunctionThread(options());
});
afterEach(async () => {
  await thread.end();
  rmSync(folder, { recursive: true, force: true });
});

function load(code: string): Promise<FunctionModule> {
  writeFileSync(join(folder, 'entry.mjs'), code);
  return thread.load('entry.mjs');
}

const context = lambdaContext('function', 30);

/** Keeps what is written to it. */
function answer() {
  const chunks: Uint8Array[] = [];
  let metadata: ResponseMetadata | undefined;
  const stream = new ResponseStream({
    begin: (given) => {
      metadata = given;
    },
    write: (chunk, done) => {
      chunks.push(chunk);
      setImmediate(done);
    },
    end: (done) => done(),
    abort: () => {},
  });
  return { stream, metadata: () => metadata, bytes: () => Buffer.concat(chunks) };
}

test('an event goes to the function, and what it returns or throws comes back', async () => {
  const { handler, fetch } = await load(
    `export const handler = async (event, context) => {
       if (event.fails) throw new RangeError('so it is');
       return { event, name: context.functionName, waits: context.getRemainingTimeInMillis() > 20_000 };
     };`,
  );
  expect(fetch).toBeUndefined();
  expect(await handler({ a: [1] }, context)).toEqual({ event: { a: [1] }, name: 'function', waits: true });
  await expect(handler({ fails: true }, context)).rejects.toMatchObject({
    name: 'RangeError',
    message: 'so it is',
  });
});

test('an answer is streamed as it is written, whatever parts of buffers it is made of', async () => {
  const { handler } = await load(
    `import { once } from 'node:events';
     export const handler = async (event, stream) => {
       awslambda.HttpResponseStream.from(stream, { statusCode: 201, headers: { a: 'b' } });
       const all = Buffer.from(Array.from({ length: 1_000_000 }, (_, i) => i % 251));
       for (let i = 0; i < all.length; i += 77_777)
         if (!stream.write(all.subarray(i, i + 77_777))) await once(stream, 'drain');
       stream.end();
     };`,
  );
  const { stream, metadata, bytes } = answer();
  await handler({}, stream, context);
  expect(metadata()).toEqual({ statusCode: 201, headers: { a: 'b' } });
  expect(bytes().equals(Buffer.from(Array.from({ length: 1_000_000 }, (_, i) => i % 251)))).toBe(true);
});

test('a function learns that its client has gone, before and while it answers', async () => {
  const { handler } = await load(
    `const gone = [];
     export const handler = async (event, stream) => {
       if (event.ask) return gone;
       stream.once('close', () => gone.push(event.name));
       if (event.name === 'answering') {
         awslambda.HttpResponseStream.from(stream, { statusCode: 200 });
         for (let i = 0; !stream.destroyed; i++) {
           stream.write(Buffer.alloc(1000));
           await new Promise((resolve) => setTimeout(resolve, 1));
         }
       } else await new Promise((resolve) => stream.once('close', resolve));
     };`,
  );
  const early = answer();
  const first = handler({ name: 'thinking' }, early.stream, context);
  setTimeout(() => early.stream.destroy(), 50);
  await first;
  const late = answer();
  setTimeout(() => late.stream.destroy(), 50);
  await handler({ name: 'answering' }, late.stream, context);
  await expect.poll(() => handler({ ask: true }, context)).toEqual(['thinking', 'answering']);
});

test('a call ends whose client goes when the answer is on its way between the threads', async () => {
  const { handler } = await load(
    `let ended = false;
     export const handler = async (event, stream) => {
       if (event.ask) return ended;
       awslambda.HttpResponseStream.from(stream, { statusCode: 200 });
       while (!stream.destroyed) {
         stream.write(Buffer.alloc(1000));
         await new Promise((resolve) => setTimeout(resolve, 1));
       }
       ended = true;
     };`,
  );
  const { stream } = answer();
  const ended = handler({}, stream, context);
  // The beginning of the answer arrives, and waits for this thread to look.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
  stream.destroy();
  await ended;
  await expect.poll(() => handler({ ask: true }, context)).toBe(true);
});

test('a request without a gateway streams in and out', async () => {
  const { fetch } = await load(
    `export const handler = async () => {};
     export const fetch = async (request, info) => new Response(
       request.body.pipeThrough(new TransformStream({ transform: (chunk, to) => to.enqueue(chunk.map((byte) => byte ^ 1)) })),
       { status: 202, headers: { from: info.sourceIp, method: request.method } });`,
  );
  const request = new Request('http://lemnos.test/a', {
    method: 'POST',
    body: Readable.toWeb(Readable.from([OBJECT.subarray(0, 100_000), OBJECT.subarray(100_000)])),
    duplex: 'half',
  } as RequestInit);
  const response = await fetch!(request, { sourceIp: '192.0.2.1', baseUrl: 'http://lemnos.test' });
  expect([response.status, response.headers.get('from'), response.headers.get('method')]).toEqual([
    202,
    '192.0.2.1',
    'POST',
  ]);
  const flipped = Buffer.from(await response.arrayBuffer()).map((byte) => byte ^ 1);
  expect(OBJECT.equals(flipped)).toBe(true);
});

test('what a function leaves unread of a request is not kept when it has answered', async () => {
  const { fetch } = await load(
    `export const handler = async () => {};
     export const fetch = async (request) => {
       const how = request.headers.get('how');
       if (how.includes('partly')) await request.body.getReader().read();
       if (how.includes('fails')) throw new RangeError('so it is');
       return new Response(how.includes('empty') ? null : 'refused', { status: 403 });
     };`,
  );
  for (const how of ['empty', 'with a text', 'partly', 'empty, partly', 'fails', 'fails, partly']) {
    let ended = false;
    const body = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(1000)),
      cancel: () => void (ended = true),
    });
    const request = new Request('http://lemnos.test/', {
      ...{ method: 'POST', headers: { how }, body, duplex: 'half' },
    } as RequestInit);
    const answered = fetch!(request, { sourceIp: '192.0.2.1', baseUrl: 'http://lemnos.test' });
    await answered.then((response) => response.text()).catch(() => {});
    await expect.poll(() => ended, { message: how }).toBe(true);
  }
});

test('functions reach the services through the thread that has them', async () => {
  const { handler } = await load(
    `import { GetObjectCommand, PutObjectCommand } from '${SDK}';
     import { awsClients } from '${CLIENTS}';
     process.env.AWS_REGION = 'local'; process.env.AWS_ACCESS_KEY_ID = 'a'; process.env.AWS_SECRET_ACCESS_KEY = 'b';
     export const handler = async ({ Key }) => {
       const { s3 } = awsClients();
       await s3.send(new PutObjectCommand({ Bucket: 'bucket', Key, Body: Buffer.from('content').subarray(3) }));
       const { Body } = await s3.send(new GetObjectCommand({ Bucket: 'bucket', Key }));
       let bytes = 0;
       for await (const chunk of Body) bytes += chunk.length;
       return bytes;
     };`,
  );
  expect(await handler({ Key: 'small' }, context)).toBe(20);
  expect(sent).toEqual([
    { method: 'PUT', path: '/_s3/bucket/small', body: 'tent' },
    { method: 'GET', path: '/_s3/bucket/small', body: '' },
  ]);
  expect(await handler({ Key: 'large' }, context)).toBe(OBJECT.length);
  // As the transport of the service failed.
  await expect(handler({ Key: 'absent' }, context)).rejects.toMatchObject({
    name: 'TimeoutError',
    message: 'the line was cut',
  });
});

test('a thread reads objects of the bucket itself, and writes and lists them through the other one', async () => {
  const dir = join(folder, 'objects');
  const s3 = await openS3({ dir });
  const asked: string[] = [];
  const bucket = requestHandler((request, options) => {
    asked.push(request.method);
    return s3.requestHandler.handle(request, options);
  });
  await thread.end();
  const services = { ...options().services, s3: bucket };
  thread = new FunctionThread({ ...options(), services, objects: { dir, endpointPath: '/_s3' } });
  const { handler } = await load(
    `import { CreateBucketCommand, GetObjectCommand, HeadObjectCommand, ListObjectsV2Command, PutObjectCommand } from '${SDK}';
     import { awsClients } from '${CLIENTS}';
     process.env.AWS_REGION = 'local'; process.env.AWS_ACCESS_KEY_ID = 'a'; process.env.AWS_SECRET_ACCESS_KEY = 'b';
     const refused = (error) => error.name;
     export const handler = async () => {
       const { s3 } = awsClients();
       const Bucket = 'bucket';
       const get = async (Key, more) => {
         const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key, ...more }));
         return Buffer.from(await Body.transformToByteArray()).toString();
       };
       const early = await get('a').catch(refused);
       await s3.send(new CreateBucketCommand({ Bucket }));
       const absent = await get('a').catch(refused);
       await s3.send(new PutObjectCommand({ Bucket, Key: 'a', Body: 'once' }));
       const once = await get('a');
       await s3.send(new PutObjectCommand({ Bucket, Key: 'a', Body: 'twice' + '.'.repeat(3_000_000) }));
       const { ContentLength } = await s3.send(new HeadObjectCommand({ Bucket, Key: 'a' }));
       const { KeyCount } = await s3.send(new ListObjectsV2Command({ Bucket }));
       const twice = await get('a');
       return { early, absent, once, part: await get('a', { Range: 'bytes=1-3' }), ContentLength, KeyCount, twice: twice.length };
     };`,
  );
  expect(await handler({}, context)).toEqual({
    ...{ early: 'NoSuchBucket', absent: 'NoSuchKey', once: 'once', part: 'wic' },
    ...{ ContentLength: 3_000_005, KeyCount: 1, twice: 3_000_005 },
  });
  expect(asked).toEqual(['PUT', 'PUT', 'PUT', 'GET']);
  await s3.close();
});

test('a thread that ends fails what it was doing, and the next request starts another', async () => {
  const { handler } = await load(
    `let served = 0;
     export const handler = async (event) => {
       if (event.ends) process.exit(3);
       return ++served;
     };`,
  );
  expect(await handler({}, context)).toBe(1);
  await expect(handler({ ends: true }, context)).rejects.toThrow('the thread of the test ended with 3');
  const again = await thread.load('entry.mjs');
  expect(await again.handler({}, context)).toBe(1);
});

test('a thread that has nothing to do ends, and starts again when it has', async () => {
  await thread.end();
  thread = new FunctionThread({ ...options(), idle: 400 });
  const code = `let served = 0;
     export const handler = async (event) => {
       await new Promise((resolve) => setTimeout(resolve, event.takes));
       return ++served;
     };`;
  const { handler } = await load(code);
  // Longer than it may be idle: it is not.
  expect(await handler({ takes: 1000 }, context)).toBe(1);
  expect(await handler({ takes: 0 }, context)).toBe(2);
  await delay(1500);
  expect(await (await thread.load('entry.mjs')).handler({ takes: 0 }, context)).toBe(1);
});

test('a thread is told how much of packs it keeps, and the others are not', async () => {
  const { handler } = await load("export const handler = async () => process.env['PACK_CACHE_MB'];");
  expect(await handler({}, context)).toBe('48');
  expect(process.env['PACK_CACHE_MB']).toBeUndefined();
});

test.each([
  ['now and then', { givesBack: 20 }],
  ['at once while the process has more memory than it may', { most: 1 }],
])('a thread gives back what its functions keep of packs and do not use, %s', async (_, when) => {
  await thread.end();
  thread = new FunctionThread({ ...options(), ...when });
  const deps = `let times = 0;
     export const told = () => times;
     export const deps = () => ({ packs: { dropUnused: () => { times++; return 0; } } });`;
  writeFileSync(join(folder, 'deps.ts'), deps);
  const { handler } = await load(
    `import { told } from './deps.ts';
     export const handler = async () => {
       while (told() < 2) await new Promise((resolve) => setTimeout(resolve, 5));
       return told();
     };`,
  );
  expect(await handler({}, context)).toBeGreaterThanOrEqual(2);
});

test.each([
  [20 * 2 ** 20, 1],
  [2 ** 20, 0],
])('%d bytes that are dropped are worth %d collections of garbage', (bytes, collections) => {
  let collected = 0;
  giveBackUnused({ dropUnused: () => bytes }, { collect: () => void collected++ });
  expect(collected).toBe(collections);
});

test('what was dropped is freed at once', async () => {
  let held: Uint8Array | undefined = new Uint8Array(64 * 2 ** 20);
  const before = process.memoryUsage().arrayBuffers;
  const cache = {
    dropUnused() {
      const bytes = held!.length;
      held = undefined;
      return bytes;
    },
  };
  giveBackUnused(cache);
  // Another thread frees what the collection found.
  const bytes = () => process.memoryUsage().arrayBuffers;
  await expect.poll(bytes, { timeout: 60_000 }).toBeLessThan(before - 32 * 2 ** 20);
});
