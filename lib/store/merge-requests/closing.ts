/**
 * Which issues merge requests say they close. A merge request has the list of its issues, and each of these has it among
 * its closers; both change in one transaction.
 */

import { isDeepStrictEqual } from 'node:util';
import { type IssueRecord, MAX_CLOSERS } from '../../records/issues.ts';
import type { MergeRequestAddress, MergeRequestRecord } from '../../records/merge-requests.ts';
import type { TrackedAddress } from '../../records/tracked.ts';
import { Stale, TransactionRefused } from '../errors.ts';
import { MAINTENANCE, message, type OutboxMessage } from '../outbox/outbox.ts';
import { issueKey } from '../row-keys/issues.ts';
import { mergeRequestKeys } from '../row-keys/merge-requests.ts';
import type { Table } from '../table/table.ts';
import { PRESENT, type Update, type Write } from '../table/write.ts';
import { AT_VERSION, fromItem } from '../tracked/records.ts';

/** Takes a deleted merge request off the issues that it said it closes: `{ projectId, iid, closes }`. */
export const CLOSES_NOTHING_JOB = 'merge_request.closes-nothing';

/** For the transaction that deletes it. */
export const closesNothingMessages = ({ projectId, iid, closes }: MergeRequestRecord): OutboxMessage[] =>
  closes === undefined ? [] : [message(MAINTENANCE, CLOSES_NOTHING_JOB, { projectId, iid, closes })];

export class Closing {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Lets a merge request close exactly these issues, at most {@link MAX_CLOSES}, and raises its version if that changes
   * anything.
   * @throws Stale when it, or one of the issues, changes meanwhile or is deleted
   */
  async set(mergeRequest: MergeRequestRecord, issues: readonly TrackedAddress[]): Promise<void> {
    const closes = issues.map(({ projectId, iid }) => ({ projectId, iid }));
    const before = mergeRequest.closes ?? [];
    const gone = without(before, closes);
    const fresh = without(closes, before);
    if (gone.length + fresh.length === 0) return;
    const { version } = mergeRequest;
    await this.#transact([
      {
        update: mergeRequestKeys.record(mergeRequest),
        set: { version: version + 1, ...(closes.length === 0 ? {} : { closes }) },
        ...(closes.length === 0 ? { remove: ['closes'] } : {}),
        ...AT_VERSION,
        values: { version },
      },
      ...(await this.#changes(mergeRequest, gone, fresh)),
    ]);
  }

  /** Takes a merge request that is deleted off its issues. Idempotent. @throws Stale when one of them changes meanwhile */
  async clear(mergeRequest: MergeRequestAddress, issues: readonly TrackedAddress[]): Promise<void> {
    const changes = await this.#changes(mergeRequest, issues, []);
    if (changes.length > 0) await this.#transact(changes);
  }

  /** The changes of the lists of closers. An issue that is deleted has none; a full list stays as it is. */
  async #changes(
    { projectId, iid }: MergeRequestAddress,
    gone: readonly TrackedAddress[],
    fresh: readonly TrackedAddress[],
  ): Promise<Update[]> {
    const closer = { projectId, iid };
    const rows = await this.#table.batchGet([...gone, ...fresh].map(issueKey));
    return rows.flatMap((row, i): Update[] => {
      const issue = fromItem<IssueRecord>(row);
      if (issue === undefined) return [];
      const closers = without(issue.closers ?? [], [closer]);
      if (i >= gone.length && closers.length < MAX_CLOSERS) closers.push(closer);
      if (isDeepStrictEqual(closers, issue.closers ?? [])) return [];
      const asBefore = issue.closers === undefined ? 'attribute_not_exists(#closers)' : '#closers = :before';
      return [
        {
          update: issueKey(issue),
          ...(closers.length === 0 ? { remove: ['closers'] } : { set: { closers } }),
          if: `${PRESENT} AND ${asBefore}`,
          values: { before: issue.closers },
          reason: 'issue',
        },
      ];
    });
  }

  async #transact(writes: readonly Write[]): Promise<void> {
    try {
      await this.#table.transact(writes);
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      throw error.has('version') || error.has('issue') ? new Stale('merge request') : error;
    }
  }
}

const without = (list: readonly TrackedAddress[], others: readonly TrackedAddress[]): TrackedAddress[] =>
  list.filter(
    ({ projectId, iid }) => !others.some((other) => other.projectId === projectId && other.iid === iid),
  );
