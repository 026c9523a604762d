import fc from 'fast-check';
import { expect, test } from 'vitest';
import { retainedSince, retainedUntil } from '../../../lib/store/events/events.ts';

const YEAR = 365 * 86_400_000;
const moments = fc.date({ min: new Date('2000-01-01'), max: new Date('2099-12-31'), noInvalidDate: true });

test.each([
  ['2023-11-20T10:00:00.123Z', '2026-11-20T10:00:00.123Z'],
  ['2025-02-28T23:59:59.999Z', '2028-02-28T23:59:59.999Z'],
  ['2025-03-01T00:00:00.000Z', '2028-03-01T00:00:00.000Z'],
  // A day that the third year after does not have.
  ['2024-02-29T18:00:00.000Z', '2027-03-01T00:00:00.000Z'],
])('what came at %s is there until %s', (came, until) => {
  expect(retainedUntil(came).toISOString()).toBe(until);
});

test('an event is shown until its row expires, on every day of every year', () => {
  fc.assert(
    fc.property(moments, fc.integer({ min: -2 * 86_400_000, max: 2 * 86_400_000 }), (came, off) => {
      // At the very millisecond, either will do.
      fc.pre(off !== 0);
      const until = retainedUntil(came.toISOString());
      const now = new Date(until.getTime() + off);
      expect(came.getTime() >= retainedSince(now).getTime()).toBe(off < 0);
      expect(until.getTime() - came.getTime()).toBeGreaterThan(3 * YEAR - 1);
      expect(until.getTime() - came.getTime()).toBeLessThanOrEqual(3 * YEAR + 86_400_000);
    }),
    { numRuns: 2000 },
  );
});

test('retention is right around leap days', () => {
  const days = [
    '2025-02-28',
    '2025-03-01',
    '2024-02-28',
    '2024-02-29',
    '2024-03-01',
    '2023-02-28',
    '2023-03-01',
  ];
  const times = ['00:00:00.000', '06:00:00.000', '18:00:00.000', '23:59:59.999'];
  const came = days.flatMap((day) => times.map((time) => `${day}T${time}Z`)).sort();
  const ends = came.map((at) => retainedUntil(at).getTime());
  expect(ends).toEqual(ends.toSorted((a, b) => a - b));
  for (const [i, at] of came.entries())
    for (const now of ends.flatMap((end) => [end - 2, end + 2]))
      expect(new Date(at) >= retainedSince(new Date(now))).toBe(now < ends[i]!);
});
