/**
 * Old targets of refs that were recently deleted or force-updated: clients that listed the refs before may still request
 * them. One row per transaction, which expires by its TTL.
 */
import { encodeTime } from 'ulid';
import type { Oid } from '../../git/oid.ts';
import type { Ref, RefUpdate } from '../../git/ports.ts';
import { dropsTip } from '../../git/ref-tips.ts';
import type { RefName } from '../../git/refname.ts';
import { RECENT_TIP, recentTipKey, repositoryPartition } from '../row-keys/repository.ts';
import type { Table } from '../table/table.ts';
import type { Write } from '../table/write.ts';

/** Milliseconds for which they may be fetched: only the slowest negotiations take minutes. */
export const RECENT_TIP_MS = 15 * 60_000;
/** Per transaction: an item is limited to 400 KB, and a name to 1 KB. */
const MAX_TIPS = 200;
/** Maximum number of rows read, newest first. */
const MAX_ROWS = 200;

/**
 * The row of old targets, for the transaction that moves the refs.
 * @param before returns the previous ref if it was read, with the peeled id of an annotated tag
 * @param by ULID of the transaction, with its time
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

/** Returns recent old targets, newest first. */
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
