/** Merge requests: what their store has beside that of every tracked record. */

import type {
  BranchOfProject,
  DiffVersion,
  MergeRequestAddress,
  MergeRequestRecord,
  MergeRequestReference,
  MergeRequestState,
  MergeVerdict,
} from '../../records/merge-requests.ts';
import { ConditionFailed } from '../errors.ts';
import type { Outbox } from '../outbox/outbox.ts';
import {
  diffVersionKey,
  diffVersionPrefix,
  type MergeRequestFacet,
  mergeRequestKeys,
  mergeRequestSourceKey,
  mergeRequestSourcePrefix,
  mergeRequestSources,
} from '../row-keys/merge-requests.ts';
import type { Counters } from '../table/counters.ts';
import { deletePage } from '../table/delete-page.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, PRESENT, type Put } from '../table/write.ts';
import { TrackedRecords } from '../tracked/records.ts';
import { MERGE_REQUEST_KIND } from './kind.ts';

/** An open merge request as its source branch leads to it. */
export interface ProposedBranch extends MergeRequestReference {
  readonly sourceBranch: string;
  readonly targetBranch: string;
}

interface PageOf<T> {
  readonly items: readonly T[];
  /** What to go on after; absent at the end. */
  readonly next?: string;
}

export class MergeRequests extends TrackedRecords<MergeRequestRecord, MergeRequestFacet, MergeRequestState> {
  readonly #counters: Counters;

  constructor(table: Table, counters: Counters, outbox: Outbox) {
    super(MERGE_REQUEST_KIND, table, counters, outbox);
    this.#counters = counters;
  }

  nextVersionId(): Promise<number> {
    return this.#counters.next('diff-version');
  }

  /** The write of a version, for the transaction that makes it the latest; refused as `diff` where it exists. */
  versionWrite({ projectId, iid }: MergeRequestAddress, version: DiffVersion): Put {
    return {
      put: { ...diffVersionKey(projectId, iid, version.number), ...version },
      if: ABSENT,
      reason: 'diff',
    };
  }

  /** Returns versions, the newest first. @param before only those with lower numbers */
  async versions(
    { projectId, iid }: MergeRequestAddress,
    limit: number,
    before?: number,
  ): Promise<PageOf<DiffVersion>> {
    const { items, next } = await this.table.query({
      partition: mergeRequestKeys.partition(projectId),
      prefix: diffVersionPrefix(iid),
      reverse: true,
      limit,
      ...(before === undefined ? {} : { startKey: { ...diffVersionKey(projectId, iid, before) } }),
    });
    const versions = items.map(({ pk: _p, sk: _s, ...version }) => version as unknown as DiffVersion);
    return next === undefined
      ? { items: versions }
      : { items: versions, next: String(versions.at(-1)!.number) };
  }

  /** Returns the open merge request of a source branch to a target branch. */
  async openOf(source: BranchOfProject, target: BranchOfProject): Promise<ProposedBranch | undefined> {
    const row = await this.table.get(mergeRequestSourceKey(source, target));
    return row as ProposedBranch | undefined;
  }

  /** Returns the open merge requests of a source branch, at most `limit`. */
  async openFrom({ projectId, branch }: BranchOfProject, limit: number): Promise<readonly ProposedBranch[]> {
    const { items } = await this.table.query({
      partition: mergeRequestSources(projectId),
      prefix: mergeRequestSourcePrefix(branch),
      limit,
    });
    return items as unknown as ProposedBranch[];
  }

  /** Keeps the answer of a check, unless the merge request has another head by then. @returns whether it was kept */
  async keepVerdict(record: MergeRequestRecord, verdict: MergeVerdict): Promise<boolean> {
    try {
      await this.table.update({
        update: mergeRequestKeys.record(record),
        set: { verdict },
        if: `${PRESENT} AND #diff.#headSha = :headSha`,
        values: { headSha: verdict.headSha },
      });
      return true;
    } catch (error) {
      if (error instanceof ConditionFailed) return false;
      throw error;
    }
  }

  /** Deletes up to `limit` rows that lead from branches of a deleted project. @returns whether any are left */
  removeOfSource(projectId: number, limit = 500): Promise<boolean> {
    return deletePage(this.table, { partition: mergeRequestSources(projectId), limit });
  }
}
