import { globSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addressProblems, isExternalByDefault } from '../../lib/domain/accounts/sign-up-rules.ts';
import { attributes } from '../../lib/domain/settings/attributes.ts';
import { cachedSettings } from '../../lib/domain/settings/current.ts';
import { defaultSettings } from '../../lib/domain/settings/defaults.ts';
import { secondsOf } from '../../lib/durations/durations.ts';
import { readEnvironment } from '../../lib/store/environment.ts';
import type { StoredSettings } from '../../lib/store/settings/settings.ts';
import { cpuMs } from '../harness/cpu-ms.ts';

const environment = readEnvironment({});

test('every setting with a default that has an effect is read by some rule', () => {
  const declarations = /^lib\/domain\/settings\/(attributes|change|defaults|kinds|together)/;
  const files = globSync('lib/**/*.ts').filter((file) => !declarations.test(file));
  // Without names that are quoted in comments and descriptions.
  const source = files.map((file) => readFileSync(file, 'utf8').replaceAll(/`\w+`/g, '')).join('\n');
  // Names that the rules build from parts.
  const composed: readonly (readonly [RegExp, string])[] = [
    [/^throttle_\w+?_(enabled|requests_per_period|period_in_seconds)$/, '{configured}_$1'],
    [/^(rsa|dsa|ecdsa|ed25519)_key_restriction$/, '{kind}_key_restriction'],
    [/^default_(project|group|snippet)_visibility$/, '{what}_visibility'],
    [/^delayed_(project|group)_deletion$/, '{kind}_deletion'],
  ];
  const unread = Object.keys(defaultSettings(environment)).filter((name) => {
    const [pattern, text] = composed.find(([each]) => each.test(name)) ?? [/^/, ''];
    return !source.includes(text === '' ? name : name.replace(pattern, text));
  });
  expect(unread).toEqual([]);
});

test('every setting that no rule reads is listed as waiting in docs/not-yet.md', () => {
  const rows = readFileSync('docs/not-yet.md', 'utf8').split('\n');
  const first = rows.findIndex((row) => row.startsWith('| `PUT /application/settings`'));
  const others = rows.slice(first + 1).findIndex((row) => !row.startsWith('| the same |'));
  const listed = rows
    .slice(first, first + 1 + others)
    .flatMap((row) => [...row.matchAll(/`([a-z_*]+)`/g)].map(([, name]) => name!.replaceAll('*', '.*')));
  const obeyed = defaultSettings(environment);
  const waiting = Object.keys(attributes).filter((name) => !(name in obeyed));
  expect(waiting.length).toBeGreaterThan(100);
  expect(waiting.filter((name) => !listed.some((each) => new RegExp(`^${each}$`).test(name)))).toEqual([]);
  // Nor is any that is obeyed, but where a part of it waits.
  const both = Object.keys(obeyed).filter((name) =>
    listed.some((each) => new RegExp(`^${each}$`).test(name)),
  );
  expect(both).toEqual(['max_ssh_key_lifetime']);
});

const DAY = 86_400;

describe('durations', () => {
  test.each([
    ['15 days', 15 * DAY],
    ['2 weeks 3 days', 17 * DAY],
    ['2 weeks, 3 days', 17 * DAY],
    ['1 month', 30 * DAY],
    ['2 years', 730.5 * DAY],
    ['1d 2h 3m 4s', DAY + 2 * 3600 + 3 * 60 + 4],
    ['1mo', 30 * DAY],
    ['1.5 days', 1.5 * DAY],
    ['3 days and 4 hours', 3 * DAY + 4 * 3600],
    ['3600', 3600],
    ['0', 0],
    ['', undefined],
    ['days', undefined],
    ['3 fortnights', undefined],
    ['3 4', undefined],
    ['-1 day', undefined],
    [`${'1'.repeat(200)} days`, undefined],
  ])('%s', (text, seconds) => {
    expect(secondsOf(text)).toBe(seconds);
  });

  test('a text of several units is their sum', () => {
    const units = { second: 1, minute: 60, hour: 3600, day: DAY, week: 7 * DAY, month: 30 * DAY } as const;
    const part = fc.record({
      amount: fc.integer({ min: 0, max: 1000 }),
      unit: fc.constantFrom(...(Object.keys(units) as (keyof typeof units)[])),
      plural: fc.boolean(),
    });
    fc.assert(
      fc.property(
        fc.array(part, { minLength: 1, maxLength: 5 }),
        fc.constantFrom(' ', ', ', ' and '),
        (parts, between) => {
          const text = parts
            .map(({ amount, unit, plural }) => `${amount} ${unit}${plural ? 's' : ''}`)
            .join(between);
          expect(secondsOf(text)).toBe(
            parts.reduce((sum, { amount, unit }) => sum + amount * units[unit], 0),
          );
        },
      ),
    );
  });

  test('any text is a duration or undefined, and never throws', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 300 }), (text) => {
        const seconds = secondsOf(text);
        expect(seconds === undefined || (Number.isInteger(seconds) && seconds >= 0)).toBe(true);
      }),
    );
  });
});

describe('the cached copy of the settings', () => {
  /** Rows whose reads are counted, and a clock. */
  function fixture() {
    const state = { version: 1, text: 'first', reads: 0, down: false, now: 1_000_000 };
    const stored = (): StoredSettings => ({
      version: state.version,
      values: { rate_limiting_response_text: state.text },
    });
    const rows = {
      async effective() {
        state.reads++;
        if (state.down) throw new Error('out of reach');
        return stored();
      },
    };
    const settings = cachedSettings(rows, environment, () => state.now);
    return { state, settings, text: async () => (await settings.current()).rate_limiting_response_text };
  }

  test('is read once in five seconds for any number of requests', async () => {
    const { state, text } = fixture();
    expect(await Promise.all(Array.from({ length: 100 }, text))).toEqual(Array(100).fill('first'));
    state.text = 'second';
    state.now += 4_999;
    expect(await text()).toBe('first');
    expect(state.reads).toBe(1);
    state.now += 1;
    expect(await Promise.all([text(), text()])).toEqual(['second', 'second']);
    expect(state.reads).toBe(2);
  });

  test('shows changes of this process at once, even if an earlier read ends later', async () => {
    const { state, settings, text } = fixture();
    await text();
    state.now += 5_000;
    const late = text();
    state.now += 1;
    settings.changed({ version: 3, values: { rate_limiting_response_text: 'mine' } });
    expect([await late, await text()]).toEqual(['mine', 'mine']);
    state.version = 4;
    state.text = 'later';
    state.now += 5_000;
    expect(await text()).toBe('later');
    // The table is reachable again.
    state.version = 2;
    state.text = 'earlier';
    state.now += 5_000;
    expect(await text()).toBe('earlier');
  });

  test('is used for at most a minute while the table is unreachable', async () => {
    const { state, text } = fixture();
    await text();
    state.down = true;
    state.now += 59_999;
    const said: string[] = [];
    const warn = console.error;
    console.error = (line: string) => said.push(line);
    try {
      expect(await text()).toBe('first');
      expect(said.map((line) => JSON.parse(line).message)).toEqual(['settings not read']);
      state.now += 1;
      await expect(text()).rejects.toThrow('out of reach');
      state.down = false;
      expect(await text()).toBe('first');
    } finally {
      console.error = warn;
    }
  });

  test('is not there at first: then an unreachable table is an error', async () => {
    const { state, text } = fixture();
    state.down = true;
    await expect(text()).rejects.toThrow('out of reach');
  });

  test('does not become fresh when the clock is set back', async () => {
    const { state, text } = fixture();
    await text();
    state.now -= 3_600_000;
    state.text = 'second';
    expect(await text()).toBe('second');
  });
});

describe('email addresses', () => {
  const problems = async (values: StoredSettings['values'], email: string) => {
    const rows = { effective: async () => ({ version: 1, values }) };
    const settings = cachedSettings(rows, environment);
    return (await addressProblems({ settings } as Parameters<typeof addressProblems>[0], email))[0];
  };
  const NOT_LISTED = 'domain is not authorized for sign-up.';
  const DENIED = 'is not from an allowed domain.';
  const RESTRICTED =
    'is not allowed. Try again with a different email address, or contact your GitLab admin.';

  test.each<[StoredSettings['values'], string, string | undefined]>([
    [{}, 'a@anywhere.example', undefined],
    [{ domain_allowlist: ['corp.example'] }, 'a@corp.example', undefined],
    [{ domain_allowlist: ['corp.example'] }, 'a@CORP.example', undefined],
    [{ domain_allowlist: ['corp.example'] }, 'a@sub.corp.example', NOT_LISTED],
    [{ domain_allowlist: ['corp.example'] }, 'a@corp.example.evil.example', NOT_LISTED],
    [{ domain_allowlist: ['corp.example'] }, '"x@corp.example"@evil.example', NOT_LISTED],
    [{ domain_allowlist: ['*.corp.example'] }, 'a@sub.corp.example', undefined],
    [{ domain_allowlist: ['*.corp.example'] }, 'a@corp.example', NOT_LISTED],
    [{ domain_allowlist: ['*corp*'] }, 'a@my-corp.example', undefined],
    [{ domain_allowlist: ['a*a'] }, 'x@a', NOT_LISTED],
    [{ domain_denylist: ['evil.example'] }, 'a@evil.example', undefined],
    [{ domain_denylist: ['evil.example'], domain_denylist_enabled: true }, 'a@evil.example', DENIED],
    [{ domain_denylist: ['*.evil.example'], domain_denylist_enabled: true }, 'a@x.evil.example', DENIED],
    [{ domain_denylist: ['evil.example'], domain_denylist_enabled: true }, 'a@good.example', undefined],
    [
      {
        domain_allowlist: ['evil.example'],
        domain_denylist: ['evil.example'],
        domain_denylist_enabled: true,
      },
      'a@evil.example',
      undefined,
    ],
    [{ email_restrictions: '\\+', email_restrictions_enabled: true }, 'a+b@x.example', RESTRICTED],
    [{ email_restrictions: '\\+', email_restrictions_enabled: false }, 'a+b@x.example', undefined],
    [{ email_restrictions: '^temp', email_restrictions_enabled: true }, 'Temp1@x.example', RESTRICTED],
    [{ email_restrictions: null, email_restrictions_enabled: true }, 'a@x.example', undefined],
  ])('%j: %s', async (values, email, problem) => {
    expect(await problems(values, email)).toBe(problem);
  });

  test('are matched with wildcard patterns in linear time', async () => {
    const values = { domain_denylist: [`${'*a'.repeat(100)}b`], domain_denylist_enabled: true };
    const began = cpuMs();
    expect(await problems(values, `x@${'a'.repeat(250)}`)).toBeUndefined();
    expect(cpuMs() - began).toBeLessThan(500);
  });

  test('decide who is external by default', async () => {
    const settings = (more: object) =>
      ({ user_default_external: true, user_default_internal_regex: null, ...more }) as Parameters<
        typeof isExternalByDefault
      >[0];
    expect(await isExternalByDefault(settings({ user_default_external: false }), 'a@x')).toBe(false);
    expect(await isExternalByDefault(settings({}), 'a@x')).toBe(true);
    const internal = settings({ user_default_internal_regex: '@corp\\.example$' });
    expect(await isExternalByDefault(internal, 'a@Corp.example')).toBe(false);
    expect(await isExternalByDefault(internal, 'a@corp.example.evil')).toBe(true);
    const capitals = settings({ user_default_internal_regex: '@CORP\\.example$' });
    expect(await isExternalByDefault(capitals, 'a@corp.example')).toBe(false);
    // The longest of both that there are.
    const slow = settings({ user_default_internal_regex: `${'(a|b|ab)*'.repeat(45)}c` });
    const began = cpuMs();
    expect(await isExternalByDefault(slow, 'ab'.repeat(160))).toBe(true);
    expect(cpuMs() - began).toBeLessThan(3_000);
  });
});
