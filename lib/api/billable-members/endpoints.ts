import { LEVEL_NAMES } from '../../domain/access/levels.ts';
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
const notTopLevel = { status: 400, description: 'The group is not a top-level group' };
const userId = () => p.params({ user_id: p.integer({ required: true, description: 'Id of the user' }) });
const SORTS = Object.keys(BILLABLE_SORTS) as [BillableSort, ...BillableSort[]];

const list = endpoint({
  method: 'GET',
  path: base,
  area,
  summary: 'List the billable members of a top-level group',
  description:
    'Users with access to the group, its subgroups or their projects. The list is computed once a day at 12:00 UTC, or at the first request.',
  access,
  query: () =>
    p.params({
      search: p.string({
        description:
          'Return only users whose name, username or public email contains this text; administrators can also give a complete email address',
      }),
      sort: p.oneOf(SORTS, { default: 'name_asc', description: 'Order of the members' }),
    }),
  returns: { body: shapes.billableMembers },
  paginate: 'offset',
  anyOffset: true,
  errors: [notTopLevel, { status: 503, description: 'The first list is still being computed; retry later' }],
  handle: async ({ actor, query, page, request, ...found }, deps) => {
    const options = { ...counted(page), sort: query.sort, search: query.search };
    const members = await listBillable(deps, actor, found.group, options);
    return { ...members, items: members.items.map((member) => shown(member, request.baseUrl)) };
  },
});

const memberships = endpoint({
  method: 'GET',
  path: `${base}/:user_id/memberships`,
  area,
  summary: 'List the memberships of a billable member of a group',
  description: 'Direct memberships of the user in the group, its subgroups and their projects.',
  access,
  params: userId,
  returns: { body: shapes.billableMemberships },
  paginate: 'offset',
  anyOffset: true,
  errors: [notTopLevel, { status: 404, description: 'The user does not exist' }],
  handle: async ({ params, page, request, ...found }, deps) => {
    const all = await membershipsOf(deps, found.group, params.user_id, counted(page));
    return { ...all, items: all.items.map((item) => membership(item, request.baseUrl)) };
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: `${base}/:user_id`,
  area,
  summary: 'Remove a billable member from a group, its subgroups and their projects',
  access,
  params: userId,
  returns: { status: 204 },
  errors: [
    notTopLevel,
    { status: 404, description: 'The user is not a member of the group, its subgroups or their projects' },
  ],
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

/** Memberships have no id of their own: the id is made of the source and is unique per user. */
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
