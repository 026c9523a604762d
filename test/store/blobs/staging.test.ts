import { createHash, randomBytes } from 'node:crypto';
import { CreateBucketCommand, ListMultipartUploadsCommand, type S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Blobs } from '../../../lib/store/blobs/blobs.ts';
import { IncompleteUpload, partCount, type StagedUpload, Staging } from '../../../lib/store/blobs/staging.ts';
import { Missing } from '../../../lib/store/errors.ts';
import { startS3 } from './s3-fixture.ts';

const MIB = 1024 * 1024;
let s3: Awaited<ReturnType<typeof startS3>>;
let client: S3Client;
let staging: Staging;

beforeAll(async () => {
  s3 = await startS3();
  client = s3.client;
  await client.send(new CreateBucketCommand({ Bucket: 'staged' }));
  staging = new Staging(client, new Blobs(client, 'staged'));
});

afterAll(() => s3.close());

const put = (url: string, body: Uint8Array) => fetch(url, { method: 'PUT', body: body as BodyInit });
const partOf = ({ partSize }: StagedUpload, bytes: Uint8Array, number: number) =>
  bytes.subarray((number - 1) * partSize, number * partSize);

async function upload(staged: StagedUpload, bytes: Uint8Array, numbers: readonly number[]): Promise<void> {
  for (const { number, url } of await staging.presignParts(staged, numbers, 60)) {
    expect((await put(url, partOf(staged, bytes, number))).status).toBe(200);
  }
}

async function readAll(staged: StagedUpload): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of staging.read(staged)) pieces.push(piece);
  return Buffer.concat(pieces);
}

test('a small upload is a single PUT, which accepts the declared length only', async () => {
  const bytes = randomBytes(1000);
  const staged = await staging.create(bytes.length);
  expect([staged.uploadId, partCount(staged)]).toEqual([undefined, 1]);
  await expect(staging.complete(staged)).rejects.toThrow(IncompleteUpload);
  const [part] = await staging.presignParts(staged, [1], 60);
  for (const lie of [bytes.subarray(1), randomBytes(1001), new Uint8Array(0)]) {
    expect((await put(part!.url, lie)).status).toBe(403);
  }
  expect(await staging.parts(staged)).toEqual([]);
  expect((await put(part!.url, bytes)).status).toBe(200);
  const md5 = createHash('md5').update(bytes).digest('hex');
  expect(await staging.parts(staged)).toEqual([{ number: 1, size: 1000, etag: `"${md5}"` }]);
  await expect(staging.complete(staged, '0'.repeat(32))).rejects.toThrow(IncompleteUpload);
  expect((await staging.complete(staged, md5)).size).toBe(1000);
  expect(await readAll(staged)).toEqual(bytes);
});

test('parts may arrive in any order, are listed for resuming, and are joined to the whole file', async () => {
  const bytes = randomBytes(20 * MIB + 5);
  const staged = await staging.create(bytes.length);
  expect(partCount(staged)).toBe(3);
  await upload(staged, bytes, [3, 1]);
  expect((await staging.parts(staged)).map(({ number, size }) => [number, size])).toEqual([
    [1, 8 * MIB],
    [3, 4 * MIB + 5],
  ]);
  expect((await staging.parts(staged, { after: 1, limit: 1 })).map(({ number }) => number)).toEqual([3]);
  await expect(staging.complete(staged)).rejects.toMatchObject({ parts: [2] });
  await upload(staged, bytes, [2]);
  await staging.complete(staged);
  // Completed twice, as by a client that did not get the response.
  expect((await staging.complete(staged)).size).toBe(bytes.length);
  expect((await staging.parts(staged, { after: 1 })).map(({ number, size }) => [number, size])).toEqual([
    [2, 8 * MIB],
    [3, 4 * MIB + 5],
  ]);
  expect((await readAll(staged)).equals(bytes)).toBe(true);
  await staging.discard(staged);
  await staging.discard(staged);
  await expect(readAll(staged)).rejects.toThrow(Missing);
});

test('a part accepts its declared length only, and undeclared parts are refused', async () => {
  const staged = await staging.create(10 * MIB);
  const [first] = await staging.presignParts(staged, [1], 60);
  expect((await put(first!.url, randomBytes(8 * MIB + 1))).status).toBe(403);
  await expect(staging.presignParts(staged, [3], 60)).rejects.toThrow(RangeError);
  await expect(staging.presignParts(staged, [0], 60)).rejects.toThrow(RangeError);
  const elsewhere = first!.url.replace('partNumber=1', 'partNumber=2');
  expect((await put(elsewhere, randomBytes(8 * MIB))).status).toBe(403);
  await staging.discard(staged);
  expect((await put(first!.url, randomBytes(8 * MIB))).status).toBe(404);
  await expect(staging.complete(staged)).rejects.toThrow(IncompleteUpload);
});

test('metadata can be stored with an upload', async () => {
  const { id } = await staging.create(10);
  expect(await staging.noted(id, 'report')).toBeUndefined();
  await staging.note(id, 'report', Buffer.from('ok'));
  expect(Buffer.from((await staging.noted(id, 'report'))!).toString()).toBe('ok');
});

test('the sweep deletes uploads begun before the given time only', async () => {
  const long = new Date(Date.now() - 3 * 86_400_000);
  const [oldParts, oldWhole] = [await staging.create(9 * MIB, long), await staging.create(10, long)];
  const [newParts, newWhole] = [await staging.create(9 * MIB), await staging.create(10)];
  for (const staged of [oldWhole, newWhole]) await upload(staged, randomBytes(10), [1]);
  for (const staged of [oldParts, newParts]) await upload(staged, randomBytes(9 * MIB), [2]);
  await staging.note(oldParts.id, 'commands', Buffer.from('x'));
  expect(await staging.sweep(new Date(Date.now() - 86_400_000))).toBe(3);
  expect(await staging.sweep(new Date(Date.now() - 86_400_000))).toBe(0);
  const open = await client.send(new ListMultipartUploadsCommand({ Bucket: 'staged' }));
  const ids = (open.Uploads ?? []).map(({ Key }) => Key!.split('/')[1]);
  expect(ids).toContain(newParts.id);
  expect(ids).not.toContain(oldParts.id);
  expect((await staging.parts(newWhole)).length).toBe(1);
  expect(await staging.parts(oldWhole)).toEqual([]);
  expect(await staging.noted(oldParts.id, 'commands')).toBeUndefined();
});

test('parts are larger than 8 MiB where 1,000 of these would not be enough', async () => {
  const staged = await staging.create(100 * 1024 * MIB);
  expect(partCount(staged)).toBeLessThanOrEqual(1000);
  await staging.discard(staged);
});
