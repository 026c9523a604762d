import fc from 'fast-check';
import { expect, test } from 'vitest';
import { patternMatcher, RuleSet } from '../../../lib/domain/refs/pattern.ts';
import { cpuMs } from '../../harness/cpu-ms.ts';

test.each([
  ['main', 'main', true],
  ['main', 'Main', false],
  ['main', 'mainly', false],
  ['*', 'anything/at/all', true],
  ['*', '', true],
  ['**', 'a', true],
  ['release/*', 'release/1', true],
  ['release/*', 'release/1/hot', true],
  ['release/*', 'release/', true],
  ['release/*', 'release', false],
  ['release/*', 'old-release/1', false],
  ['*-stable', '1-2-stable', true],
  ['*-stable', '1-stable-2', false],
  ['a*b*a', 'aba', true],
  ['a*b*a', 'ab', false],
  ['ab*ba', 'aba', false],
  ['aa*aa', 'aaa', false],
  ['*.x*', 'v1.x', true],
  ['v1.*', 'v10', false],
  ['v[0-9]*', 'v1', false],
])('%s and %s: %s', (pattern, name, expected) => {
  expect(patternMatcher(pattern)(name)).toBe(expected);
});

test('a ref pattern matches like a regular expression with .* for each star', () => {
  const text = (letters: string) => fc.string({ unit: fc.constantFrom(...letters), maxLength: 12 });
  fc.assert(
    fc.property(text('ab/*'), text('ab/'), (pattern, name) => {
      const expression = new RegExp(`^${pattern.replaceAll('*', '[^]*')}$`);
      expect(patternMatcher(pattern)(name)).toBe(expression.test(name));
    }),
    { numRuns: 5000 },
  );
});

test('a pattern designed to be slow is matched quickly', () => {
  const matches = patternMatcher(`${'*a'.repeat(500)}b`);
  const started = cpuMs();
  for (let i = 0; i < 100; i++) expect(matches('a'.repeat(1000))).toBe(false);
  expect(cpuMs() - started).toBeLessThan(1000);
});

test('a rule set finds its rules by name and by pattern', () => {
  const rules = ['main', 'm*', '*n', 'x*'].map((name) => ({ name }));
  expect(new RuleSet(rules).matching('main').map(({ name }) => name)).toEqual(['main', 'm*', '*n']);
  expect(new RuleSet(rules).matching('m*').map(({ name }) => name)).toEqual(['m*']);
  expect(new RuleSet(rules).matching('other')).toEqual([]);
});
