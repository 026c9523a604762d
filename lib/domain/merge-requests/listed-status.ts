/** What lists tell about merging: what is known of the heads as they are now. A worker checks where that is asked for. */

import type { Oid } from '../../git/oid.ts';
import { branchRef, type RefName } from '../../git/refname.ts';
import { mapLimit } from '../../store/table/map-limit.ts';
import type { Deps } from '../deps.ts';
import { isImporting } from '../repository/import-state.ts';
import { mergeSettingsOf } from './merge-settings.ts';
import {
  currentVerdict,
  type DetailedMergeStatus,
  detailedMergeStatus,
  hasConflicts,
  isRebasing,
  type MergeStatus,
  mergeStatus,
} from './merge-status.ts';
import { askForCheck } from './mergeability.ts';
import type { ListedFound } from './related.ts';

export interface ListedStatus {
  readonly status: MergeStatus;
  readonly detailed: DetailedMergeStatus;
  readonly hasConflicts: boolean;
}

/**
 * Reads the target branches of all in one batch.
 * @param recheck lets a worker check those that nothing is known of
 */
export async function listedStatuses(
  deps: Deps,
  found: readonly ListedFound[],
  recheck = false,
): Promise<ListedStatus[]> {
  const unmerged = found.filter(({ mergeRequest }) => mergeRequest.state !== 'merged');
  const tipOf = await targetTips(deps, unmerged);
  const unknown = unmerged.flatMap((each) => {
    const { mergeRequest: record } = each;
    const targetSha = tipOf(each);
    const isKnown = targetSha === undefined || currentVerdict({ record, targetSha }) !== undefined;
    return isKnown ? [] : [{ record, targetSha }];
  });
  const asked = new Set(recheck ? unknown.map(({ record }) => record.id) : []);
  if (recheck)
    await mapLimit(CHECKS_AT_ONCE, unknown, ({ record, targetSha }) => askForCheck(deps, record, targetSha));
  return found.map((each) => {
    const { mergeRequest: record, access } = each;
    const situation = {
      record,
      settings: mergeSettingsOf(access.project),
      targetSha: tipOf(each),
      sourceExists: true,
      rebasing: isRebasing(record, deps.now()),
      pipeline: undefined,
      approved: true,
      checking: asked.has(record.id),
    };
    const detailed = detailedMergeStatus(situation);
    return {
      status: mergeStatus(situation),
      // Approvals and the pipeline are not read for a list.
      detailed: detailed === 'mergeable' ? 'unchecked' : detailed,
      hasConflicts: hasConflicts(situation),
    };
  });
}

/** Checks asked for at the same time: each is a write. */
const CHECKS_AT_ONCE = 10;

/** @returns what the target branch of each points to; undefined: it is gone, or its project is being imported */
async function targetTips(
  deps: Deps,
  found: readonly ListedFound[],
): Promise<(one: ListedFound) => Oid | undefined> {
  const names = new Map<string, Set<RefName>>();
  for (const { mergeRequest, access } of found) {
    const name = branchRef(mergeRequest.targetBranch);
    if (name === undefined || isImporting(access.project)) continue;
    const { repositoryId } = access.project;
    names.set(repositoryId, (names.get(repositoryId) ?? new Set()).add(name));
  }
  const asked = [...names].map(([repositoryId, of]) => ({ repositoryId, names: [...of] }));
  const tips = await deps.store.repositories.tips(asked);
  return ({ mergeRequest, access }) => {
    const name = branchRef(mergeRequest.targetBranch);
    return name && tips.get(access.project.repositoryId)?.get(name);
  };
}
