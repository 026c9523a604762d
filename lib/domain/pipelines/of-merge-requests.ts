/** Pipelines of merge requests: made when they are proposed, when their source moves on, and when somebody asks. */

import type { Oid } from '../../git/oid.ts';
import type { MergeRequestRecord } from '../../records/merge-requests.ts';
import type { PipelineRecord } from '../../records/pipelines.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import type { ProjectAccess } from '../access/types.ts';
import { type Actor, actingFor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { DomainError, notAllowed } from '../errors.ts';
import { headRef } from '../merge-requests/versions.ts';
import { codeOf } from '../repository/read.ts';
import { createAutomatically, createPipeline } from './create.ts';
import { mergeRequestFacts, type Places } from './merge-request-facts.ts';
import { replaceOlder } from './replace.ts';
import type { PipelineRequest } from './request.ts';
import { asksToSkip } from './skip.ts';
import { stopForRefs } from './stop-environment.ts';

/** Pipelines of one commit among which that of the merge request is looked for: the newest. */
const LOOKED_AT = 50;

async function placesOf(
  deps: Deps,
  actor: Actor,
  target: ProjectAccess,
  { source }: MergeRequestRecord,
): Promise<Places | undefined> {
  if (source.projectId === target.project.id) return { target, source: target };
  const [access] = await projectAccesses(deps, actor, [source.projectId]);
  return access && { target, source: access };
}

async function requestOf(deps: Deps, places: Places, record: MergeRequestRecord): Promise<PipelineRequest> {
  const own = places.source.project.id === places.target.project.id;
  return {
    ref: own ? headRef(record.iid) : `refs/heads/${record.source.branch}`,
    sha: record.diff.headSha,
    source: 'merge_request_event',
    mergeRequest: await mergeRequestFacts(deps, places, record),
  };
}

/**
 * Makes a pipeline for the head of a merge request.
 * @returns with the project that it is of
 * @throws 400 `{ base: [...] }`; 405 where it has no commits, or its source project is hidden
 */
export async function createForMergeRequest(
  deps: Deps,
  actor: Actor,
  target: ProjectAccess,
  record: MergeRequestRecord,
): Promise<{ readonly access: ProjectAccess; readonly pipeline: PipelineRecord }> {
  const places = await placesOf(deps, actor, target, record);
  if (places === undefined || record.diff.headSha === record.diff.baseSha) throw notAllowed();
  const request = await requestOf(deps, places, record);
  const pipeline = await createPipeline(deps, actor, places.source, request);
  await replaceOlder(deps, places.source, pipeline);
  return { access: places.source, pipeline };
}

export interface MergeRequestToBuild {
  readonly projectId: number;
  readonly iid: number;
  readonly actorId: number | null;
  readonly baseUrl: string;
}

/**
 * The work of the job. A head that has a pipeline of its merge request gets no other. What was deployed for one that is merged
 * or closed is stopped.
 */
export async function buildMergeRequest(
  deps: Deps,
  { projectId, iid, actorId, baseUrl }: MergeRequestToBuild,
): Promise<void> {
  const { store } = deps;
  const [user, record] = await Promise.all([
    actorId === null ? undefined : store.users.get(actorId),
    store.mergeRequests.get({ projectId, iid }),
  ]);
  if (user === undefined || record === undefined) return;
  const actor = actingFor(user, baseUrl);
  const [target] = await projectAccesses(deps, actor, [projectId]);
  if (record.state !== 'opened') {
    // A merge request from a fork has pipelines of its branch, which goes on.
    if (target !== undefined && record.source.projectId === projectId)
      await stopForRefs(deps, actor, target, [headRef(iid)]);
    return;
  }
  const places = target && (await placesOf(deps, actor, target, record));
  const { headSha, baseSha } = record.diff;
  if (places === undefined || headSha === baseSha) return;
  const known = await store.pipelines.ofCommit(places.source.project.id, headSha as Oid, LOOKED_AT);
  if (known.some(({ mergeRequest: of }) => of?.projectId === projectId && of.iid === iid)) return;
  try {
    const [request, { message }] = await Promise.all([
      requestOf(deps, places, record),
      codeOf(deps, places.source).commit(headSha as Oid),
    ]);
    const skip = asksToSkip(message);
    const made = await createAutomatically(deps, actor, places.source, { ...request, skip });
    if (made !== undefined) await replaceOlder(deps, places.source, made);
  } catch (error) {
    // Its branch, its commits or the project are gone by now.
    if (!(error instanceof DomainError)) throw error;
  }
}
