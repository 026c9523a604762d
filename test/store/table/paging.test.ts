/** The pure functions used by lists: cursors, grams, merging, order. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { StoreError } from '../../../lib/store/errors.ts';
import { folded, orderedBy, padded } from '../../../lib/store/row-keys/key.ts';
import { labelTitleKey, TITLE } from '../../../lib/store/row-keys/labels.ts';
import { refPrefixSort, refSort } from '../../../lib/store/row-keys/repository.ts';
import { gramsOf, lookupGrams, matchesWords, wordsOf } from '../../../lib/store/search/trigrams.ts';
import { decodeCursor, encodeCursor, type Position } from '../../../lib/store/table/cursor.ts';
import { cutPage } from '../../../lib/store/table/paging.ts';
import { behindRow, comparing, listSource, mergeKeys } from '../../../lib/store/table/sorted-sources.ts';
import { compareText } from '../../../lib/store/table/text-order.ts';

const bytewise = (a: string, b: string) => Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b)));

describe('a cursor', () => {
  test('is accepted for its own query only', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(), fc.jsonValue(), (sort, id, query) => {
        const cursor = encodeCursor(query, { sort, id });
        expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/);
        expect(decodeCursor(query, cursor)).toEqual({ sort, id });
        expect(() => decodeCursor([query], cursor)).toThrow(StoreError);
      }),
    );
  });
  test('that was edited, truncated or invented is refused', () => {
    const cursor = encodeCursor({ list: 'x' }, { sort: 'abc', id: 1 });
    for (let i = 0; i < cursor.length; i++) {
      const other = cursor[i] === 'A' ? 'B' : 'A';
      const edited = cursor.slice(0, i) + other + cursor.slice(i + 1);
      // The last digit may have bits that are not decoded.
      if (Buffer.from(edited, 'base64url').equals(Buffer.from(cursor, 'base64url'))) continue;
      expect(() => decodeCursor({ list: 'x' }, edited)).toThrow(StoreError);
      expect(() => decodeCursor({ list: 'x' }, cursor.slice(0, i))).toThrow(StoreError);
    }
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String()), (text) => {
        expect(() => decodeCursor({}, text)).toThrow(StoreError);
      }),
    );
    expect(() => decodeCursor({}, 'A'.repeat(1_000_000))).toThrow(StoreError);
  });
  test.each(['ö'.repeat(501), 'a\ud83d', '\ude00'])(
    'of the sort key %j, which no row has, is refused',
    (sort) => {
      expect(() => decodeCursor({}, encodeCursor({}, { sort, id: 1 }))).toThrow(StoreError);
    },
  );
});

describe('search', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 40 });
  test('finds every substring of three characters or more by its grams', () => {
    fc.assert(
      fc.property(text, fc.nat(), fc.integer({ min: 3, max: 20 }), (whole, from, length) => {
        const characters = Array.from(folded(whole));
        const start = from % Math.max(1, characters.length);
        const term = characters.slice(start, start + length).join('');
        const words = wordsOf(term);
        const held = gramsOf([whole]);
        for (const word of words) expect(folded(whole)).toContain(word);
        const grams = lookupGrams(words);
        expect(grams.length).toBeLessThanOrEqual(6);
        if (Array.from(words[0] ?? '').length >= 3) expect(grams.every((gram) => held.has(gram))).toBe(true);
      }),
    );
  });
  test.each([
    ['gitl', ['GitLab'], true],
    ['LAB', ['GitLab'], true],
    ['gi', ['GitLab'], true],
    ['it', ['GitLab'], false],
    ['git lab', ['the lab of git'], true],
    ['git lab', ['git', 'lab'], false],
    ['git xx', ['git'], false],
    ['', ['x'], true],
  ])('%s in %j: %s', (term, texts, found) => {
    expect(matchesWords(wordsOf(term), texts)).toBe(found);
  });
  test('has a bounded cost for hostile terms', () => {
    expect(wordsOf('a '.repeat(10_000) + 'b'.repeat(10_000)).length).toBeLessThanOrEqual(8);
    expect(lookupGrams(wordsOf(Array.from({ length: 1000 }, (_, i) => `w${i}`).join(' ')))).toHaveLength(6);
  });
});

describe('the order of keys', () => {
  test('is the byte order of texts', () => {
    const any = fc.string({ unit: 'binary', maxLength: 6 });
    fc.assert(
      fc.property(any, any, (a, b) => {
        expect(Math.sign(compareText(a, b))).toBe(bytewise(a, b));
      }),
    );
  });
  test('is the numeric order of padded numbers', () => {
    const id = fc.nat({ max: 999_999_999_999 });
    fc.assert(
      fc.property(id, id, (a, b) => {
        expect(Math.sign(compareText(padded(a), padded(b)))).toBe(Math.sign(a - b));
      }),
    );
  });
  test('places an id out of range where no id exists', () => {
    for (const id of [-1, 1e12, 1e21, Number.MAX_VALUE, Number.POSITIVE_INFINITY])
      expect(padded(id)).toMatch(/^(0{12}|9{12})$/);
  });
  test('is kept for the longest refs: keys fit in 1,024 bytes, and a prefix of a ref is a prefix of its key', () => {
    const long = fc.string({ unit: 'binary', maxLength: 700 }).filter((s) => s.isWellFormed());
    fc.assert(
      fc.property(long, fc.nat(), (text, cut) => {
        expect(Buffer.byteLength(orderedBy(text, 1))).toBeLessThanOrEqual(1024);
        expect(Buffer.byteLength(refSort(text))).toBeLessThanOrEqual(1024);
        const prefix = Array.from(text)
          .slice(0, cut % 700)
          .join('');
        expect(refSort(text).startsWith(refPrefixSort(prefix))).toBe(true);
      }),
    );
  });
});

describe('pages of merged lists', () => {
  const key = fc.record({ sort: fc.string({ maxLength: 3 }), id: fc.nat({ max: 30 }) });
  test('are the pages of the whole sorted list, each key once', async () => {
    const lists = fc.array(fc.array(key, { maxLength: 12 }), { maxLength: 5 });
    const direction = fc.constantFrom('asc' as const, 'desc' as const);
    await fc.assert(
      fc.asyncProperty(
        lists,
        direction,
        fc.integer({ min: 1, max: 5 }),
        async (drawn, direction, perPage) => {
          // An id has the same sort key in every list.
          const sorts = new Map(drawn.flat().map(({ id, sort }) => [id, sort]));
          const consistent = drawn.map((list) =>
            [...new Set(list.map(({ id }) => id))].map((id) => ({ id, sort: sorts.get(id)! })),
          );
          const whole = [...sorts].map(([id, sort]) => ({ id, sort })).toSorted(comparing(direction));
          const pages: number[] = [];
          for (let page = 1; page <= Math.ceil(whole.length / perPage) + 1; page++) {
            const keys = mergeKeys(
              consistent.map((list) => listSource(list, direction)),
              direction,
            );
            const cut = await cutPage(keys, { page, perPage }, { load: async (ids) => [...ids] });
            expect(cut.more).toBe(whole.length > page * perPage);
            pages.push(...cut.items);
          }
          expect(pages).toEqual(whole.map(({ id }) => id));
        },
      ),
    );
  });

  test('are filled up when records are missing, and count only what passes the filter', async () => {
    const keys = () =>
      mergeKeys(
        [
          listSource(
            Array.from({ length: 50 }, (_, id) => ({ id, sort: padded(id) })),
            'asc',
          ),
        ],
        'asc',
      );
    const load = async (ids: readonly number[]) => ids.map((id) => (id % 3 === 0 ? undefined : id));
    expect(await cutPage(keys(), { page: 1, perPage: 5 }, { load })).toMatchObject({
      items: [1, 2, 4, 5, 7],
      more: true,
    });
    const even = { load, where: (id: number) => id % 2 === 0 };
    const page = await cutPage(keys(), { page: 2, perPage: 5, count: true }, even);
    expect(page).toMatchObject({ items: [16, 20, 22, 26, 28], total: 16, more: true });
    const bounded = await cutPage(
      keys(),
      { page: 1, perPage: 5, count: true },
      { load, where: () => false, walk: 10 },
    );
    const last = { id: 9, sort: padded(9) };
    expect(bounded).toEqual({ items: [], total: undefined, more: false, last, truncated: true });
  });
});

describe('a page of rows', () => {
  const key = (id: number) => ({ sort: padded(id), id });
  const keys = Array.from({ length: 30 }, (_, i) => key(i + 1));
  /** Where pages end one after the other, and what they hold. */
  async function pages(options: Partial<Parameters<typeof cutPage<number>>[2]>) {
    const found: number[][] = [];
    const ends: number[] = [];
    for (let after: Position | undefined, goesOn = true; goesOn; ) {
      let end: Position | undefined;
      const ended = (last: Position) => void (end = last);
      const rows = after === undefined ? { ended } : { after, ended };
      const sources = [listSource(keys, 'asc')];
      const { items } = await cutPage(
        mergeKeys(sources, 'asc', after),
        { page: 1, perPage: 4, rows },
        {
          load: async (ids) => ids,
          ...options,
        },
      );
      found.push([...items]);
      if (end !== undefined) ends.push(end.id);
      goesOn = end !== undefined;
      after = end;
    }
    return { found: found.flat(), ends };
  }
  const all = keys.map(({ id }) => id);

  test('begins behind the last one, until there are no more', async () => {
    expect(await pages({})).toEqual({ found: all, ends: [4, 8, 12, 16, 20, 24, 28] });
  });
  test('of which a filter has looked at as many as it may goes on behind these', async () => {
    const where = (id: number) => id % 10 === 0;
    const { found, ends } = await pages({ where, walk: 7, batchSize: 7 });
    expect(found).toEqual([10, 20, 30]);
    expect(ends).toEqual([7, 14, 21, 28]);
  });
  test('of which few are shown goes on behind these, also without a filter', async () => {
    const load = async (ids: readonly number[]) => ids.map((id) => (id % 3 === 0 ? id : undefined));
    const { found, ends } = await pages({ load, walk: 7 });
    expect(found).toEqual(all.filter((id) => id % 3 === 0));
    expect(ends.length).toBeGreaterThan(2);
  });
  test('does not tell the key of a record that is not shown', async () => {
    const load = async (ids: readonly number[]) => ids.map((id) => (id % 7 === 0 ? undefined : id));
    const { found, ends } = await pages({ load, where: (id) => id === 30, walk: 7, batchSize: 7 });
    expect(found).toEqual([30]);
    expect(ends).toEqual([6, 13, 20, 27]);
  });
  test('has equal sort keys in the order of their ids', async () => {
    const equal = [3, 1, 2].map((id) => ({ sort: 'x', id }));
    const from = mergeKeys([listSource(equal, 'desc')], 'desc', { sort: 'x', id: 3 });
    const found: number[] = [];
    for await (const { id } of from) found.push(id);
    expect(found).toEqual([2, 1]);
  });
});

describe('the rows from one on', () => {
  test('stay within their prefix or range, in either direction', () => {
    const rows = { partition: 'P', prefix: 'A#' };
    expect(behindRow(rows, 'asc', undefined)).toEqual(rows);
    expect(behindRow(rows, 'asc', 'A#5')).toEqual({ partition: 'P', from: 'A#5', to: 'A$' });
    expect(behindRow(rows, 'desc', 'A#5')).toEqual({ partition: 'P', from: 'A#', to: 'A#5' });
    const range = { partition: 'P', from: 'b', to: 'd' };
    expect(behindRow(range, 'asc', 'c')).toEqual({ partition: 'P', from: 'c', to: 'd' });
    expect(behindRow(range, 'asc', 'a')).toEqual(range);
    expect(behindRow(range, 'desc', 'c')).toEqual({ partition: 'P', from: 'b', to: 'c' });
    expect(behindRow(range, 'desc', 'e')).toEqual(range);
    expect(behindRow({}, 'asc', 'c')).toEqual({ from: 'c' });
  });
  test.each(['', 'B#5', 'A', `A#${'ö'.repeat(512)}`])('are not those from %j on', (sort) => {
    expect(() => behindRow({ prefix: 'A#' }, 'asc', sort)).toThrow(StoreError);
  });
  test.each([1, 248, 250, 251, 255])('begin at a label with a title of %d long characters', (length) => {
    const { sk } = labelTitleKey({ kind: 'project', id: 1 }, '😀'.repeat(length));
    const place = { sort: sk.slice(TITLE.length), id: 1 };
    const { sort } = decodeCursor('rows', encodeCursor('rows', place));
    expect(behindRow({ prefix: TITLE }, 'asc', TITLE + sort)).toMatchObject({ from: sk });
  });
  test('hold all that begins with the prefix', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const { to } = behindRow({ prefix: 'A#' }, 'asc', 'A#') as { to: string };
        expect(compareText(`A#${text}`, to)).toBeLessThan(0);
      }),
    );
  });
});
