import { describe, expect, test } from 'vitest';
import { clockEndOf, timeoutOf } from '../../../lib/domain/jobs/time-limit.ts';

const BEGIN = Date.parse('2026-03-04T05:00:00.000Z');
const minute = (n: number) => new Date(BEGIN + n * 60_000).toISOString();
/** In minutes since the begin. @param until when its time is over. @param heard when its runner was last heard of */
function endOf(until: number | undefined, heard: number) {
  const runsUntil = until === undefined ? {} : { runsUntil: minute(until) };
  const { at, reason } = clockEndOf({ ...runsUntil, updatedAt: minute(heard) });
  return [(at - BEGIN) / 60_000, reason];
}

describe('the clock ends a running job', () => {
  test('half a minute after its time, where its runner has been silent', () => {
    expect(endOf(20, 0)).toEqual([20.5, 'job_execution_timeout']);
    expect(endOf(20, 15)).toEqual([20.5, 'job_execution_timeout']);
  });

  test('five minutes after its runner was last heard of, but ten after its time at the latest', () => {
    expect(endOf(20, 19)).toEqual([24, 'job_execution_timeout']);
    expect(endOf(20, 29)).toEqual([30, 'job_execution_timeout']);
  });

  test('when its runner has been silent for an hour, also before its time', () => {
    expect(endOf(300, 10)).toEqual([70, 'stuck_or_timeout_failure']);
    expect(endOf(undefined, 10)).toEqual([70, 'stuck_or_timeout_failure']);
  });
});

test('a job may run as long as it says, or its project, or an hour; and no longer than its runner allows', () => {
  const project = (build_timeout?: number) => ({
    settings: build_timeout === undefined ? {} : { build_timeout },
  });
  const runner = (maximumTimeout: number | null) => ({ maximumTimeout });
  expect(timeoutOf({ timeout: 100 }, project(1200), runner(null))).toBe(100);
  expect(timeoutOf({}, project(1200), runner(null))).toBe(1200);
  expect(timeoutOf({}, project(), runner(null))).toBe(3600);
  expect(timeoutOf({}, undefined, runner(null))).toBe(3600);
  expect(timeoutOf({ timeout: 7200 }, project(1200), runner(600))).toBe(600);
  expect(timeoutOf({ timeout: 100 }, project(1200), runner(600))).toBe(100);
});
