import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it, vi } from 'vitest';
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

it('of a refused read only the reason is kept, not what it had collected', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  class Collection {
    readonly items = new Array<number>(1000).fill(1);
    add(): never {
      throw new LimitExceeded(`more than ${this.items.length}`);
    }
  }
  const attempt = async () => {
    const collection = new Collection();
    const refused = await rememberingLimits(['collection'], async () => collection.add()).catch(String);
    return { refused, collection: new WeakRef(collection) };
  };
  const { refused, collection } = await attempt();
  await vi.waitFor(() => {
    collect();
    expect(collection.deref() === undefined).toBe(true);
  });
  const again = rememberingLimits(['collection'], async () => 1);
  await expect(again).rejects.toBeInstanceOf(LimitExceeded);
  expect(await again.catch(String)).toBe(refused);
});
