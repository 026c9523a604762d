/** Days as records have them: `YYYY-MM-DD`, UTC. */
export const DAY_MS = 86_400_000;

export const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

/** The day so many days ago, or the first there was: who was last here then, or before, was not here for as long. */
export const dayBefore = (now: Date, days: number): string =>
  dayOf(new Date(Math.max(0, now.getTime() - days * DAY_MS)));

/** The day in so many days. */
export const dayIn = (now: Date, days: number): string => dayOf(new Date(now.getTime() + days * DAY_MS));
