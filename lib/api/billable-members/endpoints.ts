import { LEVEL_NAMES } from '../../domain/access/permissions.ts';
import {
  BILLABLE_SORTS,
  type BillableMember,
  type BillableSort,
  listBillable,
  type MembershipInside,
  membershipsOf,
  removeBillable,
} from '../../domain/billable-members/list.ts';
import { group } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { noContent } from '../../http/reply.ts';
import { counted, endpoint } from '../endpoint.ts';
import * as shapes from '../members/shapes.ts';
import { userBasic } from '../users/present.ts';

const area = 'members';
const base = '/groups/:id/billable_members';
const access = group('admin_group_members');
const inside = { status: 400, description: 'A group inside another' };
const userId = () => p.params({ user_id: p.integer({ required: true, description: 'Id of the user' }) });
const SORTS = Object.keys(BILLABLE_SORTS) as [BillableSort, ...BillableSort[]];

const list = endpoint({
  method: 'GET',
  path: base,
  area,
  summary: 'List everybody with access to an outermost group and what is inside it',
  description: 'As of 12:00 UTC, or of the first request for it.',
  access,
  query: () =>
    p.params({
      search: p.string({
        description: 'Part of a name, username or public address; administrators also: a whole address',
      }),
      sort: p.oneOf(SORTS, { default: 'name_asc' }),
    }),
  returns: { body: shapes.billableMembers },
  paginate: 'offset',
  errors: [inside, { status: 503, description: 'The first list is being made: ask again' }],
  handle: async ({ actor, query, page, request, ...found }, deps) => {
    const wanted = { ...counted(page), sort: query.sort, search: query.search };
    const members = await listBillable(deps, actor, found.group, wanted);
    return { ...members, items: members.items.map((each) => shown(each, request.baseUrl)) };
  },
});

const memberships = endpoint({
  method: 'GET',
  path: `${base}/:user_id/memberships`,
  area,
  summary: 'List the direct memberships of a user in a group and what is inside it',
  access,
  params: userId,
  returns: { body: shapes.billableMemberships },
  paginate: 'offset',
  errors: [inside, { status: 404, description: 'No such user' }],
  handle: async ({ params, page, request, ...found }, deps) => {
    const all = await membershipsOf(deps, found.group, params.user_id, counted(page));
    return { ...all, items: all.items.map((each) => membership(each, request.baseUrl)) };
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: `${base}/:user_id`,
  area,
  summary: 'Remove a user from a group, its subgroups and their projects',
  access,
  params: userId,
  returns: { status: 204 },
  errors: [inside, { status: 404, description: 'No member of any of them' }],
  handle: async ({ actor, params, ...found }, deps) => {
    await removeBillable(deps, actor, found.group, params.user_id);
    return noContent();
  },
});

export const billableEndpoints = [list, memberships, remove];

function shown({ user, type }: BillableMember, baseUrl: string) {
  const email = user.profile['public_email'];
  return {
    ...userBasic(user, baseUrl),
    email: typeof email === 'string' && email !== '' ? email : null,
    last_activity_on: user.lastActivityOn,
    membership_type: type,
    removable: type === 'group_member' || type === 'project_member',
    created_at: user.createdAt,
  };
}

/** Memberships have no ids of their own: this one is no other's of the same user. */
function membership({ record, subject, fullName }: MembershipInside, baseUrl: string) {
  const { source, accessLevel } = record;
  const [kind, path] =
    source.kind === 'group'
      ? (['group', `groups/${subject.fullPath}`] as const)
      : (['project', subject.fullPath] as const);
  return {
    id: source.id * 2 + (source.kind === 'group' ? 0 : 1),
    source_id: source.id,
    source_full_name: fullName,
    source_members_url: `${baseUrl}/${path}/-/${kind}_members`,
    created_at: record.createdAt,
    expires_at: record.expiresAt,
    access_level: { string_value: LEVEL_NAMES[accessLevel], integer_value: accessLevel },
  };
}
