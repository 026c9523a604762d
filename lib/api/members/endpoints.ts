import type { GroupAccess } from '../../domain/access/types.ts';
import type { Actor } from '../../domain/actor.ts';
import { getMember, listMembers, type Member } from '../../domain/members/list.ts';
import { addMember, addMembers, changeMember, removeMember } from '../../domain/members/members.ts';
import { outermostOf, seesIdentities } from '../../domain/scim/group-identities.ts';
import { group, project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { json, noContent } from '../../http/reply.ts';
import { accessRequestEndpoints } from '../access-requests/endpoints.ts';
import { billableEndpoints } from '../billable-members/endpoints.ts';
import { counted, endpoint } from '../endpoint.ts';
import { invitationEndpoints } from '../invitations/endpoints.ts';
import * as shapes from '../users/shapes.ts';
import { userIds } from './ids.ts';
import { importEndpoint } from './import.ts';
import { placeOf } from './place.ts';
import { member } from './present.ts';

const area = 'members';
const userId = () => p.params({ user_id: p.integer({ required: true, description: 'Id of the user' }) });
const expiry = {
  expires_at: p.date({ nullable: true, description: 'Last day, `YYYY-MM-DD`; blank clears it' }),
};

/** The same for both: who is a member of a project, or of a group. */
const KINDS = {
  project: {
    base: '/projects/:id/members',
    readers: project('read_members'),
    managers: project('admin_members'),
    levels: '10, 20, 30 or 40',
    above: 'of the groups above, or invited with a group',
  },
  group: {
    base: '/groups/:id/members',
    readers: group('read_group_members'),
    managers: group('admin_group_members'),
    levels: '10, 20, 30, 40 or 50',
    above: 'of the groups above',
  },
} as const;

type Kind = keyof typeof KINDS;

const listed = (kind: Kind, inherited: boolean) =>
  endpoint({
    method: 'GET',
    path: inherited ? `${KINDS[kind].base}/all` : KINDS[kind].base,
    area,
    summary: inherited
      ? `List all members of a ${kind}, also ${KINDS[kind].above}`
      : `List the direct members of a ${kind}`,
    access: KINDS[kind].readers,
    query: () =>
      p.params({
        query: p.string({ description: 'Part of a name or username' }),
        user_ids: p.list(p.integer(), { description: 'Only these users' }),
      }),
    returns: { body: shapes.members },
    paginate: 'offset',
    handle: async ({ query, page, request, ...found }, deps) => {
      const members = await listMembers(deps, placeOf(found), {
        ...counted(page),
        inherited,
        ...(query.query === undefined ? {} : { query: query.query }),
        ...(query.user_ids === undefined ? {} : { userIds: query.user_ids }),
      });
      const signIn = signInSeenBy(found);
      return { ...members, items: members.items.map((each) => shown(each, request.baseUrl, signIn)) };
    },
  });

const one = (kind: Kind, inherited: boolean) =>
  endpoint({
    method: 'GET',
    path: inherited ? `${KINDS[kind].base}/all/:user_id` : `${KINDS[kind].base}/:user_id`,
    area,
    summary: inherited
      ? `Get a member of a ${kind}, also ${KINDS[kind].above}`
      : `Get a direct member of a ${kind}`,
    access: KINDS[kind].readers,
    params: userId,
    returns: { body: shapes.member },
    errors: [{ status: 404, description: inherited ? 'No member' : 'No direct member' }],
    handle: async ({ params, request, ...found }, deps) =>
      shown(
        await getMember(deps, placeOf(found), params.user_id, { inherited }),
        request.baseUrl,
        signInSeenBy(found),
      ),
  });

const add = (kind: Kind) =>
  endpoint({
    method: 'POST',
    path: KINDS[kind].base,
    area,
    summary: `Add one member to a ${kind}, or several at once`,
    access: KINDS[kind].managers,
    body: () =>
      p.params({
        user_id: p.list(p.string(), {
          required: true,
          maxItems: 1_000,
          description: 'Id of the user, or of several',
        }),
        access_level: p.integer({ required: true, description: KINDS[kind].levels }),
        ...expiry,
        invite_source: p.string({ default: 'members-api', description: 'Where the invitation comes from' }),
      }),
    returns: { body: shapes.memberAdded },
    errors: [
      { status: 404, description: 'No such user' },
      { status: 409, description: 'Member already exists' },
    ],
    handle: async ({ actor, body, request, ...found }, deps) => {
      const input = { accessLevel: body.access_level, expiresAt: body.expires_at };
      const place = placeOf(found);
      const ids = userIds(body.user_id);
      if (body.user_id.length === 1)
        return shown(await addMember(deps, actor, place, ids[0]!, input), request.baseUrl);
      const reasons = await addMembers(deps, actor, place, ids, input);
      const failed = typeof reasons === 'string' || Object.keys(reasons).length > 0;
      return json(failed ? { status: 'error', message: reasons } : { status: 'success' }, { status: 201 });
    },
  });

const change = (kind: Kind) =>
  endpoint({
    method: 'PUT',
    path: `${KINDS[kind].base}/:user_id`,
    area,
    summary: `Change the access level of a member of a ${kind}`,
    access: KINDS[kind].managers,
    params: userId,
    body: () =>
      p.params({ access_level: p.integer({ required: true, description: KINDS[kind].levels }), ...expiry }),
    returns: { body: shapes.member },
    errors: [{ status: 404, description: 'No direct member' }],
    handle: async ({ actor, params, body, request, ...found }, deps) => {
      const input = { accessLevel: body.access_level, expiresAt: body.expires_at };
      return shown(await changeMember(deps, actor, placeOf(found), params.user_id, input), request.baseUrl);
    },
  });

const remove = (kind: Kind) =>
  endpoint({
    method: 'DELETE',
    path: `${KINDS[kind].base}/:user_id`,
    area,
    summary: `Remove a member of a ${kind}`,
    access: KINDS[kind].readers,
    params: userId,
    query: () =>
      p.params({
        skip_subresources: p.boolean({
          default: false,
          description: 'Keep memberships of the groups and projects inside; projects have none',
        }),
        unassign_issuables: p.boolean({
          default: false,
          description: 'Take the user off issues and merge requests',
        }),
      }),
    returns: { status: 204 },
    errors: [{ status: 404, description: 'No direct member' }],
    handle: async ({ actor, params, query, unmodifiedSince, ...found }, deps) => {
      const place = placeOf(found);
      const { record } = await getMember(deps, place, params.user_id, { inherited: false });
      unmodifiedSince(record.createdAt);
      await removeMember(deps, actor, place, params.user_id, { keepBelow: query.skip_subresources });
      return noContent();
    },
  });

const of = (kind: Kind) => [
  listed(kind, false),
  listed(kind, true),
  one(kind, false),
  one(kind, true),
  add(kind),
  change(kind),
  remove(kind),
];

export const memberEndpoints = [
  ...of('project'),
  ...invitationEndpoints,
  ...accessRequestEndpoints,
  importEndpoint,
  ...billableEndpoints,
];
/** Served by the function of groups. */
export const groupMemberEndpoints = of('group');

const shown = ({ record, user }: Member, baseUrl: string, signIn?: number) =>
  member(record, user, baseUrl, signIn);

/** The group at whose provider the caller sees members sign in, if they do. */
const signInSeenBy = ({ actor, group }: { actor: Actor; group: GroupAccess | undefined }) =>
  group !== undefined && seesIdentities(actor, group) ? outermostOf(group).id : undefined;
