import type { GroupAccess } from '../../domain/access/types.ts';
import type { Actor } from '../../domain/actor.ts';
import { getMember, listMembers, type Member } from '../../domain/members/list.ts';
import { addMember, addMembers, changeMember, removeMember } from '../../domain/members/members.ts';
import { seesIdentities, topLevelGroupOf } from '../../domain/scim/group-identities.ts';
import { group, project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { json, noContent } from '../../http/reply.ts';
import { accessOf } from '../container-access.ts';
import { counted, endpoint, idOfToken } from '../endpoint.ts';
import * as shapes from '../users/shapes.ts';
import { userIds } from './ids.ts';
import { importEndpoint } from './import.ts';
import { member } from './present.ts';

const area = 'members';
const userId = () => p.params({ user_id: p.integer({ required: true, description: 'Id of the user' }) });
const expiry = {
  expires_at: p.date({
    nullable: true,
    description: 'Date on which the membership ends (`YYYY-MM-DD`); blank removes the end date',
  }),
};

/** Projects and groups have the same endpoints for members. */
const KINDS = {
  project: {
    base: '/projects/:id/members',
    readers: project('read_members'),
    managers: project('admin_members'),
    levels: '10 (Guest), 20 (Reporter), 30 (Developer) or 40 (Maintainer)',
    inherited: 'inherited and invited ones included',
  },
  group: {
    base: '/groups/:id/members',
    readers: group('read_group_members'),
    managers: group('admin_group_members'),
    levels: '10 (Guest), 20 (Reporter), 30 (Developer), 40 (Maintainer) or 50 (Owner)',
    inherited: 'inherited ones included',
  },
} as const;

type Kind = keyof typeof KINDS;

const listed = (kind: Kind, inherited: boolean) =>
  endpoint({
    method: 'GET',
    path: inherited ? `${KINDS[kind].base}/all` : KINDS[kind].base,
    area,
    summary: inherited
      ? `List all members of a ${kind}, ${KINDS[kind].inherited}`
      : `List the direct members of a ${kind}`,
    access: KINDS[kind].readers,
    query: () =>
      p.params({
        query: p.string({ description: 'Return only members whose name or username contains this text' }),
        user_ids: p.list(p.integer(), { description: 'Return only the users with these ids' }),
      }),
    returns: { body: shapes.members },
    paginate: 'offset+keyset',
    keyset: { marker: 'page_token' },
    noun: 'Member',
    errors: [{ status: 405, description: 'The offset is above 50000' }],
    handle: async ({ query, page, request, ...found }, deps) => {
      const members = await listMembers(deps, accessOf(found), {
        ...(page.kind === 'offset'
          ? counted(page)
          : { page: 1, perPage: page.perPage, after: idOfToken(page.after) }),
        inherited,
        ...(query.query === undefined ? {} : { query: query.query }),
        ...(query.user_ids === undefined ? {} : { userIds: query.user_ids }),
      });
      const signIn = signInSeenBy(found);
      const { total, more, lastUserId } = members;
      const items = members.items.map((item) => shown(item, request.baseUrl, signIn));
      return { items, total, more, next: more && lastUserId !== undefined ? String(lastUserId) : undefined };
    },
  });

const one = (kind: Kind, inherited: boolean) =>
  endpoint({
    method: 'GET',
    path: inherited ? `${KINDS[kind].base}/all/:user_id` : `${KINDS[kind].base}/:user_id`,
    area,
    summary: inherited
      ? `Get a member of a ${kind}, ${KINDS[kind].inherited}`
      : `Get a direct member of a ${kind}`,
    access: KINDS[kind].readers,
    params: userId,
    returns: { body: shapes.member },
    errors: [
      {
        status: 404,
        description: inherited ? 'The user is not a member' : 'The user is not a direct member',
      },
    ],
    handle: async ({ params, request, ...found }, deps) =>
      shown(
        await getMember(deps, accessOf(found), params.user_id, { inherited }),
        request.baseUrl,
        signInSeenBy(found),
      ),
  });

const add = (kind: Kind) =>
  endpoint({
    method: 'POST',
    path: KINDS[kind].base,
    area,
    summary: `Add members to a ${kind}`,
    access: KINDS[kind].managers,
    body: () =>
      p.params({
        user_id: p.list(p.string(), {
          required: true,
          maxItems: 1_000,
          description: 'Id of the user, or several ids',
        }),
        access_level: p.integer({
          required: true,
          description: `Access level of the member: ${KINDS[kind].levels}`,
        }),
        ...expiry,
        invite_source: p.string({
          default: 'members-api',
          description: 'Ignored: name of the client that adds the member',
        }),
      }),
    returns: { body: shapes.memberAdded },
    errors: [
      { status: 404, description: 'The user does not exist' },
      { status: 409, description: 'Member already exists' },
    ],
    handle: async ({ actor, body, request, ...found }, deps) => {
      const input = { accessLevel: body.access_level, expiresAt: body.expires_at };
      const resource = accessOf(found);
      const ids = userIds(body.user_id);
      if (body.user_id.length === 1)
        return shown(await addMember(deps, actor, resource, ids[0]!, input), request.baseUrl);
      const reasons = await addMembers(deps, actor, resource, ids, input);
      const failed = typeof reasons === 'string' || Object.keys(reasons).length > 0;
      return json(failed ? { status: 'error', message: reasons } : { status: 'success' }, { status: 201 });
    },
  });

const change = (kind: Kind) =>
  endpoint({
    method: 'PUT',
    path: `${KINDS[kind].base}/:user_id`,
    area,
    summary: `Update a member of a ${kind}`,
    access: KINDS[kind].managers,
    params: userId,
    body: () =>
      p.params({
        access_level: p.integer({
          required: true,
          description: `Access level of the member: ${KINDS[kind].levels}`,
        }),
        ...expiry,
      }),
    returns: { body: shapes.member },
    errors: [{ status: 404, description: 'The user is not a direct member' }],
    handle: async ({ actor, params, body, request, ...found }, deps) => {
      const input = { accessLevel: body.access_level, expiresAt: body.expires_at };
      return shown(await changeMember(deps, actor, accessOf(found), params.user_id, input), request.baseUrl);
    },
  });

const remove = (kind: Kind) =>
  endpoint({
    method: 'DELETE',
    path: `${KINDS[kind].base}/:user_id`,
    area,
    summary: `Remove a member from a ${kind}`,
    access: KINDS[kind].readers,
    params: userId,
    query: () =>
      p.params({
        skip_subresources: p.boolean({
          default: false,
          description: 'Keep the memberships in subgroups and their projects; no effect for a project',
        }),
        unassign_issuables: p.boolean({
          default: false,
          description:
            'Take the user off the issues and merge requests that they are assigned to there, in the background',
        }),
      }),
    returns: { status: 204 },
    errors: [{ status: 404, description: 'The user is not a direct member' }],
    handle: async ({ actor, params, query, unmodifiedSince, ...found }, deps) => {
      const resource = accessOf(found);
      const { record } = await getMember(deps, resource, params.user_id, { inherited: false });
      unmodifiedSince(record.createdAt);
      await removeMember(deps, actor, resource, params.user_id, {
        keepBelow: query.skip_subresources,
        unassigns: query.unassign_issuables,
      });
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

export const projectMemberEndpoints = [...of('project'), importEndpoint];
export const groupMemberEndpoints = of('group');

const shown = ({ record, user }: Member, baseUrl: string, signIn?: number) =>
  member(record, user, baseUrl, signIn);

/** Id of the top-level group whose single sign-on identities the caller may see; undefined when none. */
const signInSeenBy = ({ actor, group }: { actor: Actor; group: GroupAccess | undefined }) =>
  group !== undefined && seesIdentities(actor, group) ? topLevelGroupOf(group).id : undefined;
