/** Durations in words: `15 days`, `2 weeks 3 days`, `1 month and 2 hours`. */

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Units in seconds; a month has 30 days, a year 365.25. */
const UNITS: readonly (readonly [RegExp, number])[] = [
  [/^(s|secs?|seconds?)$/, 1],
  [/^(m|mins?|minutes?)$/, MINUTE],
  [/^(h|hrs?|hours?)$/, HOUR],
  [/^(d|days?)$/, DAY],
  [/^(w|wks?|weeks?)$/, 7 * DAY],
  [/^(mo|mos|mnth|mnths|months?)$/, 30 * DAY],
  [/^(y|yrs?|years?)$/, 365.25 * DAY],
];

/** @returns seconds, or undefined when the text is not a duration; a number without a unit means seconds */
export function parseDuration(text: string): number | undefined {
  if (text.length > 100) return undefined;
  const words = text
    .toLowerCase()
    .replaceAll(/[,;]|\band\b/g, ' ')
    .trim();
  const parts = [...words.matchAll(/\s*(\d{1,9}(?:\.\d{1,3})?)\s*([a-z]*)/gy)];
  const read = parts.reduce((length, [part]) => length + part.length, 0);
  if (parts.length === 0 || read !== words.length) return undefined;
  let seconds = 0;
  for (const [, amount, name] of parts) {
    const unit =
      name === '' ? (parts.length === 1 ? 1 : undefined) : UNITS.find(([known]) => known.test(name!))?.[1];
    if (unit === undefined) return undefined;
    seconds += Number(amount) * unit;
  }
  return Math.trunc(seconds);
}

export const durationProblem = (text: string): string | undefined =>
  parseDuration(text) === undefined ? 'is not a correct duration' : undefined;
