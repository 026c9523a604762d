import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { expect, it } from 'vitest';
import { collectGarbage } from '../harness/collect-garbage.ts';
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
  let peak = 0;
  // What is held, not what waits for its collection: how much that is depends on how busy the machine is.
  const held = () => {
    collectGarbage();
    return process.memoryUsage().arrayBuffers;
  };
  const before = held();
  const sample = () => {
    peak = Math.max(peak, held());
  };
  const Body = Readable.from(
    (function* () {
      for (let i = 0; i < size / MiB; i++) {
        const piece = pieceOf(i);
        sent.update(piece);
        if (i % 8 === 0) sample();
        yield piece;
      }
    })(),
  );
  await client.send(new PutObjectCommand({ Bucket, Key: 'large', Body, ContentLength: size }));
  const object = await client.send(new GetObjectCommand({ Bucket, Key: 'large' }));
  const received = createHash('sha256');
  let [bytes, sampled] = [0, 0];
  for await (const piece of object.Body as Readable) {
    received.update(piece);
    bytes += piece.length;
    if (bytes - sampled < 8 * MiB) continue;
    sampled = bytes;
    sample();
  }
  expect(received.digest('hex')).toBe(sent.digest('hex'));
  expect(peak - before).toBeLessThan(100 * MiB);

  for (let i = 0; i < 50; i++) {
    const start = (i * 3_999_971) % (size - 262_144);
    const Range = `bytes=${start}-${start + 262_143}`;
    const { Body: range } = await client.send(new GetObjectCommand({ Bucket, Key: 'large', Range }));
    expect(Buffer.from(await range!.transformToByteArray()).equals(contentOf(start, 262_144))).toBe(true);
  }
});
