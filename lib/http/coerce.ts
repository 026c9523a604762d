/**
 * Converts raw parameters (text, or any JSON value) to typed values by the rules of the REST API. Blank text means null,
 * except for strings. Parameter names and error texts are added elsewhere.
 */

/** The value cannot be converted to the type. */
export const INVALID = Symbol('invalid');
export type Coerced<T> = T | null | typeof INVALID;

const isBlankText = (raw: unknown): boolean => typeof raw === 'string' && raw.trim() === '';

/** Text; numbers and booleans are converted to text. Text with NUL or lone surrogates is invalid. */
export function toText(raw: unknown): Coerced<string> {
  if (raw === null) return null;
  if (typeof raw === 'number' || typeof raw === 'boolean') return String(raw);
  if (typeof raw !== 'string' || raw.includes('\0') || !raw.isWellFormed()) return INVALID;
  return raw;
}

/** Text that may contain NUL: the content of a file. */
export function toContent(raw: unknown): Coerced<string> {
  if (typeof raw === 'string') return raw.isWellFormed() ? raw : INVALID;
  return toText(raw);
}

/** A decimal integer that a double represents exactly; larger ones are invalid, since no id is that large. */
export function toInteger(raw: unknown): Coerced<number> {
  if (raw === null || isBlankText(raw)) return null;
  const value =
    typeof raw === 'number'
      ? raw
      : typeof raw === 'string' && /^[+-]?\d{1,20}$/.test(raw)
        ? Number(raw)
        : NaN;
  return Number.isSafeInteger(value) ? value + 0 : INVALID;
}

/** A decimal number whose size the table holds: of more than 2^53 the SDK takes none, and below 1e-130 DynamoDB has only 0. */
export function toNumber(raw: unknown): Coerced<number> {
  if (raw === null || isBlankText(raw)) return null;
  const value =
    typeof raw === 'number'
      ? raw
      : typeof raw === 'string' && /^[+-]?\d{1,300}(\.\d{1,300})?([eE][+-]?\d{1,3})?$/.test(raw)
        ? Number(raw)
        : NaN;
  // NaN is invalid as well.
  if (!(Math.abs(value) <= Number.MAX_SAFE_INTEGER)) return INVALID;
  return Math.abs(value) < 1e-130 ? 0 : value;
}

const TRUE = new Set(['true', '1', 't', 'on', 'yes', 'y']);
const FALSE = new Set(['false', '0', 'f', 'off', 'no', 'n']);

export function toBoolean(raw: unknown): Coerced<boolean> {
  if (raw === null || isBlankText(raw)) return null;
  if (typeof raw === 'boolean') return raw;
  if (raw === 1) return true;
  if (raw === 0) return false;
  if (typeof raw !== 'string') return INVALID;
  const spelling = raw.toLowerCase();
  // Mixed case such as `tRue` is invalid.
  if (raw !== spelling && raw !== raw.toUpperCase() && raw !== raw[0] + spelling.slice(1)) return INVALID;
  return TRUE.has(spelling) ? true : FALSE.has(spelling) ? false : INVALID;
}

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const ISO =
  /^(\d{4})-?(\d{2})-?(\d{2})[T ](\d{2})(?::?(\d{2})(?::?(\d{2})(?:[.,](\d{1,12}))?)?)? ?(Z|UTC|[+-]\d{2}(?::?\d{2})?)?$/i;
const RFC_2822 =
  /^(?:[a-z]{3,9}, *)?(\d{1,2})[ -]([a-z]{3})[ -](\d{4}) (\d{2}):(\d{2})(?::(\d{2}))? *(GMT|UTC|UT|Z|[+-]\d{4})?$/i;
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** `YYYY-MM-DD`, a valid calendar day. */
export function toDate(raw: unknown): Coerced<string> {
  if (raw === null || isBlankText(raw)) return null;
  const parts = typeof raw === 'string' ? DATE.exec(raw.trim()) : null;
  if (parts === null) return INVALID;
  return instant(parts[1]!, Number(parts[2]), parts[3]!) === INVALID ? INVALID : parts[0];
}

/** As {@link toDate}; of a date and time, the day as written, whatever its time zone. */
export function toDay(raw: unknown): Coerced<string> {
  const day = toDate(raw);
  if (day !== INVALID) return day;
  const at = toDatetime(raw);
  if (at === INVALID || at === null) return at;
  const text = (raw as string).trim();
  const iso = ISO.exec(text);
  if (iso) return iso.slice(1, 4).join('-');
  const [, date, name, year] = RFC_2822.exec(text)!;
  return [year!, twoDigits(monthOf(name!)), twoDigits(Number(date))].join('-');
}

const monthOf = (name: string): number => MONTHS.indexOf(name.toLowerCase()) + 1;
const twoDigits = (number: number): string => String(number).padStart(2, '0');

/** ISO 8601 or RFC 2822; a date without time is midnight, a time without time zone is UTC. */
export function toDatetime(raw: unknown): Coerced<Date> {
  if (raw === null || isBlankText(raw)) return null;
  if (typeof raw !== 'string' || raw.length > 64) return INVALID;
  const text = raw.trim();
  const day = DATE.exec(text);
  if (day) return instant(day[1]!, Number(day[2]), day[3]!);
  const iso = ISO.exec(text);
  if (iso) {
    const [, year, month, date, hour, minute, second, fraction, zone] = iso;
    const milliseconds = fraction === undefined ? 0 : Math.trunc(Number(`0.${fraction}`) * 1000);
    return instant(year!, Number(month), date!, [hour!, minute, second], milliseconds, zone);
  }
  const mail = RFC_2822.exec(text);
  if (mail) {
    const [, date, name, year, hour, minute, second, zone] = mail;
    return instant(year!, monthOf(name!), date!, [hour!, minute, second], 0, zone);
  }
  return INVALID;
}

function instant(
  year: string,
  month: number,
  date: string,
  time: readonly (string | undefined)[] = [],
  milliseconds = 0,
  zone?: string,
): Date | typeof INVALID {
  const [hour = 0, minute = 0, second = 0] = time.map((part) => Number(part ?? 0));
  if (hour > 24 || minute > 59 || second > 60 || (hour === 24 && minute + second + milliseconds > 0))
    return INVALID;
  const day = new Date(0);
  day.setUTCFullYear(Number(year), month - 1, Number(date));
  if (day.getUTCMonth() !== month - 1 || day.getUTCDate() !== Number(date)) return INVALID;
  const offset = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone ?? '');
  const minutes = offset ? Number(`${offset[1]}1`) * (Number(offset[2]) * 60 + Number(offset[3] ?? 0)) : 0;
  if (Math.abs(minutes) > 24 * 60) return INVALID;
  day.setTime(day.getTime() + ((hour * 60 + minute - minutes) * 60 + second) * 1000 + milliseconds);
  return day;
}
