import * as p from '../../http/params.ts';
import { HEALTH_STATUSES, ISSUE_TYPES, SEVERITIES } from '../../records/issues.ts';

/** The path of one issue. */
export const ofIssue = () => p.params(issueFields());

export const issueFields = () => ({
  id: p.string({ required: true, description: 'ID or URL-encoded full path of the project' }),
  issue_iid: p.integer({ required: true, description: 'Number of the issue in the project' }),
});

/** What creation and update have in common. */
export const metadataFields = () => ({
  description: p.string({ nullable: true, description: 'At most 1,048,576 characters of Markdown' }),
  assignee_ids: p.list(p.integer(), {
    nullable: true,
    description: 'IDs of the users to assign; 0 or none: nobody',
  }),
  assignee_id: p.integer({
    nullable: true,
    description: 'ID of the user to assign; 0: nobody. Deprecated: use `assignee_ids`',
  }),
  labels: p.list(p.string(), {
    nullable: true,
    description: 'Titles of the labels; missing ones are created',
  }),
  milestone_id: p.integer({ nullable: true, description: 'ID of the milestone; 0: none' }),
  iteration_id: p.integer({ nullable: true, description: 'ID of the iteration; 0: none' }),
  epic_id: p.integer({ nullable: true, description: 'ID of the epic; 0: none' }),
  epic_iid: p.integer({
    nullable: true,
    description: "Number of the epic in the project's group; 0: none. Deprecated: use `epic_id`",
  }),
  due_date: p.date({ nullable: true, description: 'Day the issue is due' }),
  issue_type: p.oneOf(ISSUE_TYPES, { description: 'Type of the issue' }),
  confidential: p.boolean({
    blank: false,
    description: 'Whether only its author, its assignees and Reporters see it',
  }),
  discussion_locked: p.boolean({ nullable: true, description: 'Whether only members may write notes' }),
  weight: p.integer({ nullable: true, description: 'Weight, 0 or more' }),
  health_status: p.oneOf(HEALTH_STATUSES, { nullable: true, description: 'Health status' }),
  severity: p.oneOf(SEVERITIES, { description: 'Severity of an incident' }),
});

export interface GivenMetadata {
  readonly assignee_ids?: readonly number[] | null;
  readonly assignee_id?: number | null;
}

/** The users to assign; undefined where neither parameter was sent. */
export function assigneeIdsOf({ assignee_ids: ids, assignee_id: id }: GivenMetadata): number[] | undefined {
  if (ids !== undefined) return [...(ids ?? [])].filter((each) => each !== 0);
  if (id === undefined) return undefined;
  return id === null || id === 0 ? [] : [id];
}
