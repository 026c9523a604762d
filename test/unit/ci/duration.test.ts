import { expect, test } from 'vitest';
import { parseDuration } from '../../../lib/ci/duration.ts';

test.each([
  ['42', 42],
  ['42 seconds', 42],
  ['3 mins 4 sec', 184],
  ['2 hrs 20 min', 8400],
  ['2h20min', 8400],
  ['1h30m', 5400],
  ['6 mos 1 day', 181 * 86_400],
  ['3 weeks and 2 days', 23 * 86_400],
  ['1.5 hours', 5400],
  ['2:30', 150],
  ['1:02:03', 3723],
  ['1 Week', 604_800],
  ['soon', undefined],
  ['3 apples', undefined],
  ['', undefined],
  ['-5 minutes', undefined],
])('%s', (text, seconds) => {
  expect(parseDuration(text)).toBe(seconds);
});
