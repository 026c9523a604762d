import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { atOnce, inTurns } from '../../../lib/git/work.ts';
import { weakEtag } from '../../../lib/http/conditional.ts';
import { jsonPieces, largeJson } from '../../../lib/http/json-in-turns.ts';
import { isLarge } from '../../../lib/http/reply.ts';
import { stopsOf } from '../git/stops.ts';

const LONG = 'é"\\\n😀\ud800 '.repeat(200_000);

describe('JSON of a large value', () => {
  test.each<[string, unknown]>([
    ['a long text', LONG],
    ['a text shifted against the pieces', `x${LONG}`],
    ['a list', [1, null, undefined, LONG, { a: [LONG, {}] }, []]],
    ['an object', { a: LONG, b: undefined, c: null, '"': [true], d: new Date(0), e: { f: LONG } }],
    ['many small values', Array.from({ length: 100_000 }, (_, i) => ({ i, text: 'é' }))],
  ])('is what JSON.stringify makes of it: %s', (_, value) => {
    expect(isLarge(value)).toBe(true);
    const { pieces, digest } = atOnce(jsonPieces(value));
    const whole = Buffer.concat(pieces);
    expect(whole.equals(Buffer.from(JSON.stringify(value)))).toBe(true);
    expect(digest.equals(createHash('sha256').update(whole).digest())).toBe(true);
  });

  test('is made beside other work', async () => {
    expect(await stopsOf(() => inTurns(jsonPieces([LONG, LONG])))).toBeGreaterThan(10);
  });

  test.each([true, false])('has the entity tag of its text where that is asked for: %s', async (tagged) => {
    const value = [{ text: LONG }];
    const reply = await largeJson(value, { status: 200, headers: { Link: 'x' }, tagged });
    expect(reply.headers).toEqual({
      'Content-Type': 'application/json',
      Link: 'x',
      ...(tagged && { ETag: weakEtag(JSON.stringify(value)) }),
    });
    expect(await json(Readable.from(reply.body as AsyncIterable<Uint8Array>))).toEqual(
      JSON.parse(JSON.stringify(value)),
    );
  });
});
