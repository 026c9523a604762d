import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Credential } from '../../../lib/domain/actor.ts';
import { Admissions, whileCounted } from '../../../lib/domain/rate-limits/request-counting.ts';
import {
  type Caller,
  type RequestKind,
  subjectOf,
  Throttled,
  throttlesOf,
} from '../../../lib/domain/rate-limits/throttles.ts';
import type { InstanceSettings } from '../../../lib/domain/settings/current.ts';
import { defaultSettings } from '../../../lib/domain/settings/defaults.ts';
import { failureReply } from '../../../lib/http/errors.ts';
import { askedOf } from '../../../lib/http/throttle.ts';
import { readEnvironment } from '../../../lib/store/environment.ts';

const defaults = defaultSettings(readEnvironment({ TABLE_NAME: 'none' }));
const settings = (change: Partial<InstanceSettings>): InstanceSettings => ({ ...defaults, ...change });
const STRANGER: Caller = { kind: 'address', address: '203.0.113.7' };
const ADA: Caller = { kind: 'user', id: 7 };

describe('the kind of a request', () => {
  test.each<[string, RequestKind]>([
    ['/api/v4/projects', 'api'],
    ['/api/v4/version', 'api'],
    ['/api/v4/nothing/at/all', 'api'],
    ['/api/v4/projects/1/repository/files/a%2Fb', 'files_api'],
    ['/api/v4/projects/a%2Fb/repository/files/a%2Fb/raw?ref=main', 'files_api'],
    ['/api/v4/projects/1/repository/files/', 'api'],
    ['/api/v4/projects/1/repository/tree', 'api'],
    ['/api/v4/projects/1/packages/generic/x', 'packages_api'],
    ['/api/v4/groups/1/-/packages/maven/x', 'packages_api'],
    ['/api/v4/groups/1', 'deprecated_api'],
    ['/api/v4/groups/a%2Fb/', 'deprecated_api'],
    ['/api/v4/groups/1?with_projects=yes', 'deprecated_api'],
    ['/api/v4/groups/1?with_projects=', 'deprecated_api'],
    ['/api/v4/groups/1?with_projects=false', 'api'],
    ['/api/v4/groups/1?with_projects=0', 'api'],
    ['/api/v4/groups/1/projects', 'api'],
    ['/api/v4/groups', 'api'],
    ['/', 'web'],
    ['/ada/one.git/info/refs?service=git-upload-pack', 'web'],
    ['/users/password', 'web'],
    ['/ada/one.git/info/lfs/objects/batch', 'git_lfs'],
  ])('%s is %s', (path, kind) => {
    expect(askedOf(new Request(`http://lemnos.test${path}`)).kind).toBe(kind);
  });
});

describe('the throttles of a request', () => {
  const on = Object.fromEntries(
    Object.keys(defaults)
      .filter((name) => /^throttle_.*_enabled$/.test(name))
      .map((name) => [name, true]),
  ) as Partial<InstanceSettings>;
  const names = (change: Partial<InstanceSettings>, path: string, caller: Caller, method = 'GET') =>
    throttlesOf(settings(change), askedOf(new Request(`http://x${path}`, { method })), caller).map(
      ({ name }) => name.replace(/^throttle_/, ''),
    );

  test('are none until one is enabled', () => {
    for (const path of ['/api/v4/projects', '/api/v4/projects/1/repository/files/a', '/a/b.git/info/refs'])
      for (const caller of [STRANGER, ADA]) expect(names({}, path, caller, 'POST')).toEqual([]);
  });

  test.each<[string, string, readonly string[], readonly string[]]>([
    ['GET', '/api/v4/projects', ['unauthenticated_api'], ['authenticated_api']],
    [
      'GET',
      '/api/v4/projects/1/repository/files/a',
      ['unauthenticated_files_api'],
      ['authenticated_files_api'],
    ],
    [
      'PUT',
      '/api/v4/projects/1/packages/x',
      ['unauthenticated_packages_api'],
      ['authenticated_packages_api'],
    ],
    ['GET', '/api/v4/groups/1', ['unauthenticated_deprecated_api'], ['authenticated_deprecated_api']],
    ['GET', '/a/b.git/info/refs', ['unauthenticated_web'], ['authenticated_web']],
    ['POST', '/a/b.git/info/lfs/x', ['unauthenticated_web'], ['authenticated_git_lfs']],
    [
      'POST',
      '/users/password',
      ['unauthenticated_web', 'unauthenticated_protected_paths'],
      ['authenticated_web', 'authenticated_protected_paths_web'],
    ],
    ['GET', '/users/password', ['unauthenticated_web'], ['authenticated_web']],
    [
      'POST',
      '/api/v4/session',
      ['unauthenticated_api', 'unauthenticated_protected_paths'],
      ['authenticated_api', 'authenticated_protected_paths_api'],
    ],
  ])('%s %s with all of them', (method, path, stranger, signedIn) => {
    expect(names(on, path, STRANGER, method)).toEqual(stranger);
    expect(names(on, path, ADA, method)).toEqual(signedIn);
    expect(names(on, path, { kind: 'deploy-token', id: 1 }, method)).toEqual(signedIn);
  });

  test('let authenticated users reach the settings once a second', () => {
    for (const path of ['/api/v4/application/settings', '/api/v4/application/settings.json']) {
      const [own, ...more] = throttlesOf(settings(on), { kind: 'api', method: 'PUT', path }, ADA);
      expect([own, more]).toEqual([{ name: 'throttle_authenticated_settings', limit: 60, seconds: 60 }, []]);
      expect(names({}, path, ADA, 'PUT')).toEqual([]);
      expect(names(on, path, STRANGER, 'PUT')).toEqual(['unauthenticated_api']);
      expect(names(on, path, { kind: 'deploy-token', id: 1 })).toEqual(['authenticated_api']);
    }
    expect(names(on, '/api/v4/application/settings/more', ADA)).toEqual(['authenticated_api']);
  });

  test('are the general one while a narrower one is off', () => {
    const general = { throttle_unauthenticated_api_enabled: true, throttle_authenticated_api_enabled: true };
    for (const path of ['/api/v4/projects/1/repository/files/a', '/api/v4/groups/1']) {
      expect(names(general, path, STRANGER)).toEqual(['unauthenticated_api']);
      expect(names(general, path, ADA)).toEqual(['authenticated_api']);
    }
    const lfs = { throttle_authenticated_web_enabled: true };
    expect(names(lfs, '/a/b.git/info/lfs/x', ADA)).toEqual(['authenticated_web']);
  });

  test.each([
    { throttle_authenticated_api_requests_per_period: 0 },
    { throttle_authenticated_api_period_in_seconds: 0 },
  ])('a throttle without a number limits nothing: %j', (change) => {
    expect(names({ ...on, ...change }, '/api/v4/projects', ADA)).toEqual([]);
  });
});

describe('the counted caller', () => {
  test.each([
    ['203.0.113.7', 'address 203.0.113.7'],
    ['::ffff:203.0.113.7', 'address 203.0.113.7'],
    ['2001:db8:1:2::1', 'address 20010db800010002::/64'],
    ['2001:db8:1:2:ffff:ffff:ffff:ffff', 'address 20010db800010002::/64'],
    ['2001:db8:1:3::1', 'address 20010db800010003::/64'],
    ['fe80::1%eth0', 'address fe80000000000000::/64'],
    ['::1', 'address 0000000000000000::/64'],
    ['', 'address '],
  ])('%s as %s', (address, subject) => {
    expect(subjectOf({ kind: 'address', address })).toBe(subject);
  });

  test('is a user or deploy token by id', () => {
    expect(subjectOf(ADA)).toBe('user 7');
    expect(subjectOf({ kind: 'deploy-token', id: 7 })).toBe('deploy-token 7');
  });

  test('is defined for any address text, and the same for all addresses of a network', () => {
    fc.assert(
      fc.property(fc.string(), (address) => subjectOf({ kind: 'address', address }).startsWith('address ')),
    );
    fc.assert(
      fc.property(fc.ipV6(), fc.array(fc.nat(0xffff), { minLength: 4, maxLength: 4 }), (address, host) => {
        const subject = subjectOf({ kind: 'address', address });
        const network = /^address ([0-9a-f]{16})::\/64$/.exec(subject)?.[1];
        if (network === undefined) return;
        const groups = [...network.match(/.{4}/g)!, ...host.map((part) => part.toString(16))];
        const neighbour = subjectOf({ kind: 'address', address: groups.join(':') });
        expect(neighbour === subject || neighbour.includes('.')).toBe(true);
      }),
    );
  });
});

describe('the response', () => {
  test('says when to retry', async () => {
    const throttle = { name: 'throttle_authenticated_api', limit: 7200, seconds: 3600 };
    const at = new Date('2021-01-05T10:40:30.900Z');
    const { status, headers, body } = failureReply(new Throttled(throttle, 7210, at, 'Come back later'))!;
    expect({ status, body }).toEqual({ status: 429, body: 'Come back later' });
    expect(headers).toEqual({
      'Content-Type': 'text/plain',
      'RateLimit-Name': 'throttle_authenticated_api',
      'RateLimit-Limit': '120',
      'RateLimit-Observed': '7210',
      'RateLimit-Remaining': '0',
      'RateLimit-Reset': '1609844400',
      'RateLimit-ResetTime': 'Tue, 05 Jan 2021 11:00:00 GMT',
      'Retry-After': '1170',
    });
  });

  test.each([
    [1, 60, '1'],
    [1, 3600, '1'],
    [100, 7, '858'],
  ])('%i in %i seconds are %s a minute, rounded up', (limit, seconds, perMinute) => {
    const throttle = { name: 'throttle_x', limit, seconds };
    const { headers } = failureReply(new Throttled(throttle, limit + 1, new Date(0), ''))!;
    expect(headers['RateLimit-Limit']).toBe(perMinute);
    expect(headers['Retry-After']).toBe(String(seconds));
  });
});

describe('counting', () => {
  const api = askedOf({ url: 'http://x/api/v4/projects', method: 'GET' });

  function admissions(change: Partial<InstanceSettings>, options: { fails?: 'refuse' | 'settings' } = {}) {
    const rows = new Map<string, number>();
    const state = { now: new Date('2026-01-01T00:00:00Z'), counts: 0, settings: settings(change), asked: 0 };
    const port = new Admissions({
      settings: {
        current: async () => {
          if (options.fails === 'settings') throw new Error('no settings');
          return state.settings;
        },
      },
      now: () => state.now,
      counts: {
        async count({ kind, seconds }, subject, now) {
          state.counts++;
          if (options.fails === 'refuse') throw new Error('busy');
          const row = `${kind} ${subject} ${Math.floor(now.getTime() / 1000 / seconds)}`;
          rows.set(row, (rows.get(row) ?? 0) + 1);
          return rows.get(row)!;
        },
      },
      callerOf: async (credential: Credential) => {
        state.asked++;
        if (credential.kind === 'token' && credential.token === 'good') return ADA;
        throw new Error('unknown');
      },
    });
    const ask = (caller: Caller) => port.begin(api, '203.0.113.7').admit(caller);
    return { port, state, ask, rows };
  }
  const refusal = async (asked: Promise<unknown>) => {
    const error = await asked.then(
      () => undefined,
      (error: unknown) => error,
    );
    if (error !== undefined && !(error instanceof Throttled)) throw error;
    return error;
  };
  const THREE = {
    throttle_unauthenticated_api_enabled: true,
    throttle_unauthenticated_api_requests_per_period: 3,
    throttle_unauthenticated_api_period_in_seconds: 60,
  };

  test('admits as many requests as the limit, and no more until the next window', async () => {
    const { ask, state } = admissions(THREE);
    for (let n = 0; n < 3; n++) expect(await refusal(ask(STRANGER))).toBeUndefined();
    for (let n = 4; n < 7; n++) expect((await refusal(ask(STRANGER)))?.observed).toBe(n);
    // Refused requests wrote nothing.
    expect(state.counts).toBe(3);
    expect(await refusal(ask({ kind: 'address', address: '203.0.113.8' }))).toBeUndefined();
    state.now = new Date(state.now.getTime() + 59_999);
    expect(await refusal(ask(STRANGER))).toBeDefined();
    state.now = new Date(state.now.getTime() + 1);
    expect(await refusal(ask(STRANGER))).toBeUndefined();
  });

  test('counts a request once, for whichever caller', async () => {
    const { port, state } = admissions({ ...THREE, throttle_authenticated_api_enabled: true });
    const admission = port.begin(api, '203.0.113.7');
    await Promise.all([admission.admit(ADA), admission.admit(STRANGER), admission.settle({ kind: 'none' })]);
    expect(state.counts).toBe(1);
  });

  test('applies a raised limit at once, without counting refused requests', async () => {
    const { ask, state } = admissions(THREE);
    for (let n = 0; n < 20; n++) await refusal(ask(STRANGER));
    state.settings = settings({ ...THREE, throttle_unauthenticated_api_requests_per_period: 5 });
    expect(await refusal(ask(STRANGER))).toBeUndefined();
    expect(await refusal(ask(STRANGER))).toBeUndefined();
    expect(await refusal(ask(STRANGER))).toBeDefined();
    state.settings = defaults;
    expect(await refusal(ask(STRANGER))).toBeUndefined();
  });

  test('refuses with the configured text, or else the default', async () => {
    const { ask, state } = admissions({ ...THREE, throttle_unauthenticated_api_requests_per_period: 1 });
    await ask(STRANGER);
    expect((await refusal(ask(STRANGER)))?.text).toBe('Retry later');
    state.settings = settings({ ...state.settings, rate_limiting_response_text: 'Slowly' });
    expect((await refusal(ask(STRANGER)))?.text).toBe('Slowly');
    state.settings = settings({ ...state.settings, rate_limiting_response_text: '' });
    expect((await refusal(ask(STRANGER)))?.text).toBe('Retry later');
  });

  test.each(['refuse', 'settings'] as const)('admits requests when the table fails: %s', async (fails) => {
    const { ask } = admissions(THREE, { fails });
    for (let n = 0; n < 5; n++) expect(await refusal(ask(STRANGER))).toBeUndefined();
  });

  test('counts a request that was not authenticated by its credential', async () => {
    const token = (text: string): Credential => ({ kind: 'token', token: text, via: 'bearer' });
    const { port, rows, state } = admissions({ ...THREE, throttle_authenticated_api_enabled: true });
    for (const credential of [{ kind: 'none' } as const, token('good'), token('bad')])
      await port.begin(api, '203.0.113.7').settle(credential);
    expect([...rows].map(([row, count]) => [row.replace(/ \d+$/, ''), count])).toEqual([
      ['throttle_unauthenticated_api address 203.0.113.7', 2],
      ['throttle_authenticated_api user 7', 1],
    ]);
    state.settings = defaults;
    state.asked = 0;
    await port.begin(api, '203.0.113.7').settle(token('good'));
    expect(state.asked).toBe(0);
  });

  test('refuses callers known to be over the limit without reads, before other failures', async () => {
    const { port, ask } = admissions({ ...THREE, throttle_unauthenticated_api_requests_per_period: 1 });
    const other = new Error('not found');
    const reading = (read: () => Promise<unknown>) => {
      const admission = port.begin(api, '203.0.113.7');
      return whileCounted(admission, admission.stranger, read);
    };
    await expect(reading(() => Promise.reject(other))).rejects.toBe(other);
    let reads = 0;
    const read = async () => void reads++;
    await expect(reading(read)).rejects.toBeInstanceOf(Throttled);
    expect(reads).toBe(0);
    expect(await refusal(ask(ADA))).toBeUndefined();
  });

  test('remembers a limited number of callers', async () => {
    const { port, state } = admissions({ ...THREE, throttle_unauthenticated_api_requests_per_period: 1 });
    const address = (n: number): Caller => ({
      kind: 'address',
      address: `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`,
    });
    for (let n = 0; n < 10_001; n++) await port.begin(api, '').admit(address(n));
    const admission = port.begin(api, '');
    expect(admission.isFull(address(0))).toBe(false);
    expect(admission.isFull(address(1))).toBe(true);
    // A caller that is forgotten is still counted in the table.
    await expect(admission.admit(address(0))).rejects.toBeInstanceOf(Throttled);
    state.now = new Date(state.now.getTime() + 60_000);
    expect(admission.isFull(address(1))).toBe(false);
  });
});
