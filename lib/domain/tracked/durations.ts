/** Spans of working time as people write them: a day has 8 hours, a week 5 days, a month 4 weeks. */

import { parseDuration } from '../../durations/durations.ts';

const HOUR = 3600;
const DAY = 8 * HOUR;
const WEEK = 5 * DAY;
const MONTH = 4 * WEEK;

const SHOWN: readonly (readonly [unit: string, seconds: number])[] = [
  ['mo', MONTH],
  ['w', WEEK],
  ['d', DAY],
  ['h', HOUR],
  ['m', 60],
  ['s', 1],
];

/** @returns `1w 2d 3h`; null for none */
export function humanDuration(seconds: number): string | null {
  if (seconds === 0) return null;
  const parts: string[] = [];
  let rest = Math.abs(seconds);
  for (const [unit, length] of SHOWN) {
    const count = Math.floor(rest / length);
    if (count > 0) parts.push(`${count}${unit}`);
    rest -= count * length;
  }
  return (seconds < 0 ? '-' : '') + parts.join(' ');
}

const LENGTHS = { day: DAY, week: WEEK, month: MONTH, bare: HOUR };

/**
 * Reads `1mo 2w 3d4h30m`; a number without a unit means hours, and with a minus it is time to subtract.
 * @returns seconds, or undefined when the text is not a span
 */
export function workingTime(text: string): number | undefined {
  const trimmed = text.trim();
  const negative = trimmed.startsWith('-');
  const seconds = parseDuration(negative ? trimmed.slice(1) : trimmed, LENGTHS);
  return seconds !== undefined && negative && seconds > 0 ? -seconds : seconds;
}
