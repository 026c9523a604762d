import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import {
  CopyObjectCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetBucketAclCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Bucket, type Fixture, failure, listAll, openFixture } from './s3-fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

const put = (Key: string, Body: string | Uint8Array | Readable, more = {}) =>
  fixture.client.send(new PutObjectCommand({ Bucket, Key, Body, ...more }));
const get = (Key: string, more = {}) => fixture.client.send(new GetObjectCommand({ Bucket, Key, ...more }));
const read = async (Key: string, more = {}) =>
  Buffer.from(await (await get(Key, more)).Body!.transformToByteArray());

describe('PutObject and GetObject', () => {
  it('store and return bytes, headers and user metadata', async () => {
    const stored = await put('kept', 'hello', {
      ContentType: 'text/plain; charset=utf-8',
      CacheControl: 'max-age=5',
      ContentDisposition: 'attachment; filename="a.txt"',
      ContentEncoding: 'identity',
      ContentLanguage: 'el',
      Metadata: { island: 'lemnos' },
    });
    const { Body, ...object } = await get('kept');
    expect(await Body!.transformToString()).toBe('hello');
    expect(stored.ETag).toBe(`"${createHash('md5').update('hello').digest('hex')}"`);
    expect(object).toMatchObject({
      ETag: stored.ETag,
      ContentLength: 5,
      ContentType: 'text/plain; charset=utf-8',
      CacheControl: 'max-age=5',
      ContentDisposition: 'attachment; filename="a.txt"',
      ContentEncoding: 'identity',
      ContentLanguage: 'el',
      Metadata: { island: 'lemnos' },
      ChecksumCRC32: 'NhCmhg==',
    });
    const head = await fixture.client.send(new HeadObjectCommand({ Bucket, Key: 'kept' }));
    expect(head).toMatchObject({ ContentLength: 5, Metadata: { island: 'lemnos' }, ETag: stored.ETag });
  });

  it('apply response-* overrides', async () => {
    const object = await get('kept', {
      ResponseContentType: 'application/zip',
      ResponseContentDisposition: 'inline',
    });
    expect(object).toMatchObject({ ContentType: 'application/zip', ContentDisposition: 'inline' });
  });

  it('decode the aws-chunked body of a stream, and drop that coding', async () => {
    const pieces = Array.from({ length: 50 }, (_, i) => Buffer.alloc(9_001, i));
    await put('streamed', Readable.from(pieces), { ContentLength: 450_050, ContentEncoding: 'gzip' });
    expect((await read('streamed')).equals(Buffer.concat(pieces))).toBe(true);
    expect((await get('streamed')).ContentEncoding).toBe('gzip');
  });

  it('require a length, as S3 does', async () => {
    expect(await failure(put('endless', Readable.from(['a', 'b'])))).toMatchObject({ status: 411 });
    expect(await failure(put('short', Readable.from(['ab']), { ContentLength: 3 }))).toEqual({
      name: 'IncompleteBody',
      status: 400,
    });
    expect(await failure(get('short'))).toMatchObject({ name: 'NoSuchKey' });
  });

  it('accept an empty object', async () => {
    await put('empty', '');
    expect(await read('empty')).toHaveLength(0);
    expect(await failure(get('empty', { Range: 'bytes=0-' }))).toEqual({ name: 'InvalidRange', status: 416 });
  });

  it.each([
    ['CRC32', {}],
    ['CRC32C', {}],
    ['SHA1', {}],
    ['SHA256', {}],
  ])('compute and verify %s', async (ChecksumAlgorithm) => {
    const name = `Checksum${ChecksumAlgorithm}`;
    const stored = await put(`sum-${ChecksumAlgorithm}`, '123456789', { ChecksumAlgorithm });
    const known: Record<string, string> = { CRC32: 'y/Q5Jg==', CRC32C: '4waSgw==' };
    const expected =
      known[ChecksumAlgorithm] ?? createHash(ChecksumAlgorithm).update('123456789').digest('base64');
    expect(stored).toHaveProperty(name, expected);
    expect((await get(`sum-${ChecksumAlgorithm}`)) as object).toHaveProperty(name, expected);
    const wrong = Buffer.from(expected, 'base64').fill(7).toString('base64');
    expect(await failure(put('bad-sum', 'x', { [name]: wrong }))).toEqual({ name: 'BadDigest', status: 400 });
  });

  it('verify Content-MD5', async () => {
    const ContentMD5 = createHash('md5').update('hello').digest('base64');
    await put('md5', 'hello', { ContentMD5 });
    expect(await failure(put('md5', 'jello', { ContentMD5 }))).toEqual({ name: 'BadDigest', status: 400 });
    expect(await failure(put('md5', 'x', { ContentMD5: 'eA==' }))).toEqual({
      name: 'InvalidDigest',
      status: 400,
    });
    expect((await read('md5')).toString()).toBe('hello');
  });

  it('leave no file behind when an upload fails', async () => {
    const dir = await mkdtemp(join(tmpdir(), 's3-test-'));
    await using other = await openFixture({ dir });
    await failure(
      other.client.send(new PutObjectCommand({ Bucket, Key: 'k', Body: 'x', ChecksumCRC32: 'AAAAAA==' })),
    );
    expect(await readdir(join(dir, 'tmp'))).toEqual([]);
    await rm(dir, { recursive: true });
  });

  it('serve any range as that slice of the object', async () => {
    const size = 3_000_000;
    const data = Buffer.from(Array.from({ length: size / 4 }, (_, i) => [i, i >> 8, i >> 16, 7]).flat());
    await put('ranges', data);
    const position = fc.integer({ min: 0, max: size + 10 });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('closed', 'open', 'suffix'),
        position,
        position,
        async (form, a, b) => {
          const [first, last] = a < b ? [a, b] : [b, a];
          const Range = {
            closed: `bytes=${first}-${last}`,
            open: `bytes=${first}-`,
            suffix: `bytes=-${first}`,
          }[form]!;
          const [start, end] =
            form === 'suffix'
              ? [Math.max(0, size - first), size]
              : [first, form === 'open' ? size : last + 1];
          if (start >= size) {
            expect(await failure(get('ranges', { Range }))).toEqual({ name: 'InvalidRange', status: 416 });
            return;
          }
          const { Body, ContentRange, $metadata } = await get('ranges', { Range });
          expect($metadata.httpStatusCode).toBe(206);
          expect(ContentRange).toBe(`bytes ${start}-${Math.min(end, size) - 1}/${size}`);
          expect(data.subarray(start, end).equals(await Body!.transformToByteArray())).toBe(true);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('ignore ranges that S3 ignores', async () => {
    for (const Range of ['bytes=5-2', 'lines=1-2', 'bytes=0-1,3-4', 'bytes=-']) {
      expect((await get('kept', { Range })).$metadata.httpStatusCode).toBe(200);
    }
  });

  it('finish reading an object that is overwritten meanwhile', async () => {
    const before = Buffer.alloc(3_000_000, 'a');
    await put('overwritten', before);
    const { Body } = await get('overwritten');
    await put('overwritten', Buffer.alloc(3_000_000, 'b'));
    expect(before.equals(await Body!.transformToByteArray())).toBe(true);
  });

  it('apply read conditions', async () => {
    const { ETag } = await put('conditional-read', 'x');
    expect((await get('conditional-read', { IfMatch: ETag })).$metadata.httpStatusCode).toBe(200);
    expect(await failure(get('conditional-read', { IfMatch: '"other"' }))).toMatchObject({ status: 412 });
    expect(await failure(get('conditional-read', { IfNoneMatch: ETag }))).toMatchObject({ status: 304 });
    const IfModifiedSince = new Date(Date.now() + 5_000);
    expect(await failure(get('conditional-read', { IfModifiedSince }))).toMatchObject({ status: 304 });
  });
});

describe('keys', () => {
  const hostile = [
    '..',
    '.',
    '../../etc/passwd',
    'a/../b',
    '/',
    '//',
    'trailing/',
    'nul\u0000byte',
    'new\nline\r\ttab',
    '%2e%2e',
    'A',
    'a',
    'é',
    'e\u0301',
    '\u{1f3db}\ufe0f',
    '<&>"\'',
    'with space+plus?query#hash',
    'long/'.repeat(200),
    `${'long/'.repeat(199)}other`,
    'x'.repeat(1024),
  ];

  it('are distinguished, and listed as they were put', async () => {
    await using other = await openFixture();
    for (const Key of hostile) {
      await other.client.send(new PutObjectCommand({ Bucket, Key, Body: `body of ${Key}` }));
    }
    expect((await listAll(other.client, Bucket)).sort()).toEqual([...hostile].sort());
    for (const Key of hostile) {
      const { Body } = await other.client.send(new GetObjectCommand({ Bucket, Key }));
      expect(await Body!.transformToString()).toBe(`body of ${Key}`);
    }
    for (const Key of hostile) await other.client.send(new DeleteObjectCommand({ Bucket, Key }));
    expect(await listAll(other.client, Bucket)).toEqual([]);
  });

  it('have at most 1024 bytes', async () => {
    expect(await failure(put('ü'.repeat(513), ''))).toMatchObject({ name: 'KeyTooLongError' });
  });
});

describe('other operations', () => {
  it('delete objects, also absent ones', async () => {
    await put('gone', 'x');
    await fixture.client.send(new DeleteObjectCommand({ Bucket, Key: 'gone' }));
    await fixture.client.send(new DeleteObjectCommand({ Bucket, Key: 'gone' }));
    expect(await failure(get('gone'))).toEqual({ name: 'NoSuchKey', status: 404 });
    const head = fixture.client.send(new HeadObjectCommand({ Bucket, Key: 'gone' }));
    expect(await failure(head)).toEqual({ name: 'NotFound', status: 404 });
  });

  it('delete many objects at once', async () => {
    const keys = ['many/1', 'many/<2>', 'many/3 & 4'];
    for (const key of keys) await put(key, 'x');
    const { Deleted } = await fixture.client.send(
      new DeleteObjectsCommand({
        Bucket,
        Delete: { Objects: [...keys, 'many/none'].map((Key) => ({ Key })) },
      }),
    );
    expect(Deleted?.map(({ Key }) => Key)).toEqual([...keys, 'many/none']);
    for (const key of keys) expect(await failure(get(key))).toMatchObject({ name: 'NoSuchKey' });
  });

  it('copy objects, with their metadata or with other', async () => {
    await put('source/ü +', 'copied', { Metadata: { a: '1' }, ContentType: 'text/x' });
    const CopySource = `${Bucket}/${encodeURIComponent('source/ü +')}`;
    await fixture.client.send(new CopyObjectCommand({ Bucket, Key: 'copy', CopySource }));
    expect(await read('copy')).toEqual(Buffer.from('copied'));
    expect(await get('copy')).toMatchObject({ Metadata: { a: '1' }, ContentType: 'text/x' });
    await fixture.client.send(
      new CopyObjectCommand({
        Bucket,
        Key: 'copy',
        CopySource: `${Bucket}/copy`,
        MetadataDirective: 'REPLACE',
        Metadata: { b: '2' },
      }),
    );
    expect((await get('copy')).Metadata).toEqual({ b: '2' });
    const toItself = new CopyObjectCommand({ Bucket, Key: 'copy', CopySource: `${Bucket}/copy` });
    expect(await failure(fixture.client.send(toItself))).toMatchObject({ name: 'InvalidRequest' });
    const missing = new CopyObjectCommand({ Bucket, Key: 'copy', CopySource: `${Bucket}/none` });
    expect(await failure(fixture.client.send(missing))).toMatchObject({ name: 'NoSuchKey' });
  });

  it('create, list and delete buckets', async () => {
    const { client } = fixture;
    await client.send(new HeadBucketCommand({ Bucket }));
    expect(await failure(client.send(new HeadBucketCommand({ Bucket: 'none' })))).toMatchObject({
      status: 404,
    });
    expect(await failure(client.send(new GetObjectCommand({ Bucket: 'none', Key: 'k' })))).toEqual({
      name: 'NoSuchBucket',
      status: 404,
    });
    expect(await failure(client.send(new DeleteBucketCommand({ Bucket })))).toMatchObject({
      name: 'BucketNotEmpty',
    });
  });

  it('accept settings without effect and reject unsupported operations', async () => {
    const VersioningConfiguration = { Status: 'Suspended' as const };
    await fixture.client.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration }));
    expect(await failure(fixture.client.send(new GetBucketAclCommand({ Bucket })))).toEqual({
      name: 'NotImplemented',
      status: 501,
    });
  });
});

it('reopens a directory and removes what a crash left in tmp', async () => {
  const dir = await mkdtemp(join(tmpdir(), 's3-test-'));
  {
    await using first = await openFixture({ dir });
    await first.client.send(new PutObjectCommand({ Bucket, Key: 'kept', Body: 'x' }));
  }
  await writeFile(join(dir, 'tmp', 'half'), 'half an object');
  await using second = await openFixture({ dir });
  expect(await readdir(join(dir, 'tmp'))).toEqual([]);
  const { Body } = await second.client.send(new GetObjectCommand({ Bucket, Key: 'kept' }));
  expect(await Body!.transformToString()).toBe('x');
  await rm(dir, { recursive: true });
});
