/** Lists of groups, and of the projects of a group. */
import type { GroupAccess } from '../../domain/access/types.ts';
import { type Actor, isAdministrator } from '../../domain/actor.ts';
import { attributeFilter, attributesOfMany } from '../../domain/custom-attributes/custom-attributes.ts';
import { listGroupProjects, listGroups } from '../../domain/groups/lists.ts';
import { anyone, group } from '../../http/access.ts';
import { MAX_OFFSET } from '../../http/pagination.ts';
import * as p from '../../http/params.ts';
import type { AccessLevel } from '../../records/members.ts';
import type { ListedGroup } from '../../store/groups/list.ts';
import { type ApiDeps, BY_ROWS, counted, countedOrAfter, endpoint } from '../endpoint.ts';
import { PROJECT_ORDERS, projectFilters } from '../projects/list-params.ts';
import { given, listInput } from '../projects/listing.ts';
import { presented } from '../projects/presented.ts';
import { projectsListed } from '../projects/shapes.ts';
import { storage } from '../statistics/present.ts';
import { group as presentedGroup } from './present.ts';
import * as shapes from './shapes.ts';

const area = 'groups';

const filters = () => ({
  skip_groups: p.list(p.integer(), { description: 'IDs of groups to leave out' }),
  all_available: p.boolean({
    description:
      'Return all groups the caller may see, not only those of memberships. Default: true for administrators, otherwise false',
  }),
  search: p.string({
    description:
      'Return only groups whose name or path contains this text; for the groups in a group, only the last segment of the path is searched',
  }),
  sort: p.oneOf(['asc', 'desc'], { default: 'asc', description: 'Sort direction' }),
  statistics: p.boolean({ default: false, description: 'Include storage statistics. Administrators only' }),
  with_custom_attributes: p.boolean({
    default: false,
    description: 'Include custom attributes. Administrators only',
  }),
  custom_attributes: p.hash({
    description: 'Return only groups with these custom attributes. Administrators only',
  }),
  owned: p.boolean({ default: false, description: 'Return only groups owned by the caller' }),
  min_access_level: p.integer({
    values: [10, 20, 30, 40, 50],
    description: 'Return only groups in which the caller has at least this access level',
  }),
});

interface Filters {
  readonly skip_groups?: readonly number[];
  readonly all_available?: boolean;
  readonly search?: string;
  readonly sort: 'asc' | 'desc';
  readonly owned: boolean;
  readonly min_access_level?: number;
  readonly custom_attributes?: Record<string, unknown>;
}

/** The filters as the domain expects them. */
const listInputOf = (actor: Actor, query: Filters) => {
  const term = query.search?.trim() ?? '';
  return {
    direction: query.sort,
    owned: query.owned,
    ...given({
      skip: query.skip_groups,
      allAvailable: query.all_available,
      minAccessLevel: query.min_access_level as AccessLevel | undefined,
      search: term === '' ? undefined : term,
      attributes: attributeFilter(actor, query.custom_attributes),
    }),
  };
};

const list = endpoint({
  method: 'GET',
  path: '/groups',
  area,
  summary: 'List groups',
  description:
    'Returns the groups that the caller is a member of. With `all_available`, and for callers who are not signed in, returns all groups that the caller may see.',
  access: anyone(),
  query: () =>
    p.params({
      ...filters(),
      order_by: p.oneOf(['name', 'path', 'id', 'similarity'], {
        default: 'name',
        description: 'Sort order; `similarity` applies to searches',
      }),
      top_level_only: p.boolean({ default: false, description: 'Return only top-level groups' }),
    }),
  returns: { body: shapes.groups },
  paginate: 'offset+keyset',
  keyset: { marker: 'cursor', orderBy: ['name'] },
  noun: 'Group',
  errors: [
    {
      status: 405,
      description: `The offset exceeds ${MAX_OFFSET}, or keyset pagination does not support the order`,
    },
  ],
  handle: async ({ actor, query, page, request }, deps) => {
    const found = await listGroups(deps, actor, {
      ...listInputOf(actor, query),
      order: query.order_by,
      topLevelOnly: query.top_level_only,
      ...countedOrAfter(page),
    });
    return { ...found, items: await presentGroups(deps, actor, query, found.items, request.baseUrl) };
  },
});

const listInGroup = (name: 'subgroups' | 'descendant_groups', deep: boolean, summary: string) =>
  endpoint({
    method: 'GET',
    path: `/groups/:id/${name}`,
    area,
    summary,
    access: group('read_group', { anonymous: true }),
    query: () =>
      p.params({
        ...filters(),
        order_by: p.oneOf(['name', 'path', 'id'], { default: 'name', description: 'Sort order' }),
      }),
    returns: { body: shapes.groups },
    ...BY_ROWS,
    noun: 'Group',
    errors: [
      { status: 404, description: 'Group not found' },
      { status: 405, description: `The offset exceeds ${MAX_OFFSET}` },
    ],
    handle: async ({ actor, group: access, query, page, request }, deps) => {
      const found = await listGroups(deps, actor, {
        ...listInputOf(actor, query),
        ...counted(page),
        order: query.order_by,
        below: { access: access as GroupAccess, deep },
      });
      return { ...found, items: await presentGroups(deps, actor, query, found.items, request.baseUrl) };
    },
  });

const projects = endpoint({
  method: 'GET',
  path: '/groups/:id/projects',
  area,
  summary: 'List the projects of a group',
  access: group('read_group', { anonymous: true }),
  query: () =>
    p.params({
      ...projectFilters(),
      order_by: p.oneOf([...PROJECT_ORDERS, 'similarity'], {
        default: 'created_at',
        description: 'Sort order; `similarity` applies to searches',
      }),
      with_shared: p.boolean({
        default: true,
        description: 'Include projects that are shared with the group',
      }),
      include_subgroups: p.boolean({ default: false, description: 'Include the projects of all subgroups' }),
      with_security_reports: p.boolean({
        default: false,
        description: 'Ignored: security reports are not available',
      }),
    }),
  returns: { body: projectsListed },
  ...BY_ROWS,
  noun: 'Project',
  errors: [
    { status: 404, description: 'Group not found' },
    { status: 405, description: `The offset exceeds ${MAX_OFFSET}` },
  ],
  handle: async ({ actor, group: access, query, page, request }, deps) => {
    const found = await listGroupProjects(deps, actor, access, {
      ...counted(page),
      deep: query.include_subgroups,
      shared: query.with_shared,
      ...listInput(query),
    });
    const items = await presented(deps, actor, found.items, request.baseUrl, query.simple, query);
    return { ...found, items };
  },
});

const sharedProjects = endpoint({
  method: 'GET',
  path: '/groups/:id/projects/shared',
  area,
  summary: 'List the projects that are shared with a group',
  access: group('read_group', { anonymous: true }),
  query: () =>
    p.params({
      ...projectFilters(),
      order_by: p.oneOf(PROJECT_ORDERS, { default: 'created_at', description: 'Sort order' }),
    }),
  returns: { body: projectsListed },
  ...BY_ROWS,
  noun: 'Project',
  errors: [
    { status: 404, description: 'Group not found' },
    { status: 405, description: `The offset exceeds ${MAX_OFFSET}` },
  ],
  handle: async ({ actor, group: access, query, page, request }, deps) => {
    const found = await listGroupProjects(deps, actor, access, {
      ...counted(page),
      deep: false,
      shared: 'only',
      ...listInput(query),
    });
    const items = await presented(deps, actor, found.items, request.baseUrl, query.simple, query);
    return { ...found, items };
  },
});

export const groupListEndpoints = [
  list,
  listInGroup('subgroups', false, 'List the direct subgroups of a group'),
  listInGroup('descendant_groups', true, 'List all descendant groups of a group'),
  projects,
  sharedProjects,
];

async function presentGroups(
  deps: ApiDeps,
  actor: Actor,
  query: { with_custom_attributes: boolean; statistics: boolean },
  listed: readonly ListedGroup[],
  baseUrl: string,
) {
  const ids = listed.map(({ group }) => group.id);
  const statistics =
    query.statistics && isAdministrator(actor) ? await deps.store.statistics.ofGroups(ids) : undefined;
  const customAttributes = query.with_custom_attributes
    ? await attributesOfMany(deps, actor, 'group', ids)
    : undefined;
  const instance = await deps.settings.current();
  return listed.map(({ group }, i) => ({
    ...presentedGroup(group, baseUrl, instance),
    ...(statistics === undefined ? {} : { statistics: storage(statistics[i]!) }),
    ...(customAttributes === undefined ? {} : { custom_attributes: customAttributes[i] }),
  }));
}
