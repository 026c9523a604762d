import { describe, expect, test } from 'vitest';
import {
  isFailed,
  isRefused,
  isServed,
  percentile,
  recovered,
  type Sample,
} from '../../bench/load-samples.ts';

const sample = (at: number, ms: number, status = 200): Sample => ({ kind: 'a', at, ms, status });

describe('samples of a load', () => {
  test('a percentile is the smallest time that so many do not exceed', () => {
    const samples = [40, 10, 30, 20, 50, 60, 70, 80, 90, 100].map((ms) => sample(0, ms));
    expect([0.5, 0.9, 0.99, 1].map((share) => percentile(samples, share))).toEqual([50, 90, 100, 100]);
    expect(percentile([], 0.5)).toBeUndefined();
  });

  test('each answer is served, refused or failed', () => {
    const statuses = [200, 201, 304, 404, 409, 429, 500, 502, 503, 0];
    const of = (is: (sample: Sample) => boolean) => statuses.filter((status) => is(sample(0, 1, status)));
    expect(of(isServed)).toEqual([200, 201, 304]);
    expect(of(isRefused)).toEqual([429, 503]);
    expect(of(isFailed)).toEqual([404, 409, 500, 502, 0]);
  });

  test('a load is recovered from when no later second is slow, or refuses', () => {
    const each = (slow: (second: number) => Partial<Sample>) =>
      Array.from({ length: 100 }, (_, i) => ({ ...sample(1000 + i * 100, 20), ...slow(Math.floor(i / 10)) }));
    expect(
      recovered(
        each(() => ({})),
        1000,
        200,
      ),
    ).toBe(0);
    expect(
      recovered(
        each((second) => (second < 3 ? { ms: 900 } : {})),
        1000,
        200,
      ),
    ).toBe(3);
    expect(
      recovered(
        each((second) => (second === 4 ? { status: 503 } : {})),
        1000,
        200,
      ),
    ).toBe(5);
    expect(
      recovered(
        each((second) => (second === 9 ? { ms: 900 } : {})),
        1000,
        200,
      ),
    ).toBeUndefined();
    expect(recovered([], 1000, 200)).toBeUndefined();
  });
});
