/** Dates in records: `YYYY-MM-DD`, UTC. */
export const DAY_MS = 86_400_000;

export const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

/** The date `days` days ago, at the earliest 1970-01-01. A last activity on or before it is at least that old. */
export const dayBefore = (now: Date, days: number): string =>
  dayOf(new Date(Math.max(0, now.getTime() - days * DAY_MS)));

/** The date in `days` days. */
export const dayIn = (now: Date, days: number): string => dayOf(new Date(now.getTime() + days * DAY_MS));
