import * as rules from '../../domain/invitations/invitations.ts';
import { addMembers } from '../../domain/members/members.ts';
import * as p from '../../http/params.ts';
import { json, noContent } from '../../http/reply.ts';
import { accessOf } from '../container-access.ts';
import { counted, endpoint } from '../endpoint.ts';
import { userIds } from '../members/ids.ts';
import { MEMBERSHIP_RESOURCES, type MembershipResourceKind } from '../members/resources.ts';
import * as shapes from '../members/shapes.ts';

const area = 'members';
const address = () =>
  p.params({ email: p.string({ required: true, description: 'Invited email address, case-insensitive' }) });
const absent = { status: 404, description: 'The address is not invited' };
const expiry = {
  expires_at: p.date({ nullable: true, description: 'Date on which the membership ends (`YYYY-MM-DD`)' }),
};

const shown = ({ record, createdBy }: rules.ShownInvitation) => ({
  id: record.id,
  invite_email: record.email,
  created_at: record.createdAt,
  access_level: record.accessLevel,
  expires_at: record.expiresAt,
  created_by_name: createdBy?.name ?? null,
});

const of = (kind: MembershipResourceKind) => {
  const { base, managers, levels } = MEMBERSHIP_RESOURCES[kind];
  return [
    endpoint({
      method: 'POST',
      path: `${base}/invitations`,
      area,
      summary: `Invite users to a ${kind} by email address or user id`,
      description:
        'A user who has confirmed the address becomes a member immediately. Each invitation succeeds or fails on its own; failures are listed by address or username.',
      access: managers,
      body: () =>
        p.params(
          {
            email: p.list(p.string(), { description: 'Email address, or several', maxItems: 1_000 }),
            user_id: p.list(p.string(), { description: 'Id of the user, or several ids', maxItems: 1_000 }),
            access_level: p.integer({ required: true, description: `Access level to grant: ${levels}` }),
            ...expiry,
            invite_source: p.string({
              default: 'invitations-api',
              description: 'Ignored: name of the client that sends the invitation',
            }),
          },
          [p.atLeastOneOf('email', 'user_id')],
        ),
      returns: { body: shapes.invited },
      errors: [{ status: 405, description: 'A parent group has locked the membership of its projects' }],
      handle: async ({ actor, body, request, ...found }, deps) => {
        const input = { accessLevel: body.access_level, expiresAt: body.expires_at };
        const resource = accessOf(found);
        const results = [];
        if (body.email !== undefined)
          results.push(await rules.invite(deps, actor, resource, body.email, input, request.baseUrl));
        if (body.user_id !== undefined)
          results.push(await addMembers(deps, actor, resource, userIds(body.user_id), input));
        const sentence = results.find((reasons) => typeof reasons === 'string');
        const reasons = sentence ?? Object.fromEntries(results.flatMap((reasons) => Object.entries(reasons)));
        const failed = sentence !== undefined || Object.keys(reasons).length > 0;
        return json(failed ? { status: 'error', message: reasons } : { status: 'success' }, { status: 201 });
      },
    }),
    endpoint({
      method: 'GET',
      path: `${base}/invitations`,
      area,
      summary: `List the pending invitations to a ${kind}, sorted by address`,
      access: managers,
      query: () =>
        p.params({
          query: p.string({ description: 'Return only invitations whose address contains this text' }),
        }),
      returns: { body: shapes.invitations },
      paginate: 'offset',
      handle: async ({ actor, query, page, ...found }, deps) => {
        const options = { ...counted(page), query: query.query };
        const invitations = await rules.listInvitations(deps, actor, accessOf(found), options);
        return { ...invitations, items: invitations.items.map(shown) };
      },
    }),
    endpoint({
      method: 'PUT',
      path: `${base}/invitations/:email`,
      area,
      summary: `Update an invitation to a ${kind}`,
      access: managers,
      params: address,
      body: () =>
        p.params({ access_level: p.integer({ description: `Access level to grant: ${levels}` }), ...expiry }),
      returns: { body: shapes.invitation },
      errors: [absent],
      handle: async ({ actor, params, body, ...found }, deps) => {
        const change = { accessLevel: body.access_level, expiresAt: body.expires_at };
        return shown(await rules.changeInvitation(deps, actor, accessOf(found), params.email, change));
      },
    }),
    endpoint({
      method: 'DELETE',
      path: `${base}/invitations/:email`,
      area,
      summary: `Revoke an invitation to a ${kind}`,
      access: managers,
      params: address,
      returns: { status: 204 },
      errors: [absent],
      handle: async ({ actor, params, unmodifiedSince, ...found }, deps) => {
        const invitation = await rules.getInvitation(deps, actor, accessOf(found), params.email);
        unmodifiedSince(invitation.createdAt);
        await rules.withdrawInvitation(deps, invitation);
        return noContent();
      },
    }),
  ];
};

export const invitationEndpoints = [...of('project'), ...of('group')];
