import { randomUUID } from 'node:crypto';
import type { ScheduledEvent } from 'aws-lambda';

/** The current time, and timers. Tests inject their own. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** @returns a function that cancels the call */
  after(milliseconds: number, call: () => void): () => void;
}

export interface ScheduleOptions {
  name: string;
  /** `rate(5 minutes)` or `cron(0 12 * * ? *)`, in UTC. */
  schedule: string;
  handler(event: ScheduledEvent): Promise<unknown>;
  /** Called with what the handler threw; the schedule continues. If absent, errors are printed. */
  onError?(error: unknown): void;
  signal: AbortSignal;
  clock?: Clock;
  region?: string;
  account?: string;
}

/** Timers are limited to 32 bits, and stop while a machine sleeps: the clock is checked at least this often. */
const MAX_WAIT_MS = 3_600_000;

/**
 * Calls the handler on a schedule, as EventBridge does, with one difference: calls do not overlap. Calls missed because of
 * that, or while the machine slept, are replaced by one call at most. Resolves when `signal` is aborted and the call under
 * way has ended.
 *
 * @throws SyntaxError at once when the schedule is invalid
 */
export function startSchedule(options: ScheduleOptions): Promise<void> {
  const nextTime = parseSchedule(options.schedule);
  return run(options, nextTime);
}

async function run(options: ScheduleOptions, nextTime: NextTime): Promise<void> {
  const { name, handler, signal, clock = systemClock, onError } = options;
  const { region = 'us-east-1', account = '000000000000' } = options;
  let due = nextTime(clock.now());
  while (due !== undefined) {
    await waitUntil(due, clock, signal);
    if (signal.aborted) return;
    const event: ScheduledEvent = {
      version: '0',
      id: randomUUID(),
      'detail-type': 'Scheduled Event',
      source: 'aws.events',
      account,
      time: new Date(due).toISOString().replace(/\.\d+Z$/, 'Z'),
      region,
      resources: [`arn:aws:events:${region}:${account}:rule/${name}`],
      detail: {},
    };
    try {
      await handler(event);
    } catch (error) {
      if (onError) onError(error);
      else console.error(`schedule ${name}:`, error);
    }
    // Keeps the rhythm of the schedule, and skips times that have passed.
    let next = nextTime(due);
    if (next !== undefined && next <= clock.now()) next = nextTime(clock.now(), due);
    due = next;
  }
}

async function waitUntil(due: number, clock: Clock, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && clock.now() < due) {
    await new Promise<void>((resolve) => {
      const wake = () => {
        cancel();
        signal.removeEventListener('abort', wake);
        resolve();
      };
      const cancel = clock.after(Math.min(due - clock.now(), MAX_WAIT_MS), wake);
      signal.addEventListener('abort', wake, { once: true });
    });
  }
}

const systemClock: Clock = {
  now: Date.now,
  after(milliseconds, call) {
    const timer = setTimeout(call, milliseconds);
    return () => clearTimeout(timer);
  },
};

/**
 * The first time after `after`, in milliseconds; undefined if there is none.
 * @param rhythm an earlier time of a rate, whose interval continues from there
 */
export type NextTime = (after: number, rhythm?: number) => number | undefined;

/**
 * Parses a schedule ("Schedule types" in the EventBridge user guide). `W` and `#` of cron are not supported.
 * @throws SyntaxError
 */
export function parseSchedule(schedule: string): NextTime {
  const rate = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(schedule);
  if (rate !== null && Number(rate[1]) > 0) {
    const unit = { minute: 60_000, hour: 3_600_000, day: 86_400_000 }[rate[2] as 'minute'];
    const interval = Number(rate[1]) * unit;
    return (after, rhythm = after) => after + interval - ((after - rhythm) % interval);
  }
  const cron = /^cron\((.+)\)$/.exec(schedule)?.[1]?.trim().split(/\s+/);
  if (cron?.length !== 6) throw new SyntaxError(`invalid schedule: ${schedule}`);
  const [minute, hour, dayOfMonth, month, dayOfWeek, year] = cron as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  if ((dayOfMonth === '?') === (dayOfWeek === '?')) {
    throw new SyntaxError(`one of day-of-month and day-of-week must be "?": ${schedule}`);
  }
  const minutes = parseField(minute, 0, 59);
  const hours = parseField(hour, 0, 23);
  const isDay = parseDay(dayOfMonth, dayOfWeek);
  const months = parseField(month, 1, 12, MONTH_NAMES);
  const years = parseField(year, 1970, 2199);
  return (after) => nextCron(after, { minutes, hours, isDay, months, years });
}

interface Cron {
  minutes: Set<number>;
  hours: Set<number>;
  isDay(date: Date): boolean;
  months: Set<number>;
  years: Set<number>;
}

function nextCron(after: number, cron: Cron): number | undefined {
  const lastYear = Math.max(...cron.years);
  const date = new Date(Math.floor(after / 60_000) * 60_000 + 60_000);
  while (date.getUTCFullYear() <= lastYear) {
    if (!cron.years.has(date.getUTCFullYear())) date.setTime(Date.UTC(date.getUTCFullYear() + 1, 0, 1));
    else if (!cron.months.has(date.getUTCMonth() + 1)) {
      date.setTime(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1));
    } else if (!cron.isDay(date)) date.setUTCHours(24, 0);
    else if (!cron.hours.has(date.getUTCHours())) date.setUTCMinutes(60);
    else if (!cron.minutes.has(date.getUTCMinutes())) date.setUTCMinutes(date.getUTCMinutes() + 1);
    else return date.getTime();
  }
  return undefined;
}

const MONTH_NAMES = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const DAY_NAMES = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];

function parseDay(dayOfMonth: string, dayOfWeek: string): (date: Date) => boolean {
  if (dayOfMonth === 'L') {
    return (date) =>
      new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate() === date.getUTCDate();
  }
  if (dayOfMonth !== '?') {
    const days = parseField(dayOfMonth, 1, 31);
    return (date) => days.has(date.getUTCDate());
  }
  // Sunday is 1.
  const days = parseField(dayOfWeek === 'L' ? 'SAT' : dayOfWeek, 1, 7, DAY_NAMES);
  return (date) => days.has(date.getUTCDay() + 1);
}

/** Parses a list of `*`, `5`, `2-7` or `MON-FRI`, each with an optional step: `0/15`, `2-30/7`. */
function parseField(field: string, min: number, max: number, names: string[] = []): Set<number> {
  const values = new Set<number>();
  const read = (text: string): number => {
    const named = names.indexOf(text.toUpperCase());
    const value = named !== -1 ? min + named : /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max)) throw new SyntaxError(`not a value from ${min} to ${max}: ${text}`);
    return value;
  };
  for (const part of field.split(',')) {
    const [range = '', stepText] = part.split('/');
    const step = stepText === undefined ? 1 : Number(stepText);
    if (!Number.isInteger(step) || step < 1) throw new SyntaxError(`invalid step: ${part}`);
    const [first, last] = range === '*' ? [String(min), String(max)] : range.split('-');
    const start = read(first!);
    const end = last !== undefined ? read(last) : stepText === undefined ? start : max;
    if (end < start) throw new SyntaxError(`range with its end before its start: ${part}`);
    for (let value = start; value <= end; value += step) values.add(value);
  }
  return values;
}
