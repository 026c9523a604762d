import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { AlertTallies, noTally } from '../../../lib/store/alerts/tallies.ts';
import { alertKey, alertTallyKey } from '../../../lib/store/row-keys/alerts.ts';
import type { Table } from '../../../lib/store/table/table.ts';
import { openTestStore, type TestStore } from '../table/store-fixture.ts';

let opened: TestStore;
beforeAll(async () => {
  opened = await openTestStore();
});
afterAll(() => opened.close());

let iid = 0;
const projectId = 1;
beforeEach(async () => {
  iid++;
  await opened.store.table.put(noTally({ projectId, iid }));
});

const row = () => opened.store.table.get(alertTallyKey(projectId, iid));
const more = async () => (await row())?.['more'];
const at = new Date('2026-11-20T10:00:00Z');
const count = (messageId: string, tallies = opened.store.alertTallies) => {
  const mark = opened.store.processed.mark('alerts', messageId, at);
  return tallies.count({ projectId, iid, messageId, at, mark });
};

class Died extends Error {}

/** A process that dies before or after one of its writes. */
function mortal(dies: number, when: 'before' | 'after'): AlertTallies {
  let writes = 0;
  const { table } = opened.store;
  const dying =
    <A, R>(write: (a: A) => Promise<R>) =>
    async (a: A) => {
      const isLast = writes++ === dies;
      if (isLast && when === 'before') throw new Died();
      const written = write(a);
      if (!isLast) return written;
      await written.catch(() => undefined);
      throw new Died();
    };
  const update = dying((write: Parameters<Table['update']>[0]) => table.update(write));
  const put = dying((write: Parameters<Table['put']>[0]) => table.put(write));
  return new AlertTallies({ update, put } as unknown as Table);
}

const deaths = [0, 1, 2].flatMap((dies) =>
  (['before', 'after'] as const).map((when) => [dies, when] as const),
);

describe('a message about an alert', () => {
  test('is counted in three write units', async () => {
    opened.reset();
    expect(await count(randomUUID())).toBe('counted');
    expect(opened.operations.reduce((sum, { writeUnits }) => sum + writeUnits, 0)).toBe(3);
    expect(opened.operations.reduce((sum, { readUnits }) => sum + readUnits, 0)).toBe(0);
    expect(await more()).toBe(1);
  });

  test.each(deaths)('is counted once where a worker dies at its write %i, %s it', async (dies, when) => {
    const message = randomUUID();
    await expect(count(message, mortal(dies, when))).rejects.toThrow(Died);
    expect(await count(randomUUID())).toBe('counted');
    await count(message);
    expect(await count(message)).toBe('before');
    expect(await more()).toBe(2);
    expect(Object.keys((await row())!).filter((name) => name.startsWith('of_'))).toEqual([]);
  });

  test.each(deaths)(
    'is counted once where a second worker dies at its write %i, %s it',
    async (dies, when) => {
      const message = randomUUID();
      expect(await count(message)).toBe('counted');
      await expect(count(message, mortal(dies, when))).rejects.toThrow(Died);
      await count(message);
      expect(await more()).toBe(1);
      expect(Object.keys((await row())!).filter((name) => name.startsWith('of_'))).toEqual([]);
    },
  );

  test('is counted once where many workers have it at once, beside others', async () => {
    const messages = Array.from({ length: 10 }, () => randomUUID());
    await Promise.all(messages.flatMap((message) => [1, 2, 3].map(() => count(message))));
    expect(await more()).toBe(10);
  });

  test('is not counted that was handled otherwise', async () => {
    const message = randomUUID();
    await opened.store.table.put(opened.store.processed.mark('alerts', message, at));
    expect(await count(message)).toBe('before');
    expect(await more()).toBe(0);
  });

  test('is counted of an alert that has no tally yet, and of none that is gone', async () => {
    await opened.store.table.delete({ delete: alertTallyKey(projectId, iid) });
    expect(await count(randomUUID())).toBe('gone');
    expect(await row()).toBeUndefined();
    await opened.store.table.put({ put: { ...alertKey(projectId, iid) } });
    expect(await count(randomUUID())).toBe('counted');
    expect(await more()).toBe(1);
  });
});
