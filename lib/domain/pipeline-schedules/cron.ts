/** Times by a cron expression in a time zone. */

import { Cron } from 'croner';
import { ianaZone } from './time-zones.ts';

/** Two runs of a schedule are at least so far apart, whatever its expression says. */
const MIN_INTERVAL_MS = 10 * 60_000;

const MAX_CRON = 255;
const NAMES = '[a-z]{3}';
const PART = String.raw`(?:\*|(?:\d{1,2}|${NAMES})(?:-(?:\d{1,2}|${NAMES}))?)(?:/\d{1,2})?`;
const FIELD = `${PART}(?:,${PART})*`;
/** Minute, hour, day, month, day of the week. The last day of a month is `L`. */
const EXPRESSION = new RegExp(`^${FIELD} ${FIELD} (?:${FIELD}|L) ${FIELD} ${FIELD}$`, 'i');
const NAMED: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
};
/** Days of the longest month that a month's number may mean. */
const DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** @returns the expression in its five fields; undefined: it is none, or no day is ever one of it */
function parsed(cron: string): string | undefined {
  if (cron.length > MAX_CRON) return undefined;
  const text = cron.trim().replace(/\s+/g, ' ');
  const expression = NAMED[text.toLowerCase()] ?? text;
  return EXPRESSION.test(expression) && hasDay(expression) ? expression : undefined;
}

/** Whether there is ever such a day: the library would look for it through centuries. */
function hasDay(expression: string): boolean {
  const [, , day = '*', month = '*', weekday = '*'] = expression.split(' ');
  if (weekday !== '*' || /[*L]/i.test(day)) return true;
  const first = Math.min(...day.split(',').map((part) => Number.parseInt(part, 10)));
  const numbered = month.toLowerCase().replace(/[a-z]{3}/g, (name) => String(MONTHS.indexOf(name) + 1));
  const months = numbered.split(',').flatMap((part) => {
    const [span = '', step] = part.split('/');
    const [from = 1, to = step === undefined ? from : 12] =
      span === '*' ? [1, 12] : span.split('-').map(Number);
    return Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i);
  });
  return first <= Math.max(...months.map((each) => DAYS[each - 1] ?? 0));
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** @returns the first time after another; undefined for a wrong expression or time zone */
export function nextTime(cron: string, timeZone: string, after: Date): Date | undefined {
  const [expression, zone] = [parsed(cron), ianaZone(timeZone)];
  if (expression === undefined || zone === undefined) return undefined;
  try {
    const times = new Cron(expression, { timezone: zone, paused: true, mode: '5-part' });
    return times.nextRun(after) ?? undefined;
  } catch {
    // A number that its field cannot be.
    return undefined;
  }
}

/**
 * The time after a run, not before now: runs that were missed are not made up for.
 * @returns undefined for a wrong expression or time zone
 */
export const timeAfterRun = (cron: string, timeZone: string, run: Date, now: Date): Date | undefined =>
  nextTime(cron, timeZone, new Date(Math.max(now.getTime(), run.getTime() + MIN_INTERVAL_MS - 1000)));
