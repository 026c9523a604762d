import { describe, expect, test } from 'vitest';
import { decodeContent } from '../../../lib/api/files/content.ts';
import { DomainError } from '../../../lib/domain/errors.ts';
import { readBody } from '../../../lib/http/body.ts';
import { HttpFailure } from '../../../lib/http/errors.ts';
import { stopsOf } from '../git/stops.ts';

const MiB = 2 ** 20;
const read = (body: string | Uint8Array, type = 'application/json') =>
  readBody(
    new Request('http://h/', {
      method: 'POST',
      body: typeof body === 'string' ? body : new Uint8Array(body),
      headers: { 'content-type': type },
    }),
    200 * MiB,
  );
const problem = async (promise: Promise<unknown>): Promise<string> => {
  const error = await promise.then(
    () => new Error('it was taken'),
    (e: unknown) => e,
  );
  if (error instanceof HttpFailure) return String(error.body['error']);
  if (error instanceof DomainError) return String(error.detail);
  throw error;
};

/** Everything that may not be cut: characters of several bytes, escape sequences, pairs of them, a byte order mark. */
const UNITS = [
  ...['a', '\\"', '\\\\', '\\\\\\"', '\\u4e2d', '\\ud83d\\ude00', '\\n', '\\/', 'é', '中', '😀', '\ufeff'],
  '\\\\u0041',
];

describe('a large body of JSON', () => {
  test.each(Array.from({ length: 17 }, (_, shift) => shift))(
    'is what JSON.parse makes of it, wherever it is cut: shifted by %i',
    async (shift) => {
      const text = 'x'.repeat(shift) + UNITS.join('').repeat(20_000);
      const body = `\ufeff{ "short" : [ 1 ,\t2.5e3, null ,true, {"__proto__": {"${text.slice(0, 150 + shift)}": "b"}}],
        "long":"${text}", "again": ["${text}" , "end \\" "] }   \n`;
      const parsed = await read(body);
      const plain = JSON.parse(body.slice(1)) as Record<string, unknown>;
      expect(parsed['long'] === plain['long']).toBe(true);
      expect(JSON.stringify(parsed) === JSON.stringify(plain)).toBe(true);
      expect(Object.getPrototypeOf(parsed)).toBeNull();
    },
  );

  const long = 'word '.repeat(200_000);
  test.each<[string, string | Uint8Array, string]>([
    ['ends in a string', `{"a":"${long}`, 'Problems parsing JSON'],
    ['ends behind a string', `{"a":"${long}"`, 'Problems parsing JSON'],
    ['has a line break in a string', `{"a":"${long}\n"}`, 'Problems parsing JSON'],
    ['has an escape that is none', `{"a":"${long}\\x"}`, 'Problems parsing JSON'],
    ['has half an escape', `{"a":"${long}\\u00"}`, 'Problems parsing JSON'],
    ['has two numbers side by side', `{"b":1${' '.repeat(MiB)}2,"a":"${long}"}`, 'Problems parsing JSON'],
    [
      'is not UTF-8 in a string',
      Buffer.concat([Buffer.from(`{"a":"${long}`), Buffer.from([0xc3]), Buffer.from(`${long}"}`)]),
      'the request is not valid UTF-8',
    ],
    ['has too many values', `{"a":"${long}","b":[${'0,'.repeat(100_000)}0]}`, 'too many parameters'],
    ['has too many long values', `{"a":[${`"${'x'.repeat(80)}",`.repeat(300_000)}0]}`, 'too many parameters'],
    ['has too long a number', `{"a":${'1'.repeat(17 * MiB)}}`, 'too many parameters'],
    [
      'is too deep',
      `{"a":"${long}","b":${'['.repeat(40)}${']'.repeat(40)}}`,
      'parameters are nested too deeply',
    ],
    ['has NUL in a long name', `{"${long}\\u0000":1}`, 'parameter names may not contain NUL'],
  ])('that %s is refused', async (_, body, told) => {
    expect(await problem(read(body))).toBe(told);
  });

  test.each([
    ['one string', () => `{"a":"${'x'.repeat(8 * MiB)}"}`],
    ['escaped quotes', () => `{"a":"${'\\"'.repeat(4 * MiB)}"}`],
    ['backslashes', () => `{"a":"${'\\\\'.repeat(4 * MiB)}"}`],
    ['space', () => `{${' '.repeat(8 * MiB)}}`],
    ['many strings', () => `{"a":[${`"${'x'.repeat(98)}",`.repeat(80_000)}0]}`],
  ])('of %s is parsed beside other work', async (_, make) => {
    const body = make();
    let parsed: unknown;
    // A piece of 64 KiB takes less than a millisecond.
    expect(
      await stopsOf(async () => {
        parsed = await read(body);
      }),
    ).toBeGreaterThan(25);
    expect(JSON.stringify(parsed) === JSON.stringify(JSON.parse(body))).toBe(true);
  });
});

test('a large multipart body is parsed beside other work, and its texts are those that were sent', async () => {
  const text = 'é中😀'.repeat(600_000);
  const form = new FormData();
  form.set('content', text);
  const request = new Request('http://h/', { method: 'POST', body: form });
  let parsed: Record<string, unknown> = {};
  const stops = await stopsOf(async () => {
    parsed = await readBody(request, 200 * MiB);
  });
  expect(stops).toBeGreaterThan(8);
  expect(parsed['content'] === text).toBe(true);
});

test('a form has 10 MiB at most, whatever the endpoint takes', async () => {
  const form = 'application/x-www-form-urlencoded';
  expect((await read(`a=${'x'.repeat(10 * MiB - 2)}`, form))['a']).toHaveLength(10 * MiB - 2);
  await expect(read(`a=${'x'.repeat(10 * MiB - 1)}`, form)).rejects.toThrow(DomainError);
});

describe('a long field of a form', () => {
  const form = 'application/x-www-form-urlencoded';
  const encoded = 'a%41%E4%B8%AD%f0%9f%98%80+%C3%a9é😀';

  test.each(Array.from({ length: encoded.length }, (_, shift) => shift))(
    'is what was sent, wherever it is cut: shifted by %i',
    async (shift) => {
      const field = 'x'.repeat(shift) + encoded.repeat(8_000);
      const { a } = await read(`a=${field}&b=1`, form);
      expect(a === decodeURIComponent(field.replaceAll('+', ' '))).toBe(true);
    },
  );

  test.each(['%', '%4', '%E4%B8', '%E4%B8x', '%80', `${'%80'.repeat(100_000)}`])(
    'with an escape that is none is refused: %#',
    async (end) => {
      expect(await problem(read(`a=${'x'.repeat(100_000)}${end}`, form))).toBe('invalid %-encoding');
    },
  );

  test('is decoded beside other work', async () => {
    expect(await stopsOf(() => read(`a=${encoded.repeat(100_000)}`, form))).toBeGreaterThan(10);
  });
});

test.each(Array.from({ length: 4 }, (_, shift) => shift))(
  'a long text is the content of a file as it is, wherever it is cut: shifted by %i',
  async (shift) => {
    const text = `${'x'.repeat(shift)}${'😀é'.repeat(MiB)}`;
    expect(Buffer.from(text).equals(await decodeContent(text, 'text'))).toBe(true);
  },
);

describe('the content of a file in Base64', () => {
  const bytes = Buffer.from(Array.from({ length: 3 * MiB + 1 }, (_, i) => (i * 7919) >>> 5));
  const folded = (width: number) =>
    bytes.toString('base64').replace(new RegExp(`.{${width}}`, 'g'), '$&\r\n');

  test.each([
    ['as it is', () => bytes.toString('base64')],
    ['without padding', () => bytes.toString('base64').replace(/=+$/, '')],
    ['in lines', () => folded(76)],
    ['in other lines', () => folded(61)],
    ['with space behind its end', () => `${bytes.toString('base64')}${'\n '.repeat(MiB)}`],
  ])('is decoded %s', async (_, make) => {
    expect(bytes.equals(await decodeContent(make(), 'base64'))).toBe(true);
  });

  test.each([
    ['another character', () => `${bytes.toString('base64')}*`],
    ['another character early', () => `*${bytes.toString('base64')}`],
    ['padding in the middle', () => `${bytes.toString('base64')}${bytes.toString('base64')}`],
    ['one character too many', () => `${bytes.subarray(0, 3 * MiB).toString('base64')}A`],
    ['too much padding', () => `${bytes.toString('base64')}=`],
  ])('with %s is refused', async (_, make) => {
    expect(await problem(decodeContent(make(), 'base64'))).toBe('content is not valid Base64');
  });

  test('is decoded beside other work', async () => {
    const text = folded(76);
    expect(await stopsOf(() => decodeContent(text, 'base64'))).toBeGreaterThanOrEqual(5);
  });
});
