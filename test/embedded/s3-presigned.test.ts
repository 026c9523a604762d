import { request as httpRequest } from 'node:http';
import { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Bucket, type Fixture, failure, openFixture } from './s3-fixture.ts';

let fixture: Fixture;
/** Presigns a URL for the HTTP server and requests it. */
let client: S3Client;
beforeAll(async () => {
  fixture = await openFixture();
  client = await fixture.overHttp({ requestChecksumCalculation: 'WHEN_REQUIRED' });
  await fixture.client.send(
    new PutObjectCommand({ Bucket, Key: 'dir/ü + (1)!.txt', Body: 'content', ContentType: 'text/plain' }),
  );
});
afterAll(() => fixture[Symbol.asyncDispose]());

const Key = 'dir/ü + (1)!.txt';
const codeOf = async (response: Response) => /<Code>(\w+)<\/Code>/.exec(await response.text())?.[1];

describe('a presigned URL', () => {
  it('reads, with ranges and overrides', async () => {
    const command = new GetObjectCommand({
      Bucket,
      Key,
      ResponseContentDisposition: 'attachment; filename="ü.txt"',
    });
    const url = await getSignedUrl(client, command);
    const response = await fetch(url);
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('content');
    expect(response.headers.get('content-disposition')).toContain('attachment');
    const part = await fetch(url, { headers: { range: 'bytes=-3' } });
    expect([part.status, await part.text(), part.headers.get('content-range')]).toEqual([
      206,
      'ent',
      'bytes 4-6/7',
    ]);
    // Signed for GET only.
    expect((await fetch(url, { method: 'HEAD' })).status).toBe(403);
  });

  it('writes, also bodies larger than any buffer', async () => {
    const url = await getSignedUrl(client, new PutObjectCommand({ Bucket, Key: 'put', ContentType: 'x/y' }));
    const body = Buffer.alloc(5_000_000, 'lemnos');
    const response = await fetch(url, { method: 'PUT', body, headers: { 'content-type': 'x/y' } });
    expect(response.status).toBe(200);
    const { Body, ContentType } = await fixture.client.send(new GetObjectCommand({ Bucket, Key: 'put' }));
    expect(ContentType).toBe('x/y');
    expect(body.equals(await Body!.transformToByteArray())).toBe(true);
  });

  it('has conditions and metadata in its signature', async () => {
    const command = new PutObjectCommand({
      Bucket,
      Key: 'once',
      IfNoneMatch: '*',
      Metadata: { from: 'url' },
    });
    const url = await getSignedUrl(client, command);
    const send = (headers: Record<string, string>) => fetch(url, { method: 'PUT', body: 'x', headers });
    expect((await send({ 'if-none-match': '*' })).status).toBe(200);
    expect((await send({ 'if-none-match': '*' })).status).toBe(412);
    const head = await fixture.client.send(new HeadObjectCommand({ Bucket, Key: 'once' }));
    expect(head.Metadata).toEqual({ from: 'url' });
    expect(await codeOf(await send({ 'if-none-match': '*', 'x-amz-meta-more': '1' }))).toBe('AccessDenied');
  });

  it('rejects a body that does not match its checksum', async () => {
    const eager = await fixture.overHttp();
    const url = await getSignedUrl(eager, new PutObjectCommand({ Bucket, Key: 'sum' }));
    expect(await codeOf(await fetch(url, { method: 'PUT', body: 'not empty' }))).toBe('BadDigest');
  });

  it('expires', async () => {
    const past = new Date(Date.now() - 61_000);
    const options = { expiresIn: 60, signingDate: past };
    const response = await fetch(await getSignedUrl(client, new GetObjectCommand({ Bucket, Key }), options));
    expect(response.status).toBe(403);
    const text = await response.text();
    expect(text).toContain('<Code>AccessDenied</Code><Message>Request has expired</Message>');
    const longer = await getSignedUrl(client, new GetObjectCommand({ Bucket, Key }), {
      ...options,
      expiresIn: 3600,
    });
    expect((await fetch(longer)).status).toBe(200);
  });

  it.each<[string, (url: string) => string, string]>([
    ['another key', (url) => url.replace('/dir/', '/other/'), 'SignatureDoesNotMatch'],
    [
      'a longer expiry',
      (url) => url.replace('X-Amz-Expires=900', 'X-Amz-Expires=9000'),
      'SignatureDoesNotMatch',
    ],
    ['another override', (url) => `${url}&response-content-type=text%2Fhtml`, 'SignatureDoesNotMatch'],
    [
      'a truncated signature',
      (url) => url.replace(/(X-Amz-Signature=\w{10})\w+/, '$1'),
      'AuthorizationQueryParametersError',
    ],
    [
      'another access key',
      (url) => url.replace(/X-Amz-Credential=[^%]+/, 'X-Amz-Credential=SOMEBODY'),
      'InvalidAccessKeyId',
    ],
    [
      'an expiry of more than a week',
      (url) => url.replace('X-Amz-Expires=900', 'X-Amz-Expires=700000'),
      'AuthorizationQueryParametersError',
    ],
    ['no signature', (url) => url.replace(/\?.*/, ''), 'AccessDenied'],
  ])('does not allow %s', async (_, change, code) => {
    const url = await getSignedUrl(client, new GetObjectCommand({ Bucket, Key }));
    const changed = change(url);
    expect(changed).not.toBe(url);
    expect(await codeOf(await fetch(changed))).toBe(code);
  });
});

describe('a signed request over a socket', () => {
  it('works for every kind of body', async () => {
    const eager = await fixture.overHttp();
    await eager.send(
      new PutObjectCommand({ Bucket, Key: 'http/bytes', Body: 'bytes', Metadata: { a: 'b' } }),
    );
    const Body = Readable.from([Buffer.alloc(70_000, 1), Buffer.alloc(70_000, 2)]);
    await eager.send(new PutObjectCommand({ Bucket, Key: 'http/stream', Body, ContentLength: 140_000 }));
    const { Body: answer } = await eager.send(new GetObjectCommand({ Bucket, Key: 'http/stream' }));
    expect((await answer!.transformToByteArray()).length).toBe(140_000);
    expect((await eager.send(new HeadObjectCommand({ Bucket, Key: 'http/bytes' }))).ContentLength).toBe(5);
    await eager.send(new DeleteObjectCommand({ Bucket, Key: 'http/bytes' }));
    const gone = eager.send(new GetObjectCommand({ Bucket, Key: 'http/bytes' }));
    expect(await failure(gone)).toEqual({ name: 'NoSuchKey', status: 404 });
  });

  it('is rejected with another secret, an old date, or a body that was not signed', async () => {
    const { accessKeyId } = fixture.s3.credentials;
    const forger = await fixture.overHttp({ credentials: { accessKeyId, secretAccessKey: 'guessed' } });
    expect(await failure(forger.send(new GetObjectCommand({ Bucket, Key })))).toEqual({
      name: 'SignatureDoesNotMatch',
      status: 403,
    });
    const late = await fixture.overHttp({ systemClockOffset: -16 * 60_000 });
    expect(await failure(late.send(new GetObjectCommand({ Bucket, Key })))).toMatchObject({ status: 403 });

    const swapper = await fixture.overHttp({ requestChecksumCalculation: 'WHEN_REQUIRED' });
    swapper.middlewareStack.add(
      (next) => (args) => {
        (args.request as { body: string }).body = 'jello';
        return next(args);
      },
      { step: 'finalizeRequest', name: 'swap', priority: 'low' },
    );
    const swapped = swapper.send(new PutObjectCommand({ Bucket, Key: 'swapped', Body: 'hello' }));
    expect((await failure(swapped)).name).toBe('XAmzContentSHA256Mismatch');
  });

  it('leaves no object when it breaks off', async () => {
    const url = await getSignedUrl(client, new PutObjectCommand({ Bucket, Key: 'broken-off' }));
    await new Promise<void>((resolve) => {
      const upload = httpRequest(url, { method: 'PUT', headers: { 'content-length': '1000' } });
      upload.on('error', () => resolve());
      upload.write('some');
      setTimeout(() => upload.destroy(), 50);
    });
    await new Promise((resolve) => setTimeout(resolve, 50));
    const absent = fixture.client.send(new GetObjectCommand({ Bucket, Key: 'broken-off' }));
    expect(await failure(absent)).toMatchObject({ name: 'NoSuchKey' });
  });
});
