import { expect, test } from 'vitest';
import { fromPieces, piecesOf } from '../../../lib/ci/yaml/pieces.ts';
import { referenceTo } from '../../../lib/ci/yaml/values.ts';
import { atOnce, inTurns } from '../../../lib/git/work.ts';
import { stopsOf } from '../git/stops.ts';

const handedOver = (value: unknown): unknown => atOnce(fromPieces(atOnce(piecesOf(value))));

test('a value arrives as it was, however it is cut', () => {
  const value = {
    list: [1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, true, null, 'text', '中', []],
    hash: { empty: {}, again: ['list', 1], reference: referenceTo(['a', 'b']) },
    many: Array.from({ length: 5000 }, (_, i) => ({ [`k${i}`]: i })),
    long: ['x'.repeat(300_000), 'y'],
  };
  expect(handedOver(value)).toEqual(value);
  expect(handedOver('text')).toBe('text');
});

test('a key that every object inherits arrives as a key', () => {
  const value = JSON.parse('{"__proto__": {"a": 1}, "constructor": 2}');
  const arrived = handedOver(value) as object;
  expect(Object.entries(arrived)).toEqual(Object.entries(value));
  expect(Object.getPrototypeOf(arrived)).toBe(Object.prototype);
});

test('what appears in many places is handed over once', () => {
  let value: unknown = ['x'];
  for (let i = 0; i < 30; i++) value = [value, value];
  let arrived = handedOver(value) as unknown[];
  for (let i = 0; i < 30; i++) {
    expect(arrived[0]).toBe(arrived[1]);
    arrived = arrived[0] as unknown[];
  }
  expect(arrived).toEqual(['x']);
});

test('a value that contains itself is refused', () => {
  const list: unknown[] = [];
  list.push([list]);
  expect(() => handedOver(list)).toThrow('The parsed YAML is too big');
});

test('large values are cut and put together with stops', async () => {
  const value = Array.from({ length: 20_000 }, (_, i) => ({ a: `${i}` }));
  const pieces = atOnce(piecesOf(value));
  expect(await stopsOf(() => inTurns(piecesOf(value)))).toBeGreaterThan(50);
  expect(await stopsOf(() => inTurns(fromPieces(pieces)))).toBeGreaterThan(50);
});
