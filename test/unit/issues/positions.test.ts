import { describe, expect, test } from 'vitest';
import { between, spread } from '../../../lib/domain/issues/positions.ts';

/** Places of issues that nobody has moved, and of some who were. */
const PLACES = [
  '2026-01-01T00:00:00.000Z#000000000001#000000000007',
  '2026-01-01T00:00:00.000Z#000000000002#000000000008',
  '2026-01-01T00:00:00.000Z#000000000009#000000000010',
  '2026-01-01T00:00:00.000Z#000000000010#000000000011',
  '2026-01-01T00:00:00.001Z#000000000011#000000000012',
  '2026-01-01T00:00:00.001Z#000000000011#000000000012U#000000000003#000000000001',
  '2027',
  '2027#000000000001#000000000001',
  'z#000000000001#000000000001',
  'zzzU#000000000001#000000000001',
];

/** A generator of numbers that gives the same ones each time. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

describe('a position', () => {
  test.each(PLACES.flatMap((low, i) => PLACES.slice(i + 1).map((high) => [low, high] as const)))(
    'lies between %s and %s',
    (low, high) => {
      const made = between(low, high);
      expect(low < made && made < high, made).toBe(true);
      expect(made).toMatch(/^[#-z]*[1-z]$/);
    },
  );

  test('is there before the first and after the last of any', () => {
    for (const place of PLACES) {
      expect(between(undefined, place) < place).toBe(true);
      expect(between(place, undefined) > place).toBe(true);
    }
    expect(between(undefined, undefined)).not.toBe('');
  });

  test('grows by few characters, however often something is put at the same place', () => {
    for (const end of ['low', 'high'] as const) {
      let [low, high] = [PLACES[0]!, PLACES[4]!];
      for (let n = 0; n < 500; n++) {
        const made = between(low, high);
        expect(low < made && made < high).toBe(true);
        if (end === 'low') high = `${made}#000000000005#000000000005`;
        else low = `${made}#000000000005#000000000005`;
      }
      expect(Math.max(between(low, high).length)).toBeLessThan(150);
    }
  });

  test('is found in any order of a thousand that are put somewhere', () => {
    const next = random(1);
    const placed = PLACES.toSorted();
    for (let n = 0; n < 1000; n++) {
      const at = Math.floor(next() * (placed.length + 1));
      const made = between(placed[at - 1], placed[at]);
      placed.splice(at, 0, `${made}#${String(n + 100).padStart(12, '0')}#${String(n).padStart(12, '0')}`);
    }
    expect(placed).toEqual(placed.toSorted());
    expect(new Set(placed).size).toBe(placed.length);
  });

  test('of many is spread evenly', () => {
    const made = spread(PLACES[0], PLACES[1], 60);
    expect(made).toEqual(made.toSorted());
    expect(new Set([PLACES[0], ...made, PLACES[1]]).size).toBe(62);
    expect(Math.max(...made.map(({ length }) => length))).toBeLessThan(PLACES[0]!.length + 4);
  });
});
