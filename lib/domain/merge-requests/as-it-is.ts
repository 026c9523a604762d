/** A merge request as it is now: with the head of its source branch, and all that decides whether it can be merged. */

import { branchRef } from '../../git/refname.ts';
import type { MergeRequestRecord } from '../../records/merge-requests.ts';
import type { PipelineRecord } from '../../records/pipelines.ts';
import { can } from '../access/permissions.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import type { ProjectAccess } from '../access/types.ts';
import { type Actor, actingFor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { bounded, codeOf } from '../repository/read.ts';
import { getMergeRequest } from './find.ts';
import { groundsOf, headPipeline, type Judged, situationOf } from './mergeability.ts';
import { refreshed } from './refresh.ts';
import type { FoundMergeRequest } from './related.ts';

/** Commits that are counted at most. */
const MAX_DIVERGED = 10_000;

export interface AsItIs extends FoundMergeRequest {
  readonly situation: Judged;
}

/**
 * Finds a merge request, brings it in line with its source branch, and judges it.
 * @throws `404 Not found`
 */
export async function mergeRequestAsItIs(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
): Promise<AsItIs> {
  const { mergeRequest } = await getMergeRequest(deps, actor, access, iid);
  const pusher = pusherOf(deps, actor, access, mergeRequest);
  const situation = await judgedAsItIs(deps, pusher, access, mergeRequest);
  return { mergeRequest: situation.record, access, situation };
}

/** Finds a merge request and brings it in line with its source branch. @throws `404 Not found` */
export async function mergeRequestInLine(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
): Promise<MergeRequestRecord> {
  const { mergeRequest } = await getMergeRequest(deps, actor, access, iid);
  const pusher = await pusherOf(deps, actor, access, mergeRequest);
  return pusher === undefined ? mergeRequest : refreshed(deps, pusher, access, mergeRequest);
}

/**
 * Brings a merge request in line with its source branch, and judges it.
 * @param pusher who is told to have pushed what is new; undefined: nothing is changed
 */
export async function judgedAsItIs(
  deps: Deps,
  pusher: Promise<Actor | undefined> | Actor,
  access: ProjectAccess,
  read: MergeRequestRecord,
): Promise<Judged> {
  const [by, grounds] = await Promise.all([pusher, groundsOf(deps, access, read)]);
  const record = by === undefined ? read : await refreshed(deps, by, access, read, grounds.heads);
  return situationOf(deps, access, record, record === read ? grounds : undefined);
}

/**
 * Who is told to have pushed what a reader is the first to find: the reader, if they may have, else the author.
 * Undefined: nobody, and nothing is changed.
 */
async function pusherOf(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  { author, source, projectId }: MergeRequestRecord,
): Promise<Actor | undefined> {
  if (access.project.archived) return undefined;
  if (source.projectId === projectId && can(actor, access, 'push_code')) return actor;
  const user = await deps.store.users.get(author.id);
  return user && actingFor(user, actor.origin?.baseUrl ?? deps.environment.baseUrl ?? '');
}

/** A pipeline, and the project that it belongs to. */
export interface OwnedPipeline {
  readonly pipeline: PipelineRecord;
  readonly access: ProjectAccess;
}

/** The pipeline of the head, if the actor may read it. @param situation if it is known already */
export async function visiblePipeline(
  deps: Deps,
  actor: Actor,
  { mergeRequest, access }: FoundMergeRequest,
  situation: Judged | undefined,
): Promise<OwnedPipeline | undefined> {
  const pipeline = situation === undefined ? await headPipeline(deps, mergeRequest) : situation.headPipeline;
  if (pipeline === undefined) return undefined;
  const [owner] =
    pipeline.projectId === access.project.id
      ? [access]
      : await projectAccesses(deps, actor, [pipeline.projectId]);
  return owner !== undefined && can(actor, owner, 'read_pipelines') ? { pipeline, access: owner } : undefined;
}

/** Number of commits of the target branch that the head lacks, at most 10,000. */
export async function divergedCommits(
  deps: Deps,
  access: ProjectAccess,
  { targetBranch, diff }: Pick<MergeRequestRecord, 'targetBranch' | 'diff'>,
): Promise<number> {
  const git = codeOf(deps, access);
  const name = branchRef(targetBranch);
  const target = name && (await git.ref(name));
  if (!target) return 0;
  const query = { tips: [target.oid], exclude: [diff.headSha as typeof target.oid] };
  return bounded(() => git.history.count(query, MAX_DIVERGED));
}
