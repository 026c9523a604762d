import { hash, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { type BuiltPack, buildPack, deflatedAhead } from '../../../lib/git/pack/build-pack.ts';
import { hashObject, hashObjectInSteps } from '../../../lib/git/parse.ts';
import { atOnce, inTurns } from '../../../lib/git/work.ts';
import { stopsOf } from './stops.ts';

/** What a commit of the API does with a large file. */
const large = randomBytes(13 * 2 ** 20);

/** Of the pack and its index: comparing them byte by byte takes minutes. */
const digestsOf = ({ content }: BuiltPack): string[] =>
  content.kind === 'bytes' ? [content.pack, content.index].map((bytes) => hash('sha256', bytes)) : [];

test('the id of a large object is computed beside other work, and is the same', async () => {
  const oid = hashObject('blob', large);
  const stops = await stopsOf(async () => {
    expect(await inTurns(hashObjectInSteps('blob', large))).toBe(oid);
  });
  expect(stops).toBeGreaterThanOrEqual(3);
  const small = large.subarray(0, 1000);
  expect(atOnce(hashObjectInSteps('blob', small))).toBe(hashObject('blob', small));
});

test('a large object is deflated in another thread, and packed beside other work', async () => {
  const objects = [
    { type: 'blob', data: large },
    { type: 'blob', data: Buffer.from('small\n') },
  ] as const;
  const ahead = await deflatedAhead(objects);
  expect(ahead.map(({ deflated }) => deflated !== undefined)).toEqual([true, false]);
  const plain = atOnce(buildPack(objects));
  let built: BuiltPack | undefined;
  const stops = await stopsOf(async () => {
    built = await inTurns(buildPack(ahead));
  });
  expect(built?.oids).toEqual(plain.oids);
  expect(digestsOf(built!)).toEqual(digestsOf(plain));
  expect(stops).toBeGreaterThanOrEqual(6);
});
