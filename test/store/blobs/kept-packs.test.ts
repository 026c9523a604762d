import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { CreateBucketCommand, type S3Client } from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { free } from '../../../lib/git/wire/given-bytes.ts';
import type { IndexedCopy } from '../../../lib/git/wire/kept-pack.ts';
import { Blobs } from '../../../lib/store/blobs/blobs.ts';
import { KeptPacks } from '../../../lib/store/blobs/kept-packs.ts';
import { startS3 } from './s3-fixture.ts';

const DAY = 24 * 60 * 60 * 1000;
let s3: Awaited<ReturnType<typeof startS3>>;
let client: S3Client;
let blobs: Blobs;
let packs: KeptPacks;

beforeAll(async () => {
  s3 = await startS3();
  client = s3.client;
  await client.send(new CreateBucketCommand({ Bucket: 'kept' }));
  blobs = new Blobs(client, 'kept');
  packs = new KeptPacks(blobs);
});

afterAll(() => s3.close());

afterEach(() => {
  vi.restoreAllMocks();
});

/** An index that says that it has so many objects. */
function indexOf(objects: number): Buffer {
  const index = randomBytes(1100 + 28 * objects);
  index.writeUInt32BE(objects, 8 + 4 * 255);
  return index;
}

async function* sent(bytes: Uint8Array, indexed?: IndexedCopy, index?: Uint8Array) {
  yield bytes.subarray(0, 100);
  yield bytes.subarray(100);
  if (indexed) indexed.index = index;
}

async function send(repository: string, name: string, bytes: Buffer, atOnce?: boolean, index?: Buffer) {
  const indexed = atOnce === undefined ? undefined : { index: undefined, atOnce };
  const pack = packs.of(repository, name).keep(sent(bytes, indexed, index), indexed);
  expect((await buffer(pack)).equals(bytes)).toBe(true);
}

const copyOf = async (repository: string, name: string) => {
  const found = await packs.of(repository, name).open();
  return found && buffer(found);
};

test('a copy is kept for the second who asks, or at once', async () => {
  const bytes = randomBytes(5000);
  await send('r1', 'a', bytes);
  expect(await copyOf('r1', 'a')).toBeUndefined();
  await send('r1', 'a', bytes);
  expect(await copyOf('r1', 'a')).toEqual(bytes);
  await send('r1', 'b', bytes, true, indexOf(3));
  expect(await copyOf('r1', 'b')).toEqual(bytes);
  expect(await copyOf('r2', 'b')).toBeUndefined();
});

test('what a reader of a copy frees stays for all others', async () => {
  const bytes = randomBytes(1_500_000);
  await send('freed', 'a', bytes, true);
  const [one, other] = [await packs.of('freed', 'a').open(), await packs.of('freed', 'a').open()];
  let freed = 0;
  for await (const chunk of one!) {
    const { length } = chunk;
    free(chunk);
    freed += length - chunk.length;
  }
  expect(freed).toBeGreaterThan(1_000_000);
  expect((await buffer(other!)).equals(bytes)).toBe(true);
  expect((await copyOf('freed', 'a'))!.equals(bytes)).toBe(true);
});

test('the copy that was kept last with its index is the latest, in its own repository alone', async () => {
  const [one, two] = [randomBytes(5000), randomBytes(6000)];
  const [first, second] = [indexOf(3), indexOf(70)];
  await send('r3', 'one', one, true, first);
  await send('r3', 'two', two, true, second);
  await send('r3', 'without-index', one);
  await send('r3', 'without-index', one);
  await send('r3', 'asked-once', one, false, first);
  const latest = (await packs.of('r3', 'whatever').latest())!;
  expect(latest.description).toMatchObject({ objectCount: 70, packSize: 6000, indexSize: second.length });
  expect(Buffer.from(await latest.open('pack').read(1000, 500))).toEqual(two.subarray(1000, 1500));
  expect(Buffer.from(await latest.open('index').read(0, second.length))).toEqual(second);
  expect(await packs.of('r4', 'whatever').latest()).toBeUndefined();
});

test('a copy that is kept anew after it was deleted is another pack for those who remember the first one', async () => {
  const latest = async (at: number) => {
    vi.spyOn(Date, 'now').mockReturnValue(at);
    await send('r8', 'a', randomBytes(500), true, indexOf(3));
    return (await packs.of('r8', 'b').latest())!.description;
  };
  const first = await latest(1000);
  expect((await packs.of('r8', 'b').latest())!.description).toEqual(first);
  await blobs.delete([first.location]);
  const second = await latest(2000);
  expect(second.location).toBe(first.location);
  expect(second.id).not.toBe(first.id);
});

test('a latest copy is not used in the last day before it is deleted', async () => {
  await send('r5', 'a', randomBytes(500), true, indexOf(3));
  const now = Date.now();
  vi.spyOn(Date, 'now').mockReturnValue(now + 5.9 * DAY);
  expect(await packs.of('r5', 'b').latest()).toBeDefined();
  vi.spyOn(Date, 'now').mockReturnValue(now + 6.1 * DAY);
  expect(await packs.of('r5', 'b').latest()).toBeUndefined();
});

test('a copy is kept with the index of all that a clone is indexed of: 100,000 objects', async () => {
  await send('r9', 'a', randomBytes(500), true, indexOf(100_000));
  expect((await packs.of('r9', 'b').latest())!.description.objectCount).toBe(100_000);
});

test('a copy whose index is too large, or is never made, is not the latest', async () => {
  await send('r6', 'a', randomBytes(500), true, indexOf(120_000));
  await send('r6', 'b', randomBytes(500), true);
  expect(await packs.of('r6', 'c').latest()).toBeUndefined();
  expect(await copyOf('r6', 'b')).toHaveLength(500);
});

test('a latest copy that is forgotten, gone, or that nobody can read is none', async () => {
  const kept = packs.of('r7', 'a');
  await send('r7', 'a', randomBytes(500), true, indexOf(3));
  await kept.forgetLatest();
  expect(await kept.latest()).toBeUndefined();

  await send('r7', 'b', randomBytes(500), true, indexOf(3));
  const latest = (await kept.latest())!;
  await blobs.delete([latest.description.location]);
  await expect(latest.open('pack').read(0, 10)).rejects.toThrow();
  expect(await kept.latest()).toBeUndefined();

  await send('r7', 'c', randomBytes(500), true, indexOf(3));
  const { keys } = await blobs.list('archives/r7/');
  await blobs.put(keys.find((key) => key.endsWith('latest'))!, Buffer.from('not JSON'));
  expect(await kept.latest()).toBeUndefined();
});
