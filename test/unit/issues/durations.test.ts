import { describe, expect, test } from 'vitest';
import { humanDuration, workingTime } from '../../../lib/domain/tracked/durations.ts';

const HOUR = 3600;

describe('a span of working time', () => {
  test.each([
    ['1h', HOUR],
    ['1h30m', 1.5 * HOUR],
    ['1.5h', 1.5 * HOUR],
    ['1d', 8 * HOUR],
    ['1w', 40 * HOUR],
    ['1mo', 160 * HOUR],
    ['1mo 2w 3d4h30m', (160 + 80 + 24 + 4.5) * HOUR],
    ['3 hours and 20 minutes', 3 * HOUR + 1200],
    ['2', 2 * HOUR],
    ['-1h 30m', -1.5 * HOUR],
    ['90s', 90],
    ['0', 0],
    ['-0h', 0],
  ])('%s has %d seconds', (text, seconds) => {
    expect(workingTime(text)).toBe(seconds);
  });

  test.each(['', ' ', '-', 'soon', '1y', '1h 30', '--1h', '1h -30m', '1e9h', `${'1h '.repeat(50)}`])(
    'is not %j',
    (text) => {
      expect(workingTime(text)).toBe(undefined);
    },
  );

  test('that is shown is read as the same', () => {
    for (const seconds of [1, 59, 3600, 28_799, 144_000, 1_000_000, 2 ** 31 - 1])
      expect(workingTime(humanDuration(seconds)!)).toBe(seconds);
  });
});
