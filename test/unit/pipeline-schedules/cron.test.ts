import { describe, expect, test } from 'vitest';
import { nextTime, timeAfterRun } from '../../../lib/domain/pipeline-schedules/cron.ts';

const after = new Date('2026-03-28T00:00:00Z');
const next = (cron: string, zone = 'UTC', from = after) => nextTime(cron, zone, from)?.toISOString();

describe('the next time of a cron expression', () => {
  test.each([
    ['0 1 * * *', 'UTC', '2026-03-28T01:00:00.000Z'],
    ['0 1 * * *', 'Asia/Tokyo', '2026-03-28T16:00:00.000Z'],
    ['0 0 * * *', 'Eastern Time (US & Canada)', '2026-03-28T04:00:00.000Z'],
    ['*/15 * * * *', 'UTC', '2026-03-28T00:15:00.000Z'],
    ['0 9 * * 1-5', 'Europe/Berlin', '2026-03-30T07:00:00.000Z'],
    ['0 9 * * mon,WED', 'UTC', '2026-03-30T09:00:00.000Z'],
    ['0 0 1 jan *', 'UTC', '2027-01-01T00:00:00.000Z'],
    ['0 0 L * *', 'UTC', '2026-03-31T00:00:00.000Z'],
    ['0 0 29 2 *', 'UTC', '2028-02-29T00:00:00.000Z'],
    ['0 0 * * 7', 'UTC', '2026-03-29T00:00:00.000Z'],
    ['  0   1 * * * ', 'UTC', '2026-03-28T01:00:00.000Z'],
    ['@daily', 'UTC', '2026-03-29T00:00:00.000Z'],
    // Day or day of the week, where both are given.
    ['0 0 13 * 1', 'UTC', '2026-03-30T00:00:00.000Z'],
    // A time that the clocks leave out comes when they are set.
    ['30 2 29 3 *', 'Europe/Berlin', '2026-03-29T01:00:00.000Z'],
    ['0 0 31 apr-dec/2 *', 'UTC', '2026-08-31T00:00:00.000Z'],
  ])('%j in %s is %s', (cron, zone, expected) => {
    expect(next(cron, zone)).toBe(expected);
  });

  test.each([
    '',
    'every day',
    '* * * *',
    '* * * * * *',
    '60 0 * * *',
    '0 24 * * *',
    '0 0 0 1 *',
    '0 0 32 1 *',
    '0 0 1 13 *',
    '0 0 1 * 8',
    '0 0 1 foo *',
    '*/0 * * * *',
    '5-1 * * * *',
    '0 0 30 2 *',
    '0 0 30,31 feb *',
    '0 0 30 feb-feb *',
    '0 0 31 2,4-4,6,9,11 *',
    '0 0 31 apr,jun *',
    `0 0 ${'1,'.repeat(200)}1 * *`,
    '2026-01-01T00:00:00',
    '0 0 1 1 * 2099',
    '@reboot',
  ])('is none for %j', (cron) => {
    expect(next(cron)).toBeUndefined();
  });

  test.each(['Nowhere/Land', '', '+01:00', 'constructor', '../etc/passwd'])(
    'is none in the time zone %j',
    (zone) => {
      expect(next('0 1 * * *', zone)).toBeUndefined();
    },
  );
});

describe('the time after a run', () => {
  const run = new Date('2026-03-28T00:00:00Z');

  test.each([
    ['* * * * *', '2026-03-28T00:00:30Z', '2026-03-28T00:10:00.000Z'],
    ['*/7 * * * *', '2026-03-28T00:00:30Z', '2026-03-28T00:14:00.000Z'],
    ['*/10 * * * *', '2026-03-28T00:00:30Z', '2026-03-28T00:10:00.000Z'],
    ['0 * * * *', '2026-03-28T00:00:30Z', '2026-03-28T01:00:00.000Z'],
    // The worker was away.
    ['0 * * * *', '2026-03-28T05:30:00Z', '2026-03-28T06:00:00.000Z'],
  ])('of %j at %s is %s', (cron, now, expected) => {
    expect(timeAfterRun(cron, 'UTC', run, new Date(now))?.toISOString()).toBe(expected);
  });
});
