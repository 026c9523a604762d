import { describe, expect, test } from 'vitest';
import { given, jobVariables, said, saidAll } from '../../../lib/domain/ci-variables/job-variables.ts';
import { selected } from '../../../lib/domain/ci-variables/variables-of.ts';
import type { CiVariable } from '../../../lib/records/ci-variables.ts';

const at = '2030-01-01T00:00:00.000Z';
const configured = (value: string, environmentScope: string, isProtected = false): CiVariable => ({
  id: 1,
  owner: { kind: 'project', id: 1 },
  key: 'KEY',
  value,
  type: 'env_var',
  protected: isProtected,
  masked: false,
  raw: false,
  environmentScope,
  createdAt: at,
  updatedAt: at,
  version: 1,
});

describe('the variable of a key for an environment', () => {
  test.each([
    [['*'], undefined, '*'],
    [['prod'], undefined, undefined],
    [['prod', '*'], undefined, '*'],
    [['*', 'prod'], 'prod', 'prod'],
    [['prod', '*'], 'prod', 'prod'],
    [['prod'], 'production', undefined],
    [['prod*'], 'production', 'prod*'],
    [['prod*'], 'prod', 'prod*'],
    [['review/*', '*'], 'review/a', 'review/*'],
    [['review/*', '*'], 'review', '*'],
    [['review/*', 'review/feature/*'], 'review/feature/1', 'review/feature/*'],
    [['review/feature/*', 'review/*'], 'review/feature/1', 'review/feature/*'],
    [['review/feature/*', 'review/feature/1'], 'review/feature/1', 'review/feature/1'],
    [['*/eu'], 'prod/eu', '*/eu'],
    [['*/eu'], 'prod/us', undefined],
    [['a*b*c'], 'a-b-c', 'a*b*c'],
    [['a*b*c'], 'acb', undefined],
    [['a*a'], 'a', undefined],
    [['**'], 'x', '**'],
    // No expression: a dot is a dot.
    [['v1.0'], 'v1x0', undefined],
  ])('is of the closest of %j for %j: %j', (scopes, environment, expected) => {
    const variables = scopes.map((scope) => configured(scope, scope));
    expect(selected(variables, { protected: false, environment }).map(({ value }) => value)).toEqual(
      expected === undefined ? [] : [expected],
    );
  });

  test('is of the next closest scope, where the closest is protected and the ref is not', () => {
    const variables = [configured('open', '*'), configured('guarded', 'prod', true)];
    const of = (isProtected: boolean) =>
      selected(variables, { protected: isProtected, environment: 'prod' }).map(({ value }) => value);
    expect(of(false)).toEqual(['open']);
    expect(of(true)).toEqual(['guarded']);
  });

  test('is found in steps, however many stars the scope has', () => {
    const scope = '*a'.repeat(127);
    const variables = [configured('x', `${scope}b`)];
    expect(selected(variables, { protected: false, environment: 'a'.repeat(255) })).toEqual([]);
  });
});

describe('the variables of a job', () => {
  const ORDER = ['predefined', 'deployment', 'global', 'job', 'inherited', 'configured', 'given'] as const;

  test.each(ORDER.map((name, i) => [name, ORDER.slice(0, i)] as const))(
    'from %s count more than those from %j',
    (name, below) => {
      const sources = Object.fromEntries([name, ...below].map((each) => [each, [said('KEY', each)]]));
      const all = jobVariables({ predefined: [], ...sources });
      expect(all.map(({ value }) => value)).toEqual([name]);
    },
  );

  test('of a group count less than those of its project, which stand after them', () => {
    const all = jobVariables({
      predefined: saidAll({ A: 'service', B: 'service' }),
      configured: [said('A', 'instance'), said('A', 'group'), said('C', 'group'), said('A', 'project')],
    });
    expect(all.map(({ key, value }) => `${key}=${value}`)).toEqual(['B=service', 'C=group', 'A=project']);
  });

  test('that a person gave are not public, and files where they are said to be', () => {
    expect(given({ key: 'A', value: 'x' })).toMatchObject({ public: false, file: false, masked: false });
    expect(given({ key: 'A', value: 'x', type: 'file' })).toMatchObject({ public: false, file: true });
  });
});
