import { expect, test } from 'vitest';
import { sharesOf } from '../../../lib/domain/notes/shares.ts';

test.each([
  { room: 10, counts: [], shares: [] },
  { room: 10, counts: [3, 7], shares: [3, 7] },
  { room: 10, counts: [20], shares: [10] },
  { room: 10, counts: [2, 20, 1], shares: [2, 7, 1] },
  { room: 10, counts: [20, 3, 30], shares: [3, 3, 4] },
  { room: 9, counts: [9, 9, 9], shares: [3, 3, 3] },
])('of $counts there are $shares shown where $room fit', ({ room, counts, shares }) => {
  expect(sharesOf(room, counts)).toEqual(shares);
});
