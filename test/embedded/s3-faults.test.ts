import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { OperationRecord } from '@lemnos/embedded-aws/s3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Bucket, type Fixture, failure, openFixture } from './s3-fixture.ts';

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture[Symbol.asyncDispose]());

const put = (Key: string, client = fixture.client, more = {}) =>
  client.send(new PutObjectCommand({ Bucket, Key, Body: Key, ...more }));
const exists = (Key: string) =>
  fixture.client.send(new GetObjectCommand({ Bucket, Key })).then(
    () => true,
    () => false,
  );
const retrying = () =>
  new S3Client({
    region: 'us-east-1',
    endpoint: 'http://127.0.0.1:8080/_s3',
    forcePathStyle: true,
    credentials: fixture.s3.credentials,
    requestHandler: fixture.s3.requestHandler,
  });

it.each([
  ['InternalError', 500],
  ['SlowDown', 503],
] as const)('%s: not done, and the SDK retries', async (code, status) => {
  const rule = { operation: 'PutObject', fault: { kind: 'error', code } } as const;
  fixture.s3.faults.inject(rule);
  expect(await failure(put('a'))).toEqual({ name: code, status });
  expect(await exists('a')).toBe(false);
  fixture.s3.faults.inject(rule);
  expect((await put('a', retrying())).$metadata.attempts).toBe(2);
});

it('a lost answer: done, but the caller sees the connection break', async () => {
  fixture.s3.faults.inject({ operation: 'PutObject', fault: { kind: 'lostAnswer' } });
  await expect(put('a')).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect(await exists('a')).toBe(true);
  fixture.s3.faults.inject({ operation: 'PutObject', fault: { kind: 'lostAnswer' } });
  // The retry finds the object that the first attempt wrote: callers of conditional writes must expect this.
  expect(await failure(put('b', retrying(), { IfNoneMatch: '*' }))).toMatchObject({ status: 412 });
  expect(await exists('b')).toBe(true);
});

it('a timeout: not done', async () => {
  fixture.s3.faults.inject({ fault: { kind: 'timeout' } });
  await expect(put('a')).rejects.toMatchObject({ name: 'TimeoutError' });
  expect(await exists('a')).toBe(false);
});

it('latency, only for the requests that the rule matches', async () => {
  fixture.s3.faults.inject({ on: /^slow/, after: 1, times: 1, fault: { kind: 'latency', ms: 2000 } });
  const took = async (key: string) => {
    const started = performance.now();
    await put(key);
    return performance.now() - started;
  };
  expect(await took('slow/1')).toBeLessThan(1990);
  expect(await took('fast')).toBeLessThan(1990);
  expect(await took('slow/2')).toBeGreaterThanOrEqual(1990);
  expect(await took('slow/3')).toBeLessThan(1990);
});

it('a rule can be removed', async () => {
  const takeBack = fixture.s3.faults.inject({ fault: { kind: 'timeout' } });
  takeBack();
  fixture.s3.faults.inject({ fault: { kind: 'timeout' } });
  fixture.s3.faults.clear();
  await put('a');
});

it('a fault closes the socket of an HTTP request', async () => {
  const client = await fixture.overHttp();
  await put('a');
  fixture.s3.faults.inject({ fault: { kind: 'lostAnswer' } });
  await expect(
    fetch(await getSignedUrl(client, new GetObjectCommand({ Bucket, Key: 'a' }))),
  ).rejects.toThrow();
});

it('an aborted request is not committed', async () => {
  fixture.s3.faults.inject({ fault: { kind: 'latency', ms: 50 } });
  const abort = new AbortController();
  const command = new PutObjectCommand({ Bucket, Key: 'aborted', Body: 'x' });
  const sending = fixture.client.send(command, { abortSignal: abort.signal });
  setTimeout(() => abort.abort(), 10);
  await expect(sending).rejects.toMatchObject({ name: 'AbortError' });
  await new Promise((resolve) => setTimeout(resolve, 80));
  expect(await exists('aborted')).toBe(false);
});

it('onOperation reports each operation with its bytes', async () => {
  const seen: OperationRecord[] = [];
  fixture.s3.onOperation = (record) => seen.push(record);
  await put('counted');
  await exists('counted');
  await exists('missing');
  expect(seen.map(({ operation, key, status, bytesIn }) => [operation, key, status, bytesIn])).toEqual([
    ['PutObject', 'counted', 200, 7],
    ['GetObject', 'counted', 200, 0],
    ['GetObject', 'missing', 404, 0],
  ]);
  expect(seen[1]?.bytesOut).toBe(7);
});
