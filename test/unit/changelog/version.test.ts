import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { strftime } from '../../../lib/domain/changelog/strftime.ts';
import { compareVersions, parseVersion } from '../../../lib/domain/changelog/version.ts';

const OFFICIAL =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$/;

test('versions are those that match the pattern of the specification', () => {
  const text = fc.string({
    unit: fc.constantFrom('0', '1', '10', '.', '-', '+', 'a', 'Z', '01'),
    maxLength: 14,
  });
  const likely = fc.tuple(fc.constantFrom('1.0.0', '0.10.3', '01.2.3'), text).map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.oneof(text, likely), (version) => {
      expect(parseVersion(version) !== undefined).toBe(OFFICIAL.test(version));
      expect(parseVersion(`v${version}`)).toEqual(parseVersion(version));
    }),
    { numRuns: 2000 },
  );
  expect(parseVersion(`1.0.${'1'.repeat(300)}`)).toBeUndefined();
});

test('versions are ordered as in the examples of the specification', () => {
  const ascending =
    '0.9.9 1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-beta 1.0.0-beta.2 1.0.0-beta.11 1.0.0-rc.1 1.0.0 1.0.0+a 1.0.0+b 1.0.2 1.0.10 1.2.0 2.0.0 2.1.0 2.1.1 10.0.0 99999999999999999999.0.0 100000000000000000000.0.0'.split(
      ' ',
    );
  const versions = ascending.map((text) => parseVersion(text)!);
  for (const [i, a] of versions.entries())
    for (const [j, b] of versions.entries()) expect(Math.sign(compareVersions(a, b))).toBe(Math.sign(i - j));
});

test('release dates are formatted like those of the system', () => {
  const directives = [...'YCymdejHkIlMSsuwUWVGgAaBbhpPZzntFDxTXRrc%'];
  const flags = { '-': 'dmHIjkleMSyV', _: 'dmHMjy', 0: 'ekl', '^': 'aAbBhp' };
  const flagged = Object.entries(flags).flatMap(([flag, names]) => [...names].map((name) => flag + name));
  const format = [...directives, ...flagged].map((name) => `${name}=%${name}`).join('|');
  const seconds = fc.sample(fc.integer({ min: 0, max: 4_102_444_800 }), 40);
  for (const at of [...seconds, 1_609_804_800, 1_230_768_000, 1_483_228_799]) {
    const expected = execFileSync('date', ['-u', '-d', `@${at}`, `+${format}`], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], LC_ALL: 'C' },
    }).slice(0, -1);
    expect(strftime(new Date(at * 1000), format)).toBe(expected);
  }
  expect(strftime(new Date(5), '%L %v %Q %100d % %')).toBe('005  1-JAN-1970 %Q %100d % %');
});
