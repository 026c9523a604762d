import * as rules from '../../domain/invitations/invitations.ts';
import { addMembers } from '../../domain/members/members.ts';
import * as p from '../../http/params.ts';
import { json, noContent } from '../../http/reply.ts';
import { counted, endpoint } from '../endpoint.ts';
import { userIds } from '../members/ids.ts';
import { PLACES, type PlaceKind, placeOf } from '../members/place.ts';
import * as shapes from '../members/shapes.ts';

const area = 'members';
const address = () =>
  p.params({ email: p.string({ required: true, description: 'The invited address, in any case' }) });
const absent = { status: 404, description: 'It is not invited' };
const expiry = { expires_at: p.date({ nullable: true, description: 'Last day of the membership' }) };

const shown = ({ record, createdBy }: rules.ShownInvitation) => ({
  id: record.id,
  invite_email: record.email,
  created_at: record.createdAt,
  access_level: record.accessLevel,
  expires_at: record.expiresAt,
  created_by_name: createdBy?.name ?? null,
});

const of = (kind: PlaceKind) => {
  const { base, managers, levels } = PLACES[kind];
  return [
    endpoint({
      method: 'POST',
      path: `${base}/invitations`,
      area,
      summary: `Invite people to a ${kind}, by e-mail or by id`,
      description:
        'Whoever has a confirmed address is a member at once. Each is invited on its own: what failed is told by address or username.',
      access: managers,
      body: () =>
        p.params(
          {
            email: p.list(p.string(), { description: 'Addresses', maxItems: 1_000 }),
            user_id: p.list(p.string(), { description: 'Ids of users', maxItems: 1_000 }),
            access_level: p.integer({ required: true, description: levels }),
            ...expiry,
            invite_source: p.string({
              default: 'invitations-api',
              description: 'Where the invitation comes from',
            }),
          },
          [p.atLeastOneOf('email', 'user_id')],
        ),
      returns: { body: shapes.invited },
      errors: [{ status: 405, description: 'No new members here' }],
      handle: async ({ actor, body, request, ...found }, deps) => {
        const input = { accessLevel: body.access_level, expiresAt: body.expires_at };
        const place = placeOf(found);
        const told = [];
        if (body.email !== undefined)
          told.push(await rules.invite(deps, actor, place, body.email, input, request.baseUrl));
        if (body.user_id !== undefined)
          told.push(await addMembers(deps, actor, place, userIds(body.user_id), input));
        const sentence = told.find((reasons) => typeof reasons === 'string');
        const reasons = sentence ?? Object.fromEntries(told.flatMap((each) => Object.entries(each)));
        const failed = sentence !== undefined || Object.keys(reasons).length > 0;
        return json(failed ? { status: 'error', message: reasons } : { status: 'success' }, { status: 201 });
      },
    }),
    endpoint({
      method: 'GET',
      path: `${base}/invitations`,
      area,
      summary: `List invitations to a ${kind} that nobody has taken yet, by address`,
      access: managers,
      query: () => p.params({ query: p.string({ description: 'Part of an address' }) }),
      returns: { body: shapes.invitations },
      paginate: 'offset',
      handle: async ({ actor, query, page, ...found }, deps) => {
        const wanted = { ...counted(page), query: query.query };
        const invitations = await rules.listInvitations(deps, actor, placeOf(found), wanted);
        return { ...invitations, items: invitations.items.map(shown) };
      },
    }),
    endpoint({
      method: 'PUT',
      path: `${base}/invitations/:email`,
      area,
      summary: 'Change an invitation',
      access: managers,
      params: address,
      body: () => p.params({ access_level: p.integer({ description: levels }), ...expiry }),
      returns: { body: shapes.invitation },
      errors: [absent],
      handle: async ({ actor, params, body, ...found }, deps) => {
        const change = { accessLevel: body.access_level, expiresAt: body.expires_at };
        return shown(await rules.changeInvitation(deps, actor, placeOf(found), params.email, change));
      },
    }),
    endpoint({
      method: 'DELETE',
      path: `${base}/invitations/:email`,
      area,
      summary: 'Take an invitation back',
      access: managers,
      params: address,
      returns: { status: 204 },
      errors: [absent],
      handle: async ({ actor, params, unmodifiedSince, ...found }, deps) => {
        const invitation = await rules.invitationTo(deps, actor, placeOf(found), params.email);
        unmodifiedSince(invitation.createdAt);
        await rules.withdrawInvitation(deps, invitation);
        return noContent();
      },
    }),
  ];
};

export const invitationEndpoints = [...of('project'), ...of('group')];
