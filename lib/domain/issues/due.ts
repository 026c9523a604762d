/** People are told the day before that an issue is due. */

import { MAINTENANCE, message, type OutboxMessage } from '../../store/outbox/outbox.ts';
import { LIST_SHARDS } from '../../store/row-keys/lists.ts';
import { dayIn } from '../days.ts';
import type { Deps } from '../deps.ts';
import { notificationMessage } from '../notifications/enqueue.ts';

/** The daily job. */
export const DUE_JOB = 'issues.due';

/** Issues whose notifications are enqueued in one transaction. */
const PAGE = 50;

export interface DueWalk {
  /** `YYYY-MM-DD`. */
  readonly day: string;
  /** Base URL of links: there is no request that names it. */
  readonly baseUrl: string;
  /** Where an earlier run stopped. */
  readonly shard?: number;
  readonly after?: string;
}

/** The job for tomorrow. */
export const dueMessage = ({ environment, now }: Deps): OutboxMessage =>
  message(MAINTENANCE, DUE_JOB, {
    day: dayIn(now(), 1),
    baseUrl: environment.baseUrl ?? '',
  } satisfies DueWalk);

/**
 * Enqueues a notification for each open issue that is due on the day. It may run twice: the mails are sent once.
 * @param deadline milliseconds since 1970; no page begins after it
 * @returns where to go on; undefined at the end
 */
export async function tellDue(deps: Deps, walk: DueWalk, deadline: number): Promise<DueWalk | undefined> {
  const { day, baseUrl } = walk;
  for (let shard = walk.shard ?? 0; shard < LIST_SHARDS; shard++) {
    let after = shard === walk.shard ? walk.after : undefined;
    do {
      if (Date.now() > deadline) return { day, baseUrl, shard, ...(after === undefined ? {} : { after }) };
      const { issues, next } = await deps.store.issues.dueOn(day, shard, PAGE, after);
      const messages = issues.map(({ id, projectId, iid }) =>
        notificationMessage({
          id: `due.${id}.${day}`,
          actorId: null,
          baseUrl,
          happening: { kind: 'issue', projectId, iid, changes: [{ what: 'due', day }] },
        }),
      );
      if (messages.length > 0) await deps.store.outbox.commit([], messages);
      after = next;
    } while (after !== undefined);
  }
  return undefined;
}
