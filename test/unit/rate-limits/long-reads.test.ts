import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { LongRead, readsAs } from '../../../lib/domain/rate-limits/long-reads.ts';
import { beforeLongWork, nextTurn, TURN_MS } from '../../../lib/git/work.ts';
import { readLongReads } from '../../../lib/store/environment.ts';
import { StoreUnavailable } from '../../../lib/store/errors.ts';
import { PLACE_MS, type Place } from '../../../lib/store/rate-limits/read-places.ts';

/** Milliseconds of the process, advanced by the tests. */
let clock = 0;
beforeEach(() => {
  vi.spyOn(performance, 'now').mockImplementation(() => clock);
});
afterEach(() => void vi.restoreAllMocks());

/** Places that note what is asked of them. */
class Places {
  readonly asked: string[] = [];
  full = '';

  async take(subject: string, count: number): Promise<Place | undefined> {
    this.asked.push(`take ${subject} of ${count}`);
    if (subject === this.full) return undefined;
    return { subject, name: 'p0', taken: '' };
  }
  async renew(place: Place): Promise<Place | undefined> {
    this.asked.push(`renew ${place.subject}`);
    return place;
  }
  async leave({ subject }: Place): Promise<void> {
    this.asked.push(`leave ${subject}`);
  }
}

const USER = { kind: 'user', id: 7 } as const;

function reading(places: object, limits = '') {
  const environment = { longReads: readLongReads(limits) };
  return { store: { readPlaces: places }, environment, now: () => new Date() } as never;
}

/** Works in turns. */
async function work(ms: number): Promise<void> {
  for (let done = 0; done < ms; done += TURN_MS) {
    clock += TURN_MS;
    await nextTurn();
  }
}

describe('a read', () => {
  test('that works for less than a second takes no place', async () => {
    const places = new Places();
    const read = new LongRead();
    await read.run(async () => {
      readsAs(reading(places), USER, 1);
      await work(980);
    });
    await read.end();
    expect(places.asked).toEqual([]);
  });

  test('that works for a second takes a place of its caller and one of its project, until it ends', async () => {
    const places = new Places();
    const read = new LongRead();
    await read.run(async () => {
      readsAs(reading(places), USER, 1);
      await work(3000);
    });
    expect(places.asked).toEqual(['take user 7 of 20', 'take project 1 of 50']);
    await read.end();
    expect(places.asked.slice(2)).toEqual(['leave user 7', 'leave project 1']);
  });

  test('does not work while the process is busy with others, or waits for what is far away', async () => {
    const places = new Places();
    const read = new LongRead();
    await read.run(async () => {
      readsAs(reading(places), USER, 1);
      for (let n = 0; n < 40; n++) {
        clock += 5000;
        await nextTurn();
      }
    });
    expect(places.asked).toEqual([]);
  });

  test('that finds no place ends with 429, in all that it does at once, and leaves what it took', async () => {
    const places = new Places();
    places.full = 'project 1';
    const read = new LongRead();
    const works = await read.run(async () => {
      readsAs(reading(places), USER, 1);
      return Promise.allSettled([work(3000), work(3000)]);
    });
    for (const one of works)
      expect(one).toMatchObject({ reason: { code: 'too-many-requests', retryAfter: 15 } });
    expect(places.asked).toEqual(['take user 7 of 20', 'take project 1 of 50', 'leave user 7']);
  });

  test('of unknown length takes none, one that will be long takes it at once', async () => {
    const places = new Places();
    const read = new LongRead();
    await read.run(async () => {
      await beforeLongWork();
      expect(places.asked).toEqual([]);
      readsAs(reading(places, 'user=3,project=0'), USER, 1);
      await beforeLongWork();
      await beforeLongWork();
    });
    expect(places.asked).toEqual(['take user 7 of 3']);
  });

  test('of a stranger has the places of an address, and half of those of a project', async () => {
    const places = new Places();
    await new LongRead().run(async () => {
      readsAs(reading(places, 'project=5'), { kind: 'address', address: '2001:db8::1' }, 1);
      await beforeLongWork();
    });
    expect(places.asked).toEqual(['take address 20010db800000000::/64 of 5', 'take project 1 of 3']);
  });

  test('renews its places while it works, and not while it waits for the reader of its answer', async () => {
    const places = new Places();
    await new LongRead().run(async () => {
      readsAs(reading(places, 'project=0'), USER, 1);
      await beforeLongWork();
      clock += 10 * PLACE_MS;
      expect(places.asked).toEqual(['take user 7 of 20']);
      await work(PLACE_MS);
    });
    expect(places.asked.slice(1)).toEqual(['renew user 7', 'renew user 7']);
  });

  test('goes on where the table does not answer', async () => {
    const down = {
      take: async () => {
        throw new StoreUnavailable(false, new Error('down'));
      },
    };
    const read = new LongRead();
    await read.run(async () => {
      readsAs(reading(down), USER, 1);
      await work(3000);
    });
    await read.end();
  });
});

test('the limits are numbers by name; what is not named has its default', () => {
  expect(readLongReads('')).toEqual({ user: 20, address: 5, project: 50 });
  expect(readLongReads('address=1,user=0')).toEqual({ user: 0, address: 1, project: 50 });
  for (const text of ['user', 'user=-1', 'user=1000', 'group=1', 'user=1;address=2'])
    expect(() => readLongReads(text), text).toThrow(RangeError);
});
