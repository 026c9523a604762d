/** Merging: the target's branch moves, and the merge request is merged, in one transaction. */

import { type Oid, ZERO_OID } from '../../git/oid.ts';
import type { RefUpdate } from '../../git/ports.ts';
import { branchRef } from '../../git/refname.ts';
import { GitRepository } from '../../git/repository.ts';
import type { MergeChoices, MergeRequestRecord } from '../../records/merge-requests.ts';
import { REMOVE_SOURCE_JOB, RETARGET_JOB } from '../../store/merge-requests/merge-requests.ts';
import { openTo } from '../../store/merge-requests/open.ts';
import { MAINTENANCE, message, type OutboxMessage } from '../../store/outbox/outbox.ts';
import { can, signedIn } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { conflict, forbidden, notAcceptable, unauthorized } from '../errors.ts';
import { serializeByKey } from '../in-process-queue.ts';
import { moverOf } from '../notifications/enqueue.ts';
import { type BranchProtection, branchProtection } from '../refs/protection.ts';
import { identityOf } from '../repository/identity.ts';
import { openRepository } from '../repository/open.ts';
import { codeOf } from '../repository/read.ts';
import { repositoryTooLarge, sizeExcess } from '../repository/size-limits.ts';
import { lostRef, retryOnConflict } from '../retry-on-conflict.ts';
import { judgedAsItIs } from './as-it-is.ts';
import { changeMergeRequest } from './change.ts';
import { getMergeRequest } from './find.ts';
import { type BuiltMerge, buildMerge } from './merge-commits.ts';
import { mergeSettingsOf, squashes } from './merge-settings.ts';
import { requireMergeable, requireReady } from './merge-status.ts';
import type { Judged } from './mergeability.ts';
import { messageFacts } from './message-facts.ts';
import { messageOf } from './messages.ts';
import type { FoundMergeRequest } from './related.ts';
import { cut, MAX_MESSAGE_BYTES } from './templates.ts';

export interface MergeInput extends MergeChoices {
  /** Merge as soon as the pipeline of the head has succeeded. */
  readonly whenPipelineSucceeds: boolean;
  /** The head that the merger has seen. */
  readonly sha?: string | undefined;
}

const QUEUE_TIMEOUT_MS = 12_000;
/** Open merge requests to a branch that is merged and removed that go to its target: the oldest, as in the product. */
const MAX_RETARGETED = 4;

/** The merge request changed while it was judged. */
export class Outdated extends Error {
  constructor() {
    super('the merge request changed while it was judged');
    this.name = 'Outdated';
  }
}

/**
 * Merges a merge request, or has it merged when its pipeline succeeds. One of several mergers wins; merges into one
 * branch follow each other.
 * @throws `404 Not found`; 401 for who may not merge into the target; 405 where people are not done with it; 406 for
 *   conflicts; 409 for another head, and where others keep changing it or the branch
 */
export async function mergeMergeRequest(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
  input: MergeInput,
): Promise<FoundMergeRequest> {
  const attempt = () => mergeOnce(deps, actor, access, iid, input);
  const lost = (error: unknown) => error instanceof Outdated || lostRef(error);
  try {
    const mergeRequest = await serializeByKey(`merge ${access.project.id}`, QUEUE_TIMEOUT_MS, () =>
      retryOnConflict(attempt, lost, { attempts: 40 }),
    );
    return { mergeRequest, access };
  } catch (error) {
    throw lost(error) ? conflict('409 Conflict: Resource lock') : error;
  }
}

async function mergeOnce(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
  input: MergeInput,
): Promise<MergeRequestRecord> {
  const protecting = branchProtection(deps, access, actor);
  const { mergeRequest: read } = await getMergeRequest(deps, actor, access, iid);
  const [protection, situation] = await Promise.all([protecting, judgedAsItIs(deps, actor, access, read)]);
  const demand = { ...input, mayMerge: protection.mayUpdate(actor, situation.record.targetBranch) };
  const when = requireReady(situation, demand);
  try {
    requireMergeable(situation, demand);
  } catch (refusal) {
    // Branches are read after the record: whoever merged it in between left nothing to merge.
    const now = await deps.store.mergeRequests.get(read);
    throw now?.version === situation.record.version ? refusal : new Outdated();
  }
  if (when === 'later') return mergeLater(deps, actor, access, situation, input);
  const excess = await sizeExcess(deps, access.project);
  if (excess !== undefined) throw repositoryTooLarge(excess);
  return mergeNow(deps, actor, access, situation, input, protection);
}

/** Applies a change to the merge request as it was judged. @throws Outdated when it has changed since */
const asJudged =
  (judged: MergeRequestRecord, change: () => Partial<MergeRequestRecord>) => (before: MergeRequestRecord) => {
    if (before.version !== judged.version) throw new Outdated();
    return change();
  };

/**
 * Asks that a merge request is merged when the pipeline of its head succeeds, before there is one.
 * @throws 403 for who may not merge it
 */
export async function askToMergeLater(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  record: MergeRequestRecord,
): Promise<void> {
  const protection = await branchProtection(deps, access, actor);
  if (!protection.mayUpdate(actor, record.targetBranch)) throw forbidden('You may not merge it');
  if (record.autoMerge?.headSha === record.diff.headSha) return;
  const asSettingsSay = { mergeMessage: null, squashMessage: null, squash: null, removeSource: null };
  await mergeLater(deps, actor, access, { record }, asSettingsSay);
}

function mergeLater(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  { record }: Pick<Judged, 'record'>,
  { mergeMessage, squashMessage, squash, removeSource }: MergeChoices,
): Promise<MergeRequestRecord> {
  const { id: userId } = signedIn(actor).user;
  const { headSha } = record.diff;
  const autoMerge = { mergeMessage, squashMessage, squash, removeSource, userId, headSha };
  const change = () => ({ autoMerge, updatedAt: deps.now().toISOString() });
  const text = `enabled an automatic merge when the pipeline for ${headSha} succeeds`;
  return changeMergeRequest(deps, actor, access, record.iid, asJudged(record, change), {
    notes: [{ action: 'merge', text }],
  });
}

async function mergeNow(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  situation: Judged,
  input: MergeInput,
  protection: BranchProtection,
): Promise<MergeRequestRecord> {
  const { record } = situation;
  const [built, { updates, messages }] = await Promise.all([
    builtMerge(deps, actor, access, situation, input),
    sourceRemoval(deps, actor, access, situation, input, protection),
  ]);
  const { user } = signedIn(actor);
  const at = deps.now();
  const merged = {
    state: 'merged',
    mergedAt: at.toISOString(),
    mergedById: user.id,
    mergeCommitSha: built.mergeCommit ?? null,
    squashCommitSha: built.squashCommit ?? null,
    squash: built.squashCommit !== undefined,
    ...(input.removeSource === null ? {} : { removeSource: input.removeSource }),
    mergeError: null,
    autoMerge: null,
    updatedAt: at.toISOString(),
  } as const;
  const target = {
    name: branchRef(record.targetBranch)!,
    from: situation.heads.targetSha!,
    to: built.tip,
    ...(built.objects.length === 0 ? {} : { committed: Math.floor(at.getTime() / 1000) }),
  };
  const { project } = access;
  return changeMergeRequest(
    deps,
    actor,
    access,
    record.iid,
    asJudged(record, () => merged),
    {
      messages,
      within: (writes) => {
        const repository = openRepository(deps, project, { pusher: actor }).together({
          writes,
          merged: record.iid,
        });
        const git = new GitRepository(repository, deps.histories.of(project.repositoryId));
        return git.publish(built.objects, [target, ...updates], { uses: [record.diff.headSha as Oid] });
      },
    },
  );
}

/** @throws 406 where the engine finds that it cannot be merged after all */
async function builtMerge(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  { record, heads }: Judged,
  input: MergeInput,
): Promise<BuiltMerge> {
  const settings = mergeSettingsOf(access.project);
  const squash = squashes(settings, record, input.squash);
  const git = codeOf(deps, access);
  const [target, head] = [heads.targetSha!, record.diff.headSha as Oid];
  const templates = { merge: settings.mergeTemplate, squash: settings.squashTemplate };
  const written = { merge: writtenMessage(input.mergeMessage), squash: writtenMessage(input.squashMessage) };
  const template = [
    ...(written.merge === undefined ? [templates.merge] : []),
    ...(squash && written.squash === undefined ? [templates.squash] : []),
  ].join('\n');
  const [facts, [base]] = await Promise.all([
    messageFacts(deps, actor, access, { record, targetSha: target, template }, git),
    git.history.mergeBases(target, [head]),
  ]);
  const committer = identityOf(signedIn(actor).user, deps.now());
  const built =
    base &&
    (await buildMerge(git, {
      method: settings.method,
      target,
      head,
      base: base.oid,
      mergeMessage: written.merge ?? messageOf(templates.merge, facts),
      squashMessage: squash ? (written.squash ?? messageOf(templates.squash, facts)) : undefined,
      author: { ...committer, name: facts.author.name, email: facts.author.email },
      committer,
    }));
  if (built === undefined) throw notAcceptable('Branch cannot be merged');
  return built;
}

/** The message that the merger wrote. @returns undefined where they left it to the template */
const writtenMessage = (given: string | null): string | undefined =>
  given === null || given.trim() === '' ? undefined : cut(given, MAX_MESSAGE_BYTES);

/**
 * What removes the source branch, if that is wanted and the merger may: in the transaction of the merge, or, in a fork, by
 * a worker after it. The default branch and protected ones stay. A worker lets what is open to it go to the target.
 */
async function sourceRemoval(
  deps: Deps,
  actor: Actor,
  { project, ...access }: ProjectAccess,
  { record }: Judged,
  { removeSource }: Pick<MergeInput, 'removeSource'>,
  protection: BranchProtection,
): Promise<{ readonly updates: readonly RefUpdate[]; readonly messages: readonly OutboxMessage[] }> {
  const { source, diff } = record;
  const stays = { updates: [], messages: [] };
  if (!(removeSource ?? record.forceRemoveSource)) return stays;
  if (source.projectId !== project.id) {
    // A fork is its author's: where that is what they wanted, it is they who remove the branch.
    const userId = record.forceRemoveSource ? record.author.id : signedIn(actor).user.id;
    const body = {
      ...source,
      sha: diff.headSha,
      userId,
      baseUrl: actor.origin?.baseUrl ?? deps.environment.baseUrl ?? '',
    };
    return { updates: [], messages: [message(MAINTENANCE, REMOVE_SOURCE_JOB, body)] };
  }
  const kept = source.branch === project.defaultBranch || protection.isProtected(source.branch);
  if (kept || !can(actor, { project, ...access }, 'push_code')) return stays;
  const name = branchRef(source.branch)!;
  const iids = await openTo(deps.store, source, MAX_RETARGETED);
  const { targetBranch } = record;
  const body = { ...source, iids, targetBranch, ...moverOf(deps, actor) };
  return {
    updates: [{ name, from: diff.headSha as Oid, to: ZERO_OID }],
    messages: iids.length === 0 ? [] : [message(MAINTENANCE, RETARGET_JOB, body)],
  };
}

/**
 * Takes back that a merge request is merged when its pipeline succeeds.
 * @throws `404 Not found`; 401 for who may neither merge nor has asked for it; 406 where nobody has
 */
export async function cancelAutoMerge(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
): Promise<FoundMergeRequest> {
  const protection = await branchProtection(deps, access, actor);
  const change = (before: MergeRequestRecord) => {
    const own = actor.kind === 'user' && before.autoMerge?.userId === actor.user.id;
    if (!own && !protection.mayUpdate(actor, before.targetBranch)) throw unauthorized();
    if (before.autoMerge === null || before.state !== 'opened') throw notAcceptable();
    return { autoMerge: null, updatedAt: deps.now().toISOString() };
  };
  const mergeRequest = await changeMergeRequest(deps, actor, access, iid, change, {
    notes: [{ action: 'merge', text: 'canceled the automatic merge' }],
  });
  return { mergeRequest, access };
}
