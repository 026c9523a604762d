/** Merge requests that are proposed and changed with a push, by its options. */

import { titleOf } from '../../git/commit-title.ts';
import { CorruptData } from '../../git/corrupt-data.ts';
import { HistoryLimit } from '../../git/history.ts';
import { ObjectMissing } from '../../git/objects.ts';
import type { Oid } from '../../git/oid.ts';
import { LimitExceeded } from '../../git/work.ts';
import { isDraft, type MergeRequestReference } from '../../records/merge-requests.ts';
import { can, signedIn } from '../access/permissions.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import type { GitAccess, ProjectAccess } from '../access/types.ts';
import type { Deps } from '../deps.ts';
import { badRequest, DomainError, notFound } from '../errors.ts';
import type { Propose, PushedTip } from '../git/push-answer.ts';
import type { MergeRequestOptions } from '../git/push-options.ts';
import { withAbove } from '../labels/containers.ts';
import { codeOf } from '../repository/read.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';
import { tipOf } from './branch-tip.ts';
import { getMergeRequest } from './find.ts';
import { askToMergeLater, Outdated } from './merge.ts';
import { createMergeRequest, updateMergeRequest } from './merge-requests.ts';
import { refreshed } from './refresh.ts';

/** Branches of one push that its options are for. */
const MAX_BRANCHES = 10;
/** Open merge requests of one branch that are looked at. */
const MAX_OPEN = 100;
/** Commits visited to find out whether a branch has one of its own. */
const MAX_VISITED = 10_000;

interface Proposing {
  readonly access: GitAccess;
  readonly target: ProjectAccess;
  readonly options: MergeRequestOptions;
  readonly assignIds: readonly number[];
  readonly unassignIds: readonly number[];
  readonly milestoneId: number | undefined;
}

/** What cannot be done is told as a warning; the push stands. */
export const proposePushed: Propose = async (deps, access, pushed, options) => {
  const open = new Map<string, readonly MergeRequestReference[]>();
  const warnings: string[] = [];
  if (pushed.length > MAX_BRANCHES) {
    const most = `Push options are for ${MAX_BRANCHES} branches at most: ${pushed.length} were pushed`;
    return { open, warnings: [`warning: ${most}`] };
  }
  try {
    const proposing = await proposingOf(deps, access, options);
    for (const each of pushed) {
      try {
        const reference = await proposed(deps, proposing, each);
        open.set(each.branch, [reference]);
        if (options.mergeWhenPipelineSucceeds === true) await mergesLater(deps, proposing, reference);
      } catch (error) {
        if (!(error instanceof DomainError)) throw error;
        warnings.push(`warning: merge request of ${each.branch}: ${reasonOf(error)}`);
      }
    }
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    warnings.push(`warning: merge request: ${reasonOf(error)}`);
  }
  return { open, warnings };
};

/** Without the status that answers of the API begin with. */
function reasonOf({ detail }: DomainError): string {
  if (typeof detail === 'string') return detail.replace(/^\d{3} (?:Bad request - )?/, '');
  if (Array.isArray(detail)) return detail.join(', ');
  return Object.entries(detail)
    .map(([field, problems]) => `${field} ${[problems].flat().join(', ')}`)
    .join('; ');
}

/** @throws 404 for what the options name and the pusher does not see */
async function proposingOf(deps: Deps, access: GitAccess, options: MergeRequestOptions): Promise<Proposing> {
  const target = await targetOf(deps, access, options.targetProject);
  const { assign = [], unassign = [], milestone } = options;
  const [assignIds, unassignIds, milestoneIds] = await Promise.all([
    usersNamed(deps, assign),
    usersNamed(deps, unassign),
    milestone === undefined ? [] : deps.store.milestones.titled(withAbove(target), milestone),
  ]);
  if (milestone !== undefined && milestoneIds.length === 0) throw notFound('Milestone');
  return { access, target, options, assignIds, unassignIds, milestoneId: milestoneIds[0] };
}

/** The project that is named, else the one that this is a fork of, if it takes merge requests, else this one. */
async function targetOf(
  deps: Deps,
  { actor, project: source }: GitAccess,
  named: string | undefined,
): Promise<ProjectAccess> {
  if (named !== undefined) {
    const id = /^\d{1,15}$/.test(named) ? Number(named) : (await deps.store.projects.byPath(named))?.id;
    const [access] = id === undefined ? [] : await projectAccesses(deps, actor, [id]);
    if (access === undefined) throw notFound('Project');
    return access;
  }
  const { forkedFromId, settings } = source.project;
  if (forkedFromId === undefined || settings['mr_default_target_self'] === true) return source;
  const [parent] = await projectAccesses(deps, actor, [forkedFromId]);
  return parent !== undefined && can(actor, parent, 'create_merge_request') ? parent : source;
}

/** @param names ids and names */
const usersNamed = ({ store }: Deps, names: readonly string[]): Promise<number[]> =>
  Promise.all(
    names.map(async (name) => {
      const isId = /^\d{1,15}$/.test(name);
      const user = await (isId
        ? store.users.get(Number(name))
        : store.users.byUsername(name.replace(/^@/, '')));
      if (user === undefined) throw notFound('User');
      return user.id;
    }),
  );

/** Changes the open merge request of a branch, or proposes it. @throws as `createMergeRequest` and `updateMergeRequest` */
async function proposed(deps: Deps, proposing: Proposing, pushed: PushedTip): Promise<MergeRequestReference> {
  const { access, target, options } = proposing;
  const source = { projectId: access.project.project.id, branch: pushed.branch };
  const open = (await deps.store.mergeRequests.openFrom(source, MAX_OPEN)).filter(
    ({ projectId }) => projectId === target.project.id,
  );
  const targetBranch = options.target ?? target.project.defaultBranch;
  const wanted =
    open.find((each) => each.targetBranch === targetBranch) ??
    (options.create === true ? undefined : open[0]);
  if (wanted !== undefined) {
    // The worker that follows the push may be at it too.
    await retryOnConflict(() => change(deps, proposing, wanted), isBusy);
    return wanted;
  }
  if (options.create !== true) throw badRequest("needs the push option 'merge_request.create'");
  if (targetBranch === null) throw notFound('Branch');
  const { user } = signedIn(access.actor);
  const own = await ownTexts(deps, proposing, pushed, targetBranch);
  const { mergeRequest } = await createMergeRequest(deps, access.actor, access.project, {
    sourceBranch: pushed.branch,
    targetBranch,
    targetProjectId: target.project.id,
    title: titleFor(options, options.title ?? own.title),
    description: options.description ?? own.description,
    labels: options.label,
    // As in the product, who proposes by a push works on it.
    assigneeIds: [user.id, ...proposing.assignIds],
    milestoneId: proposing.milestoneId,
    squash: options.squash,
    removeSourceBranch: options.removeSourceBranch,
  });
  return mergeRequest;
}

/** Of the head that was pushed, whether a worker has followed the push or not. @throws 403 */
async function mergesLater(
  deps: Deps,
  { access: { actor }, target }: Proposing,
  { iid }: MergeRequestReference,
): Promise<void> {
  // Its worker may be at it too.
  const ask = async () => {
    const { mergeRequest } = await getMergeRequest(deps, actor, target, iid);
    await askToMergeLater(deps, actor, target, await refreshed(deps, actor, target, mergeRequest));
  };
  await retryOnConflict(ask, (error) => error instanceof Outdated);
}

/** Others kept changing it, or its head moved, which is what this push has just done. */
const isBusy = (error: unknown): boolean =>
  error instanceof DomainError && error.text === '409 Conflict: Resource lock';

async function change(
  deps: Deps,
  { access: { actor }, target, options, assignIds, unassignIds, milestoneId }: Proposing,
  { iid }: MergeRequestReference,
): Promise<void> {
  const { mergeRequest: read } = await getMergeRequest(deps, actor, target, iid);
  // Another target is for the head that was pushed.
  const mergeRequest = options.target === undefined ? read : await refreshed(deps, actor, target, read);
  const title = titleFor(options, options.title ?? mergeRequest.title);
  const assigned = new Set([...mergeRequest.assigneeIds, ...assignIds]);
  for (const id of unassignIds) assigned.delete(id);
  const input = {
    title: title === mergeRequest.title ? undefined : title,
    description: options.description,
    targetBranch: options.target === mergeRequest.targetBranch ? undefined : options.target,
    addLabels: options.label,
    removeLabels: options.unlabel,
    assigneeIds: assignIds.length + unassignIds.length === 0 ? undefined : [...assigned],
    milestoneId,
    squash: options.squash,
    removeSourceBranch: options.removeSourceBranch,
  };
  if (Object.values(input).every((value) => value === undefined)) return;
  await updateMergeRequest(deps, actor, target, iid, input);
}

const titleFor = ({ draft }: MergeRequestOptions, title: string): string =>
  draft === true && !isDraft({ title }) ? `Draft: ${title}` : title;

/** What the only commit says that a branch has of its own; otherwise what the branch is called. */
async function ownTexts(
  deps: Deps,
  { access, target }: Proposing,
  { branch, tip }: PushedTip,
  targetBranch: string,
): Promise<{ readonly title: string; readonly description?: string }> {
  const called = branch.replace(/[-_/]+/g, ' ').trim();
  const fallback = { title: called === '' ? branch : called[0]!.toUpperCase() + called.slice(1) };
  try {
    const start = await tipOf(deps, target, targetBranch);
    if (start === undefined) return fallback;
    const range = { tips: [tip], exclude: [start as Oid], limit: 2 };
    const commits = await codeOf(deps, access.project).log(range, { maxCommits: MAX_VISITED });
    const message = commits.length === 1 ? commits[0]!.message.trim() : '';
    const title = titleOf(message);
    const [, body = ''] = /\n(.*)$/s.exec(message) ?? [];
    if (title === '') return fallback;
    return {
      title: title.slice(0, 255),
      ...(body === '' ? {} : { description: body.trim().toWellFormed() }),
    };
  } catch (error) {
    const isBeyond = error instanceof HistoryLimit || error instanceof LimitExceeded;
    if (isBeyond || error instanceof ObjectMissing || error instanceof CorruptData) return fallback;
    throw error;
  }
}
