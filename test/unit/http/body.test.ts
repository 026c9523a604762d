import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DomainError } from '../../../lib/domain/errors.ts';
import { readBody } from '../../../lib/http/body.ts';
import { HttpFailure } from '../../../lib/http/errors.ts';
import { parseForm } from '../../../lib/http/form.ts';
import { queryText } from '../../../lib/http/pagination.ts';

const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown;
const textOf = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (error instanceof HttpFailure) return String(error.body['error']);
    throw error;
  }
  throw new Error('it was taken');
};
const post = (body: BodyInit, type?: string, limit?: number) =>
  readBody(
    new Request('http://h/', {
      method: 'POST',
      body,
      headers: type === undefined ? {} : { 'content-type': type },
    }),
    limit,
  );
const problem = async (promise: Promise<unknown>): Promise<string> => {
  const error = await promise.then(
    () => new Error('it was taken'),
    (e: unknown) => e,
  );
  if (error instanceof HttpFailure) return `${error.status} ${String(error.body['error'])}`;
  if (error instanceof DomainError) return `${error.code} ${String(error.detail)}`;
  throw error;
};

describe('parameter names, parsed as in Rack,', () => {
  test.each<[string, unknown]>([
    ['', {}],
    ['a', { a: null }],
    ['a=', { a: '' }],
    ['a=1&a=2', { a: '2' }],
    ['a+b=c+d%20e%2B', { 'a b': 'c d e+' }],
    ['a[]=1&a[]=2', { a: ['1', '2'] }],
    ['a[]', { a: [null] }],
    ['a%5B%5D=1', { a: ['1'] }],
    ['a[k]=v&a[l]=w', { a: { k: 'v', l: 'w' } }],
    ['a[k][]=1&a[k][]=2', { a: { k: ['1', '2'] } }],
    ['a[k][l][m]=1', { a: { k: { l: { m: '1' } } } }],
    ['x[][y]=1&x[][z]=2&x[][y]=3', { x: [{ y: '1', z: '2' }, { y: '3' }] }],
    ['x[][y][]=1&x[][y][]=2&x[][z]=3', { x: [{ y: ['1', '2'], z: '3' }] }],
    ['x[][y][w]=1&x[][y][v]=2&x[][y][w]=3', { x: [{ y: { w: '1', v: '2' } }, { y: { w: '3' } }] }],
    ['x[y][][z]=1&x[y][][w]=2&x[y][][z]=3', { x: { y: [{ z: '1', w: '2' }, { z: '3' }] } }],
    [
      'actions[][action]=create&actions[][file_path]=a&actions[][action]=delete&actions[][file_path]=b',
      {
        actions: [
          { action: 'create', file_path: 'a' },
          { action: 'delete', file_path: 'b' },
        ],
      },
    ],
    ['x[0][y]=1', { x: { 0: { y: '1' } } }],
    ['&&a=1&&', { a: '1' }],
    ['=1', {}],
    ['a=b=c', { a: 'b=c' }],
    ['a;b=1', { 'a;b': '1' }],
    ['a[b=1', { 'a[b': '1' }],
  ])('%s', (text, outcome) => {
    expect(plain(parseForm(text))).toEqual(outcome);
  });

  test.each([
    ['a=1&a[b]=2', 'parameter a[b] conflicts with an earlier parameter of the same name'],
    ['a[b]=1&a[]=2', 'parameter a[] conflicts with an earlier parameter of the same name'],
    ['a[]=1&a[b]=2', 'parameter a[b] conflicts with an earlier parameter of the same name'],
    ['a[b]=1&a=2', 'parameter a conflicts with an earlier parameter of the same name'],
    ['a[][]=1', 'lists of lists are not supported'],
    ['a=%', 'invalid %-encoding'],
    ['a=%zz', 'invalid %-encoding'],
    ['a=%ff', 'invalid %-encoding'],
    ['%ed%a0%80=1', 'invalid %-encoding'],
    ['a=%00', 'parameters may not contain NUL'],
    ['a%00b=1', 'parameters may not contain NUL'],
    [`a${'[b]'.repeat(32)}=1`, 'parameters are nested too deeply'],
    [`a${'[]'.repeat(50_000)}=1`, 'parameters are nested too deeply'],
    ['a&'.repeat(100_001), 'too many parameters'],
  ])('%#: refused', (text, message) => {
    expect(textOf(() => parseForm(text))).toBe(message);
  });

  test('never reach a prototype', () => {
    const parsed = parseForm(
      '__proto__[polluted]=1&constructor[prototype][polluted]=1&a[__proto__][polluted]=1&b[][__proto__]=1',
    );
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(Object.getPrototypeOf(parsed)).toBeNull();
    // biome-ignore lint/suspicious/noProto: it is a member like any other
    expect(parsed['__proto__']).toMatchObject({ polluted: '1' });
    expect(Object.getPrototypeOf(parsed['a'])).toBeNull();
  });

  test('are parsed or refused for any text', () => {
    const hostile = fc.array(
      fc.constantFrom('a', 'b', '[', ']', '[]', '=', '&', '%', '%5B', '%00', '__proto__', '1'),
      {
        maxLength: 40,
      },
    );
    fc.assert(
      fc.property(hostile, (pieces) => {
        try {
          parseForm(pieces.join(''));
        } catch (error) {
          expect(error).toBeInstanceOf(HttpFailure);
        }
      }),
      { numRuns: 2000 },
    );
  });

  test('are read back from the links we write', () => {
    const name = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 8 })
      .filter((s) => !/[[\]\0]/.test(s));
    const text = fc.string({ unit: 'grapheme', maxLength: 20 }).filter((s) => !s.includes('\0'));
    const value = fc.oneof(
      text,
      fc.array(text, { minLength: 1, maxLength: 4 }),
      fc.dictionary(name, text, { minKeys: 1, maxKeys: 4 }),
    );
    fc.assert(
      fc.property(fc.dictionary(name, value, { maxKeys: 6 }), (parameters) => {
        // Pairs are sorted, so lists come back in another order; secrets stay away.
        const sorted = (all: Record<string, unknown>) =>
          plain(
            Object.fromEntries(
              Object.entries(all).map(([k, v]) => [k, Array.isArray(v) ? [...v].sort() : v]),
            ),
          );
        fc.pre(!['private_token', 'access_token', 'job_token'].some((secret) => secret in parameters));
        expect(sorted(parseForm(queryText(parameters)))).toEqual(sorted(parameters));
      }),
    );
  });
});

describe('a body', () => {
  test('is a form, with or without a content type', async () => {
    expect(plain(await post('a[]=1&b=%C3%A4', 'application/x-www-form-urlencoded'))).toEqual({
      a: ['1'],
      b: 'ä',
    });
    expect(plain(await post(Buffer.from('a=1')))).toEqual({ a: '1' });
  });

  test('JSON', async () => {
    const parsed = await post(
      '{"a":[{"b":null}],"n":1.5,"__proto__":{"polluted":1}}',
      'application/json; charset=utf-8',
    );
    expect(parsed).toMatchObject({ a: [{ b: null }], n: 1.5 });
    expect(Object.getPrototypeOf(parsed)).toBeNull();
    expect(Object.keys(parsed)).toContain('__proto__');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test.each(['', ' ', '[1]', '"a"', 'null', '3'])('JSON that has no parameters: %s', async (text) => {
    expect(plain(await post(text, 'application/json'))).toEqual({});
  });

  test.each<[BodyInit, string, string]>([
    ['{', 'application/json', '400 Problems parsing JSON'],
    ['{"a":', 'application/json', '400 Problems parsing JSON'],
    ['{"a":"', 'application/json', '400 Problems parsing JSON'],
    ["{'a':1}", 'application/json', '400 Problems parsing JSON'],
    [Buffer.from([0x7b, 0xff, 0x7d]), 'application/json', '400 the request is not valid UTF-8'],
    [`{"a":${'['.repeat(33)}${']'.repeat(33)}}`, 'application/json', '400 parameters are nested too deeply'],
    ['['.repeat(5_000_000), 'application/json', '400 parameters are nested too deeply'],
    [`{"a":[${'0,'.repeat(100_000)}0]}`, 'application/json', '400 too many parameters'],
    ['{"\\u0000":1}', 'application/json', '400 parameter names may not contain NUL'],
    [
      Buffer.from([0x61, 0x3d, 0xff]),
      'application/x-www-form-urlencoded',
      '400 the request is not valid UTF-8',
    ],
    ['no multipart', 'multipart/form-data; boundary=x', '400 the multipart body is malformed'],
    ['x', 'multipart/form-data', '400 the multipart body is malformed'],
    [
      '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\ncut',
      'multipart/form-data; boundary=x',
      '400 the multipart body is malformed',
    ],
    [
      '--x\r\nContent-Disposition: form-data; name="a"; filename="f"\r\n\r\ncut',
      'multipart/form-data; boundary=x',
      '400 the multipart body is malformed',
    ],
  ])('%#: refused', async (body, type, outcome) => {
    expect(await problem(post(body, type))).toBe(outcome);
  });

  test('of JSON may have quotes and brackets inside strings', async () => {
    const text = '"[{,\\" \\\\'.repeat(1000);
    expect(plain(await post(JSON.stringify({ text, next: [1] }), 'application/json'))).toEqual({
      text,
      next: [1],
    });
  });

  test('of JSON is read as JSON.parse reads it', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(
          fc.string().filter((s) => !s.includes('\0')),
          fc.jsonValue({ maxDepth: 5 }),
        ),
        async (value) => {
          fc.pre(!JSON.stringify(value).includes('\\u0000'));
          expect(JSON.stringify(await post(JSON.stringify(value), 'application/json'))).toBe(
            JSON.stringify(JSON.parse(JSON.stringify(value))),
          );
        },
      ),
    );
  });

  test.each(['text/plain', 'application/octet-stream', 'application/xml'])(
    '%s has no parameters',
    async (type) => {
      expect(plain(await post('a=1', type))).toEqual({});
    },
  );

  test('of multipart has fields and files, in order', async () => {
    const form = new FormData();
    form.append('title', 'Grüße');
    form.append('actions[][action]', 'create');
    form.append(
      'actions[][content]',
      new Blob([new Uint8Array([0, 255, 13, 10])], { type: 'image/png' }),
      'dir/a.png',
    );
    form.append('actions[][action]', 'delete');
    const parsed = await post(form);
    expect(parsed['title']).toBe('Grüße');
    const actions = parsed['actions'] as Record<
      string,
      { filename: string; type: string; bytes: Uint8Array }
    >[];
    expect(actions.map((action) => action['action'])).toEqual(['create', 'delete']);
    expect(actions[0]!['content']).toMatchObject({ filename: 'a.png', type: 'image/png' });
    expect([...actions[0]!['content']!.bytes]).toEqual([0, 255, 13, 10]);
  });

  test('of multipart with a field that is not UTF-8 is refused', async () => {
    const body = Buffer.concat([
      Buffer.from('--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n'),
      Buffer.from([0xff]),
      Buffer.from('\r\n--x--\r\n'),
    ]);
    expect(await problem(post(body, 'multipart/form-data; boundary=x'))).toBe(
      '400 the request is not valid UTF-8',
    );
  });

  test('of multipart with too many parts is refused', async () => {
    const part = '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n';
    expect(await problem(post(`${part.repeat(10_001)}--x--\r\n`, 'multipart/form-data; boundary=x'))).toBe(
      '400 too many parameters',
    );
  });

  test('over the limit is refused, whether its length is announced or not', async () => {
    expect(await problem(post('a=12345', 'application/x-www-form-urlencoded', 5))).toBe(
      'too-large 413 Request Entity Too Large',
    );
    const stream = new ReadableStream({ pull: (c) => c.enqueue(new Uint8Array(1000)) });
    const request = new Request('http://h/', { method: 'POST', body: stream, duplex: 'half' } as RequestInit);
    expect(await problem(readBody(request, 5000))).toBe('too-large 413 Request Entity Too Large');
  });
});
