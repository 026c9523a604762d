/** Whatever is sent to the settings is taken or refused as a whole, in the words of the interface, and in time. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aliases, attributes } from '../../../lib/domain/settings/attributes.ts';
import { defaultSettings } from '../../../lib/domain/settings/defaults.ts';
import { readEnvironment } from '../../../lib/store/environment.ts';
import { type Service, startService } from '../../harness/service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService({ background: false });
});
afterAll(() => service.stop());

const PATH = '/application/settings';
const put = (json: unknown, token = service.rootToken) => service.call('PUT', PATH, { token, json });
const get = async () => (await service.call('GET', PATH, { token: service.rootToken })).body;

/** What would lock this very test out, or has others answer for what it sets. */
const AVOIDED = /^(throttle_|unique_ips|users_get|rate_limiting|restricted_vis)/;
const NAMES = [...Object.keys(attributes), ...Object.keys(aliases), 'performance_bar_allowed_group_path'];

const TEXTS = [
  '',
  ' ',
  'null',
  'true',
  '0',
  '-1',
  '1.5',
  '1e9',
  '0x10',
  '١٢',
  'a\0b',
  '\ud800',
  '👩‍👩‍👧'.repeat(80),
  'x'.repeat(300),
  'x'.repeat(25_000),
  '%00',
  '../../etc',
  "'; --",
  'javascript:alert(1)',
  'http://[::1',
  'http://a:b@c/',
  '*.example.com, exämple.com;b.example',
  '(a+)+$',
  '(?<=x)y',
  '1d 2h',
  '-5 days',
  'private',
];
const value = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, 0, -1, 1, 0.5, 90, 2 ** 31, -(2 ** 53), 1e300, ...TEXTS),
  fc.array(fc.constantFrom<unknown>(null, 0, {}, [], ...TEXTS), { maxLength: 4 }),
  fc.constant(Array.from({ length: 3000 }, (_, n) => `entry-${n}`)),
  fc.dictionary(
    fc.constantFrom('default', '__proto__', 'constructor', '0'),
    fc.constantFrom<unknown>(0, 'x', null, []),
  ),
  fc.string({ unit: 'binary', maxLength: 20 }),
);
const names = NAMES.filter((name) => !AVOIDED.test(name));

test('any value of any setting is either stored and shown, or refused without a change', async () => {
  let before = await get();
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.tuple(fc.constantFrom(...names), value), {
        minLength: 1,
        maxLength: 4,
        selector: ([name]) => name,
      }),
      async (given) => {
        const json = Object.fromEntries(given);
        const answer = await put(json);
        const after = await get();
        if (answer.status === 400) {
          const { error, message } = answer.body;
          expect(typeof error === 'string' || typeof message === 'object', JSON.stringify(answer.body)).toBe(
            true,
          );
          expect(after).toEqual(before);
        } else {
          expect([answer.status, JSON.stringify(json).slice(0, 300)]).toEqual([200, expect.anything()]);
          expect(answer.body).toEqual(after);
        }
        before = after;
      },
    ),
    { numRuns: 500 },
  );
});

test('settings changed at random can be set back to the defaults', async () => {
  const defaults = defaultSettings(readEnvironment()) as unknown as Record<string, unknown>;
  const { status, body } = await put({ ...defaults, shared_runners_text: null });
  expect(status, JSON.stringify(body).slice(0, 500)).toBe(200);
  expect(body).toMatchObject(defaults);
});

describe('those who cannot change settings', () => {
  test('get 401 or 403 whatever they send, and learn nothing about settings', async () => {
    const ada = await service.user('ada');
    const made = async (scopes: string[]) =>
      (
        await service.call('POST', '/users/1/personal_access_tokens', {
          token: service.rootToken,
          json: { name: scopes.join(), scopes },
        })
      ).body.token;
    const [reader, user] = [await made(['read_api']), await made(['read_user'])];
    for (const json of [
      { signup_enabled: false },
      { signup_enabled: 'maybe' },
      {},
      { maintenance_mode: true },
    ]) {
      expect((await service.call('PUT', PATH, { json })).status).toBe(401);
      expect((await put(json, ada.token)).body).toEqual({ message: '403 Forbidden' });
      expect((await put(json, reader)).body.error).toBe('insufficient_scope');
      expect((await put(json, user)).body.error).toBe('insufficient_scope');
    }
    expect((await service.call('GET', PATH)).status).toBe(401);
    expect((await service.call('GET', PATH, { token: ada.token })).status).toBe(403);
    expect((await service.call('GET', PATH, { token: user })).status).toBe(403);
    expect((await service.call('GET', PATH, { token: reader })).status).toBe(200);
    expect((await get()).signup_enabled).toBe(true);
  });
});

describe('malformed bodies are refused', () => {
  test.each([
    ['application/json', '[]'],
    ['application/json', '"text"'],
    ['application/json', '{"signup_enabled":'],
    ['application/json', 'null'],
    ['application/x-www-form-urlencoded', 'signup_enabled[a][b]=1'],
    ['application/x-www-form-urlencoded', 'signup_enabled=1&signup_enabled[]=2'],
    ['application/x-www-form-urlencoded', '%ff=1'],
    ['text/plain', 'signup_enabled=true'],
    ['multipart/form-data; boundary=x', '--x\r\nno headers'],
  ])('with %s as %s', async (type, raw) => {
    const answer = await service.call('PUT', PATH, {
      token: service.rootToken,
      raw,
      headers: { 'Content-Type': type },
    });
    expect([400, 415]).toContain(answer.status);
  });
});

describe('a catastrophic regular expression in a setting takes no longer than a harmless one', () => {
  test.each(['(a+)+$', '(a|a)*$', '(.*a){20}$', '^(([a-z])+.)+[A-Z]([a-z])+$'])('for %s', async (pattern) => {
    const json = {
      email_restrictions_enabled: true,
      email_restrictions: pattern,
      user_default_internal_regex: pattern,
      user_default_external: true,
    };
    const answer = await put(json);
    const back = {
      email_restrictions_enabled: false,
      email_restrictions: null,
      user_default_internal_regex: null,
      user_default_external: false,
    };
    if (answer.status === 400) return;
    const email = `${pattern.length}${'a'.repeat(60)}@${'a'.repeat(60)}.${'a'.repeat(60)}.example`;
    const { status } = await service.call('POST', '/users', {
      token: service.rootToken,
      json: { username: `u${pattern.length}`, name: 'n', email, force_random_password: true },
    });
    expect([201, 400]).toContain(status);
    expect((await put(back)).status).toBe(200);
  });
});
