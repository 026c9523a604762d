const MONTHS = 'January February March April May June July August September October November December'.split(
  ' ',
);
const DAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');

/** A number, its default width and its padding. */
type Padded = readonly [value: number, width: number, fill: '0' | ' '];

const hour12 = (date: Date) => date.getUTCHours() % 12 || 12;

const NUMBERS: Readonly<Record<string, (date: Date) => Padded>> = {
  Y: (date) => [date.getUTCFullYear(), 4, '0'],
  C: (date) => [Math.floor(date.getUTCFullYear() / 100), 2, '0'],
  y: (date) => [date.getUTCFullYear() % 100, 2, '0'],
  m: (date) => [date.getUTCMonth() + 1, 2, '0'],
  d: (date) => [date.getUTCDate(), 2, '0'],
  e: (date) => [date.getUTCDate(), 2, ' '],
  j: (date) => [dayOfYear(date), 3, '0'],
  H: (date) => [date.getUTCHours(), 2, '0'],
  k: (date) => [date.getUTCHours(), 2, ' '],
  I: (date) => [hour12(date), 2, '0'],
  l: (date) => [hour12(date), 2, ' '],
  M: (date) => [date.getUTCMinutes(), 2, '0'],
  S: (date) => [date.getUTCSeconds(), 2, '0'],
  L: (date) => [date.getUTCMilliseconds(), 3, '0'],
  s: (date) => [Math.floor(date.getTime() / 1000), 1, '0'],
  u: (date) => [date.getUTCDay() || 7, 1, '0'],
  w: (date) => [date.getUTCDay(), 1, '0'],
  U: (date) => [Math.floor((dayOfYear(date) + 6 - date.getUTCDay()) / 7), 2, '0'],
  W: (date) => [Math.floor((dayOfYear(date) + 6 - ((date.getUTCDay() + 6) % 7)) / 7), 2, '0'],
  V: (date) => [isoWeek(date).week, 2, '0'],
  G: (date) => [isoWeek(date).year, 4, '0'],
  g: (date) => [isoWeek(date).year % 100, 2, '0'],
};

const TEXTS: Readonly<Record<string, (date: Date) => string>> = {
  A: (date) => DAYS[date.getUTCDay()]!,
  a: (date) => DAYS[date.getUTCDay()]!.slice(0, 3),
  B: (date) => MONTHS[date.getUTCMonth()]!,
  b: (date) => MONTHS[date.getUTCMonth()]!.slice(0, 3),
  h: (date) => MONTHS[date.getUTCMonth()]!.slice(0, 3),
  p: (date) => (date.getUTCHours() < 12 ? 'AM' : 'PM'),
  P: (date) => (date.getUTCHours() < 12 ? 'am' : 'pm'),
  Z: () => 'UTC',
  z: () => '+0000',
  n: () => '\n',
  t: () => '\t',
  '%': () => '%',
};

/** Directives that combine others. */
const COMBINED: Readonly<Record<string, string>> = {
  F: '%Y-%m-%d',
  D: '%m/%d/%y',
  x: '%m/%d/%y',
  T: '%H:%M:%S',
  X: '%H:%M:%S',
  R: '%H:%M',
  r: '%I:%M:%S %p',
  c: '%a %b %e %H:%M:%S %Y',
  v: '%e-%^b-%Y',
};

/**
 * Formats a time in UTC like `strftime` (POSIX, in the locale POSIX), with the flags `-` for no padding, `0` and `_`
 * for zeros and spaces, and `^` for upper case. Unknown directives are kept.
 */
export function strftime(date: Date, format: string): string {
  return format.replace(/%([-0_^]*)([A-Za-z%])/g, (whole, flags: string, name: string) => {
    const text = directive(date, flags, name);
    if (text === undefined) return whole;
    return flags.includes('^') ? text.toUpperCase() : text;
  });
}

function directive(date: Date, flags: string, name: string): string | undefined {
  const whole = Object.hasOwn(COMBINED, name) ? COMBINED[name] : undefined;
  if (whole !== undefined) return strftime(date, whole);
  if (Object.hasOwn(TEXTS, name)) return TEXTS[name]!(date);
  if (!Object.hasOwn(NUMBERS, name)) return undefined;
  const [value, width, padding] = NUMBERS[name]!(date);
  if (flags.includes('-')) return String(value);
  return String(value).padStart(width, flags.includes('_') ? ' ' : flags.includes('0') ? '0' : padding);
}

const DAY = 86_400_000;

const dayOfYear = (date: Date): number =>
  Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / DAY) + 1;

/** ISO 8601: a week belongs to the year that has its Thursday. */
function isoWeek(date: Date): { year: number; week: number } {
  const thursday = new Date(date.getTime() + (4 - (date.getUTCDay() || 7)) * DAY);
  return { year: thursday.getUTCFullYear(), week: Math.floor((dayOfYear(thursday) - 1) / 7) + 1 };
}
