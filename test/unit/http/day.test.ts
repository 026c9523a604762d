import fc from 'fast-check';
import { expect, test } from 'vitest';
import { INVALID, toDate, toDay } from '../../../lib/http/coerce.ts';

test.each([
  ['2026-01-31', '2026-01-31'],
  [' 2026-01-31 ', '2026-01-31'],
  ['2026-01-31T23:59:59Z', '2026-01-31'],
  ['2026-01-31T23:59:59-11:00', '2026-01-31'],
  ['20260131T000000+1400', '2026-01-31'],
  ['2026-01-31 12:00', '2026-01-31'],
  ['Sat, 31 Jan 2026 12:00:00 GMT', '2026-01-31'],
  ['Sat, 31 Jan 2026 23:30:00 -0500', '2026-01-31'],
  ['1 feb 2026 00:30 +0200', '2026-02-01'],
  ['31 Dec 9999 23:30:00 -0500', '9999-12-31'],
  ['', null],
  [null, null],
])('the day of %j is %j', (raw, day) => {
  expect(toDay(raw)).toBe(day);
});

test.each([
  '2026-02-30',
  '2026-02-30T00:00:00Z',
  '2026-13-01',
  'yesterday',
  '31.01.2026',
  20260131,
  true,
  {},
  [],
])('%j has none', (raw) => {
  expect(toDay(raw)).toBe(INVALID);
});

test('of any instant as it is written, and nothing of any text', () => {
  const instants = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
  fc.assert(
    fc.property(instants, fc.integer({ min: -14, max: 14 }), (at, zone) => {
      const sign = zone < 0 ? '-' : '+';
      const text = at.toISOString().replace('Z', `${sign}${String(Math.abs(zone)).padStart(2, '0')}:00`);
      expect(toDay(text)).toBe(text.slice(0, 10));
    }),
  );
  fc.assert(
    fc.property(fc.anything(), (raw) => {
      const day = toDay(raw);
      if (day === INVALID || day === null) return;
      expect(toDate(day)).toBe(day);
    }),
  );
});
