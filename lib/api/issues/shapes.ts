import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import {
  HEALTH_STATUSES,
  ISSUE_LINK_TYPES,
  ISSUE_STATES,
  ISSUE_TYPES,
  SEVERITIES,
} from '../../records/issues.ts';
import { epic } from '../epics/shapes.ts';
import { iteration } from '../iterations/shapes.ts';
import { labelDetails } from '../labels/shapes.ts';
import { timeStats } from '../tracked/shapes.ts';
import { day, time, userBasic } from '../users/shapes.ts';

const fields = () => ({
  id: z.int(),
  iid: z.int().describe('Number within the project'),
  project_id: z.int(),
  title: z.string(),
  description: z.string().nullable(),
  state: z.enum(ISSUE_STATES),
  created_at: time(),
  updated_at: time(),
  closed_at: time().nullable(),
  closed_by: userBasic().nullable(),
  labels: z.array(z.string()).describe('Titles'),
  milestone: z.looseObject({ id: z.int(), title: z.string() }).nullable(),
  assignees: z.array(userBasic()),
  assignee: userBasic().nullable().describe('The first of the assignees. Deprecated: use `assignees`'),
  author: userBasic(),
  type: z.string().describe('The type in upper case'),
  issue_type: z.enum(ISSUE_TYPES),
  severity: z.enum(SEVERITIES).describe('Of incidents'),
  user_notes_count: z.int(),
  merge_requests_count: z.int(),
  upvotes: z.int(),
  downvotes: z.int(),
  due_date: day().nullable(),
  confidential: z.boolean(),
  discussion_locked: z.boolean().nullable(),
  web_url: z.string(),
  time_stats: timeStats(),
  task_completion_status: z.object({ count: z.int(), completed_count: z.int() }),
  has_tasks: z.boolean(),
  task_status: z.string().optional().describe('Present if the description has a task list'),
  weight: z.int().nullable(),
  health_status: z.enum(HEALTH_STATUSES).nullable(),
  epic: z
    .object({
      id: z.int(),
      iid: z.int().describe('Number in its group'),
      title: z.string(),
      url: z.string().describe('Path on the instance'),
      group_id: z.int(),
    })
    .nullable()
    .describe('Null too if it is hidden from you'),
  epic_iid: z.int().nullable().describe('Deprecated: use `epic`'),
  iteration: iteration().nullable(),
  reference: z.string().describe('Deprecated: use `references`'),
  references: z.object({
    short: z.string(),
    relative: z.string().describe('As written in the project or group that was asked'),
    full: z.string(),
  }),
  moved_to_id: z.int().nullable(),
  service_desk_reply_to: z.string().nullable(),
  _links: z.object({
    self: z.string(),
    notes: z.string(),
    award_emoji: z.string(),
    project: z.string(),
  }),
});

/** An issue that another answer embeds. */
export const issueBasic = shape(() => z.object(fields()).meta({ id: 'IssueBasic' }));

export const issue = shape(() =>
  z
    .object({
      ...fields(),
      subscribed: z.boolean().describe('Whether you are subscribed to it'),
    })
    .meta({ id: 'Issue' }),
);

const linkType = () => z.enum(ISSUE_LINK_TYPES).describe('How the issue that was asked about relates');

export const issueLink = shape(() =>
  z
    .object({
      id: z.int(),
      source_issue: issueBasic().describe('The issue that was asked about'),
      target_issue: issueBasic(),
      link_type: linkType(),
      link_created_at: time(),
      link_updated_at: time(),
    })
    .meta({ id: 'IssueLink' }),
);

export const relatedIssues = shape(() =>
  z.array(
    z
      .object({
        ...fields(),
        issue_link_id: z.int(),
        link_type: linkType(),
        link_created_at: time(),
        link_updated_at: time(),
      })
      .meta({ id: 'RelatedIssue' }),
  ),
);

const epicIssueId = () => z.int().describe('By which it is removed from the epic');

export const issuesOfEpic = shape(() =>
  z.array(
    z
      .object({
        ...fields(),
        epic_issue_id: epicIssueId(),
        relative_position: z.int().describe('Its rank among the issues that are listed, from 1 on'),
      })
      .meta({ id: 'IssueOfEpic' }),
  ),
);

export const issueOfEpic = shape(() =>
  z.object({ id: epicIssueId(), epic: epic(), issue: issueBasic() }).meta({ id: 'EpicIssue' }),
);

const labelsShown = () => z.union([z.array(z.string()), z.array(labelDetails())]);

export const issues = shape(() =>
  z.array(
    z
      .object({ ...fields(), labels: labelsShown().describe('Titles; objects with `with_labels_details`') })
      .meta({ id: 'ListedIssue' }),
  ),
);

export const issueStatistics = shape(() =>
  z
    .object({
      statistics: z.object({
        counts: z.object({ all: z.int(), closed: z.int(), opened: z.int() }),
      }),
    })
    .meta({ id: 'IssueStatistics' }),
);
