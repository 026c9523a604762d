/**
 * What is copied to an issue after it was moved or cloned: notes and files. A row says how far the copying is; each step
 * is a transaction with that row, so that it happens once, whoever takes it and however often.
 */

import type { IssueCopyRecord } from '../../records/issue-copies.ts';
import type { IssueAddress } from '../../records/issues.ts';
import { Missing, Stale, TransactionRefused } from '../errors.ts';
import { MAINTENANCE, message, type OutboxMessage } from '../outbox/outbox.ts';
import { checkProjectExists } from '../placement/project-item.ts';
import { issueCopyKey, issueKey } from '../row-keys/issues.ts';
import { userKey } from '../row-keys/users.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, type Item, PRESENT, type Put, type Write } from '../table/write.ts';

/** Copies what belongs to an issue: `{ projectId, iid }` of the copy. */
export const COPY_ISSUE_JOB = 'issue.copy';

/** Where a step leads, and what it copies. */
export interface CopyStep {
  readonly change: Partial<Pick<IssueCopyRecord, 'step' | 'joined' | 'ids' | 'after' | 'part' | 'awarded'>>;
  readonly writes?: readonly Write[];
  /** Notes by users among them. */
  readonly userNotes?: number;
  /** Users who have to be there, as their notes are copied, or that they take part. */
  readonly authorIds?: readonly number[];
}

export class IssueCopies {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  /** For the transaction that creates the copy. */
  begin(copy: IssueCopyRecord): { readonly write: Put; readonly message: OutboxMessage } {
    const { projectId, iid } = copy.target;
    return {
      write: { put: { ...issueCopyKey(copy.target), ...copy }, if: ABSENT, reason: 'copy' },
      message: message(MAINTENANCE, COPY_ISSUE_JOB, { projectId, iid }),
    };
  }

  async get(target: IssueAddress): Promise<IssueCopyRecord | undefined> {
    return fromItem(await this.#table.get(issueCopyKey(target)));
  }

  /**
   * Takes a step.
   * @throws Stale when another worker took it, or an author or a discussion is gone or changed meanwhile; Missing when
   *   the copy or its project is deleted
   */
  async advance(copy: IssueCopyRecord, { change, writes = [], userNotes = 0, authorIds = [] }: CopyStep) {
    const present = { if: PRESENT, reason: 'target' };
    const set = { ...change, version: copy.version + 1 };
    await this.#transact([
      { put: { ...issueCopyKey(copy.target), ...copy, ...set }, ...atVersion(copy) },
      userNotes === 0
        ? { check: issueKey(copy.target), ...present }
        : { update: issueKey(copy.target), add: { userNotesCount: userNotes }, ...present },
      checkProjectExists(copy.target.projectId),
      ...authorIds.map((id) => ({ check: userKey(id), if: PRESENT, reason: 'author' })),
      ...writes,
    ]);
  }

  /** Everything is copied, or there is nothing left to copy to. */
  async end(copy: IssueCopyRecord): Promise<void> {
    await this.#transact([{ delete: issueCopyKey(copy.target), ...atVersion(copy) }]);
  }

  async #transact(writes: readonly Write[]): Promise<void> {
    try {
      await this.#table.transact(writes);
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      for (const what of ['copy', 'author', 'discussion']) if (error.has(what)) throw new Stale(what);
      for (const what of ['target', 'project']) if (error.has(what)) throw new Missing(what);
      throw error;
    }
  }
}

const atVersion = ({ version }: IssueCopyRecord) => ({
  if: `${PRESENT} AND #version = :version`,
  values: { version },
  reason: 'copy',
});

function fromItem(item: Item | undefined): IssueCopyRecord | undefined {
  if (item === undefined) return undefined;
  const { pk: _p, sk: _s, ...copy } = item;
  return copy as unknown as IssueCopyRecord;
}
