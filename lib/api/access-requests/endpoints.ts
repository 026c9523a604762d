import {
  type AccessRequest,
  approveAccess,
  denyAccess,
  getAccessRequest,
  listAccessRequests,
  requestAccess,
} from '../../domain/access-requests/access-requests.ts';
import * as p from '../../http/params.ts';
import { json, noContent } from '../../http/reply.ts';
import { accessOf } from '../container-access.ts';
import { BY_ROWS, counted, endpoint } from '../endpoint.ts';
import { member } from '../members/present.ts';
import { MEMBERSHIP_RESOURCES, type MembershipResourceKind } from '../members/resources.ts';
import * as shapes from '../members/shapes.ts';
import { userBasic } from '../users/present.ts';
import { member as memberShape } from '../users/shapes.ts';

const area = 'members';
const userId = () => p.params({ user_id: p.integer({ required: true, description: 'Id of the user' }) });

const shown = ({ record, user }: AccessRequest, baseUrl: string) => ({
  ...userBasic(user, baseUrl),
  requested_at: record.requestedAt,
});

const of = (kind: MembershipResourceKind) => {
  const { base, readers, managers, levels } = MEMBERSHIP_RESOURCES[kind];
  return [
    endpoint({
      method: 'GET',
      path: `${base}/access_requests`,
      area,
      summary: `List the access requests of a ${kind}`,
      access: managers,
      returns: { body: shapes.accessRequests },
      ...BY_ROWS,
      handle: async ({ actor, page, request, ...found }, deps) => {
        const requests = await listAccessRequests(deps, actor, accessOf(found), counted(page));
        return { ...requests, items: requests.items.map((item) => shown(item, request.baseUrl)) };
      },
    }),
    endpoint({
      method: 'POST',
      path: `${base}/access_requests`,
      area,
      summary: `Request access to a ${kind}`,
      access: readers,
      returns: { body: shapes.accessRequest },
      errors: [
        { status: 400, description: 'The caller has already requested access' },
        { status: 429, description: 'Too many access requests within an hour' },
      ],
      handle: async ({ actor, request, ...found }, deps) =>
        shown(await requestAccess(deps, actor, accessOf(found), request.baseUrl), request.baseUrl),
    }),
    endpoint({
      method: 'PUT',
      path: `${base}/access_requests/:user_id/approve`,
      area,
      summary: `Approve an access request of a ${kind}`,
      access: managers,
      params: userId,
      body: () =>
        p.params({
          access_level: p.integer({ default: 30, description: `Access level to grant: ${levels}` }),
        }),
      returns: { status: 201, body: memberShape },
      errors: [
        { status: 404, description: 'The user has no pending access request' },
        { status: 405, description: 'A parent group has locked the membership of its projects' },
        { status: 409, description: 'Member already exists' },
      ],
      handle: async ({ actor, params, body, request, ...found }, deps) => {
        const resource = accessOf(found);
        const { record, user } = await approveAccess(
          deps,
          actor,
          resource,
          params.user_id,
          body.access_level,
        );
        return json(member(record, user, request.baseUrl), { status: 201 });
      },
    }),
    endpoint({
      method: 'DELETE',
      path: `${base}/access_requests/:user_id`,
      area,
      summary: `Deny an access request of a ${kind}, or withdraw your own`,
      access: readers,
      params: userId,
      returns: { status: 204 },
      errors: [{ status: 404, description: 'The user has no pending access request' }],
      handle: async ({ actor, params, unmodifiedSince, ...found }, deps) => {
        const { requestedAt } = await getAccessRequest(deps, actor, accessOf(found), params.user_id);
        unmodifiedSince(requestedAt);
        await denyAccess(deps, actor, accessOf(found), params.user_id);
        return noContent();
      },
    }),
  ];
};

export const accessRequestEndpoints = [...of('project'), ...of('group')];
