/**
 * What a request costs does not grow with the history, nor with the branches beside the one it is about. The sizes of
 * years are `npm run bench growth`.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Grown, measureAt, shownGrowth } from '../harness/growth.ts';
import { RoundTrips } from '../harness/round-trips.ts';
import { type Service, startService } from '../harness/service.ts';

let service: Service;
let small: Grown;
let long: Grown;
let longest: Grown;
let wide: Grown;
let few: Grown;
let widest: Grown;
beforeAll(async () => {
  service = await startService({ background: false });
  const ada = await service.user('ada');
  const trips = RoundTrips.of(service.host);
  // So many that they lie in a table, of which a request reads one piece for each name it tries.
  small = await measureAt(service, trips, ada, { commits: 100, branches: 600 });
  long = await measureAt(service, trips, ada, { commits: 1000, branches: 600 });
  longest = await measureAt(service, trips, ada, { commits: 10_000, branches: 600 });
  wide = await measureAt(service, trips, ada, { commits: 100, branches: 3000 });
  few = await measureAt(service, trips, ada, { commits: 100, branches: 10 });
  widest = await measureAt(service, trips, ada, { commits: 100, branches: 10_000 });
  process.stderr.write(`${[small, long, longest, wide, few, widest].map(shownGrowth).join('\n')}\n`);
}, 1_800_000);
afterAll(() => service.stop());

const BLOCK_KB = 256;
/** A small repository comes whole; of a larger one nothing caches, and maintenance has not seen, so much is read. */
const COLD = { trips: 8, commitTrips: 11, bucketKB: 2048 };
/** One piece of the table of refs for each name that may be meant: a branch, a tag, a ref. */
const PIECES_KB = 3 * 32;

test('reading and writing cost the same with ten times the history', () => grewLittle(small, long));

test('reading and writing cost the same with a hundred times the history', () => grewLittle(small, longest));

test('reading and writing cost the same with five times the branches', () => grewLittle(small, wide));

test('a page of branches costs the same at ten and at ten thousand', () => {
  for (const page of ['page of branches', 'page of branches in the middle', 'page of branches by keyset']) {
    const [first, ...others] = [few, small, wide, widest].map(({ costs }) => costs[page]!.warm);
    for (const { trips, table } of others) {
      // Ten branches have no table; in one, a place further on is looked up first.
      expect(trips, page).toBeLessThanOrEqual(first!.trips + (page.includes('middle') ? 1 : 0));
      expect(table, page).toBeLessThanOrEqual(first!.table + PIECES_KB / 2);
    }
  }
});

function grewLittle(before: Grown, after: Grown): void {
  for (const [operation, { cold, warm }] of Object.entries(before.costs)) {
    const then = after.costs[operation]!;
    // A commit may have maintenance to call, a message and the end of its promise, and another place of a large pack's
    // index to look at than the commit before.
    const isCommit = operation === 'commit by the API';
    const [calls, blocks] = isCommit ? [3, 2 * BLOCK_KB] : [0, 0];
    expect(then.warm.trips, `${operation}, warm`).toBeLessThanOrEqual(warm.trips + calls);
    expect(then.warm.bucket, `${operation}, warm`).toBeLessThanOrEqual(warm.bucket + blocks + 1);
    expect(then.warm.table, `${operation}, warm`).toBeLessThanOrEqual(warm.table + PIECES_KB);
    for (const { trips, bucket } of [cold, then.cold]) {
      const most = isCommit ? COLD.commitTrips : COLD.trips;
      expect(trips, `${operation}, cold`).toBeLessThanOrEqual(most);
      expect(bucket, `${operation}, cold`).toBeLessThanOrEqual(COLD.bucketKB);
    }
  }
}
