import { expect, test } from 'vitest';
import { parseYaml } from '../../../lib/ci/yaml/parse.ts';
import { domainErrorOf } from '../../../lib/domain/errors.ts';

const LONG = `a: {script: x}\n${'# comment\n'.repeat(2000)}`;

test('a configuration for which the thread has no time now is not wrong: its caller may try again', async () => {
  const all = await Promise.allSettled(Array.from({ length: 18 }, () => parseYaml(LONG)));
  for (const one of all.slice(0, 17))
    expect(one).toEqual({ status: 'fulfilled', value: { a: { script: 'x' } } });
  const { reason } = all[17] as PromiseRejectedResult;
  expect(domainErrorOf(reason)?.code).toBe('unavailable');
});
