import { expect, test } from 'vitest';
import { importFetchJob } from '../../../functions/outbound.ts';

const NOW = 1_800_000_000_000;
const order = {
  projectId: 1,
  importId: 'i',
  url: 'https://example.com/a.git',
  packUrl: 'https://bucket.example.com/pack',
  refsUrl: 'https://bucket.example.com/refs',
  maxPackBytes: 1,
};
const deadline = NOW + 900_000;

/** What the function reports. `receives` is above the limit, so that nothing is fetched. */
async function reported(
  body: typeof order & { signedUntil?: number; credentials?: { url: string; key: string } },
) {
  const told: unknown[] = [];
  const report = async (type: string, about: object) => void told.push([type, about]);
  await importFetchJob.run({ receives: 99, outboundAllow: '', report, reportCall: report }, body, {
    messageId: 'm',
    lastDelivery: false,
    deadline,
    stopsAt: deadline,
  });
  return told;
}

test('an order whose URLs expire before the fetch may end is asked for again, with the key of its credentials', async () => {
  const about = { projectId: 1, importId: 'i' };
  expect(await reported({ ...order, signedUntil: deadline - 1 })).toEqual([['import.order', about]]);
  const credentials = { url: 'https://bucket.example.com/credentials', key: 'k' };
  expect(await reported({ ...order, credentials, signedUntil: NOW - 3_600_000 })).toEqual([
    ['import.order', { ...about, key: 'k' }],
  ]);
});

test.each([{ signedUntil: deadline }, {}])('an order with %o is carried out', async (signed) => {
  const [first] = await reported({ ...order, ...signed });
  expect(first).toEqual(['import.started', { projectId: 1, importId: 'i' }]);
});
