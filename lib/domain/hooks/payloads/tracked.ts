/** Payloads of issues, merge requests, and notes. */
import type { IssueRecord } from '../../../records/issues.ts';
import { isDraft, type MergeRequestRecord } from '../../../records/merge-requests.ts';
import type { NoteRecord } from '../../../records/notes.ts';
import type { ProjectRecord } from '../../../records/projects.ts';
import type { Deps } from '../../deps.ts';
import type { HookChanges, HookEvent } from '../../hook-events/events.ts';
import { discussionIdOf } from '../../notes/discussion-id.ts';
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
  const issue = { ...found, ...moment };
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
    changes: told,
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

async function issueAttributes(deps: Deps, facts: ProjectFacts, issue: IssueRecord) {
  const [description, labels] = await Promise.all([
    textOf(deps, issue.description),
    labelParts(deps, issue.labelIds),
  ]);
  return {
    author_id: issue.author.id,
    closed_at: issue.closedAt,
    confidential: issue.confidential,
    created_at: stamp(issue.createdAt),
    description,
    discussion_locked: issue.discussionLocked,
    due_date: issue.dueDate,
    id: issue.id,
    iid: issue.iid,
    last_edited_at: null,
    last_edited_by_id: null,
    milestone_id: issue.milestoneId,
    moved_to_id: issue.movedTo?.id ?? null,
    duplicated_to_id: issue.duplicatedTo?.id ?? null,
    project_id: issue.projectId,
    relative_position: null,
    state_id: ISSUE_STATES[issue.state],
    time_estimate: issue.timeEstimate,
    title: issue.title,
    updated_at: stamp(issue.updatedAt),
    updated_by_id: facts.user?.id ?? null,
    weight: issue.weight,
    health_status: issue.healthStatus,
    type: TYPE_NAMES[issue.type],
    url: `${projectUrl(facts.project, facts.baseUrl)}/-/issues/${issue.iid}`,
    total_time_spent: issue.timeSpent,
    human_total_time_spent: spoken(issue.timeSpent),
    human_time_estimate: spoken(issue.timeEstimate),
    assignee_ids: [...issue.assigneeIds],
    assignee_id: issue.assigneeIds[0] ?? null,
    labels,
    state: issue.state,
    severity: issue.severity.toLowerCase(),
  };
}
const TYPE_NAMES = { issue: 'Issue', incident: 'Incident', test_case: 'Test Case' } as const;

/** @returns none when the merge request is gone */
export async function mergeRequestPayloads(
  deps: Deps,
  facts: ProjectFacts,
  { iid, action, changes, moment, headSha, oldrev }: EventOf<'merge-request'>,
): Promise<Payload[]> {
  const { project, user } = facts;
  const found = await deps.store.mergeRequests.get({ projectId: project.id, iid });
  if (found === undefined) return [];
  const diff = headSha === undefined ? found.diff : { ...found.diff, headSha };
  const record = { ...found, ...moment, diff };
  const [attributes, assignees, reviewers, told] = await Promise.all([
    mergeRequestAttributes(deps, facts, record),
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
      action,
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

async function mergeRequestAttributes(deps: Deps, facts: ProjectFacts, record: MergeRequestRecord) {
  const { project } = facts;
  const foreign = record.source.projectId !== project.id;
  const [description, labels, source, commit] = await Promise.all([
    textOf(deps, record.description),
    labelParts(deps, record.labelIds),
    foreign ? deps.store.projects.get(record.source.projectId) : project,
    commitOf(deps, project, record.diff.headSha),
  ]);
  return {
    assignee_id: record.assigneeIds[0] ?? null,
    author_id: record.author.id,
    created_at: stamp(record.createdAt),
    description,
    draft: isDraft(record),
    head_pipeline_id: null,
    id: record.id,
    iid: record.iid,
    last_edited_at: null,
    last_edited_by_id: null,
    merge_commit_sha: record.mergeCommitSha,
    merge_error: record.mergeError,
    merge_params: { force_remove_source_branch: record.forceRemoveSource ? '1' : '0' },
    merge_status: statusOf(record),
    merge_user_id: record.mergedById,
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
    updated_by_id: facts.user?.id ?? null,
    url: `${projectUrl(project, facts.baseUrl)}/-/merge_requests/${record.iid}`,
    source: source === undefined ? null : projectPart(source, facts),
    target: projectPart(project, facts),
    last_commit: commit === undefined ? null : commitPart(project, commit, facts),
    work_in_progress: isDraft(record),
    total_time_spent: record.timeSpent,
    human_total_time_spent: spoken(record.timeSpent),
    human_time_estimate: spoken(record.timeEstimate),
    assignee_ids: [...record.assigneeIds],
    reviewer_ids: [...record.reviewerIds],
    labels,
    state: record.state,
    blocking_discussions_resolved: record.unresolvedCount === 0,
  };
}

const statusOf = ({ verdict, diff }: MergeRequestRecord): string =>
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

/** Ids of labels and users become what payloads tell of these. */
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
  return changesPart(Object.assign({ ...rest }, ...resolved) as HookChanges);
}

/** @returns none when the note, or what it is on, is gone */
export async function notePayloads(
  deps: Deps,
  facts: ProjectFacts,
  event: EventOf<'note'>,
): Promise<Payload[]> {
  const { project, user } = facts;
  const noteable = { kind: event.on, id: event.noteable } as NoteRecord['noteable'];
  const note = await deps.store.notes.get({ projectId: project.id, noteable, id: event.noteId });
  if (note === undefined) return [];
  const about = await noteableOf(deps, facts, event);
  if (about === undefined) return [];
  const text = await textOf(deps, note.body);
  const confidential = note.internal === true || about.confidential;
  const body = {
    object_kind: 'note',
    event_type: confidential ? 'confidential_note' : 'note',
    user: userPart(user, facts),
    project_id: project.id,
    project: projectPart(project, facts),
    object_attributes: noteAttributes(project, note, event, text, about.url),
    repository: repositoryPart(project, facts),
    ...about.part,
  };
  return [
    {
      trigger: confidential ? 'confidential_note_events' : 'note_events',
      event: confidential ? 'Confidential Note Hook' : 'Note Hook',
      body,
      for: ['project', 'group'],
    },
  ];
}

const NOTEABLE_TYPES = {
  commit: 'Commit',
  issue: 'Issue',
  'merge-request': 'MergeRequest',
  snippet: 'Snippet',
} as const;

function noteAttributes(
  project: ProjectRecord,
  note: NoteRecord,
  { on, noteable }: EventOf<'note'>,
  text: string | null,
  url: string,
) {
  const onDiff = note.line !== null || note.position !== undefined;
  return {
    attachment: null,
    author_id: note.author.id,
    change_position: null,
    commit_id: on === 'commit' ? noteable : null,
    created_at: stamp(note.createdAt),
    discussion_id: discussionIdOf(project.id, note.noteable, note.inDiscussion ?? note.id),
    id: note.id,
    line_code: note.position?.on.kind === 'text' ? note.position.on.line.code : null,
    note: text,
    noteable_id: on === 'commit' ? null : noteable,
    noteable_type: NOTEABLE_TYPES[on],
    original_position: null,
    position: null,
    project_id: project.id,
    resolved_at: null,
    resolved_by_id: null,
    resolved_by_push: null,
    st_diff: null,
    system: note.system !== undefined,
    type: onDiff ? 'DiffNote' : note.discussed === true ? 'DiscussionNote' : null,
    updated_at: stamp(note.updatedAt),
    updated_by_id: null,
    description: text,
    url: `${url}#note_${note.id}`,
    action: 'create',
  };
}

/** What a note is on, as payloads tell of it. */
async function noteableOf(deps: Deps, facts: ProjectFacts, { on, noteable, iid }: EventOf<'note'>) {
  const { project } = facts;
  const url = projectUrl(project, facts.baseUrl);
  if (on === 'commit') {
    const commit = await commitOf(deps, project, String(noteable));
    if (commit === undefined) return undefined;
    const part = { commit: commitPart(project, commit, facts) };
    return { part, confidential: false, url: `${url}/-/commit/${noteable}` };
  }
  if (on === 'snippet') {
    const snippet = await deps.store.snippets.get(Number(noteable));
    if (snippet === undefined) return undefined;
    const { id, title, createdAt, updatedAt } = snippet;
    const part = { snippet: { id, title, created_at: stamp(createdAt), updated_at: stamp(updatedAt) } };
    return { part, confidential: false, url: `${url}/-/snippets/${id}` };
  }
  if (iid === undefined) return undefined;
  const address = { projectId: project.id, iid };
  if (on === 'issue') {
    const issue = await deps.store.issues.get(address);
    if (issue === undefined) return undefined;
    const part = { issue: await issueAttributes(deps, facts, issue) };
    return { part, confidential: issue.confidential, url: part.issue.url };
  }
  const record = await deps.store.mergeRequests.get(address);
  if (record === undefined) return undefined;
  const part = { merge_request: await mergeRequestAttributes(deps, facts, record) };
  return { part, confidential: false, url: part.merge_request.url };
}
