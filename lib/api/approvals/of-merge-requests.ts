import { can } from '../../domain/access/permissions.ts';
import type { ProjectAccess } from '../../domain/access/types.ts';
import type { Actor } from '../../domain/actor.ts';
import { shownApprovals } from '../../domain/approvals/merge-request-details.ts';
import { textsOf } from '../../domain/long-texts.ts';
import * as own from '../../domain/merge-requests/approval-rules.ts';
import * as approving from '../../domain/merge-requests/approve.ts';
import { checkedForApproval } from '../../domain/merge-requests/checked-for-approval.ts';
import { getMergeRequest } from '../../domain/merge-requests/find.ts';
import { mergeStatus } from '../../domain/merge-requests/merge-status.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { accepted, json, noContent } from '../../http/reply.ts';
import type { ApprovalRule } from '../../records/approvals.ts';
import type { MergeRequestRecord } from '../../records/merge-requests.ts';
import { type ApiDeps, endpoint } from '../endpoint.ts';
import { accepted as acceptedShape } from '../meta/shapes.ts';
import { approvalsRequired, approverFields, approversOf } from './params.ts';
import { approvalStateOf, approvalsOf, ownRules } from './present.ts';
import * as shapes from './shapes.ts';

const area = 'approvals';
const readers = project('read_merge_requests');
const path = '/projects/:id/merge_requests/:merge_request_iid';

const absent = { status: 404, description: 'Merge request not found' };
const concurrent = { status: 409, description: 'Changed by concurrent requests' };
const unchangeable = {
  status: 403,
  description:
    'You may not change the merge request, it is merged, the project lets none have rules, or the rule is of code owners',
};

const iid = () => ({
  merge_request_iid: p.integer({ required: true, description: 'Number of the merge request in its project' }),
});
const mergeRequest = () => p.params(iid());
const ofRule = () =>
  p.params({ ...iid(), approval_rule_id: p.integer({ required: true, description: 'ID of the rule' }) });

async function presented(
  deps: ApiDeps,
  actor: Actor,
  access: ProjectAccess,
  read: MergeRequestRecord,
  baseUrl: string,
) {
  const { record, targetSha } = await checkedForApproval(deps, access, read);
  const [shown, [description]] = await Promise.all([
    shownApprovals(deps, actor, access, record, can(actor, access, 'approve_merge_request')),
    textsOf(deps, [record.description ?? '']),
  ]);
  const status = mergeStatus({ record, targetSha, checking: false });
  return approvalsOf(record, record.description && description!, status, shown, baseUrl);
}

const get = endpoint({
  method: 'GET',
  path: `${path}/approvals`,
  area,
  summary: 'Get the approvals of a merge request',
  access: readers,
  params: mergeRequest,
  returns: { body: shapes.approvals },
  errors: [absent],
  handle: async ({ actor, project: access, params, request }, deps) => {
    const found = await getMergeRequest(deps, actor, access, params.merge_request_iid);
    return presented(deps, actor, access, found.mergeRequest, request.baseUrl);
  },
});

const setRequired = endpoint({
  method: 'POST',
  path: `${path}/approvals`,
  area,
  summary: 'Set the number of approvals that a merge request asks for',
  description: 'It counts where the project asks for some, and for fewer.',
  access: readers,
  params: mergeRequest,
  body: () => p.params({ approvals_required: approvalsRequired({ required: true }) }),
  returns: { status: 201, body: shapes.approvals },
  errors: [unchangeable, absent, concurrent],
  handle: async ({ actor, project: access, params, body, request }, deps) => {
    const record = await own.setApprovalsRequired(
      deps,
      actor,
      access,
      params.merge_request_iid,
      body.approvals_required,
    );
    return json(await presented(deps, actor, access, record, request.baseUrl), { status: 201 });
  },
});

const approve = endpoint({
  method: 'POST',
  path: `${path}/approve`,
  area,
  summary: 'Approve a merge request',
  access: readers,
  params: mergeRequest,
  body: () =>
    p.params({
      sha: p.string({ description: 'ID of the commit that is approved: the head of the source branch' }),
      approval_password: p.string({ description: 'Your password, where the settings ask for it' }),
    }),
  returns: { status: 201, body: shapes.approvals },
  errors: [
    {
      status: 401,
      description: 'You may not approve it, or did already; it is not open; or the password is wrong',
    },
    absent,
    { status: 409, description: 'The head of the source branch is another commit, or concurrent changes' },
    { status: 429, description: 'Too many passwords were tried' },
  ],
  handle: async ({ actor, project: access, params, body, request }, deps) => {
    const record = await approving.approve(deps, actor, access, params.merge_request_iid, {
      sha: body.sha,
      password: body.approval_password,
    });
    return json(await presented(deps, actor, access, record, request.baseUrl), { status: 201 });
  },
});

const unapprove = endpoint({
  method: 'POST',
  path: `${path}/unapprove`,
  area,
  summary: 'Revoke your approval of a merge request',
  access: readers,
  params: mergeRequest,
  returns: { status: 201, body: shapes.approvals },
  errors: [
    { status: 401, description: 'It is not open' },
    { status: 404, description: 'Merge request not found, or not approved by you' },
    concurrent,
  ],
  handle: async ({ actor, project: access, params, request }, deps) => {
    const record = await approving.unapprove(deps, actor, access, params.merge_request_iid);
    return json(await presented(deps, actor, access, record, request.baseUrl), { status: 201 });
  },
});

const reset = endpoint({
  method: 'PUT',
  path: `${path}/reset_approvals`,
  area,
  summary: 'Remove all approvals of a merge request',
  description: 'For the users of project and group access tokens.',
  access: readers,
  params: mergeRequest,
  returns: { status: 202, body: acceptedShape },
  errors: [{ status: 401, description: 'You are a person, or it is not open' }, absent, concurrent],
  handle: async ({ actor, project: access, params }, deps) => {
    await approving.resetApprovals(deps, actor, access, params.merge_request_iid);
    return accepted();
  },
});

const state = endpoint({
  method: 'GET',
  path: `${path}/approval_state`,
  area,
  summary: 'Get the state of the approval rules of a merge request',
  access: readers,
  params: mergeRequest,
  returns: { body: shapes.approvalState },
  errors: [absent],
  handle: async ({ actor, project: access, params, request }, deps) => {
    const found = await getMergeRequest(deps, actor, access, params.merge_request_iid);
    const { record } = await checkedForApproval(deps, access, found.mergeRequest);
    const shown = await shownApprovals(deps, actor, access, record, false);
    return approvalStateOf(deps, actor, access, shown, request.baseUrl);
  },
});

const refused = {
  status: 400,
  description:
    'A field is invalid; the name is taken; fewer approvals than the rule of the project asks for; a user is no member, or a group not visible',
};

const list = endpoint({
  method: 'GET',
  path: `${path}/approval_rules`,
  area,
  summary: 'List the approval rules of a merge request',
  description:
    'Those of its own, the oldest first, then those of code owners. The state of its approvals has all that are in force.',
  access: readers,
  params: mergeRequest,
  returns: { body: shapes.ownRules },
  paginate: 'offset',
  errors: [absent],
  handle: async ({ actor, project: access, params, page, request }, deps) => {
    const all = await own.listOwnRules(deps, actor, access, params.merge_request_iid);
    const items = all.slice(page.offset, page.offset + page.perPage);
    return { items: await ownRules(deps, actor, access, items, request.baseUrl), total: all.length };
  },
});

const shown = async (
  deps: ApiDeps,
  actor: Actor,
  access: ProjectAccess,
  rule: ApprovalRule,
  baseUrl: string,
) => (await ownRules(deps, actor, access, [rule], baseUrl))[0]!;

const getRule = endpoint({
  method: 'GET',
  path: `${path}/approval_rules/:approval_rule_id`,
  area,
  summary: 'Get an approval rule of a merge request',
  access: readers,
  params: ofRule,
  returns: { body: shapes.ownRule },
  errors: [absent],
  handle: async ({ actor, project: access, params, request }, deps) => {
    const { merge_request_iid: of, approval_rule_id: id } = params;
    return shown(deps, actor, access, await own.getOwnRule(deps, actor, access, of, id), request.baseUrl);
  },
});

const createRule = endpoint({
  method: 'POST',
  path: `${path}/approval_rules`,
  area,
  summary: 'Create an approval rule of a merge request',
  description: 'It stands for a rule of the project, or is one more.',
  access: readers,
  params: mergeRequest,
  body: () =>
    p.params({
      name: p.string({ required: true, description: 'Name of the rule, at most 255 characters' }),
      approvals_required: approvalsRequired({ required: true }),
      approval_project_rule_id: p.integer({
        description:
          'ID of the rule of the project that it stands for, whose name, users and groups it takes over',
      }),
      ...approverFields(),
    }),
  returns: { status: 201, body: shapes.ownRule },
  errors: [refused, unchangeable, absent, concurrent],
  handle: async ({ actor, project: access, params, body, request }, deps) => {
    const rule = await own.createOwnRule(deps, actor, access, params.merge_request_iid, {
      ...approversOf(body),
      name: body.name,
      approvalsRequired: body.approvals_required,
      sourceRuleId: body.approval_project_rule_id,
    });
    return json(await shown(deps, actor, access, rule, request.baseUrl), { status: 201 });
  },
});

const updateRule = endpoint({
  method: 'PUT',
  path: `${path}/approval_rules/:approval_rule_id`,
  area,
  summary: 'Update an approval rule of a merge request',
  description: 'A list that is given replaces the former one. Groups that you cannot see stay.',
  access: readers,
  params: ofRule,
  body: () =>
    p.params({
      name: p.string({ description: 'Name of the rule, at most 255 characters' }),
      approvals_required: approvalsRequired({}),
      ...approverFields(),
      remove_hidden_groups: p.boolean({ description: 'Remove groups that you cannot see, too' }),
    }),
  returns: { body: shapes.ownRule },
  errors: [refused, unchangeable, absent, concurrent],
  handle: async ({ actor, project: access, params, body, request }, deps) => {
    const { merge_request_iid: of, approval_rule_id: id } = params;
    const rule = await own.changeOwnRule(deps, actor, access, of, id, {
      ...approversOf(body),
      name: body.name,
      approvalsRequired: body.approvals_required,
      removeHiddenGroups: body.remove_hidden_groups,
    });
    return shown(deps, actor, access, rule, request.baseUrl);
  },
});

const removeRule = endpoint({
  method: 'DELETE',
  path: `${path}/approval_rules/:approval_rule_id`,
  area,
  summary: 'Delete an approval rule of a merge request',
  access: readers,
  params: ofRule,
  returns: { status: 204 },
  errors: [unchangeable, absent, concurrent],
  handle: async ({ actor, project: access, params, unmodifiedSince }, deps) => {
    const { merge_request_iid: of, approval_rule_id: id } = params;
    await own.removeOwnRule(deps, actor, access, of, id, unmodifiedSince);
    return noContent();
  },
});

export const mergeRequestApprovalEndpoints = [
  get,
  setRequired,
  approve,
  unapprove,
  reset,
  state,
  list,
  getRule,
  createRule,
  updateRule,
  removeRule,
];
