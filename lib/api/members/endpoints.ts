import * as members from '../../domain/members.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { json, noContent } from '../../http/reply.ts';
import { counted, endpoint } from '../endpoint.ts';
import * as shapes from '../users/shapes.ts';
import { member } from './present.ts';

const area = 'members';
const readers = { access: project('read_members') } as const;
const userId = () => p.params({ user_id: p.integer({ required: true, description: 'Id of the user' }) });
const expiry = {
  expires_at: p.date({ nullable: true, description: 'Last day, `YYYY-MM-DD`; blank clears it' }),
};

const list = endpoint({
  method: 'GET',
  path: '/projects/:id/members',
  area,
  summary: 'List the direct members of a project',
  ...readers,
  query: () =>
    p.params({
      query: p.string({ description: 'Part of a name or username' }),
      user_ids: p.list(p.integer(), { description: 'Only these users' }),
    }),
  returns: { body: shapes.members },
  paginate: 'offset',
  handle: async ({ project, query, page, request }, deps) => {
    const found = await members.listMembers(deps, project, {
      ...counted(page),
      ...(query.query === undefined ? {} : { query: query.query }),
      ...(query.user_ids === undefined ? {} : { userIds: query.user_ids }),
    });
    return { ...found, items: found.items.map(({ record, user }) => member(record, user, request.baseUrl)) };
  },
});

const get = endpoint({
  method: 'GET',
  path: '/projects/:id/members/:user_id',
  area,
  summary: 'Get a direct member of a project',
  ...readers,
  params: userId,
  returns: { body: shapes.member },
  errors: [{ status: 404, description: 'No direct member' }],
  handle: async ({ project, params, request }, deps) => {
    const { record, user } = await members.getMember(deps, project, params.user_id);
    return member(record, user, request.baseUrl);
  },
});

const add = endpoint({
  method: 'POST',
  path: '/projects/:id/members',
  area,
  summary: 'Add one member, or several at once',
  access: project('admin_members'),
  body: () =>
    p.params({
      user_id: p.string({ required: true, description: 'Id of the user; several with commas between' }),
      access_level: p.integer({ required: true, description: '10, 20, 30 or 40' }),
      ...expiry,
      invite_source: p.string({ default: 'members-api', description: 'Where the invitation comes from' }),
    }),
  returns: { body: shapes.memberAdded },
  errors: [
    { status: 404, description: 'No such user' },
    { status: 409, description: 'Member already exists' },
  ],
  handle: async ({ actor, project, body, request }, deps) => {
    const input = { accessLevel: body.access_level, expiresAt: body.expires_at };
    const ids = userIds(body.user_id);
    if (ids.length === 1) {
      const { record, user } = await members.addMember(deps, actor, project, ids[0]!, input);
      return member(record, user, request.baseUrl);
    }
    const reasons = await members.addMembers(deps, actor, project, ids, input);
    const failed = typeof reasons === 'string' || Object.keys(reasons).length > 0;
    return json(failed ? { status: 'error', message: reasons } : { status: 'success' }, { status: 201 });
  },
});

const change = endpoint({
  method: 'PUT',
  path: '/projects/:id/members/:user_id',
  area,
  summary: 'Change the access level of a member',
  access: project('admin_members'),
  params: userId,
  body: () =>
    p.params({ access_level: p.integer({ required: true, description: '10, 20, 30 or 40' }), ...expiry }),
  returns: { body: shapes.member },
  errors: [{ status: 404, description: 'No direct member' }],
  handle: async ({ actor, project, params, body, request }, deps) => {
    const input = { accessLevel: body.access_level, expiresAt: body.expires_at };
    const { record, user } = await members.changeMember(deps, actor, project, params.user_id, input);
    return member(record, user, request.baseUrl);
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/projects/:id/members/:user_id',
  area,
  summary: 'Remove a member',
  ...readers,
  params: userId,
  query: () =>
    p.params({
      skip_subresources: p.boolean({
        default: false,
        description: 'Keep memberships below; projects have none',
      }),
      unassign_issuables: p.boolean({
        default: false,
        description: 'Take the user off issues and merge requests',
      }),
    }),
  returns: { status: 204 },
  errors: [{ status: 404, description: 'No direct member' }],
  handle: async ({ actor, project, params, unmodifiedSince }, deps) => {
    const { record } = await members.getMember(deps, project, params.user_id);
    unmodifiedSince(record.createdAt);
    await members.removeMember(deps, actor, project, params.user_id);
    return noContent();
  },
});

export const memberEndpoints = [list, get, add, change, remove];

/** Ids that are no numbers name nobody. */
function userIds(text: string): number[] {
  const ids = new Set(text.split(',').map((part) => part.trim()));
  return [...ids].map((id) => (/^\d{1,15}$/.test(id) ? Number(id) : 0));
}
