import { isDraft, type ListedMergeRequest, type MergeVerdict } from '../../records/merge-requests.ts';
import { type CiStatus, isActiveStatus } from '../../records/pipelines.ts';
import { conflict, notAcceptable, notAllowed, unauthorized } from '../errors.ts';
import type { MergeSettings } from './merge-settings.ts';

/** Whether heads were found to merge without conflicts. `checking`: a worker is about to find out. */
export type MergeStatus = 'unchecked' | 'checking' | 'can_be_merged' | 'cannot_be_merged';

/** The first reason why a merge request cannot be merged, or that it can. */
export type DetailedMergeStatus =
  | 'not_open'
  | 'unchecked'
  | 'checking'
  /** a branch is gone, or the target has all commits of the source */
  | 'broken_status'
  | 'draft_status'
  | 'discussions_not_resolved'
  | 'ci_still_running'
  | 'ci_must_pass'
  | 'not_approved'
  | 'conflict'
  | 'need_rebase'
  | 'mergeable';

/** Milliseconds after which a rebase is taken for dead. */
const LEASE_MS = 30 * 60_000;

/** Whether a worker may be about to rebase the source branch. */
export const isRebasing = ({ rebase }: Pick<ListedMergeRequest, 'rebase'>, now: Date): boolean =>
  rebase !== null && now.getTime() - Date.parse(rebase.at) < LEASE_MS;

/** What decides whether a merge request can be merged. */
export interface MergeSituation {
  readonly record: Pick<ListedMergeRequest, 'state' | 'title' | 'diff' | 'verdict' | 'unresolvedCount'>;
  /** A worker may be about to move the source branch. */
  readonly rebasing: boolean;
  readonly settings: Pick<
    MergeSettings,
    'method' | 'pipelineMustSucceed' | 'skippedSuffices' | 'discussionsMustBeResolved'
  >;
  /** What the target branch points to; undefined: it is gone. */
  readonly targetSha: string | undefined;
  readonly sourceExists: boolean;
  /** Of the newest pipeline of the head; undefined: it has none. */
  readonly pipeline: PipelineState | undefined;
  readonly approved: boolean;
  /** A worker was told to check. */
  readonly checking: boolean;
}

export type PipelineState = CiStatus;

/** The verdict, if it is one on the heads of now. */
export function currentVerdict({
  record,
  targetSha,
}: Pick<MergeSituation, 'targetSha'> & {
  readonly record: Pick<ListedMergeRequest, 'diff' | 'verdict'>;
}): MergeVerdict | undefined {
  const { diff, verdict } = record;
  const holds = verdict !== null && verdict.headSha === diff.headSha && verdict.targetSha === targetSha;
  return holds ? verdict : undefined;
}

export function mergeStatus(
  situation: Pick<MergeSituation, 'targetSha' | 'checking'> & {
    readonly record: Pick<ListedMergeRequest, 'state' | 'diff' | 'verdict'>;
  },
): MergeStatus {
  const { record, targetSha, checking } = situation;
  if (record.state === 'merged') return 'can_be_merged';
  if (targetSha === undefined) return 'cannot_be_merged';
  const verdict = currentVerdict(situation);
  if (verdict === undefined) return checking ? 'checking' : 'unchecked';
  return verdict.mergeable ? 'can_be_merged' : 'cannot_be_merged';
}

/** False unless it is known that heads conflict. */
export const hasConflicts = (situation: Parameters<typeof currentVerdict>[0]): boolean =>
  (currentVerdict(situation)?.conflicts.length ?? 0) > 0;

export function detailedMergeStatus(situation: MergeSituation): DetailedMergeStatus {
  if (situation.record.state !== 'opened') return 'not_open';
  const verdict = currentVerdict(situation);
  const branchless = situation.targetSha === undefined || !situation.sourceExists;
  if (verdict === undefined && !branchless) return situation.checking ? 'checking' : 'unchecked';
  return unreadyReason(situation) ?? unmergeableReason(situation, verdict) ?? 'mergeable';
}

/** Why people are not done with it: what a push or the target's head has no part in. */
function unreadyReason(
  { record, settings, targetSha, sourceExists, pipeline, approved }: MergeSituation,
  { awaitsPipeline = false } = {},
): DetailedMergeStatus | undefined {
  if (record.state !== 'opened') return 'not_open';
  if (isDraft(record)) return 'draft_status';
  if (targetSha === undefined || !sourceExists) return 'broken_status';
  if (settings.discussionsMustBeResolved && record.unresolvedCount > 0) return 'discussions_not_resolved';
  if (!awaitsPipeline && settings.pipelineMustSucceed && !suffices(pipeline, settings))
    return isActive(pipeline) ? 'ci_still_running' : 'ci_must_pass';
  return approved ? undefined : 'not_approved';
}

/** Why its commits cannot be merged into the target as it is. */
function unmergeableReason(
  { settings, rebasing }: Pick<MergeSituation, 'settings' | 'rebasing'>,
  verdict: MergeVerdict | undefined,
): DetailedMergeStatus | undefined {
  if (verdict === undefined || rebasing) return 'checking';
  if (!verdict.mergeable) return verdict.conflicts.length > 0 ? 'conflict' : 'broken_status';
  return settings.method !== 'merge' && !verdict.fastForward ? 'need_rebase' : undefined;
}

export const isActive = (pipeline: PipelineState | undefined): boolean =>
  pipeline !== undefined && (isActiveStatus(pipeline) || pipeline === 'created');

const suffices = (
  pipeline: PipelineState | undefined,
  { skippedSuffices }: Pick<MergeSettings, 'skippedSuffices'>,
): boolean => pipeline === 'success' || (skippedSuffices && pipeline === 'skipped');

/** What the merger asks for. */
export interface MergeDemand {
  readonly mayMerge: boolean;
  readonly whenPipelineSucceeds: boolean;
  /** The head that the merger has seen. */
  readonly sha?: string | undefined;
}

/**
 * Checks in this order whether people are done with a merge request, before its commits are looked at.
 * @returns whether it is to be merged at once, or when the pipeline of its head has succeeded
 * @throws 401 for who may not merge into the target; 405 for one that is not open, a draft, unapproved, without its
 *   branches, or waits for discussions or its pipeline
 */
export function requireReady(situation: MergeSituation, demand: MergeDemand): 'now' | 'later' {
  if (!demand.mayMerge) throw unauthorized();
  const { whenPipelineSucceeds } = demand;
  const { pipeline } = situation;
  if (unreadyReason(situation, { awaitsPipeline: whenPipelineSucceeds }) !== undefined) throw notAllowed();
  if (!whenPipelineSucceeds || pipeline === 'success') return 'now';
  if (!isActive(pipeline)) throw notAllowed();
  return 'later';
}

/**
 * Checks what was found about its commits.
 * @throws 406 for conflicts, and where a rebase is needed or under way; 409 for another head than the merger has seen
 */
export function requireMergeable(
  situation: Pick<MergeSituation, 'record' | 'rebasing' | 'settings' | 'targetSha'>,
  { sha }: Pick<MergeDemand, 'sha'>,
): void {
  const { headSha } = situation.record.diff;
  if (unmergeableReason(situation, currentVerdict(situation)) !== undefined)
    throw notAcceptable('Branch cannot be merged');
  if (sha !== undefined && sha !== headSha)
    throw conflict(`SHA does not match HEAD of source branch: ${headSha}`);
}
