/** What came of requests. */
export interface Sample {
  readonly kind: string;
  /** When it was to be sent, in milliseconds of `performance.now()`. */
  readonly at: number;
  /** Milliseconds since then. */
  readonly ms: number;
  /** 0 without an answer, or with one that is not what it should be. */
  readonly status: number;
}

/** Served, told to come again later, or failed. */
export const isServed = ({ status }: Sample) => status >= 200 && status < 400;
export const isRefused = ({ status }: Sample) => status === 503 || status === 429;
export const isFailed = (sample: Sample) => !isServed(sample) && !isRefused(sample);

/** The smallest time that as large a share of the samples does not exceed; of none, undefined. */
export function percentile(samples: readonly Sample[], share: number): number | undefined {
  const times = samples.map(({ ms }) => ms).sort((a, b) => a - b);
  return times[Math.max(0, Math.ceil(times.length * share) - 1)];
}

/**
 * Seconds from `end` after which the p90 of each second's requests stays below `normal`, with the two seconds that follow;
 * undefined if the last is not.
 */
export function recovered(samples: readonly Sample[], end: number, normal: number): number | undefined {
  if (samples.length === 0) return undefined;
  const seconds = Math.floor(Math.max(...samples.map(({ at }) => at - end)) / 1000);
  const isNormal = (second: number) => {
    const within = samples.filter(({ at }) => at - end >= second * 1000 && at - end < (second + 3) * 1000);
    return within.some(isRefused) ? false : (percentile(within, 0.9) ?? 0) <= normal;
  };
  const last = Math.max(0, seconds - 2);
  if (!isNormal(last)) return undefined;
  let from = last;
  while (from > 0 && isNormal(from - 1)) from--;
  return from;
}
