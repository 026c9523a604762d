import type { Actor } from '../../domain/actor.ts';
import { textsOf } from '../../domain/long-texts.ts';
import { divergedCommits, mergeRequestAsItIs } from '../../domain/merge-requests/as-it-is.ts';
import type { FoundMergeRequest } from '../../domain/merge-requests/related.ts';
import { inDescription } from '../../domain/quick-actions/merge-requests.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { noContent } from '../../http/reply.ts';
import { MAX_APPROVALS } from '../../records/approvals.ts';
import { type ApiDeps, endpoint } from '../endpoint.ts';
import { assigneeIdsOf } from '../issues/params.ts';
import { mergeRequestListEndpoints } from './lists.ts';
import { ofMergeRequest } from './params.ts';
import { presentedMergeRequest } from './presented.ts';
import * as shapes from './shapes.ts';

const area = 'merge-requests';

/** The rules of creation and change, which read commits: most requests only show. */
const rules = () => import('../../domain/merge-requests/merge-requests.ts');

const one = endpoint({
  method: 'GET',
  path: '/projects/:id/merge_requests/:merge_request_iid',
  area,
  summary: 'Get a merge request',
  access: project('read_merge_requests'),
  params: ofMergeRequest,
  query: () =>
    p.params({
      render_html: p.boolean({ default: false, description: 'Show title and description as HTML too' }),
      include_diverged_commits_count: p.boolean({
        default: false,
        description: 'Count the commits of the target branch that the source branch lacks',
      }),
      include_rebase_in_progress: p.boolean({
        default: false,
        description: 'Tell whether a rebase is under way',
      }),
    }),
  returns: { body: shapes.mergeRequest },
  errors: [{ status: 404, description: 'Merge request not found' }],
  handle: async ({ actor, project, params, query, request }, deps) => {
    const found = await mergeRequestAsItIs(deps, actor, project, params.merge_request_iid);
    const [shown, html, diverged] = await Promise.all([
      presentedMergeRequest(deps, actor, found, request.baseUrl),
      query.render_html ? renderedTexts(deps, actor, found, request.baseUrl) : {},
      query.include_diverged_commits_count ? divergedCommits(deps, project, found.mergeRequest) : undefined,
    ]);
    return {
      ...shown,
      ...html,
      ...(query.include_rebase_in_progress ? { rebase_in_progress: found.situation.rebasing } : {}),
      ...(diverged === undefined ? {} : { diverged_commits_count: diverged }),
    };
  },
});

/** Title and description as HTML, in which references are links where the reader may follow them. */
async function renderedTexts(
  deps: ApiDeps,
  actor: Actor,
  { mergeRequest, access: project }: FoundMergeRequest,
  baseUrl: string,
) {
  const { renderedFor } = await import('../../domain/references/render.ts');
  const [description] = await textsOf(deps, [mergeRequest.description ?? '']);
  const reading = { actor, baseUrl, project };
  const [titleHtml, descriptionHtml] = await Promise.all([
    renderedFor(deps, mergeRequest.title, reading, { inline: true }),
    renderedFor(deps, description!, reading),
  ]);
  return { title_html: titleHtml, description_html: descriptionHtml };
}

/** What creation and update have in common. */
const metadataFields = () => ({
  description: p.string({ nullable: true, description: 'At most 1,048,576 characters of Markdown' }),
  assignee_ids: p.list(p.integer(), {
    nullable: true,
    description: 'IDs of the users to assign; 0 or none: nobody',
  }),
  assignee_id: p.integer({
    nullable: true,
    description: 'ID of the user to assign; 0: nobody. Deprecated: use `assignee_ids`',
  }),
  reviewer_ids: p.list(p.integer(), {
    nullable: true,
    description: 'IDs of the users who are asked to review it; 0 or none: nobody',
  }),
  labels: p.list(p.string(), {
    nullable: true,
    description: 'Titles of the labels; missing ones are created',
  }),
  milestone_id: p.integer({ nullable: true, description: 'ID of the milestone; 0: none' }),
  remove_source_branch: p.boolean({ description: 'Remove the source branch when it is merged' }),
  allow_collaboration: p.boolean({
    description: 'Members of the target project who may merge may push to the source branch of a fork',
  }),
  allow_maintainer_to_push: p.boolean({ description: 'Deprecated: use `allow_collaboration`' }),
  squash: p.boolean({ description: 'Make one commit of all when it is merged' }),
});

const create = endpoint({
  method: 'POST',
  path: '/projects/:id/merge_requests',
  area,
  summary: 'Create a merge request',
  description: 'The project of the path is that of the source branch.',
  access: project('read_code'),
  body: () =>
    p.params({
      title: p.string({ required: true, description: 'Title, at most 255 characters' }),
      source_branch: p.string({ required: true, description: 'Branch of the project' }),
      target_branch: p.string({ required: true, description: 'Branch to merge it into' }),
      target_project_id: p.integer({
        description: 'ID of the project of the target branch; default: the same',
      }),
      ...metadataFields(),
      approvals_before_merge: p.integer({
        min: 0,
        max: MAX_APPROVALS,
        description: 'Number of approvals, where the project asks for fewer, but for any',
      }),
    }),
  returns: { body: shapes.mergeRequest },
  errors: [
    { status: 400, description: 'A parameter is invalid, or a branch does not exist' },
    { status: 403, description: 'You may not push to the source or propose to the target' },
    { status: 409, description: 'The branch already has an open merge request to the target' },
    { status: 422, description: 'The branches are the same, or their projects are not related' },
  ],
  handle: async ({ actor, project, body, request }, deps) => {
    const input = {
      ...inputOf(body),
      title: body.title,
      sourceBranch: body.source_branch,
      targetBranch: body.target_branch,
      targetProjectId: body.target_project_id,
      approvalsBeforeMerge: body.approvals_before_merge,
    };
    const { createMergeRequest } = await rules();
    const found = await createMergeRequest(deps, actor, project, input, inDescription(deps, actor));
    return presentedMergeRequest(deps, actor, found, request.baseUrl);
  },
});

const UPDATED = [
  ...['title', 'target_branch', 'state_event', 'discussion_locked', 'add_labels', 'remove_labels'],
  ...['description', 'assignee_ids', 'assignee_id', 'reviewer_ids', 'labels', 'milestone_id', 'squash'],
  ...['remove_source_branch', 'allow_collaboration', 'allow_maintainer_to_push', 'approvals_before_merge'],
];

const update = endpoint({
  method: 'PUT',
  path: '/projects/:id/merge_requests/:merge_request_iid',
  area,
  summary: 'Update a merge request',
  description: 'Authors below Developer change it too, without what organizes the work of the project.',
  access: project('read_merge_requests'),
  params: ofMergeRequest,
  body: () =>
    p.params(
      {
        title: p.string({ blank: false, description: 'Title, at most 255 characters' }),
        target_branch: p.string({ blank: false, description: 'Branch to merge it into' }),
        ...metadataFields(),
        add_labels: p.list(p.string(), { description: 'Titles of labels to add' }),
        remove_labels: p.list(p.string(), { description: 'Titles of labels to remove' }),
        state_event: p.oneOf(['close', 'reopen'], { description: 'Change of the state' }),
        discussion_locked: p.boolean({ nullable: true, description: 'Whether only members may write notes' }),
        approvals_before_merge: p.integer({
          min: 0,
          max: MAX_APPROVALS,
          description: 'Number of approvals',
        }),
      },
      [p.atLeastOneOf(...UPDATED)],
    ),
  returns: { body: shapes.mergeRequest },
  errors: [
    { status: 400, description: 'A parameter is invalid, or the target branch does not exist' },
    { status: 404, description: 'Merge request not found' },
    { status: 409, description: 'Others keep changing it, or the branch has another open one' },
    { status: 422, description: 'It cannot be opened again' },
  ],
  handle: async ({ actor, project, params, body, request }, deps) => {
    const input = {
      ...inputOf(body),
      title: body.title,
      targetBranch: body.target_branch,
      addLabels: body.add_labels,
      removeLabels: body.remove_labels,
      stateEvent: body.state_event,
      discussionLocked: body.discussion_locked,
      approvalsBeforeMerge: body.approvals_before_merge,
    };
    const { updateMergeRequest } = await rules();
    const act = inDescription(deps, actor);
    const found = await updateMergeRequest(deps, actor, project, params.merge_request_iid, input, act);
    return presentedMergeRequest(deps, actor, found, request.baseUrl);
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/projects/:id/merge_requests/:merge_request_iid',
  area,
  summary: 'Delete a merge request',
  access: project('read_merge_requests'),
  params: ofMergeRequest,
  returns: { status: 204 },
  errors: [
    { status: 404, description: 'Merge request not found' },
    { status: 412, description: 'It was changed later than `If-Unmodified-Since`' },
  ],
  handle: async ({ actor, project, params, unmodifiedSince }, deps) => {
    await (await rules()).deleteMergeRequest(deps, actor, project, params.merge_request_iid, unmodifiedSince);
    return noContent();
  },
});

interface Sent {
  readonly description?: string | null;
  readonly assignee_ids?: readonly number[] | null;
  readonly assignee_id?: number | null;
  readonly reviewer_ids?: readonly number[] | null;
  readonly labels?: readonly string[] | null;
  readonly milestone_id?: number | null;
  readonly remove_source_branch?: boolean;
  readonly allow_collaboration?: boolean;
  readonly allow_maintainer_to_push?: boolean;
  readonly squash?: boolean;
}

const inputOf = (body: Sent) => ({
  description: body.description,
  assigneeIds: assigneeIdsOf(body),
  reviewerIds: assigneeIdsOf({
    ...(body.reviewer_ids === undefined ? {} : { assignee_ids: body.reviewer_ids }),
  }),
  labels: body.labels === null ? [] : body.labels,
  milestoneId: body.milestone_id,
  removeSourceBranch: body.remove_source_branch,
  allowCollaboration: body.allow_collaboration ?? body.allow_maintainer_to_push,
  squash: body.squash,
});

export const mergeRequestEndpoints = [...mergeRequestListEndpoints, one, create, update, remove];
