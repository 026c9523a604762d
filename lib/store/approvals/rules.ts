/** Approval rules: one row holds all of a project, another those of a merge request. They are few, and always read together. */

import type { ApprovalRule, ApprovalRules } from '../../records/approvals.ts';
import { Missing, Stale, TransactionRefused } from '../errors.ts';
import { checkProjectExists } from '../placement/project-item.ts';
import { approvalRulesKey, approvalsPartition } from '../row-keys/approvals.ts';
import type { Counters } from '../table/counters.ts';
import { deletePage } from '../table/delete-page.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, type Item, type Put, type Write } from '../table/write.ts';

export class ApprovalRuleSets {
  readonly #table: Table;
  readonly #counters: Counters;
  constructor(table: Table, counters: Counters) {
    this.#table = table;
    this.#counters = counters;
  }

  /** Returns a new id for a rule. */
  nextId(): Promise<number> {
    return this.#counters.next('approval-rule');
  }

  /** Allocates ids for rules of code owners that follow each other. @returns the last of them */
  reserveIds(count: number): Promise<number> {
    return this.#counters.reserve('approval-rule', count);
  }

  /** Strongly consistent; without rules where none was ever written. */
  async of(projectId: number, iid: number | null = null): Promise<ApprovalRules> {
    return asSet(projectId, iid, await this.#table.get(approvalRulesKey(projectId, iid)));
  }

  /** The rules of a project and those of one of its merge requests, in one read. */
  async forMergeRequest(
    projectId: number,
    iid: number,
  ): Promise<{ readonly project: ApprovalRules; readonly own: ApprovalRules }> {
    const keys = [approvalRulesKey(projectId, null), approvalRulesKey(projectId, iid)];
    const [project, own] = await this.#table.batchGet(keys);
    return { project: asSet(projectId, null, project), own: asSet(projectId, iid, own) };
  }

  /** The rules of several, in the order of the addresses; those of a project are at null. */
  async ofMany(
    addresses: readonly { readonly projectId: number; readonly iid: number | null }[],
  ): Promise<ApprovalRules[]> {
    const found = await this.#table.batchGet(
      addresses.map(({ projectId, iid }) => approvalRulesKey(projectId, iid)),
    );
    return addresses.map(({ projectId, iid }, i) => asSet(projectId, iid, found[i]));
  }

  /**
   * Replaces the rules of a project.
   * @throws Stale when they have changed since they were read; Missing when the project is gone
   */
  async replace(
    previous: ApprovalRules,
    rules: readonly ApprovalRule[],
    alongside: readonly Write[] = [],
  ): Promise<void> {
    const writes = [replaced(previous, rules), checkProjectExists(previous.projectId), ...alongside];
    try {
      await this.#table.transact(writes);
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      if (error.has('project')) throw new Missing('project');
      throw error.has(APPROVAL_RULES) ? new Stale('approval rules') : error;
    }
  }

  /** Deletes up to `limit` rows of a deleted project. @returns whether rows remain */
  removeOfProject(projectId: number, limit = 500): Promise<boolean> {
    return deletePage(this.#table, { partition: approvalsPartition(projectId), limit });
  }
}

/** The reason of a refusal: rules have changed since they were read. */
export const APPROVAL_RULES = 'approval-rules';

/** The write of other rules, for a transaction; refused as {@link APPROVAL_RULES} when they have changed since. */
export const replaced = (previous: ApprovalRules, rules: readonly ApprovalRule[]): Put => ({
  put: {
    ...approvalRulesKey(previous.projectId, previous.iid),
    projectId: previous.projectId,
    iid: previous.iid,
    rules,
    version: previous.version + 1,
  },
  ...(previous.version === 0
    ? { if: ABSENT }
    : { if: '#version = :version', values: { version: previous.version } }),
  reason: APPROVAL_RULES,
});

const asSet = (projectId: number, iid: number | null, item: Item | undefined): ApprovalRules => ({
  projectId,
  iid,
  rules: (item?.['rules'] as readonly ApprovalRule[] | undefined) ?? [],
  version: (item?.['version'] as number | undefined) ?? 0,
});
