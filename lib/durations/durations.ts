/** Durations in words: `15 days`, `2 weeks 3 days`, `1mo 2w 3d4h30m`, `1 month and 2 hours`. */

/** Units in seconds, as far as their length is a matter of what is measured. */
export interface UnitLengths {
  readonly day: number;
  readonly week: number;
  readonly month: number;
  /** Undefined: there is no such unit. */
  readonly year?: number;
  /** Of a number that stands alone. */
  readonly bare: number;
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;

const UNITS: readonly (readonly [RegExp, (lengths: UnitLengths) => number | undefined])[] = [
  [/^(s|secs?|seconds?)$/, () => 1],
  [/^(m|mins?|minutes?)$/, () => MINUTE],
  [/^(h|hrs?|hours?)$/, () => HOUR],
  [/^(d|days?)$/, ({ day }) => day],
  [/^(w|wks?|weeks?)$/, ({ week }) => week],
  [/^(mo|mos|mnth|mnths|months?)$/, ({ month }) => month],
  [/^(y|yrs?|years?)$/, ({ year }) => year],
];

/** @returns seconds, or undefined when the text is not a duration */
export function parseDuration(text: string, lengths: UnitLengths): number | undefined {
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
      name === ''
        ? parts.length === 1
          ? lengths.bare
          : undefined
        : UNITS.find(([known]) => known.test(name!))?.[1](lengths);
    if (unit === undefined) return undefined;
    seconds += Number(amount) * unit;
  }
  return Math.trunc(seconds);
}

const DAY = 24 * HOUR;
/** A month has 30 days, a year 365.25; a number without a unit means seconds. */
const CALENDAR: UnitLengths = { day: DAY, week: 7 * DAY, month: 30 * DAY, year: 365.25 * DAY, bare: 1 };

/** @returns seconds by the calendar, or undefined when the text is not a duration */
export const secondsOf = (text: string): number | undefined => parseDuration(text, CALENDAR);
