import { Missing } from '../errors.ts';
import type { Key } from '../row-keys/key.ts';
import { LABEL_SUBSCRIBERS, labelKey, ofLabelSubscription } from '../row-keys/labels.ts';
import { mapLimit } from '../table/map-limit.ts';
import type { Table } from '../table/table.ts';
import type { Labels } from './labels.ts';

/** Subscriptions of one step, and of those at the same time. */
const PAGE_SIZE = 100;
const CONCURRENCY = 10;

/** Subscribes users of a deleted label to the one that takes its place, where they were. @returns whether any are left */
export async function handOver(
  { table, labels }: { readonly table: Table; readonly labels: Labels },
  labelId: number,
  successorId: number,
): Promise<boolean> {
  const page = await table.query({
    partition: labelKey(labelId).pk,
    prefix: LABEL_SUBSCRIBERS,
    only: ['pk', 'sk'],
    limit: PAGE_SIZE,
  });
  await mapLimit(CONCURRENCY, page.items as unknown as Key[], async ({ pk, sk }) => {
    const { userId, at } = ofLabelSubscription({ pk, sk });
    await labels.subscribe({ labelId: successorId, userId, at }).catch((error: unknown) => {
      if (!(error instanceof Missing)) throw error;
    });
    await table.delete({ delete: { pk, sk } });
  });
  return page.next !== undefined;
}
