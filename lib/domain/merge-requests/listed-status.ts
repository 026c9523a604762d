/** What lists tell about merging: what is known of the heads as they are now. A worker checks where that is asked for. */

import type { Oid } from '../../git/oid.ts';
import { branchRef } from '../../git/refname.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { mapLimit } from '../../store/table/map-limit.ts';
import type { Deps } from '../deps.ts';
import { openRepository } from '../repository/open.ts';
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
import type { FoundMergeRequest } from './related.ts';

export interface ListedStatus {
  readonly status: MergeStatus;
  readonly detailed: DetailedMergeStatus;
  readonly hasConflicts: boolean;
}

/**
 * Reads the target branches of all: one batch for each project.
 * @param recheck lets a worker check those that nothing is known of
 */
export async function listedStatuses(
  deps: Deps,
  found: readonly FoundMergeRequest[],
  recheck = false,
): Promise<ListedStatus[]> {
  const unmerged = found.filter(({ mergeRequest }) => mergeRequest.state !== 'merged');
  const byProject = Map.groupBy(unmerged, ({ access }) => access.project.id);
  const tips = new Map<string, Oid>();
  await Promise.all(
    [...byProject.values()].map(async (group) => {
      const branches = group.map(({ mergeRequest }) => mergeRequest.targetBranch);
      await readTips(deps, group[0]!.access.project, [...new Set(branches)], tips);
    }),
  );
  const unknown = unmerged.flatMap(({ mergeRequest: record, access: { project } }) => {
    const targetSha = tips.get(`${project.id} ${record.targetBranch}`);
    const isKnown = targetSha === undefined || currentVerdict({ record, targetSha }) !== undefined;
    return isKnown ? [] : [{ record, targetSha }];
  });
  const asked = new Set(recheck ? unknown.map(({ record }) => record.id) : []);
  if (recheck)
    await mapLimit(CHECKS_AT_ONCE, unknown, ({ record, targetSha }) => askForCheck(deps, record, targetSha));
  return found.map(({ mergeRequest: record, access: { project } }) => {
    const targetSha = tips.get(`${project.id} ${record.targetBranch}`);
    const situation = {
      record,
      settings: mergeSettingsOf(project),
      targetSha,
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

async function readTips(
  deps: Deps,
  project: ProjectRecord,
  branches: readonly string[],
  tips: Map<string, Oid>,
): Promise<void> {
  const names = branches.flatMap((branch) => branchRef(branch) ?? []);
  const refs = await openRepository(deps, project).refs.get(names);
  for (const branch of branches) {
    const name = branchRef(branch);
    const tip = name && refs.get(name)?.oid;
    if (tip !== undefined) tips.set(`${project.id} ${branch}`, tip);
  }
}
