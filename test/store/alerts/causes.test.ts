import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type AlertCause, AlertCauses, closing, leading } from '../../../lib/store/alerts/causes.ts';
import { alertCauseKey } from '../../../lib/store/row-keys/alerts.ts';
import { openTestStore, type TestStore } from '../table/store-fixture.ts';
import { Died, mortal } from './mortal.ts';

let opened: TestStore;
beforeAll(async () => {
  opened = await openTestStore();
});
afterAll(() => opened.close());

let iid = 0;
let fingerprint: string;
const projectId = 1;
beforeEach(async () => {
  iid++;
  fingerprint = `cause-${iid}`;
  await opened.store.table.put(leading({ projectId, fingerprint, iid }, undefined, {}));
});

const row = () => opened.store.table.get(alertCauseKey(projectId, fingerprint));
const more = async () => (await row())?.['more'];
const at = new Date('2026-11-20T10:00:00Z');
const count = (messageId: string, causes = opened.store.alertCauses) =>
  causes.count({ projectId, fingerprint, iid, messageId, at });
const dying = (dies: number, when: 'before' | 'after') => {
  const { table, processed } = opened.store;
  return new AlertCauses(mortal(table, dies, when), processed);
};
const close = async () => {
  await opened.store.table.update(closing({ projectId, fingerprint } as Parameters<typeof closing>[0]));
};
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
    await expect(count(message, dying(dies, when))).rejects.toThrow(Died);
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
      await expect(count(message, dying(dies, when))).rejects.toThrow(Died);
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

  test('is not counted of an alert that is resolved, that has made room for another, or that is gone', async () => {
    await close();
    expect(await count(randomUUID())).toBe('gone');
    const before = (await row()) as unknown as AlertCause;
    const next = { projectId, fingerprint, iid: iid + 1_000 };
    await opened.store.table.put(leading(next, before, {}));
    expect(await count(randomUUID())).toBe('gone');
    expect(await more()).toBe(0);
    await opened.store.table.delete({ delete: alertCauseKey(projectId, fingerprint) });
    expect(await count(randomUUID())).toBe('gone');
    expect(await row()).toBeUndefined();
  });

  test.each(deaths.filter(([dies, when]) => dies > 0 || when === 'after'))(
    'whose worker died at its write %i, %s it, is counted before another alert is made of the cause',
    async (dies, when) => {
      const { store } = opened;
      const message = randomUUID();
      await expect(count(message, dying(dies, when))).rejects.toThrow(Died);
      await close();
      const before = (await store.alertCauses.get(projectId, fingerprint))!;
      await store.alertCauses.release(projectId, fingerprint, before, at);
      expect(await store.alertCauses.get(projectId, fingerprint)).toEqual({
        ...{ iid, more: 1, lastAt: at.toISOString(), closed: true },
      });
      expect(await store.processed.has('alerts', message)).toBe(true);
    },
  );
});
