import { Readable } from 'node:stream';
import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Bucket, type Fixture, failure, openFixture } from './s3-fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

const put = (Key: string, Body: string | Readable, more = {}) =>
  fixture.client.send(new PutObjectCommand({ Bucket, Key, Body, ...more }));
const read = async (Key: string) =>
  (await fixture.client.send(new GetObjectCommand({ Bucket, Key }))).Body!.transformToString();

const lost = { name: 'PreconditionFailed', status: 412 };

it('If-None-Match: * creates, and does not replace', async () => {
  await put('new', 'first', { IfNoneMatch: '*' });
  expect(await failure(put('new', 'second', { IfNoneMatch: '*' }))).toEqual(lost);
  expect(await read('new')).toBe('first');
  expect(await failure(put('new', 'x', { IfNoneMatch: '"etag"' }))).toMatchObject({ name: 'NotImplemented' });
});

it('If-Match replaces only the version with that ETag', async () => {
  const { ETag } = await put('versioned', 'one');
  await put('versioned', 'two', { IfMatch: ETag });
  expect(await failure(put('versioned', 'three', { IfMatch: ETag }))).toEqual(lost);
  expect(await failure(put('never-there', 'x', { IfMatch: ETag }))).toEqual({
    name: 'NoSuchKey',
    status: 404,
  });
  expect(await read('versioned')).toBe('two');
});

it.each([
  ['creation', undefined],
  ['replacement', 'base'],
])('one of several concurrent conditional writes succeeds: %s', async (name, base) => {
  for (let round = 0; round < 10; round++) {
    const key = `race/${name}/${round}`;
    const condition = base === undefined ? { IfNoneMatch: '*' } : { IfMatch: (await put(key, base)).ETag };
    const outcomes = await Promise.allSettled(
      Array.from({ length: 12 }, (_, i) => put(key, `writer ${i}`, condition)),
    );
    const winners = outcomes.flatMap(({ status }, i) => (status === 'fulfilled' ? [i] : []));
    expect(winners).toHaveLength(1);
    expect(await read(key)).toBe(`writer ${winners[0]}`);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ name: 'PreconditionFailed' });
    }
  }
});

it('a deletion during a conditional write makes it fail with a conflict', async () => {
  const { ETag } = await put('overtaken', 'x');
  const [begun, deleted] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow = Readable.from(
    (async function* () {
      // Nobody reads it before the write has begun.
      begun.resolve();
      yield Buffer.from('new');
      await deleted.promise;
      yield Buffer.from('er');
    })(),
  );
  const writing = failure(put('overtaken', slow, { IfMatch: ETag, ContentLength: 5 }));
  await begun.promise;
  await fixture.client.send(new DeleteObjectCommand({ Bucket, Key: 'overtaken' }));
  deleted.resolve();
  expect(await writing).toEqual({ name: 'ConditionalRequestConflict', status: 409 });
});

it('copies and multipart uploads can be conditional too', async () => {
  await put('target', 'x');
  const CopySource = `${Bucket}/target`;
  const copy = new CopyObjectCommand({
    Bucket,
    Key: 'target',
    CopySource,
    IfNoneMatch: '*',
    MetadataDirective: 'REPLACE',
  });
  expect(await failure(fixture.client.send(copy))).toEqual(lost);

  const { UploadId } = await fixture.client.send(new CreateMultipartUploadCommand({ Bucket, Key: 'target' }));
  const address = { Bucket, Key: 'target', UploadId };
  const { ETag } = await fixture.client.send(
    new UploadPartCommand({ ...address, PartNumber: 1, Body: 'part' }),
  );
  const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] };
  const complete = (more: object) =>
    fixture.client.send(new CompleteMultipartUploadCommand({ ...address, MultipartUpload, ...more }));
  expect(await failure(complete({ IfNoneMatch: '*' }))).toEqual(lost);
  expect(await read('target')).toBe('x');
  await complete({});
  expect(await read('target')).toBe('part');
});
