import { ObjectMissing } from '../../git/objects.ts';
import type { Oid } from '../../git/oid.ts';
import { RefConflict } from '../../git/ports.ts';
import { branchRef } from '../../git/refname.ts';
import { inTurns } from '../../git/work.ts';
import { snapshotOf } from '../../records/authors.ts';
import type { DiffVersion, MergeRequestFields, MergeRequestRecord } from '../../records/merge-requests.ts';
import type { SystemNote } from '../../records/notes.ts';
import type { StoredText } from '../../records/texts.ts';
import type { Write } from '../../store/table/write.ts';
import { can, signedIn } from '../access/permissions.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { badRequest, conflict, type DomainError, forbidden, invalid, unprocessable } from '../errors.ts';
import { related } from '../forks/network.ts';
import { findOrCreateLabels } from '../labels/labels.ts';
import { dropRefused, dropReplaced } from '../long-texts.ts';
import { retryWhileStale } from '../retry-while-stale.ts';
import {
  assignable,
  keptText,
  labelChange,
  MAX_ASSIGNEES,
  problemsOf,
  requireNoProblems,
  usableMilestone,
} from '../tracked/input.ts';
import { surroundingsOf } from '../tracked/related.ts';
import { tasksOf } from '../tracked/tasks.ts';
import { tipOf } from './branch-tip.ts';
import { addMergeRequest, changeMergeRequest } from './change.ts';
import { getMergeRequest } from './find.ts';
import { refreshed } from './refresh.ts';
import type { FoundMergeRequest } from './related.ts';
import { commitVersion, proposalOf, proposedBy, type Sides } from './versions.ts';

/** What every proposer decides. */
interface Texts {
  readonly title?: string | undefined;
  readonly description?: string | null | undefined;
}

/** What those who organize the project's work decide; of other proposers it is ignored. */
interface Metadata {
  readonly assigneeIds?: readonly number[] | undefined;
  readonly reviewerIds?: readonly number[] | undefined;
  /** Titles. Those that the project does not have are created. */
  readonly labels?: readonly string[] | undefined;
  /** Null or 0: none. */
  readonly milestoneId?: number | null | undefined;
}

interface Choices {
  readonly squash?: boolean | undefined;
  readonly removeSourceBranch?: boolean | undefined;
  readonly allowCollaboration?: boolean | undefined;
  readonly approvalsBeforeMerge?: number | null | undefined;
}

export interface NewMergeRequestInput extends Texts, Metadata, Choices {
  readonly title: string;
  readonly sourceBranch: string;
  readonly targetBranch: string;
  /** Default: the project of the source branch. */
  readonly targetProjectId?: number | undefined;
}

/** What becomes of a new description: its text without the quick actions in it, and what these make of the merge request. */
export interface ActedDescription {
  readonly text: string;
  /** @throws 400 for what no merge request may have */
  change(record: MergeRequestRecord): Partial<MergeRequestFields>;
  readonly notes: readonly SystemNote[];
  /** What the actions do beside, after the change. */
  finish(record: MergeRequestRecord): Promise<void>;
}

/** The merge request that a description is of; one that is new has no record yet. */
export interface DescribedMergeRequest {
  readonly stored: MergeRequestRecord | undefined;
  readonly title: string;
}

/** Runs the quick actions of a description. @param access the target's. @returns undefined where there are none */
export type ActOn = (
  access: ProjectAccess,
  description: string,
  mergeRequestOf: () => Promise<DescribedMergeRequest>,
) => Promise<ActedDescription | undefined>;

const noActions: ActOn = () => Promise.resolve(undefined);

/**
 * Proposes a branch of a project to be merged into one of it, or of another project of its fork network.
 * @param source the project of the source branch
 * @throws 403 without the right to push to the source or to propose to the target; 422 for the same branch and for a
 *   project that is not related; 400 by field; 409 where there is an open one
 */
export async function createMergeRequest(
  deps: Deps,
  actor: Actor,
  source: ProjectAccess,
  input: NewMergeRequestInput,
  act = noActions,
): Promise<FoundMergeRequest> {
  const { user } = signedIn(actor);
  requireValid(input);
  if (!can(actor, source, 'push_code')) throw forbidden();
  const target = await targetOf(deps, actor, source, input.targetProjectId);
  const sides: Sides = { target, source };
  requireBranches(sides, input);
  deps.store.events.prepare();
  const { project } = target;
  const metadata: Metadata = can(actor, target, 'organize_merge_requests') ? input : {};
  const [proposed, { id, iid }, versionId, assignees, reviewers, labels, milestone] = await Promise.all([
    proposedBy(deps, sides, input),
    deps.store.mergeRequests.allocate(project.id),
    deps.store.mergeRequests.nextVersionId(),
    assignable(deps, target, metadata.assigneeIds ?? [], 'read_merge_requests'),
    assignable(deps, target, metadata.reviewerIds ?? [], 'read_merge_requests'),
    findOrCreateLabels(deps, target, metadata.labels ?? [], { create: true }),
    usableMilestone(deps, target, metadata.milestoneId),
  ]);
  if ('missing' in proposed) throw invalid({ [`${proposed.missing}_branch`]: ['does not exist'] });
  const acted = await act(target, input.description ?? '', async () => ({
    stored: undefined,
    title: input.title.trim(),
  }));
  const at = deps.now().toISOString();
  const diff: DiffVersion = { ...proposed, id: versionId, number: 1, createdAt: at };
  const description = acted?.text ?? input.description ?? null;
  const { squash_option: squashOption, remove_source_branch_after_merge: removes } = project.settings;
  const written: MergeRequestRecord = {
    id,
    iid,
    projectId: project.id,
    title: input.title.trim(),
    description: await keptText(deps, project.id, description),
    state: 'opened',
    author: snapshotOf(user),
    source: { projectId: source.project.id, branch: input.sourceBranch },
    targetBranch: input.targetBranch,
    assigneeIds: assignees.map((each) => each.id),
    reviewerIds: reviewers.map((each) => each.id),
    labelIds: labels.map((label) => label.id),
    milestoneId: milestone?.id ?? null,
    discussionLocked: null,
    timeEstimate: 0,
    timeSpent: 0,
    tasks: await inTurns(tasksOf(description)),
    squash: input.squash ?? (squashOption === 'always' || squashOption === 'default_on'),
    forceRemoveSource: input.removeSourceBranch ?? removes !== false,
    allowCollaboration: (input.allowCollaboration ?? false) && source.project.id !== project.id,
    approvalsBeforeMerge: ownApprovals(target, input.approvalsBeforeMerge) ?? null,
    approvals: [],
    diff,
    autoMerge: null,
    mergeError: null,
    rebase: null,
    closedAt: null,
    closedById: null,
    mergedAt: null,
    mergedById: null,
    mergeCommitSha: null,
    squashCommitSha: null,
    createdAt: at,
    updatedAt: at,
    verdict: null,
    userNotesCount: 0,
    upvotes: 0,
    downvotes: 0,
    unresolvedCount: 0,
    version: 1,
  };
  let record: MergeRequestRecord;
  try {
    record = { ...written, ...acted?.change(written) };
    const notes = acted?.notes ?? [];
    await addMergeRequest(deps, { actor, access: target, after: record, description, notes }, (writes) =>
      commitVersion(deps, sides, record, { before: undefined, after: diff }, writes),
    );
  } catch (error) {
    await dropRefused(deps, written.description, error);
    throw movedMeanwhile(error) ?? error;
  }
  if (acted === undefined) return { mergeRequest: record, access: target };
  await acted.finish(record);
  return getMergeRequest(deps, actor, target, iid);
}

export interface MergeRequestUpdateInput extends Texts, Metadata, Choices {
  readonly targetBranch?: string | undefined;
  /** Titles, after `labels`. */
  readonly addLabels?: readonly string[] | undefined;
  readonly removeLabels?: readonly string[] | undefined;
  readonly stateEvent?: 'close' | 'reopen' | undefined;
  readonly discussionLocked?: boolean | null | undefined;
}

/**
 * Changes a merge request. Authors below Developer change all but what organizes the project's work.
 * @throws `404 Not found`, 403, 400 by field, 422 for one that cannot be opened again, 409 when others keep changing it
 */
export async function updateMergeRequest(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
  input: MergeRequestUpdateInput,
  act = noActions,
): Promise<FoundMergeRequest> {
  requireValid(input);
  const { user } = signedIn(actor);
  const { mergeRequest: read } = await getMergeRequest(deps, actor, access, iid);
  if (!mayUpdate(actor, access, read)) throw forbidden();
  const metadata: MergeRequestUpdateInput = can(actor, access, 'organize_merge_requests') ? input : {};
  const people = async (ids: readonly number[] | undefined) =>
    ids && (await assignable(deps, access, ids, 'read_merge_requests')).map((each) => each.id);
  const [labelsAfter, assigneeIds, reviewerIds, milestone, retargeted, mayShare, tip] = await Promise.all([
    labelChange(deps, access, metadata),
    people(metadata.assigneeIds),
    people(metadata.reviewerIds),
    usableMilestone(deps, access, metadata.milestoneId),
    retargeting(deps, access, read, input.targetBranch),
    input.allowCollaboration !== undefined && isSourcePusher(deps, actor, read),
    input.stateEvent === 'reopen' ? requireSource(deps, actor, access, read) : undefined,
  ]);
  const acted = await act(access, input.description ?? '', async () => ({ stored: read, title: read.title }));
  const text = acted?.text ?? input.description;
  const description = text === undefined ? undefined : await keptText(deps, access.project.id, text);
  const tasks = text === undefined ? undefined : await inTurns(tasksOf(text));
  let replaced: StoredText | null | undefined;
  const change = (before: MergeRequestRecord): Partial<MergeRequestFields> => {
    if (!mayUpdate(actor, access, before)) throw forbidden();
    replaced = description === undefined ? undefined : before.description;
    const at = deps.now();
    const changes: Partial<MergeRequestFields> = {
      ...(input.title === undefined ? {} : { title: input.title.trim() }),
      ...given('description', description),
      ...given('tasks', tasks),
      ...labelsAfter(before),
      ...given('milestoneId', milestone === null ? null : milestone?.id),
      ...given('assigneeIds', assigneeIds),
      ...given('reviewerIds', reviewerIds),
      ...given('discussionLocked', metadata.discussionLocked),
      ...given('squash', input.squash),
      ...given('forceRemoveSource', input.removeSourceBranch),
      ...given('allowCollaboration', mayShare ? input.allowCollaboration : undefined),
      ...given('approvalsBeforeMerge', ownApprovals(access, input.approvalsBeforeMerge)),
      ...retargeted?.change(before),
      ...stateAfter(before, input.stateEvent, user.id, at),
      updatedAt: at.toISOString(),
    };
    return { ...changes, ...acted?.change({ ...before, ...changes }) };
  };
  let changed: MergeRequestRecord;
  const notes = acted?.notes ?? [];
  const options = {
    description: text,
    notes,
    ...(retargeted === undefined ? {} : { within: retargeted.commit }),
  };
  try {
    changed = await changeMergeRequest(deps, actor, access, iid, change, options);
    await dropReplaced(deps, replaced);
  } catch (error) {
    await dropRefused(deps, description, error);
    throw movedMeanwhile(error) ?? error;
  }
  // While it was closed, pushes made no versions.
  const hasMoved = tip !== undefined && tip !== changed.diff.headSha;
  const mergeRequest = hasMoved ? await refreshed(deps, actor, access, changed) : changed;
  if (acted === undefined) return { mergeRequest, access };
  await acted.finish(mergeRequest);
  return getMergeRequest(deps, actor, access, iid);
}

/** @throws `404 Not found`, 403, 409 when others keep changing it */
export async function deleteMergeRequest(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
  unmodifiedSince: (changed: string) => void,
): Promise<void> {
  await retryWhileStale(async () => {
    const { mergeRequest } = await getMergeRequest(deps, actor, access, iid);
    if (!can(actor, access, 'delete_merge_request')) throw forbidden();
    unmodifiedSince(mergeRequest.updatedAt);
    const around = await surroundingsOf(deps, access.project, mergeRequest);
    await deps.store.mergeRequests.remove(mergeRequest, around);
    await dropReplaced(deps, mergeRequest.description);
  });
}

/** Whether the actor may change the texts, the branches and the state of a merge request. */
export const mayUpdate = (actor: Actor, access: ProjectAccess, { author }: MergeRequestRecord): boolean =>
  can(actor, access, 'update_merge_request') ||
  (actor.kind === 'user' && author.id === actor.user.id && can(actor, access, 'create_merge_request'));

/** Of a merged one the state is final. */
export function stateAfter(
  before: Pick<MergeRequestFields, 'state'>,
  event: 'close' | 'reopen' | undefined,
  userId: number,
  at: Date,
): Partial<MergeRequestFields> {
  if (event === 'close' && before.state === 'opened')
    return { state: 'closed', closedAt: at.toISOString(), closedById: userId, autoMerge: null };
  if (event === 'reopen' && before.state === 'closed')
    return { state: 'opened', closedAt: null, closedById: null };
  return {};
}

/** The project to propose to. @throws 403 also for one that is absent or hidden; 422 for one that is not related */
async function targetOf(
  deps: Deps,
  actor: Actor,
  source: ProjectAccess,
  id: number | undefined,
): Promise<ProjectAccess> {
  if (id === undefined || id === source.project.id) {
    if (!can(actor, source, 'create_merge_request')) throw forbidden();
    return source;
  }
  const [target] = await projectAccesses(deps, actor, [id]);
  if (target === undefined || !can(actor, target, 'create_merge_request')) throw forbidden();
  if (!related(source.project, target.project)) throw unrelated();
  return target;
}

const unrelated = () => unprocessable(['Source project is not a fork of the target project']);

/** @throws 400, 422 */
function requireBranches({ target, source }: Sides, input: NewMergeRequestInput): void {
  const { sourceBranch, targetBranch } = input;
  const wrong = Object.entries({ source_branch: sourceBranch, target_branch: targetBranch }).filter(
    ([, name]) => branchRef(name) === undefined,
  );
  requireNoProblems(Object.fromEntries(wrong.map(([name]) => [name, ['is invalid']])));
  if (target.project.id === source.project.id && sourceBranch === targetBranch)
    throw unprocessable(["You can't use same project/branch for source and target"]);
}

/** @throws 400 by field */
function requireValid(input: Texts & Metadata): void {
  const tooMany = new Set(input.reviewerIds).size > MAX_ASSIGNEES;
  requireNoProblems({
    ...problemsOf(input),
    ...(tooMany ? { reviewers: [`are too many (maximum is ${MAX_ASSIGNEES})`] } : {}),
  });
}

/**
 * The number of approvals that a merge request may ask for itself: above the project's, where the project asks for any.
 * @returns undefined where what is given has no effect
 */
function ownApprovals({ project }: ProjectAccess, given: number | null | undefined): number | undefined {
  const general = Number(project.settings['approvals_before_merge'] ?? 0);
  return given != null && general > 0 && given > general ? given : undefined;
}

/** Whether the source branch is in a fork to which the actor may push by their own right. */
async function isSourcePusher(
  deps: Deps,
  actor: Actor,
  { source, projectId }: MergeRequestRecord,
): Promise<boolean> {
  if (source.projectId === projectId) return false;
  const [fork] = await projectAccesses(deps, actor, [source.projectId]);
  return fork !== undefined && can(actor, fork, 'push_code');
}

/** @returns where the source branch is now @throws 422 where it is gone, and where its project is no fork any more */
export async function requireSource(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  { source }: MergeRequestRecord,
): Promise<Oid> {
  const [project] =
    source.projectId === access.project.id
      ? [access]
      : await projectAccesses(deps, actor, [source.projectId]);
  if (project !== undefined && !related(project.project, access.project)) throw unrelated();
  const tip = project === undefined ? undefined : await tipOf(deps, project, source.branch);
  if (tip === undefined) throw unprocessable([`Source branch "${source.branch}" does not exist`]);
  return tip;
}

/** What another target branch makes of a merge request: its next version, from the same head. */
export async function retargeting(
  deps: Deps,
  access: ProjectAccess,
  read: MergeRequestRecord,
  targetBranch: string | undefined,
) {
  if (targetBranch === undefined || targetBranch === read.targetBranch) return undefined;
  const sides: Sides = { target: access, source: access };
  if (branchRef(targetBranch) === undefined) throw invalid({ target_branch: ['is invalid'] });
  if (read.source.projectId === read.projectId && read.source.branch === targetBranch)
    throw unprocessable(["You can't use same project/branch for source and target"]);
  const start = await tipOf(deps, access, targetBranch);
  if (start === undefined) throw invalid({ target_branch: ['does not exist'] });
  const [proposed, id] = await Promise.all([
    proposalOf(deps, sides, read.diff.headSha as Oid, start),
    deps.store.mergeRequests.nextVersionId(),
  ]);
  const createdAt = deps.now().toISOString();
  let after: DiffVersion;
  return {
    change: (before: MergeRequestRecord): Partial<MergeRequestFields> => {
      if (before.state !== 'opened')
        throw unprocessable(['Target branch of a merge request that is not open']);
      // Its head moved: what it proposes has to be read again.
      if (before.diff.headSha !== proposed.headSha) throw conflict('409 Conflict: Resource lock');
      after = { ...proposed, id, number: before.diff.number + 1, createdAt };
      // Who asked for an automatic merge asked for one into the other branch.
      return { targetBranch, diff: after, autoMerge: null };
    },
    commit: (writes: readonly Write[], before: MergeRequestRecord) =>
      commitVersion(deps, sides, before, { before: before.diff, after }, writes),
  };
}

/** The answer where a branch or the repository changed while it was read; undefined for other errors. */
function movedMeanwhile(error: unknown): DomainError | undefined {
  if (error instanceof ObjectMissing)
    return badRequest('The history of the source branch is too large to be copied');
  return error instanceof RefConflict ? conflict('409 Conflict: Resource lock') : undefined;
}

const given = <K extends keyof MergeRequestFields>(name: K, value: MergeRequestFields[K] | undefined) =>
  value === undefined ? {} : { [name]: value };
