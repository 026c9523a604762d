/** Merge requests: what their store has beside that of every tracked record. */

import type {
  BranchOfProject,
  DiffVersion,
  MergeRequestAddress,
  MergeRequestRecord,
  MergeRequestReference,
  MergeRequestState,
  MergeVerdict,
  RequestedCheck,
} from '../../records/merge-requests.ts';
import { ConditionFailed, TransactionRefused } from '../errors.ts';
import type { PushedBranch, Writer } from '../notes/mentions.ts';
import {
  MAINTENANCE,
  message,
  type Outbox,
  type OutboxMessage,
  type PlainMessage,
} from '../outbox/outbox.ts';
import {
  collaborationPrefix,
  diffVersionKey,
  diffVersionPrefix,
  type MergeRequestFacet,
  mergeRequestKeys,
  mergeRequestSourceKey,
  mergeRequestSourcePrefix,
  mergeRequestSources,
} from '../row-keys/merge-requests.ts';
import { versionPinKey } from '../row-keys/repository.ts';
import type { Counters } from '../table/counters.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, PRESENT, type Put } from '../table/write.ts';
import type { PlaceRange } from '../tracked/places.ts';
import { TrackedRecords } from '../tracked/records.ts';
import { MERGE_REQUEST_KIND, mergeRequestRanges } from './kind.ts';

/** Brings the open merge requests of pushed branches in line with them: `{ projectId, branches, actorId, baseUrl }`. */
export const FOLLOW_PUSH_JOB = 'merge_request.follow-push';

/** Rebases a source branch: `{ projectId, iid, id, baseUrl }`. */
export const REBASE_JOB = 'merge_request.rebase';

/** Merges one that waited for its pipeline: `{ projectId, iid, baseUrl }`. */
export const AUTO_MERGE_JOB = 'merge_request.auto-merge';

/** Removes the source branch of a merged one in a fork: `{ projectId, branch, sha, userId, baseUrl }`. */
export const REMOVE_SOURCE_JOB = 'merge_request.remove-source';

/** Finds out whether a merge request can be merged: `{ projectId, iid }`. */
export const CHECK_MERGE_REQUEST_JOB = 'merge_request.check';

/** Lets merge requests to a branch that was merged and removed go where it went: `{ projectId, iids, branch, targetBranch, actorId, baseUrl }`. */
export const RETARGET_JOB = 'merge_request.retarget';

/** Closes what a project proposes that is no fork any more, and what is proposed to it: `{ projectId, actorId, baseUrl, from }`. */
export const CLOSE_UNRELATED_JOB = 'merge_request.close-unrelated';

/** Closes what a deleted project proposed to others: `{ mergeRequests, actorId }`. */
export const CLOSE_SOURCELESS_JOB = 'merge_request.close-sourceless';

/** Tells the merge requests that a deployment brought to production: `{ projectId, deploymentId, from }`. */
export const TELL_DEPLOYED_JOB = 'merge_request.tell-deployed';

/**
 * Resolves the discussions whose places a new version does not have: `{ projectId, iid, before, after, number, actorId,
 * baseUrl, from }`.
 */
export const RESOLVE_OUTDATED_JOB = 'merge_request.resolve-outdated';

/** Versions that are forgotten in one transaction, which has 100 items. */
const FORGOTTEN_AT_ONCE = 30;

export const followPushMessage = (
  push: { readonly projectId: number; readonly branches: readonly PushedBranch[] },
  writer: Writer,
): OutboxMessage => message(MAINTENANCE, FOLLOW_PUSH_JOB, { ...push, ...writer });

/** For the transaction that ends the fork relation of a project. */
export const closeUnrelatedMessage = (projectId: number, writer: Writer): PlainMessage =>
  message(MAINTENANCE, CLOSE_UNRELATED_JOB, { projectId, ...writer });

/** An open merge request as its source branch leads to it. */
export interface ProposedBranch extends MergeRequestReference {
  readonly sourceBranch: string;
  readonly targetBranch: string;
}

/** A source branch that is shared, and where it is proposed to be merged. */
export type CollaborationBranch = Omit<ProposedBranch, 'id'>;

export interface PageOf<T> {
  readonly items: readonly T[];
  /** What to go on after; absent at the end. */
  readonly next?: string;
}

/** Lets a worker find out whether a merge request can be merged; it does nothing where that is known. */
export const checkMessage = ({ projectId, iid }: MergeRequestAddress): OutboxMessage =>
  message(MAINTENANCE, CHECK_MERGE_REQUEST_JOB, { projectId, iid });

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
  versionWrite({ projectId, iid }: MergeRequestAddress, { commitShas: _, ...version }: DiffVersion): Put {
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

  /**
   * Deletes up to {@link FORGOTTEN_AT_ONCE} versions of a deleted merge request, with what kept their commits.
   * @returns whether any may be left
   */
  async forgetVersions(address: MergeRequestAddress, repositoryId: string): Promise<boolean> {
    const { items, next } = await this.versions(address, FORGOTTEN_AT_ONCE);
    const { projectId, iid } = address;
    const commits = new Set(items.flatMap(({ startSha, headSha }) => [startSha, headSha]));
    const gone = [
      ...[...commits].map((oid) => versionPinKey(repositoryId, oid, iid)),
      ...items.map(({ number }) => diffVersionKey(projectId, iid, number)),
    ];
    if (gone.length > 0) await this.table.transact(gone.map((key) => ({ delete: { ...key } })));
    return next !== undefined;
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

  /** Whether a user has proposed to a project what is merged by now. */
  async hasMerged(projectId: number, authorId: number): Promise<boolean> {
    const [{ partition, prefix }] = mergeRequestRanges.by(projectId, 'author', authorId, ['merged']) as [
      PlaceRange,
    ];
    const { items } = await this.table.query({ partition, prefix, limit: 1 });
    return items.length > 0;
  }

  /** Returns the shared branches of a project, or of one branch the merge requests that share it, at most `limit`. */
  async collaborations(
    projectId: number,
    limit: number,
    branch?: string,
  ): Promise<readonly CollaborationBranch[]> {
    const partition = mergeRequestSources(projectId);
    const { items } = await this.table.query({ partition, prefix: collaborationPrefix(branch), limit });
    return items as unknown as CollaborationBranch[];
  }

  /** Whether any open merge request is from a project or to it. */
  async areOpen(projectId: number): Promise<boolean> {
    const partition = mergeRequestSources(projectId);
    const [[counts], { items }] = await Promise.all([
      this.counts([projectId]),
      this.table.query({ partition, limit: 1 }),
    ]);
    return (counts?.opened ?? 0) > 0 || items.length > 0;
  }

  /**
   * Keeps the answer of a check, with what follows from it, unless the merge request has another head by then.
   * @returns whether it was kept
   */
  async keepVerdict(
    record: MergeRequestRecord,
    verdict: MergeVerdict,
    messages: readonly OutboxMessage[] = [],
  ): Promise<boolean> {
    const kept = {
      update: mergeRequestKeys.record(record),
      set: { verdict },
      if: `${PRESENT} AND #diff.#headSha = :headSha`,
      values: { headSha: verdict.headSha },
      reason: 'verdict',
    };
    try {
      if (messages.length === 0) await this.table.update(kept);
      else await this.outbox.commit([kept], messages);
      return true;
    } catch (error) {
      if (error instanceof ConditionFailed || error instanceof TransactionRefused) return false;
      throw error;
    }
  }

  /** Keeps when a deployment brought it to production, unless one did before. */
  async keepDeployed(record: MergeRequestAddress, at: string): Promise<void> {
    const first = {
      update: mergeRequestKeys.record(record),
      set: { firstDeployedAt: at },
      if: `${PRESENT} AND attribute_not_exists(#firstDeployedAt)`,
    };
    await this.table.update(first).catch((error: unknown) => {
      if (!(error instanceof ConditionFailed)) throw error;
    });
  }

  /** Ends a rebase for whom nobody can be told. */
  async endRebase(record: MergeRequestAddress, id: string): Promise<void> {
    const end = {
      update: mergeRequestKeys.record(record),
      set: { rebase: null },
      if: `${PRESENT} AND #rebase.#id = :id`,
      values: { id },
    };
    await this.table.update(end).catch((error: unknown) => {
      if (!(error instanceof ConditionFailed)) throw error;
    });
  }

  /**
   * Lets a worker check a merge request, unless it was told so for the same heads.
   * @param before ISO 8601: one that was told earlier is told again
   * @returns whether it was told
   */
  async requestCheck(record: MergeRequestAddress, check: RequestedCheck, before: string): Promise<boolean> {
    const other = '#check.#headSha <> :headSha OR #check.#targetSha <> :targetSha OR #check.#at < :before';
    const wanted = {
      update: mergeRequestKeys.record(record),
      set: { check },
      if: `${PRESENT} AND (attribute_not_exists(#check) OR ${other})`,
      values: { headSha: check.headSha, targetSha: check.targetSha, before },
      reason: 'check',
    };
    const { projectId, iid } = record;
    try {
      await this.outbox.commit([wanted], [checkMessage({ projectId, iid })]);
      return true;
    } catch (error) {
      if (error instanceof TransactionRefused) return false;
      throw error;
    }
  }
}
