/**
 * Where refs pointed that were deleted or forced a moment ago: whoever listed them before may still ask for what they
 * saw. One row for each transaction that moved some, gone by itself.
 */
import { encodeTime } from 'ulid';
import type { Oid } from '../../git/oid.ts';
import type { Ref, RefUpdate } from '../../git/ports.ts';
import { dropsTip } from '../../git/ref-tips.ts';
import type { RefName } from '../../git/refname.ts';
import { RECENT_TIP, recentTipKey, repositoryPartition } from '../row-keys/repository.ts';
import type { Table } from '../table/table.ts';
import type { Write } from '../table/write.ts';

/** A fetch that listed refs has asked for them by then: only the slowest negotiations take minutes. */
export const RECENT_TIP_MS = 15 * 60_000;
/** Of one transaction: an item takes 400 KB, and names take up to 1 KB each. */
const MAX_TIPS = 200;
/** Rows read, newest first: many more leave nobody a quarter of an hour. */
const MAX_ROWS = 200;

/**
 * For the transaction that moves them.
 * @param before what stood there, where it was read: it knows what annotated tags lead to
 * @param by ULID of the swap: when it was
 */
export function recordOldTips(
  repositoryId: string,
  updates: readonly RefUpdate[],
  before: (name: RefName) => Ref | undefined,
  by: string,
  now = Date.now(),
): Write[] {
  const tips = updates
    .filter(dropsTip)
    .slice(0, MAX_TIPS)
    .map(({ name, from: oid }) => {
      const peeled = before(name)?.peeled;
      return { name, oid, ...(peeled === undefined ? {} : { peeled }) };
    });
  if (tips.length === 0) return [];
  return [{ put: { ...recentTipKey(repositoryId, by), tips, ttl: Math.ceil((now + RECENT_TIP_MS) / 1000) } }];
}

/** Newest first. */
export async function recentTips(table: Table, repositoryId: string, now = Date.now()): Promise<Ref[]> {
  const from = `${RECENT_TIP}${encodeTime(Math.max(0, now - RECENT_TIP_MS), 10)}`;
  const { items } = await table.query({
    partition: repositoryPartition(repositoryId),
    from,
    to: `${RECENT_TIP}~`,
    reverse: true,
    limit: MAX_ROWS,
  });
  return items.flatMap(({ tips }) => tips as { name: RefName; oid: Oid; peeled?: Oid }[]);
}
