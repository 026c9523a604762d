/** What pipelines and jobs are told of the merge request that they are for. */

import type { MergeRequestRecord } from '../../records/merge-requests.ts';
import type { PipelineRecord } from '../../records/pipelines.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { ProjectAccess } from '../access/types.ts';
import { isApproved } from '../approvals/evaluate.ts';
import type { MergeRequestFacts } from '../ci-variables/predefined.ts';
import type { Deps } from '../deps.ts';
import { headsOf } from '../merge-requests/mergeability.ts';

/** Where a merge request is, and where its pipelines run: those of a fork run there. */
export interface Places {
  readonly target: ProjectAccess;
  readonly source: ProjectAccess;
}

/** What pipelines and jobs are told of a merge request. */
export async function mergeRequestFacts(
  deps: Deps,
  { target, source }: Places,
  record: MergeRequestRecord,
): Promise<MergeRequestFacts> {
  const { store } = deps;
  const { id, iid, title, targetBranch, assigneeIds, labelIds, milestoneId, diff } = record;
  const [users, labels, milestones, heads, approved] = await Promise.all([
    store.users.getMany(assigneeIds),
    store.labels.getMany(labelIds),
    milestoneId === null ? [] : store.milestones.getMany([milestoneId]),
    headsOf(deps, target, record),
    isApproved(deps, target, record),
  ]);
  return {
    id,
    iid,
    title,
    sourceBranch: record.source.branch,
    targetBranch,
    project: target.project,
    sourceProject: source.project,
    targetSha: heads.targetSha ?? diff.startSha,
    approved,
    assignees: users.flatMap((user) => user?.username ?? []),
    labels: labels.flatMap((label) => label?.title ?? []),
    milestone: milestones[0]?.title,
    diff: { id: diff.id, baseSha: diff.baseSha ?? diff.startSha },
  };
}

/** The facts of the merge request that a pipeline is for, as it is now; undefined where it is for none, or that is gone. */
export async function factsOfPipeline(
  deps: Deps,
  project: ProjectRecord,
  pipeline: PipelineRecord | undefined,
): Promise<MergeRequestFacts | undefined> {
  const { mergeRequest: address } = pipeline ?? {};
  if (address === undefined) return undefined;
  const [record, target] = await Promise.all([
    deps.store.mergeRequests.get(address),
    address.projectId === project.id ? project : deps.store.projects.get(address.projectId),
  ]);
  if (record === undefined || target === undefined) return undefined;
  const places = { target: { project: target, level: 0 }, source: { project, level: 0 } } as const;
  return mergeRequestFacts(deps, places, record);
}
