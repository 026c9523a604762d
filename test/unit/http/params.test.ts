import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { badParameters } from '../../../lib/http/errors.ts';
import {
  allOrNoneOf,
  array,
  atLeastOneOf,
  boolean,
  content,
  date,
  datetime,
  exactlyOneOf,
  type Field,
  file,
  filePath,
  hash,
  integer,
  list,
  mutuallyExclusive,
  number,
  object,
  oneOf,
  params,
  problemsOf,
  type Rule,
  requiredWhen,
  routeInteger,
  string,
} from '../../../lib/http/params.ts';

function read(schema: Field<unknown>, given: object): unknown {
  const result = schema.safeParse(given);
  return result.success ? result.data : problemsOf(result.error).texts.join(', ');
}
const one = (field: Field<unknown>, ...given: unknown[]) =>
  read(params({ p: field }), given.length === 0 ? {} : { p: given[0] });

describe('validation messages', () => {
  const level = oneOf(['a', 'b']);
  test.each<[string, Field<unknown>, object, string]>([
    ['required, absent', string({ required: true }), {}, 'p is missing'],
    [
      'required and not blank, absent',
      string({ required: true, blank: false }),
      {},
      'p is missing, p is empty',
    ],
    ['blank forbidden', string({ blank: false }), { p: '' }, 'p is empty'],
    ['blank forbidden, spaces', string({ blank: false }), { p: ' \t' }, 'p is empty'],
    ['blank forbidden, null', string({ blank: false }), { p: null }, 'p is empty'],
    ['blank forbidden, no items', array(string(), { blank: false }), { p: [] }, 'p is empty'],
    ['required, null', integer({ required: true }), { p: null }, 'p is empty'],
    ['no integer', integer(), { p: 'one' }, 'p is invalid'],
    ['no integer: fraction', integer(), { p: 1.5 }, 'p is invalid'],
    ['no integer: hexadecimal', integer(), { p: '0x10' }, 'p is invalid'],
    ['no integer: 2^63', integer(), { p: '9223372036854775808' }, 'p is invalid'],
    ['no integer: 2^63 as JSON', integer(), { p: 2 ** 63 }, 'p is invalid'],
    ['no integer: true', integer(), { p: true }, 'p is invalid'],
    ['no integer: list', integer(), { p: ['1'] }, 'p is invalid'],
    ['no number', number(), { p: '1,5' }, 'p is invalid'],
    ['a number beyond the exact integers', number(), { p: '1e300' }, 'p is invalid'],
    ['the same as JSON', number(), { p: -1e20 }, 'p is invalid'],
    ['no boolean', boolean(), { p: 'ja' }, 'p is invalid'],
    ['no boolean: 2', boolean(), { p: 2 }, 'p is invalid'],
    ['no date', date(), { p: '2021-02-29' }, 'p is invalid'],
    ['no date: a time of none', date(), { p: '2021-02-29T00:00:00Z' }, 'p is invalid'],
    ['no datetime', datetime(), { p: 'yesterday' }, 'p is invalid'],
    ['no datetime: plus sent raw', datetime(), { p: '2021-10-20T13:02:11 02:00' }, 'p is invalid'],
    ['no string: hash', string(), { p: {} }, 'p is invalid'],
    ['no string: NUL', string(), { p: 'a\0b' }, 'p is invalid'],
    ['no string: half a character', string(), { p: '\ud800' }, 'p is invalid'],
    ['no content: half a character', content(), { p: '\ud800' }, 'p is invalid'],
    ['no list', array(string()), { p: 'a' }, 'p is invalid'],
    ['no list: hash', list(string()), { p: {} }, 'p is invalid'],
    ['no hash', hash(), { p: 'a' }, 'p is invalid'],
    ['no file', file(), { p: 'a' }, 'p is invalid'],
    ['no file: a JSON of one', file(), { p: { filename: 'a', type: 'b', bytes: [1] } }, 'p is invalid'],
    ['pattern', string({ pattern: /^[a-z]+$/ }), { p: '1' }, 'p is invalid'],
    ['not in the list', level, { p: 'c' }, 'p does not have a valid value'],
    ['not in the list: empty', level, { p: '' }, 'p does not have a valid value'],
    ['below the range', integer({ min: 1 }), { p: '0' }, 'p does not have a valid value'],
    ['above the range', integer({ max: 5 }), { p: '6' }, 'p does not have a valid value'],
    ['not of the values', integer({ values: [10, 20] }), { p: '15' }, 'p does not have a valid value'],
    ['excluded', integer({ except: [0] }), { p: '0' }, 'p has a value not allowed'],
    ['item of a list, said once', list(integer()), { p: ['x', 'y'] }, 'p is invalid'],
    ['item of a list not in the list', list(level), { p: 'a,z' }, 'p does not have a valid value'],
    ['own check', string({ check: (v) => (v === 'x' ? 'is x' : undefined) }), { p: 'x' }, 'p is x'],
    ['traversal', filePath(), { p: 'a/../b' }, 'p should be a valid file path'],
    ['traversal alone', filePath(), { p: '..' }, 'p should be a valid file path'],
    ['traversal by backslash', filePath(), { p: 'a\\..\\b' }, 'p should be a valid file path'],
    ['absolute', filePath(), { p: '/etc/passwd' }, 'p should be a valid file path'],
    ['absolute, drive', filePath(), { p: 'c:/x' }, 'p should be a valid file path'],
  ])('%s', (_, field, given, text) => {
    expect(read(params({ p: field }), given)).toBe(text);
  });

  const fields = { a: string(), b: string(), c: string() };
  test.each<[Rule, object, unknown]>([
    [mutuallyExclusive('a', 'b', 'c'), { a: 1, c: 1 }, 'a, c are mutually exclusive'],
    [mutuallyExclusive('a', 'b'), { a: 1, c: 1 }, { a: '1', c: '1' }],
    [atLeastOneOf('a', 'b'), { c: 1 }, 'a, b are missing, at least one parameter must be provided'],
    [atLeastOneOf('a', 'b'), { b: 1 }, { b: '1' }],
    [exactlyOneOf('a', 'b'), {}, 'a, b are missing, exactly one parameter must be provided'],
    [exactlyOneOf('a', 'b'), { a: 1, b: 1 }, 'a, b are mutually exclusive'],
    [exactlyOneOf('a', 'b'), { a: 1 }, { a: '1' }],
    [allOrNoneOf('a', 'b'), { a: 1 }, 'a, b provide all or none of parameters'],
    [allOrNoneOf('a', 'b'), { c: 1 }, { c: '1' }],
    [requiredWhen('b', ({ a }) => a === 'x'), { a: 'x' }, 'b is missing'],
    [requiredWhen('b', ({ a }) => a === 'x'), { a: 'y' }, { a: 'y' }],
  ])('rule %#', (rule, given, outcome) => {
    expect(read(params(fields, [rule]), given)).toEqual(outcome);
  });

  test('list all problems, in the order of the declaration', () => {
    const schema = params({ a: string({ required: true }), b: integer(), c: boolean() }, [atLeastOneOf('x')]);
    expect(read(schema, { c: 'ja', b: 'z' })).toBe(
      'a is missing, b is invalid, c is invalid, x are missing, at least one parameter must be provided',
    );
  });

  test('show nested names as they are sent', () => {
    const action = object({
      action: oneOf(['create'], { required: true }),
      file_path: string({ required: true }),
    });
    const schema = params({
      actions: array(action, { required: true }),
      not: object({ iids: list(integer()) }),
    });
    expect(
      read(schema, { actions: [{ action: 'create' }, { action: 'x', file_path: 'f' }], not: { iids: 'x' } }),
    ).toBe(
      'actions[0][file_path] is missing, actions[1][action] does not have a valid value, not[iids] is invalid',
    );
    expect(read(schema, { actions: ['text'] })).toBe('actions[0] is invalid');
    expect(read(schema, { actions: [] })).toEqual({ actions: [] });
    const create = object({ action: string(), content: string() }, {}, [requiredWhen('content', () => true)]);
    expect(read(params({ actions: array(create) }), { actions: [{ content: '' }, {}] })).toBe(
      'actions[1][content] is missing',
    );
    const rules = object({ a: string(), b: string() }, {}, [mutuallyExclusive('a', 'b')]);
    expect(read(params({ h: rules }), { h: { a: '1', b: '2' } })).toBe('a, b are mutually exclusive');
  });

  test('are limited in number, like the lists they are about', () => {
    expect(one(list(string()), 'a,'.repeat(1_000_000))).toBe('p is too long');
    expect(one(array(string(), { maxItems: 2 }), ['a', 'b', 'c'])).toBe('p is too long');
    const empty = array(object({ a: string({ required: true }), b: string({ required: true }) }));
    const texts = one(
      empty,
      Array.from({ length: 10_000 }, () => ({})),
    ) as string;
    expect(texts.startsWith('p[0][a] is missing, p[0][b] is missing, p[1][a] is missing')).toBe(true);
    const failure = badParameters(texts.split(', ')).body['error'] as string;
    expect(failure.split(', ')).toHaveLength(100);
  });

  test('become a missing route for an invalid integer in a path', () => {
    const result = params({ id: routeInteger() }).safeParse({ id: 'me' });
    expect(problemsOf(result.error!).noRoute).toBe(true);
    expect(one(routeInteger(), '7')).toEqual({ p: 7 });
  });
});

describe('the value of a parameter', () => {
  test('of a list is split at commas, in one text and in several', () => {
    for (const raw of ['a, b,c', ['a', 'b', 'c'], ['a,b', ' c '], ['a', '', ',b,', 'c']])
      expect(one(list(string()), raw)).toEqual({ p: ['a', 'b', 'c'] });
    expect(one(list(integer()), ['1,2', 3])).toEqual({ p: [1, 2, 3] });
    expect(one(array(string()), ['a,b'])).toEqual({ p: ['a,b'] });
    expect(one(list(string(), { maxItems: 2 }), ['a,b', 'c'])).toBe('p is too long');
  });

  test.each(['true', 'TRUE', 'True', 't', 'T', '1', 'on', 'ON', 'yes', 'Yes', 'y', 'Y', true, 1])(
    'true: %s',
    (v) => {
      expect(one(boolean(), v)).toEqual({ p: true });
    },
  );
  test.each(['false', 'FALSE', 'f', 'F', '0', 'off', 'Off', 'no', 'NO', 'n', 'N', false, 0])(
    'false: %s',
    (v) => {
      expect(one(boolean(), v)).toEqual({ p: false });
    },
  );

  test.each([
    ['2021-10-20', '2021-10-20T00:00:00.000Z'],
    ['2021-10-20T13:02:11Z', '2021-10-20T13:02:11.000Z'],
    ['2021-10-20T13:02:11', '2021-10-20T13:02:11.000Z'],
    ['2021-10-20T13:02', '2021-10-20T13:02:00.000Z'],
    ['2021-10-20t13:02:11.1234z', '2021-10-20T13:02:11.123Z'],
    ['2021-10-20T15:02:11.5+02:00', '2021-10-20T13:02:11.500Z'],
    ['2021-10-20T15:02:11-0530', '2021-10-20T20:32:11.000Z'],
    ['20211020T130211Z', '2021-10-20T13:02:11.000Z'],
    ['2021-10-20 13:02:11 UTC', '2021-10-20T13:02:11.000Z'],
    ['Wed, 20 Oct 2021 13:02:11 GMT', '2021-10-20T13:02:11.000Z'],
    ['20 Oct 2021 15:02:11 +0200', '2021-10-20T13:02:11.000Z'],
    ['2021-12-31T24:00:00Z', '2022-01-01T00:00:00.000Z'],
  ])('datetime %s', (text, instant) => {
    expect(one(datetime(), text)).toEqual({ p: new Date(instant) });
  });
  test.each([
    '2021-13-01',
    '2021-02-30T00:00:00Z',
    '2021-10-20T25:00:00Z',
    '2021-10-20T10:60:00Z',
    '20/10/2021',
    5,
    {},
  ])('no datetime: %s', (value) => {
    expect(one(datetime(), value)).toBe('p is invalid');
  });

  test('is the same instant after a datetime is written and read', () => {
    const instants = fc.date({
      min: new Date('0001-01-01'),
      max: new Date('9999-12-31'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(instants, (instant) => {
        expect(one(datetime(), instant.toISOString())).toEqual({ p: instant });
        expect(one(date(), instant.toISOString().slice(0, 10))).toEqual({
          p: instant.toISOString().slice(0, 10),
        });
      }),
    );
  });

  test('is the integer of its decimal text, or invalid', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }), (value) => {
        const safe = value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER;
        expect(one(integer(), String(value))).toEqual(safe ? { p: Number(value) } : 'p is invalid');
      }),
    );
  });

  test('never makes a parameter throw, for any JSON', () => {
    const all = [
      string(),
      content(),
      integer(),
      number(),
      boolean(),
      date(),
      datetime(),
      list(integer()),
      hash(),
      file(),
      filePath(),
      oneOf(['a']),
      array(object({ a: string({ required: true }) })),
    ];
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(...all), (value, field) => {
        expect(() => one(field, value)).not.toThrow();
      }),
      { numRuns: 500 },
    );
  });

  test.each<[string, Field<unknown>, unknown[], object]>([
    ['absent', string(), [], {}],
    ['absent with a default', integer({ default: 20 }), [], { p: 20 }],
    ['null is as absent', string(), [null], {}],
    ['null with a default', integer({ default: 20 }), [null], { p: 20 }],
    ['null where it means something', string({ nullable: true }), [null], { p: null }],
    ['empty text is null of an integer', integer({ nullable: true }), [''], { p: null }],
    ['empty text is null of a boolean', boolean({ nullable: true }), [''], { p: null }],
    ['empty text is a text', string({ nullable: true }), [''], { p: '' }],
    ['number as text', string(), [12], { p: '12' }],
    ['boolean as text', string(), [true], { p: 'true' }],
    ['content keeps NUL', content(), ['a\0'], { p: 'a\0' }],
    ['comma list', list(integer()), ['1, 2,3'], { p: [1, 2, 3] }],
    ['empty list', list(string()), [''], { p: [] }],
    ['list of one empty item', list(string()), [['']], { p: [] }],
    ['empty text as a list', array(string()), [''], { p: [] }],
    ['list with nulls', array(integer(), { nullable: true }), [null], { p: null }],
    ['number', number(), ['1.5'], { p: 1.5 }],
    ['number too small for the table', number(), ['1e-131'], { p: 0 }],
  ])('%s', (_, field, given, outcome) => {
    expect(one(field, ...given)).toEqual(outcome);
  });

  test('is left out for unknown parameters', () => {
    expect(read(params({ a: string() }), { a: 'x', b: 'y' })).toEqual({ a: 'x' });
  });

  test('is never an inherited member of an object', () => {
    expect(read(params({ constructor: string(), toString: string() }), {})).toEqual({});
  });
});
