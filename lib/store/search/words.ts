/**
 * Search by words: a row for each word of a text leads to what has the text. Rows of one word are in the order of
 * creation, so that a search reads the newest of however many there are. Several words are looked up where a text has
 * all of them.
 */
import { BEGINNING } from '../../records/texts.ts';
import { folded } from '../row-keys/key.ts';
import { beginningOf, LEAST_BEGINNING, type WordRows } from '../row-keys/search.ts';
import type { Table } from '../table/table.ts';

/** Different words of a long text that have rows; of a title all have. */
const WORDS_OF_TEXT = 24;
/** Characters of a word; what follows is not told apart. */
const WORD_LENGTH = 40;
/** Words of a search that are looked at. */
const SEARCHED_WORDS = 8;
/** Words that begin with one that is searched for, and requests that find them. */
const MAX_FORMS = 12;
const FORM_READS = 6;
const FORM_ROWS = 100;

/** English words that nearly every text has: long texts have no rows of them. */
const COMMON = new Set(
  (
    'about after all also and any are because been before but can could does for from had has have how ' +
    'into its just more not now of on only or other our out should some such than that the their them then ' +
    'there these they this to too was were what when where which who why will with would you your'
  ).split(' '),
);

/** Scripts that put no spaces between words: each two characters that follow each other count as a word. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu;

/** The words of a text, folded, each once, in their order. */
export function wordsOf(text: string): string[] {
  const words = new Set<string>();
  for (const part of folded(text).split(/[^\p{L}\p{N}\p{M}]+/u)) {
    let from = 0;
    for (const { 0: run, index } of part.matchAll(UNSPACED)) {
      add(words, part.slice(from, index));
      const characters = Array.from(run);
      for (let i = 0; i === 0 || i + 2 <= characters.length; i++)
        words.add(characters.slice(i, i + 2).join(''));
      from = index + run.length;
    }
    add(words, part.slice(from));
  }
  return [...words];
}

function add(words: Set<string>, word: string): void {
  if (word !== '')
    words.add(word.length > WORD_LENGTH ? Array.from(word).slice(0, WORD_LENGTH).join('') : word);
}

/** The words of a title and of the text below it that have rows. @param limit those of the text */
export function indexedWords(title: string, text: string, limit = WORDS_OF_TEXT): string[] {
  const words = new Set(wordsOf(title));
  let left = limit;
  for (const word of wordsOf(text.slice(0, BEGINNING))) {
    if (left === 0) break;
    if (words.has(word) || COMMON.has(word) || isShort(word)) continue;
    words.add(word);
    left--;
  }
  return [...words];
}

const ENDS_IN_NUMBER = { '#': /#(\d{1,12})\s*$/, '!': /!(\d{1,12})\s*$/ } as const;

/** What a search asks for: words, and numbers of what is numbered. */
export interface Terms {
  /** The longest first. */
  readonly words: readonly string[];
  /** Asked for as `#12` or `!12`, or as `12` beside the word. */
  readonly number: number | undefined;
}

/** A search that ends in the sign of what is searched and a number asks for that number alone. */
export function termsOf(search: string, sign: '#' | '!'): Terms {
  const [, named] = ENDS_IN_NUMBER[sign].exec(search) ?? [];
  if (named !== undefined) return { words: [], number: Number(named) };
  const all = wordsOf(search);
  const telling = all.filter((word) => !COMMON.has(word));
  const words = (telling.length === 0 ? all : telling)
    .toSorted((a, b) => b.length - a.length)
    .slice(0, SEARCHED_WORDS);
  return { words, number: /^\s*\d{1,12}\s*$/.test(search) ? Number(search) : undefined };
}

/** The words of a search in texts without a title, the longest first: those that {@link indexedWords} may have. */
export const wordsInTexts = (search: string): string[] =>
  wordsOf(search)
    .filter((word) => !COMMON.has(word) && !isShort(word))
    .toSorted((a, b) => b.length - a.length)
    .slice(0, SEARCHED_WORDS);

/** Whether something with these words, and this number, is what a search asks for. */
export function hasTerms({ words, number }: Terms, indexed: readonly string[], ownNumber?: number): boolean {
  if (number !== undefined && number === ownNumber) return true;
  if (words.length === 0) return false;
  return words.every((term) =>
    indexed.some((word) => (isShort(term) ? word === term : word.startsWith(term))),
  );
}

/** Short words find only themselves. */
const isShort = (word: string): boolean =>
  beginningOf(word) === word && Array.from(word).length < LEAST_BEGINNING;

/**
 * Returns the words with rows that a term asks for: itself, and words that begin with it, {@link MAX_FORMS} at most.
 * The first rows of each are skipped over, so that common ones cost no more.
 */
export async function formsOf(table: Table, rows: WordRows, term: string): Promise<string[]> {
  if (isShort(term)) return [term];
  const { index, prefix } = rows;
  const sort = index === undefined ? 'sk' : index === 'byUser' ? 'what' : index;
  const forms = new Set<string>();
  let from = prefix + term;
  for (let n = 0; n < FORM_READS && forms.size < MAX_FORMS; n++) {
    const { items, next } = await table.query({
      ...(index === undefined ? {} : { index }),
      partition: rows.partition(term),
      from,
      to: `${prefix}${term}\u{10ffff}`,
      limit: FORM_ROWS,
      only: [sort],
    });
    for (const item of items) forms.add(wordOf(item[sort] as string, prefix));
    if (next === undefined) break;
    // Behind the rows of the last word, and before those of words that it begins.
    from = `${prefix}${[...forms].at(-1)}$`;
  }
  return [...forms].slice(0, MAX_FORMS);
}

const wordOf = (sort: string, prefix: string): string =>
  sort.slice(prefix.length, sort.indexOf('#', prefix.length));
