import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { pipeline } from '../commits/shapes.ts';
import { labelDetails } from '../labels/shapes.ts';
import { pipelineDetail } from '../pipelines/shapes.ts';
import { timeStats } from '../tracked/shapes.ts';
import { time, userBasic } from '../users/shapes.ts';

const simple = () => ({
  id: z.int(),
  iid: z.int().describe('Number within the project'),
  project_id: z.int().describe('The project of the target branch'),
  title: z.string(),
  description: z.string().nullable(),
  state: z.enum(['opened', 'closed', 'locked', 'merged']),
  created_at: time(),
  updated_at: time(),
  web_url: z.string(),
});

const fields = () => ({
  ...simple(),
  merged_by: userBasic().nullable().describe('Deprecated: use `merge_user`'),
  merge_user: userBasic().nullable().describe('Who merged it, or asked for that when its pipeline succeeds'),
  merged_at: time().nullable(),
  closed_by: userBasic().nullable(),
  closed_at: time().nullable(),
  target_branch: z.string(),
  source_branch: z.string(),
  user_notes_count: z.int(),
  upvotes: z.int(),
  downvotes: z.int(),
  author: userBasic(),
  assignees: z.array(userBasic()),
  assignee: userBasic().nullable().describe('The first of the assignees. Deprecated: use `assignees`'),
  reviewers: z.array(userBasic()),
  source_project_id: z.int(),
  target_project_id: z.int(),
  labels: z.array(z.string()).describe('Titles'),
  draft: z.boolean(),
  work_in_progress: z.boolean().describe('Deprecated: use `draft`'),
  milestone: z.looseObject({ id: z.int(), title: z.string() }).nullable(),
  merge_when_pipeline_succeeds: z.boolean(),
  merge_status: z
    .enum(['unchecked', 'checking', 'can_be_merged', 'cannot_be_merged'])
    .describe('Of the heads of both branches as they are now'),
  detailed_merge_status: z.string().describe('The first reason why it cannot be merged; `mergeable`'),
  sha: z.string().describe('Head of the source branch'),
  merge_commit_sha: z.string().nullable(),
  squash_commit_sha: z.string().nullable(),
  discussion_locked: z.boolean().nullable(),
  should_remove_source_branch: z.boolean().nullable(),
  force_remove_source_branch: z.boolean(),
  allow_collaboration: z.boolean().optional().describe('Of branches of forks'),
  allow_maintainer_to_push: z.boolean().optional().describe('Deprecated: use `allow_collaboration`'),
  reference: z.string().describe('Deprecated: use `references`'),
  references: z.object({
    short: z.string(),
    relative: z.string().describe('As written in the project or group that was asked'),
    full: z.string(),
  }),
  time_stats: timeStats(),
  squash: z.boolean(),
  task_completion_status: z.object({ count: z.int(), completed_count: z.int() }),
  has_conflicts: z.boolean().describe('False unless it is known that it has'),
  blocking_discussions_resolved: z.boolean(),
  approvals_before_merge: z.int().nullable(),
});

export const mergeRequestBasic = shape(() => z.object(fields()).meta({ id: 'MergeRequestBasic' }));

export const mergeRequest = shape(() =>
  z
    .object({
      ...fields(),
      subscribed: z.boolean().describe('Whether you are subscribed to it'),
      changes_count: z.string().nullable().describe('Number of changed files; `1000+` above that'),
      conflicts: z
        .array(z.string())
        .optional()
        .describe('Paths of files in conflict, the first 100; absent where `has_conflicts` is false'),
      latest_build_started_at: time().nullable().describe('Of the pipeline of the head'),
      latest_build_finished_at: time().nullable(),
      first_deployed_to_production_at: time().nullable(),
      pipeline: pipeline().nullable().describe('That of `head_pipeline`, with fewer fields'),
      head_pipeline: pipelineDetail()
        .nullable()
        .describe('The newest of the head, if you may read it; of a fork, in its project'),
      diff_refs: z.object({
        base_sha: z.string().nullable(),
        head_sha: z.string(),
        start_sha: z.string(),
      }),
      merge_error: z.string().nullable(),
      first_contribution: z
        .boolean()
        .describe('Whether the author is no member above Guest, and had nothing merged in the project'),
      user: z.object({ can_merge: z.boolean() }),
      title_html: z.string().optional().describe('With `render_html`'),
      description_html: z.string().optional().describe('With `render_html`'),
      rebase_in_progress: z.boolean().optional().describe('With `include_rebase_in_progress`'),
      diverged_commits_count: z.int().optional().describe('With `include_diverged_commits_count`'),
    })
    .meta({ id: 'MergeRequest' }),
);

export const mergeRequests = shape(() =>
  z.array(
    z.union([
      z
        .object({
          ...fields(),
          labels: z
            .union([z.array(z.string()), z.array(labelDetails())])
            .describe('Titles; objects with `with_labels_details`'),
        })
        .meta({ id: 'ListedMergeRequest' }),
      z.object(simple()).meta({ id: 'SimpleMergeRequest' }).describe('With `view=simple`'),
    ]),
  ),
);
