/** Page tokens that are ids. */
import { expect, test } from 'vitest';
import { nextIdOf } from '../../../lib/api/endpoint.ts';

const last = { sort: '', id: 7 };

test('a list goes on behind the last that a page has, or that its filter passed over; at its end it has no token', () => {
  expect(nextIdOf({ more: true, last })).toBe('7');
  expect(nextIdOf({ more: false, truncated: true, last })).toBe('7');
  expect(nextIdOf({ more: false, last })).toBeUndefined();
});
