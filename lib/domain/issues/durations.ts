/** Spans of working time as people write them: a day has 8 hours, a week 5 days, a month 4 weeks. */

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
