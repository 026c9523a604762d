import type { FoundEpic } from '../../domain/epics/related.ts';
import type { ShownIssue } from '../../domain/issues/related.ts';
import { epicUrl } from '../epics/present.ts';
import { labelDetails } from '../labels/present.ts';
import { projectUrl } from '../projects/present.ts';
import { type AskedIn, references, timeStats } from '../tracked/present.ts';
import { author, userBasic } from '../users/present.ts';

export function presentIssue(
  shown: ShownIssue,
  baseUrl: string,
  askedIn: AskedIn,
  options: {
    readonly labelDetails?: boolean;
    readonly milestones?: ReadonlyMap<number, unknown>;
    readonly iterations?: ReadonlyMap<number, unknown>;
  } = {},
) {
  const { issue, access, description } = shown;
  const { project } = access;
  const assignees = shown.assignees.map((user) => userBasic(user, baseUrl));
  const api = `${baseUrl}/api/v4/projects/${project.id}`;
  const self = `${api}/issues/${issue.iid}`;
  const { count, completed } = issue.tasks;
  return {
    id: issue.id,
    iid: issue.iid,
    project_id: issue.projectId,
    title: issue.title,
    description,
    state: issue.state,
    created_at: issue.createdAt,
    updated_at: issue.updatedAt,
    closed_at: issue.closedAt,
    closed_by: shown.closedBy === null ? null : userBasic(shown.closedBy, baseUrl),
    labels: options.labelDetails ? shown.labels.map(labelDetails) : shown.labels.map(({ title }) => title),
    milestone: shown.milestone === undefined ? null : (options.milestones?.get(shown.milestone.id) ?? null),
    assignees,
    assignee: assignees[0] ?? null,
    author: author(shown.author, issue.author, baseUrl),
    type: issue.type.toUpperCase(),
    issue_type: issue.type,
    severity: issue.severity,
    user_notes_count: issue.userNotesCount,
    merge_requests_count: shown.mergeRequestsCount,
    upvotes: issue.upvotes,
    downvotes: issue.downvotes,
    due_date: issue.dueDate,
    confidential: issue.confidential,
    discussion_locked: issue.discussionLocked,
    web_url: `${projectUrl(project, baseUrl)}/-/issues/${issue.iid}`,
    time_stats: timeStats(issue),
    task_completion_status: { count, completed_count: completed },
    has_tasks: count > 0,
    ...(count > 0
      ? { task_status: `${completed} of ${count} ${count === 1 ? 'task' : 'tasks'} completed` }
      : {}),
    weight: issue.weight,
    health_status: issue.healthStatus,
    epic: shown.epic === undefined ? null : epicOfIssue(shown.epic),
    epic_iid: shown.epic?.epic.iid ?? null,
    iteration: options.iterations?.get(shown.iteration?.id ?? 0) ?? null,
    reference: `#${issue.iid}`,
    references: references(`#${issue.iid}`, project, askedIn),
    moved_to_id: issue.movedTo?.id ?? null,
    service_desk_reply_to: null,
    _links: { self, notes: `${self}/notes`, award_emoji: `${self}/award_emoji`, project: api },
  };
}

/** Its address is without that of the instance, as in the product. */
const epicOfIssue = ({ epic, access: { group } }: FoundEpic) => ({
  id: epic.id,
  iid: epic.iid,
  title: epic.title,
  url: epicUrl(epic, group, ''),
  group_id: group.id,
});
