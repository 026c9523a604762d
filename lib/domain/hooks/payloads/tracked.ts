/** Payloads of issues and merge requests. */
import type { IssueRecord } from '../../../records/issues.ts';
import { isDraft, type MergeRequestRecord } from '../../../records/merge-requests.ts';
import type { Edited } from '../../../records/tracked.ts';
import { evaluateApprovals } from '../../approvals/evaluate.ts';
import type { Deps } from '../../deps.ts';
import type { HookChanges, HookEvent } from '../../hook-events/events.ts';
import { headPipeline } from '../../merge-requests/mergeability.ts';
import { withAbsoluteImages } from './images.ts';
import {
  changesPart,
  commitOf,
  commitPart,
  type Facts,
  labelParts,
  type Payload,
  type ProjectFacts,
  projectPart,
  projectUrl,
  repositoryPart,
  spoken,
  stamp,
  stampOrNull,
  textOf,
  userPart,
  userParts,
} from './parts.ts';

type EventOf<K extends HookEvent['kind']> = Extract<HookEvent, { kind: K }>;

const ISSUE_STATES = { opened: 1, closed: 2 } as const;
const MERGE_REQUEST_STATES = { opened: 1, closed: 2, merged: 3 } as const;

/** @returns none when the issue is gone */
export async function issuePayloads(
  deps: Deps,
  facts: ProjectFacts,
  { iid, action, changes, moment }: EventOf<'issue'>,
): Promise<Payload[]> {
  const { project, user } = facts;
  const found = await deps.store.issues.get({ projectId: project.id, iid });
  if (found === undefined) return [];
  const issue = asThen(found, moment);
  const [attributes, assignees, told] = await Promise.all([
    issueAttributes(deps, facts, issue),
    userParts(deps, issue.assigneeIds, facts),
    resolvedChanges(deps, facts, changes),
  ]);
  const { confidential } = issue;
  const body = {
    object_kind: 'issue',
    event_type: confidential ? 'confidential_issue' : 'issue',
    user: userPart(user, facts),
    project: projectPart(project, facts),
    object_attributes: { ...attributes, ...timeChange(changes), action },
    labels: attributes.labels,
    changes: action === 'open' ? madeOf(attributes) : told,
    repository: repositoryPart(project, facts),
    ...(assignees.length === 0 ? {} : { assignees }),
  };
  return [
    {
      trigger: confidential ? 'confidential_issues_events' : 'issues_events',
      event: confidential ? 'Confidential Issue Hook' : 'Issue Hook',
      body,
      for: ['project', 'group'],
    },
  ];
}

/** As the record was after the change that a message tells of. */
function asThen<R extends Edited>(found: R, moment: Partial<R> | undefined): R {
  if (moment === undefined) return found;
  // These are absent in a moment that had none.
  const { updatedById: _by, lastEdited: _edited, ...rest } = found;
  return { ...rest, ...moment } as R;
}

/** What a new issue has that it had not before. */
function madeOf(attributes: Awaited<ReturnType<typeof issueAttributes>>) {
  const { author_id, created_at, description, id, iid, project_id, title, updated_at } = attributes;
  const values = { author_id, created_at, description, id, iid, project_id, title, updated_at };
  const none = null;
  return changesPart(
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, [none, value] as const])),
  );
}

/** @param issue of the project of the facts */
export async function issueAttributes(deps: Deps, facts: ProjectFacts, issue: IssueRecord) {
  const [description, labels] = await Promise.all([
    textOf(deps, issue.description),
    labelParts(deps, issue.labelIds),
  ]);
  return {
    author_id: issue.author.id,
    closed_at: stampOrNull(issue.closedAt),
    confidential: issue.confidential,
    created_at: stamp(issue.createdAt),
    description: withAbsoluteImages(description, facts),
    discussion_locked: issue.discussionLocked,
    due_date: issue.dueDate,
    id: issue.id,
    iid: issue.iid,
    ...editedPart(issue),
    milestone_id: issue.milestoneId,
    moved_to_id: issue.movedTo?.id ?? null,
    duplicated_to_id: issue.duplicatedTo?.id ?? null,
    project_id: issue.projectId,
    relative_position: null,
    state_id: ISSUE_STATES[issue.state],
    time_estimate: issue.timeEstimate,
    title: issue.title,
    updated_at: stamp(issue.updatedAt),
    weight: issue.weight,
    health_status: issue.healthStatus,
    type: TYPE_NAMES[issue.type],
    url: `${projectUrl(facts.project, facts.baseUrl)}/-/issues/${issue.iid}`,
    total_time_spent: issue.timeSpent,
    ...timeChange({}),
    human_total_time_spent: spoken(issue.timeSpent),
    human_time_estimate: spoken(issue.timeEstimate),
    assignee_ids: [...issue.assigneeIds],
    assignee_id: issue.assigneeIds[0] ?? null,
    labels,
    state: issue.state,
    severity: issue.severity.toLowerCase(),
  };
}

const editedPart = ({ updatedById, lastEdited }: Edited) => ({
  last_edited_at: stampOrNull(lastEdited?.at ?? null),
  last_edited_by_id: lastEdited?.byId ?? null,
  updated_by_id: updatedById ?? null,
});

const TYPE_NAMES = { issue: 'Issue', incident: 'Incident', test_case: 'Test Case' } as const;

/** @returns none when the merge request is gone */
export async function mergeRequestPayloads(
  deps: Deps,
  facts: ProjectFacts,
  { iid, action, changes, moment, headSha, oldrev, approvals }: EventOf<'merge-request'>,
): Promise<Payload[]> {
  const { project, user } = facts;
  const found = await deps.store.mergeRequests.get({ projectId: project.id, iid });
  if (found === undefined) return [];
  const diff = headSha === undefined ? found.diff : { ...found.diff, headSha };
  const record = { ...asThen(found, moment), diff };
  const [attributes, did, assignees, reviewers, told] = await Promise.all([
    mergeRequestAttributes(deps, facts, record),
    approvals === undefined ? action : approvalAction(deps, facts, record, action, approvals),
    userParts(deps, record.assigneeIds, facts),
    userParts(deps, record.reviewerIds, facts),
    resolvedChanges(deps, facts, changes),
  ]);
  const body = {
    object_kind: 'merge_request',
    event_type: 'merge_request',
    user: userPart(user, facts),
    project: projectPart(project, facts),
    object_attributes: {
      ...attributes,
      ...timeChange(changes),
      action: did,
      ...(oldrev === undefined ? {} : { oldrev }),
    },
    labels: attributes.labels,
    changes: told,
    repository: repositoryPart(project, facts),
    ...(assignees.length === 0 ? {} : { assignees }),
    ...(reviewers.length === 0 ? {} : { reviewers }),
  };
  return [
    {
      trigger: 'merge_requests_events',
      event: 'Merge Request Hook',
      body,
      for: ['project', 'group', 'system'],
    },
  ];
}

/** Whether an approval was the last one that was needed, or the loss of one made one needed again. */
async function approvalAction(
  deps: Deps,
  { project }: ProjectFacts,
  record: MergeRequestRecord,
  action: string,
  approvals: MergeRequestRecord['approvals'],
): Promise<string> {
  const { state } = await evaluateApprovals(deps, { project, level: 0 }, { ...record, approvals });
  return state.approved ? action : action === 'approved' ? 'approval' : 'unapproval';
}

/** @param record of the project of the facts */
export async function mergeRequestAttributes(deps: Deps, facts: ProjectFacts, record: MergeRequestRecord) {
  const { project } = facts;
  const foreign = record.source.projectId !== project.id;
  const [description, labels, source, commit, pipeline] = await Promise.all([
    textOf(deps, record.description),
    labelParts(deps, record.labelIds),
    foreign ? deps.store.projects.get(record.source.projectId) : project,
    commitOf(deps, project, record.diff.headSha),
    headPipeline(deps, record),
  ]);
  return {
    assignee_id: record.assigneeIds[0] ?? null,
    author_id: record.author.id,
    created_at: stamp(record.createdAt),
    description: withAbsoluteImages(description, facts),
    draft: isDraft(record),
    head_pipeline_id: pipeline?.id ?? null,
    id: record.id,
    iid: record.iid,
    ...editedPart(record),
    merge_commit_sha: record.mergeCommitSha,
    merge_error: record.mergeError,
    merge_params: mergeParams(record),
    merge_status: statusOf(record),
    merge_user_id: record.mergedById ?? record.autoMerge?.userId ?? null,
    merge_when_pipeline_succeeds: record.autoMerge !== null,
    milestone_id: record.milestoneId,
    source_branch: record.source.branch,
    source_project_id: record.source.projectId,
    state_id: MERGE_REQUEST_STATES[record.state],
    target_branch: record.targetBranch,
    target_project_id: record.projectId,
    time_estimate: record.timeEstimate,
    title: record.title,
    updated_at: stamp(record.updatedAt),
    url: `${projectUrl(project, facts.baseUrl)}/-/merge_requests/${record.iid}`,
    source: source === undefined ? null : projectPart(source, facts),
    target: projectPart(project, facts),
    last_commit: commit === undefined ? null : commitPart(project, commit, facts),
    work_in_progress: isDraft(record),
    total_time_spent: record.timeSpent,
    ...timeChange({}),
    human_total_time_spent: spoken(record.timeSpent),
    human_time_estimate: spoken(record.timeEstimate),
    assignee_ids: [...record.assigneeIds],
    reviewer_ids: [...record.reviewerIds],
    labels,
    state: record.state,
    blocking_discussions_resolved: record.unresolvedCount === 0,
  };
}

/** How it is to be merged, as far as somebody said. */
function mergeParams({ forceRemoveSource, removeSource, autoMerge }: MergeRequestRecord) {
  const asked = { force_remove_source_branch: forceRemoveSource ? '1' : '0', ...removalOf(removeSource) };
  if (autoMerge === null) return asked;
  const { mergeMessage, squashMessage, squash, headSha } = autoMerge;
  return {
    ...asked,
    auto_merge_strategy: 'merge_when_pipeline_succeeds',
    sha: headSha,
    ...removalOf(autoMerge.removeSource),
    ...(squash === null ? {} : { squash }),
    ...(mergeMessage === null ? {} : { commit_message: mergeMessage.slice(0, MAX_MESSAGE) }),
    ...(squashMessage === null ? {} : { squash_commit_message: squashMessage.slice(0, MAX_MESSAGE) }),
  };
}

const removalOf = (wanted: boolean | null | undefined) =>
  wanted == null ? {} : { should_remove_source_branch: wanted };

/** Characters. */
const MAX_MESSAGE = 10_000;

export const statusOf = ({ verdict, diff }: MergeRequestRecord): string =>
  verdict === null || verdict.headSha !== diff.headSha
    ? 'unchecked'
    : verdict.mergeable
      ? 'can_be_merged'
      : 'cannot_be_merged';

/** How much time a change added. */
function timeChange(changes: HookChanges) {
  const [before, after] = (changes['total_time_spent'] ?? [0, 0]) as readonly [number, number];
  const seconds = (after ?? 0) - (before ?? 0);
  return { time_change: seconds, human_time_change: spoken(seconds) };
}

/** Ids of labels and users become what payloads tell of these, and times are written as in these. */
async function resolvedChanges(deps: Deps, facts: Facts, changes: HookChanges) {
  const { label_ids, assignee_ids, reviewer_ids, ...rest } = changes;
  const both = async (
    name: string,
    values: readonly [unknown, unknown] | undefined,
    load: (ids: readonly number[]) => Promise<unknown>,
  ) =>
    values === undefined
      ? {}
      : { [name]: await Promise.all(values.map((ids) => load((ids ?? []) as readonly number[]))) };
  const people = (ids: readonly number[]) => userParts(deps, ids, facts);
  const resolved = await Promise.all([
    both('labels', label_ids, (ids) => labelParts(deps, ids)),
    both('assignees', assignee_ids, people),
    both('reviewers', reviewer_ids, people),
  ]);
  const told = Object.entries(rest).map(([name, values]) => [
    name,
    name.endsWith('_at') ? values.map((at) => stampOrNull(at as string | null)) : values,
  ]);
  return changesPart(Object.assign(Object.fromEntries(told), ...resolved) as HookChanges);
}
