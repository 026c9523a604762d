import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { expect, it } from 'vitest';
import { Bucket, openFixture } from './s3-fixture.ts';

const MiB = 2 ** 20;
const pieceOf = (i: number) => Buffer.alloc(MiB, `piece ${i}`);
/** Bytes of the object, of two pieces at most. */
function contentOf(start: number, length: number): Buffer {
  const i = Math.floor(start / MiB);
  return Buffer.concat([pieceOf(i), pieceOf(i + 1)]).subarray(start - i * MiB, start - i * MiB + length);
}

it('streams large objects in constant memory and ranges of them as they are', async () => {
  await using fixture = await openFixture();
  const { client } = fixture;
  const size = 200 * MiB;
  const sent = createHash('sha256');
  const Body = Readable.from(
    (function* () {
      for (let i = 0; i < size / MiB; i++) {
        const piece = pieceOf(i);
        sent.update(piece);
        yield piece;
      }
    })(),
  );
  let peak = 0;
  const before = process.memoryUsage().arrayBuffers;
  const sampling = setInterval(() => (peak = Math.max(peak, process.memoryUsage().arrayBuffers)), 5);
  await client.send(new PutObjectCommand({ Bucket, Key: 'large', Body, ContentLength: size }));
  const object = await client.send(new GetObjectCommand({ Bucket, Key: 'large' }));
  const received = createHash('sha256');
  for await (const piece of object.Body as Readable) received.update(piece);
  clearInterval(sampling);
  expect(received.digest('hex')).toBe(sent.digest('hex'));
  expect(peak - before).toBeLessThan(150 * MiB);

  for (let i = 0; i < 50; i++) {
    const start = (i * 3_999_971) % (size - 262_144);
    const Range = `bytes=${start}-${start + 262_143}`;
    const { Body: range } = await client.send(new GetObjectCommand({ Bucket, Key: 'large', Range }));
    expect(Buffer.from(await range!.transformToByteArray()).equals(contentOf(start, 262_144))).toBe(true);
  }
});
