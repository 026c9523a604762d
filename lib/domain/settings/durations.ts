import { parseDuration, type UnitLengths } from '../durations.ts';

const DAY = 86_400;
/** A month has 30 days, a year 365.25; a number without a unit means seconds. */
const CALENDAR: UnitLengths = { day: DAY, week: 7 * DAY, month: 30 * DAY, year: 365.25 * DAY, bare: 1 };

/** @returns seconds, or undefined when the text is not a duration */
export const secondsOf = (text: string): number | undefined => parseDuration(text, CALENDAR);

export const durationProblem = (text: string): string | undefined =>
  secondsOf(text) === undefined ? 'is not a correct duration' : undefined;
