/** Days as people write them behind `/due`. */

const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const MONTHS = [
  ...['january', 'february', 'march', 'april', 'may', 'june', 'july'],
  ...['august', 'september', 'october', 'november', 'december'],
];
const WORDS: Readonly<Record<string, number>> = { a: 1, an: 1, one: 1, two: 2, three: 3, four: 4, five: 5 };

/**
 * Understands `2026-12-31`, `12/31/2026`, `December 31st`, `31 Dec 2026`, `today`, `tomorrow`, `yesterday`, `Friday`, `this
 * Friday`, `next Friday`, `next week`, `in 2 days`, `3 weeks from now`. A day without a year is the next such day.
 * @returns `YYYY-MM-DD`; undefined for any other text
 */
export function dayFrom(text: string, now: Date): string | undefined {
  const words = text
    .toLowerCase()
    .replaceAll(/[,.]/g, ' ')
    .split(/\s+/)
    .filter((word) => word !== '' && word !== 'on' && word !== 'of' && word !== 'the');
  for (const read of [numeric, relative, weekday, named]) {
    const day = read(words, now);
    if (day !== undefined) return day;
  }
  return undefined;
}

type Reader = (words: readonly string[], now: Date) => string | undefined;

const numeric: Reader = ([word = '', ...rest]) => {
  if (rest.length > 0) return undefined;
  const iso = /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})$/.exec(word);
  if (iso !== null) return dayOf(Number(iso[1]), Number(iso[2]), Number(iso[3]));
  const american = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/.exec(word);
  return american === null ? undefined : dayOf(Number(american[3]), Number(american[1]), Number(american[2]));
};

const relative: Reader = (words, now) => {
  const text = words.join(' ');
  const simple = { today: 0, tomorrow: 1, yesterday: -1 }[text];
  if (simple !== undefined) return shifted(now, 'day', simple);
  const next = /^next (week|month|year)$/.exec(text);
  if (next !== null) return shifted(now, next[1]!, 1);
  const span = /^(?:in )?(\w+) (day|week|month|year)s?( from now)?$/.exec(text);
  if (span === null || !(words[0] === 'in' || span[3] !== undefined)) return undefined;
  const count = /^\d{1,4}$/.test(span[1]!) ? Number(span[1]) : WORDS[span[1]!];
  return count === undefined ? undefined : shifted(now, span[2]!, count);
};

const weekday: Reader = (words, now) => {
  const [first = '', second] = words;
  const name = second ?? first;
  if (words.length > 2 || (second !== undefined && first !== 'this' && first !== 'next')) return undefined;
  const day = WEEKDAYS.findIndex((each) => each === name || (name.length >= 3 && each.startsWith(name)));
  // The one that comes, never today.
  return day < 0 ? undefined : shifted(now, 'day', ((day - now.getUTCDay() + 6) % 7) + 1);
};

const named: Reader = (words, now) => {
  const monthOf = (word: string | undefined) =>
    word === undefined || word.length < 3 ? -1 : MONTHS.findIndex((month) => month.startsWith(word));
  const [first, second, third, ...rest] = words;
  const [month, dayWord] = monthOf(first) >= 0 ? [monthOf(first), second] : [monthOf(second), first];
  const day = /^(\d{1,2})(?:st|nd|rd|th)?$/.exec(dayWord ?? '');
  if (month < 0 || day === null || rest.length > 0) return undefined;
  if (third !== undefined)
    return /^\d{4}$/.test(third) ? dayOf(Number(third), month + 1, Number(day[1])) : undefined;
  const year = now.getUTCFullYear();
  const thisYear = dayOf(year, month + 1, Number(day[1]));
  return thisYear !== undefined && thisYear >= now.toISOString().slice(0, 10)
    ? thisYear
    : dayOf(year + 1, month + 1, Number(day[1]));
};

/** @returns undefined for a day that no calendar has */
function dayOf(year: number, month: number, day: number): string | undefined {
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day
    ? date.toISOString().slice(0, 10)
    : undefined;
}

/** The last day of a month stands for those that it does not have. */
function shifted(now: Date, unit: string, count: number): string {
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  if (unit === 'day' || unit === 'week') {
    const days = unit === 'week' ? 7 * count : count;
    return new Date(Date.UTC(year, month, day + days)).toISOString().slice(0, 10);
  }
  const target = month + (unit === 'year' ? 12 * count : count);
  const last = new Date(Date.UTC(year, target + 1, 0)).getUTCDate();
  return new Date(Date.UTC(year, target, Math.min(day, last))).toISOString().slice(0, 10);
}
