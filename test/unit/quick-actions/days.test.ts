import { describe, expect, test } from 'vitest';
import { dayFrom } from '../../../lib/domain/quick-actions/days.ts';

/** A Wednesday. */
const NOW = new Date('2026-01-28T12:00:00Z');

describe('a due day', () => {
  test.each([
    ['2026-12-31', '2026-12-31'],
    ['2026/2/3', '2026-02-03'],
    ['12/31/2026', '2026-12-31'],
    ['today', '2026-01-28'],
    ['Tomorrow', '2026-01-29'],
    ['yesterday', '2026-01-27'],
    ['in 2 days', '2026-01-30'],
    ['in a week', '2026-02-04'],
    ['3 weeks from now', '2026-02-18'],
    ['in one month', '2026-02-28'],
    ['next month', '2026-02-28'],
    ['next year', '2027-01-28'],
    ['Friday', '2026-01-30'],
    ['this fri', '2026-01-30'],
    ['next Wednesday', '2026-02-04'],
    ['December 31st', '2026-12-31'],
    ['31 Dec', '2026-12-31'],
    ['Jan 1', '2027-01-01'],
    ['the 1st of May, 2027', '2027-05-01'],
    ['Feb 29 2028', '2028-02-29'],
  ])('may be %s', (text, day) => {
    expect(dayFrom(text, NOW)).toBe(day);
  });

  test.each(['', 'soon', '2026-02-30', '13/31/2026', 'in many days', '2 days', 'Feb 30', 'next', 'a b c d'])(
    'is not %j',
    (text) => {
      expect(dayFrom(text, NOW)).toBeUndefined();
    },
  );
});
