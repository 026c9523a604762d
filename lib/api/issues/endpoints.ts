import * as issues from '../../domain/issues/issues.ts';
import { inDescription } from '../../domain/quick-actions/issues.ts';
import { administrator, project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { noContent } from '../../http/reply.ts';
import { endpoint } from '../endpoint.ts';
import { issueListEndpoints } from './lists.ts';
import { assigneeIdsOf, type GivenMetadata, metadataFields, ofIssue } from './params.ts';
import { presentedIssue } from './presented.ts';
import * as shapes from './shapes.ts';

const area = 'issues';

const one = endpoint({
  method: 'GET',
  path: '/projects/:id/issues/:issue_iid',
  area,
  summary: 'Get an issue of a project',
  access: project('read_issues', { anonymous: true }),
  params: ofIssue,
  returns: { body: shapes.issue },
  errors: [{ status: 404, description: 'Issue not found' }],
  handle: async ({ actor, project, params, request }, deps) =>
    presentedIssue(
      deps,
      actor,
      await issues.getIssue(deps, actor, project, params.issue_iid),
      request.baseUrl,
    ),
});

const byId = endpoint({
  method: 'GET',
  path: '/issues/:id',
  area,
  summary: 'Get an issue by its ID',
  description: 'For administrators.',
  access: administrator(),
  params: () => p.params({ id: p.integer({ required: true, description: 'ID of the issue' }) }),
  returns: { body: shapes.issue },
  errors: [{ status: 404, description: 'Issue not found' }],
  handle: async ({ actor, params, request }, deps) =>
    presentedIssue(deps, actor, await issues.getIssueById(deps, actor, params.id), request.baseUrl, {
      kind: 'instance',
    }),
});

/** Clients read four bytes. Numbers that are counted go on behind a chosen one, which leaves them millions. */
const MAX_NUMBER = 2_000_000_000;

const ONE_EPIC = () => p.mutuallyExclusive('epic_id', 'epic_iid');

const create = endpoint({
  method: 'POST',
  path: '/projects/:id/issues',
  area,
  summary: 'Create an issue',
  description:
    'Of callers below Reporter only title, description and confidentiality are obeyed; number and time of creation only of owners.',
  access: project('create_issue'),
  body: () =>
    p.params(
      {
        title: p.string({ required: true, description: 'Title, at most 255 characters' }),
        ...metadataFields(),
        iid: p.integer({ min: 1, max: MAX_NUMBER, description: 'Number of the issue in the project' }),
        created_at: p.datetime({ description: 'Time of creation' }),
        merge_request_to_resolve_discussions_of: p.integer({
          description:
            'Number of a merge request of the project, whose open discussions are resolved by the issue; a description that is not given names them, 50 at most',
        }),
        discussion_to_resolve: p.string({
          description: 'ID of the only discussion of that merge request that is resolved',
        }),
      },
      [ONE_EPIC()],
    ),
  returns: { body: shapes.issue },
  errors: [
    { status: 400, description: 'A parameter is invalid' },
    { status: 409, description: 'The number is taken' },
  ],
  handle: async ({ actor, project, body, request }, deps) => {
    const { merge_request_to_resolve_discussions_of: iid, discussion_to_resolve: discussionId } = body;
    const followUp =
      iid === undefined
        ? undefined
        : await (await import('../../domain/merge-requests/follow-up.ts')).followUpOf(deps, actor, project, {
            ...{ iid, discussionId, baseUrl: request.baseUrl },
          });
    const metadata = metadataOf(body);
    const input = {
      ...metadata,
      description: metadata.description || followUp?.description,
      title: body.title,
      iid: body.iid,
      createdAt: body.created_at,
    };
    const found = await issues.createIssue(deps, actor, project, input, inDescription(deps, actor, project));
    await followUp?.resolve(found.issue);
    return presentedIssue(deps, actor, found, request.baseUrl);
  },
});

const UPDATED = [
  ...['title', 'description', 'assignee_ids', 'assignee_id', 'due_date', 'confidential', 'discussion_locked'],
  ...['labels', 'add_labels', 'remove_labels', 'milestone_id', 'iteration_id', 'epic_id', 'epic_iid'],
  ...['state_event', 'issue_type', 'weight', 'health_status', 'severity', 'updated_at'],
];

const update = endpoint({
  method: 'PUT',
  path: '/projects/:id/issues/:issue_iid',
  area,
  summary: 'Update an issue',
  description:
    'Authors and assignees below Reporter change title, description and state; what else they send is ignored.',
  access: project('read_issues'),
  params: ofIssue,
  body: () =>
    p.params(
      {
        title: p.changedText({ description: 'Title, at most 255 characters' }),
        ...metadataFields(),
        add_labels: p.list(p.string(), { description: 'Titles of labels to add' }),
        remove_labels: p.list(p.string(), { description: 'Titles of labels to remove' }),
        state_event: p.oneOf(['close', 'reopen'], { description: 'Change of the state' }),
        updated_at: p.datetime({ description: 'Time of the change; obeyed of owners' }),
      },
      [p.atLeastOneOf(...UPDATED), ONE_EPIC()],
    ),
  returns: { body: shapes.issue },
  errors: [
    { status: 400, description: 'A parameter is invalid' },
    { status: 404, description: 'Issue not found' },
    { status: 409, description: 'Others keep changing the issue' },
  ],
  handle: async ({ actor, project, params, body, request }, deps) => {
    const input = {
      ...metadataOf(body),
      title: body.title,
      addLabels: body.add_labels,
      removeLabels: body.remove_labels,
      stateEvent: body.state_event,
      updatedAt: body.updated_at,
    };
    const act = inDescription(deps, actor, project);
    const found = await issues.updateIssue(deps, actor, project, params.issue_iid, input, act);
    return presentedIssue(deps, actor, found, request.baseUrl);
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/projects/:id/issues/:issue_iid',
  area,
  summary: 'Delete an issue',
  access: project('read_issues'),
  params: ofIssue,
  returns: { status: 204 },
  errors: [
    { status: 404, description: 'Issue not found' },
    { status: 412, description: 'The issue was changed later than `If-Unmodified-Since`' },
  ],
  handle: async ({ actor, project, params, unmodifiedSince }, deps) => {
    await issues.deleteIssue(deps, actor, project, params.issue_iid, unmodifiedSince);
    return noContent();
  },
});

export const issueEndpoints = [...issueListEndpoints, one, byId, create, update, remove];

interface SentMetadata extends GivenMetadata {
  readonly description?: string | null;
  readonly labels?: readonly string[] | null;
  readonly milestone_id?: number | null;
  readonly iteration_id?: number | null;
  readonly epic_id?: number | null;
  readonly epic_iid?: number | null;
  readonly due_date?: string | null;
  readonly issue_type?: issues.NewIssueInput['type'];
  readonly confidential?: boolean;
  readonly discussion_locked?: boolean | null;
  readonly weight?: number | null;
  readonly health_status?: issues.NewIssueInput['healthStatus'];
  readonly severity?: issues.NewIssueInput['severity'];
}

const metadataOf = (body: SentMetadata) => ({
  description: body.description,
  assigneeIds: assigneeIdsOf(body),
  labels: body.labels === null ? [] : body.labels,
  milestoneId: body.milestone_id,
  iterationId: body.iteration_id,
  epicId: body.epic_id,
  epicIid: body.epic_iid,
  dueDate: body.due_date,
  type: body.issue_type,
  confidential: body.confidential,
  discussionLocked: body.discussion_locked,
  weight: body.weight,
  healthStatus: body.health_status,
  severity: body.severity,
});
