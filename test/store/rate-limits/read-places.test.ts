import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { StoreUnavailable } from '../../../lib/store/errors.ts';
import { PLACE_MS, type Place } from '../../../lib/store/rate-limits/read-places.ts';
import { readPlacesKey } from '../../../lib/store/row-keys/rate-limits.ts';
import { openTestStore, type TestStore } from '../table/store-fixture.ts';

const NOON = Date.UTC(2026, 10, 22, 12);
const at = (ms: number) => new Date(NOON + ms);

let opened: TestStore;
beforeAll(async () => {
  opened = await openTestStore();
});
afterEach(() => opened.dynamo.faults.clear());
afterAll(() => opened.close());

const places = () => opened.store.readPlaces;

/** Takes all places of a subject. */
async function fill(subject: string, count: number): Promise<Place[]> {
  const taken = await Promise.all(Array.from({ length: count }, () => places().take(subject, count, at(0))));
  return taken.map((place) => place!);
}

describe('the places of a subject', () => {
  test('are taken once each, by however many at the same moment', async () => {
    const taken = await Promise.all(Array.from({ length: 12 }, () => places().take('crowd', 4, at(0))));
    const names = taken.flatMap((place) => (place === undefined ? [] : [place.name]));
    expect(names.sort()).toEqual(['p0', 'p1', 'p2', 'p3']);
    expect(await places().take('crowd', 4, at(1))).toBeUndefined();
  });

  test('are nothing to another subject', async () => {
    await fill('busy', 2);
    expect(await places().take('idle', 2, at(0))).toBeDefined();
  });

  test('are free when they are left', async () => {
    const [first] = await fill('left', 2);
    await places().leave(first!);
    const again = await places().take('left', 2, at(1));
    expect(again?.name).toBe(first!.name);
    expect(await places().take('left', 2, at(1))).toBeUndefined();
  });

  test('are free a minute after they were last renewed: their process has died', async () => {
    const [first, second] = await fill('died', 2);
    const renewed = await places().renew(first!, at(PLACE_MS / 2));
    expect(await places().take('died', 2, at(PLACE_MS - 1))).toBeUndefined();
    expect((await places().take('died', 2, at(PLACE_MS + 1)))?.name).toBe(second!.name);
    expect(await places().take('died', 2, at(PLACE_MS + 1))).toBeUndefined();
    expect((await places().take('died', 2, at(PLACE_MS * 1.5 + 1)))?.name).toBe(renewed!.name);
  });

  test('that another caller has taken are neither renewed nor left', async () => {
    const [lost] = await fill('lost', 1);
    const other = await places().take('lost', 1, at(PLACE_MS + 1));
    expect(await places().renew(lost!, at(PLACE_MS + 2))).toBeUndefined();
    await places().leave(lost!);
    expect(await places().take('lost', 1, at(PLACE_MS + 3))).toBeUndefined();
    expect(await places().renew(other!, at(PLACE_MS + 4))).toBeDefined();
  });

  test('are a row that expires an hour after its last place', async () => {
    await fill('expires', 3);
    const row = await opened.store.table.get(readPlacesKey('expires'));
    expect(row?.['ttl']).toBe((NOON + PLACE_MS) / 1000 + 3600);
  });

  test('are one write, and no read, while there are many', async () => {
    opened.reset();
    await places().take('one write', 50, at(0));
    expect(opened.operations.map(({ operation }) => operation)).toEqual(['UpdateItem']);
  });

  test('fail soon when the table does', async () => {
    opened.dynamo.faults.next('UpdateItem', { fail: 'throttling' }, 99);
    await expect(places().take('down', 2, at(0))).rejects.toThrow(StoreUnavailable);
  });
});
