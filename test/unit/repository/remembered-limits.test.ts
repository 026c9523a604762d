import { expect, it } from 'vitest';
import { rememberingLimits } from '../../../lib/domain/repository/remembered-limits.ts';
import { LimitExceeded } from '../../../lib/git/work.ts';

it('a read that passed a limit is refused without being tried again, and other reads are tried', async () => {
  let tried = 0;
  const read = async () => {
    tried++;
    throw new LimitExceeded('too much');
  };
  await expect(rememberingLimits(['archive', 'a'], read)).rejects.toThrow('too much');
  await expect(rememberingLimits(['archive', 'a'], read)).rejects.toThrow('too much');
  expect(tried).toBe(1);
  await expect(rememberingLimits(['archive', 'b'], read)).rejects.toThrow('too much');
  expect(tried).toBe(2);
});

it('an error that is no limit is not remembered', async () => {
  const fails = async () => {
    throw new Error('no connection');
  };
  await expect(rememberingLimits(['blame'], fails)).rejects.toThrow('no connection');
  expect(await rememberingLimits(['blame'], async () => 1)).toBe(1);
});
