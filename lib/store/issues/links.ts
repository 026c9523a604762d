/**
 * Relations between issues. Each is a row at both of its issues, which may be of different projects; both are written and
 * deleted in one transaction, with the counts that bound them.
 */

import type { IssueLinkRecord, IssueLinkType, IssueReference } from '../../records/issues.ts';
import { AlreadyExists, LimitReached, Missing, TransactionRefused } from '../errors.ts';
import { MAINTENANCE, message, type OutboxMessage } from '../outbox/outbox.ts';
import { checkProjectExists } from '../placement/project-item.ts';
import {
  ISSUE_LINKS,
  issueKey,
  issueLinkCountKey,
  issueLinkKey,
  issueLinkPrefix,
  issuesPartition,
} from '../row-keys/issues.ts';
import type { Counters } from '../table/counters.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, type Delete, type Item, PRESENT, type Update, type Write } from '../table/write.ts';

/** Of one issue: they are read, and answered, all at once. */
const MAX_ISSUE_LINKS = 200;

/** Removes the relations of a deleted issue: `{ projectId, iid, id }`. */
export const UNLINK_ISSUE_JOB = 'issue.unlink';

/** For the transaction that deletes the issue. */
export const unlinkMessage = ({ projectId, iid, id }: IssueReference): OutboxMessage =>
  message(MAINTENANCE, UNLINK_ISSUE_JOB, { projectId, iid, id });

/** The type of a relation as the other issue has it. */
export const OPPOSITE: Readonly<Record<IssueLinkType, IssueLinkType>> = {
  relates_to: 'relates_to',
  blocks: 'is_blocked_by',
  is_blocked_by: 'blocks',
};

/** The relation as the other issue has it. */
export const mirrored = ({ issue, other, type, ...link }: IssueLinkRecord): IssueLinkRecord => ({
  ...link,
  type: OPPOSITE[type],
  issue: other,
  other: issue,
});

export class IssueLinks {
  readonly #table: Table;
  readonly #counters: Counters;
  constructor(table: Table, counters: Counters) {
    this.#table = table;
    this.#counters = counters;
  }

  nextId(): Promise<number> {
    return this.#counters.next('issue-link');
  }

  /** Returns the relations of an issue, oldest first. */
  async of({ projectId, id }: IssueReference): Promise<IssueLinkRecord[]> {
    const rows = { partition: issuesPartition(projectId), prefix: issueLinkPrefix(id) };
    const page = await this.#table.query({ ...rows, limit: MAX_ISSUE_LINKS });
    return page.items.map(fromItem).toSorted((a, b) => a.id - b.id);
  }

  /**
   * @param alongside further writes of the same transaction
   * @throws AlreadyExists when the issues are related, LimitReached beyond {@link MAX_ISSUE_LINKS}, Missing when one of
   * them is deleted
   */
  async create(link: IssueLinkRecord, alongside: readonly Write[] = []): Promise<void> {
    const sides = [link, mirrored(link)];
    const projectIds = new Set(sides.map(({ issue }) => issue.projectId));
    try {
      await this.#table.transact([
        ...sides.flatMap((side): Write[] => [
          { put: { ...keyOf(side), ...side }, if: ABSENT, reason: 'link' },
          {
            ...counted(side.issue, 1),
            if: 'attribute_not_exists(#count) OR #count < :limit',
            values: { limit: MAX_ISSUE_LINKS },
            reason: 'limit',
          },
          { check: issueKey(side.issue), if: PRESENT, reason: 'issue' },
        ]),
        ...[...projectIds].map(checkProjectExists),
        ...alongside,
      ]);
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      if (error.has('link')) throw new AlreadyExists('issue link');
      if (error.has('limit')) throw new LimitReached('issue links', MAX_ISSUE_LINKS);
      throw error.has('issue') || error.has('project') ? new Missing('issue') : error;
    }
  }

  /** @throws Missing when it is deleted */
  async remove(link: IssueLinkRecord, alongside: readonly Write[] = []): Promise<void> {
    await this.#remove([
      removal(link),
      removal(mirrored(link)),
      counted(link.issue, -1),
      counted(link.other, -1),
      ...alongside,
    ]);
  }

  /**
   * Gives the relations of an issue to the one that took its place. Idempotent.
   * @throws Missing when that is deleted
   */
  async moveTo(from: IssueReference, to: IssueReference): Promise<void> {
    for (const link of await this.of(from)) {
      const moved = { ...link, issue: to };
      try {
        // An issue has no relation with itself.
        if (link.other.id === to.id) await this.remove(link);
        else
          await this.#remove([
            ...[link, mirrored(link)].map(removal),
            ...[moved, mirrored(moved)].map((side) => ({ put: { ...keyOf(side), ...side } })),
            counted(from, -1),
            counted(to, 1),
            { check: issueKey(to), if: PRESENT, reason: 'issue' },
            // Where the other one is deleted, its own job ends the relation.
            { check: issueKey(link.other), if: PRESENT, reason: 'link' },
            checkProjectExists(to.projectId),
          ]);
      } catch (error) {
        if (error instanceof TransactionRefused && (error.has('issue') || error.has('project')))
          throw new Missing('issue');
        // Somebody ended it meanwhile.
        if (!(error instanceof Missing)) throw error;
      }
    }
  }

  /** Removes the relations of an issue that is deleted. Idempotent. */
  async removeOfIssue(issue: IssueReference): Promise<void> {
    for (const link of await this.of(issue)) await ignoringMissing(this.remove(link));
    await this.#table.delete({ delete: issueLinkCountKey(issue.projectId, issue.id) });
  }

  /** Removes up to `limit` relations of issues of a deleted project. @returns whether any are left */
  async removeOfProject(projectId: number, limit = 100): Promise<boolean> {
    const rows = { partition: issuesPartition(projectId), prefix: ISSUE_LINKS };
    const page = await this.#table.query({ ...rows, limit });
    for (const link of page.items.map(fromItem)) {
      // Counts of this project are deleted with it.
      if (link.other.projectId !== projectId)
        await ignoringMissing(this.#remove([removal(mirrored(link)), counted(link.other, -1)]));
      await this.#table.delete({ delete: keyOf(link) });
    }
    return page.next !== undefined;
  }

  async #remove(writes: readonly Write[]): Promise<void> {
    try {
      await this.#table.transact(writes);
    } catch (error) {
      throw error instanceof TransactionRefused && error.has('link') ? new Missing('issue link') : error;
    }
  }
}

async function ignoringMissing(removing: Promise<void>): Promise<void> {
  try {
    await removing;
  } catch (error) {
    if (!(error instanceof Missing)) throw error;
  }
}

const keyOf = ({ issue, other }: IssueLinkRecord) => issueLinkKey(issue.projectId, issue.id, other.id);

const removal = (link: IssueLinkRecord): Delete => ({
  delete: keyOf(link),
  if: `${PRESENT} AND #id = :id`,
  values: { id: link.id },
  reason: 'link',
});

const counted = ({ projectId, id }: IssueReference, by: 1 | -1): Update => ({
  update: issueLinkCountKey(projectId, id),
  add: { count: by },
});

function fromItem({ pk: _p, sk: _s, w: _w, ...link }: Item): IssueLinkRecord {
  return link as unknown as IssueLinkRecord;
}
