import type { Actor } from '../../domain/actor.ts';
import { type AsItIs, visiblePipeline } from '../../domain/merge-requests/as-it-is.ts';
import { conversationOf } from '../../domain/merge-requests/conversation.ts';
import { isFirstContribution } from '../../domain/merge-requests/first-contribution.ts';
import type { MergeRequestScope } from '../../domain/merge-requests/list.ts';
import { listedStatuses } from '../../domain/merge-requests/listed-status.ts';
import { detailedMergeStatus, hasConflicts, mergeStatus } from '../../domain/merge-requests/merge-status.ts';
import {
  type FoundMergeRequest,
  type ListedFound,
  shownMergeRequests,
} from '../../domain/merge-requests/related.ts';
import { isSubscribed } from '../../domain/notes/subscriptions.ts';
import { branchProtection } from '../../domain/refs/protection.ts';
import { pipelineBasic } from '../commits/present.ts';
import type { ApiDeps } from '../endpoint.ts';
import { presentedMilestones } from '../milestones/presented.ts';
import { pipelineDetail } from '../pipelines/present.ts';
import { projectUrl } from '../projects/present.ts';
import { type AskedIn, groupAskedIn } from '../tracked/present.ts';
import { countOfFiles, presentMergeRequest, presentSimple, type ShownStatus } from './present.ts';

/** Merge requests as lists show them, in their order. @throws 413 when their descriptions are too long together */
export async function presentedMergeRequests(
  deps: ApiDeps,
  found: readonly ListedFound[],
  baseUrl: string,
  askedIn: AskedIn,
  options: {
    readonly labelDetails?: boolean;
    readonly statuses?: readonly ShownStatus[];
    readonly recheck?: boolean;
  } = {},
) {
  const [shown, statuses] = await Promise.all([
    shownMergeRequests(deps, found),
    options.statuses ?? listedStatuses(deps, found, options.recheck),
  ]);
  const records = new Map(shown.flatMap(({ milestone }) => (milestone ? [[milestone.id, milestone]] : [])));
  const known = { projects: found.map(({ access }) => access.project), groups: groupAskedIn(askedIn) };
  const ofMilestones =
    records.size === 0 ? [] : await presentedMilestones(deps, [...records.values()], baseUrl, known);
  const milestones = new Map(ofMilestones.map((milestone) => [milestone.id, milestone]));
  return shown.map((each, i) =>
    presentMergeRequest(each, statuses[i]!, baseUrl, askedIn, { ...options, milestones }),
  );
}

/** The same with few fields. */
export async function simpleMergeRequests(deps: ApiDeps, found: readonly ListedFound[], baseUrl: string) {
  return (await shownMergeRequests(deps, found)).map((shown) => presentSimple(shown, baseUrl));
}

/** A merge request, with its situation where it was judged. */
type ShownFound = FoundMergeRequest & Partial<Pick<AsItIs, 'situation'>>;

/** One merge request, as it is shown when it is asked for alone. */
export async function presentedMergeRequest(deps: ApiDeps, actor: Actor, found: ShownFound, baseUrl: string) {
  const { mergeRequest, access, situation } = found;
  const { baseSha, headSha, startSha } = mergeRequest.diff;
  const [[shown], subscribed, protection, pipelines, isFirst] = await Promise.all([
    presentedMergeRequests(
      deps,
      [found],
      baseUrl,
      { kind: 'project', id: mergeRequest.projectId },
      situation === undefined ? {} : { statuses: [statusOf(situation)] },
    ),
    isSubscribed(deps, actor, conversationOf(found)),
    branchProtection(deps, access, actor),
    presentedPipelines(deps, actor, found, baseUrl),
    isFirstContribution(deps, actor, access, mergeRequest),
  ]);
  return {
    ...shown!,
    subscribed,
    changes_count: countOfFiles(mergeRequest.diff),
    ...(shown!.has_conflicts ? { conflicts: mergeRequest.verdict?.conflicts ?? [] } : {}),
    first_deployed_to_production_at: mergeRequest.firstDeployedAt ?? null,
    ...pipelines,
    diff_refs: { base_sha: baseSha, head_sha: headSha, start_sha: startSha },
    merge_error: mergeRequest.mergeError,
    first_contribution: isFirst,
    user: { can_merge: protection.mayUpdate(actor, mergeRequest.targetBranch) },
  };
}

/** The pipeline of the head, in the project that it belongs to. */
async function presentedPipelines(deps: ApiDeps, actor: Actor, found: ShownFound, baseUrl: string) {
  const visible = await visiblePipeline(deps, actor, found, found.situation);
  const { access, pipeline } = visible ?? {};
  return {
    latest_build_started_at: pipeline?.startedAt ?? null,
    latest_build_finished_at: pipeline?.finishedAt ?? null,
    pipeline: pipeline && access ? pipelineBasic(pipeline, projectUrl(access.project, baseUrl)) : null,
    head_pipeline: pipeline && access ? await pipelineDetail(deps, access, pipeline, baseUrl) : null,
  };
}

/** What was found out about a merge request that was judged. */
const statusOf = (situation: AsItIs['situation']): ShownStatus => ({
  status: mergeStatus(situation),
  detailed: detailedMergeStatus(situation),
  hasConflicts: hasConflicts(situation),
});

export const askedIn = (scope: MergeRequestScope): AskedIn =>
  scope.kind === 'project'
    ? { kind: 'project', id: scope.access.project.id }
    : scope.kind === 'group'
      ? { kind: 'group', group: scope.access.group }
      : scope;
