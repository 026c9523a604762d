/** Lists of groups, and of the projects in one. */

import type { GroupAccess } from '../../domain/access/types.ts';
import type { Actor } from '../../domain/actor.ts';
import { isAdministrator } from '../../domain/actor.ts';
import { attributesOfMany, wantedAttributes } from '../../domain/custom-attributes/custom-attributes.ts';
import { listGroupProjects, listGroups } from '../../domain/groups/lists.ts';
import { anyone, group } from '../../http/access.ts';
import { MAX_OFFSET } from '../../http/pagination.ts';
import * as p from '../../http/params.ts';
import type { AccessLevel } from '../../records/members.ts';
import { VISIBILITIES } from '../../records/visibility.ts';
import type { ListedGroup } from '../../store/groups/list.ts';
import { type ApiDeps, counted, endpoint } from '../endpoint.ts';
import { given, listInput } from '../projects/listing.ts';
import { presented } from '../projects/presented.ts';
import { projectsListed } from '../projects/shapes.ts';
import { storage } from '../statistics/present.ts';
import { group as presentedGroup } from './present.ts';
import * as shapes from './shapes.ts';

const area = 'groups';

const filters = () => ({
  skip_groups: p.list(p.integer(), { description: 'Without these' }),
  all_available: p.boolean({
    description: 'Also those that no membership gives; the default of administrators',
  }),
  search: p.string({ description: 'Part of a name or path; in a group, of the last part of the path' }),
  sort: p.oneOf(['asc', 'desc'], { default: 'asc' }),
  statistics: p.boolean({ default: false, description: 'Administrators' }),
  with_custom_attributes: p.boolean({ default: false }),
  custom_attributes: p.hash({ description: 'Administrators: only groups with these attributes' }),
  owned: p.boolean({ default: false, description: 'Only your own' }),
  min_access_level: p.integer({
    values: [10, 20, 30, 40, 50],
    description: 'Only where you hold this level',
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

/** As the rules ask for it. */
const inputOf = (actor: Actor, query: Filters) => {
  const term = query.search?.trim() ?? '';
  return {
    direction: query.sort,
    owned: query.owned,
    ...given({
      skip: query.skip_groups,
      allAvailable: query.all_available,
      minAccessLevel: query.min_access_level as AccessLevel | undefined,
      search: term === '' ? undefined : term,
      attributes: wantedAttributes(actor, query.custom_attributes),
    }),
  };
};

const list = endpoint({
  method: 'GET',
  path: '/groups',
  area,
  summary: 'List the groups you are in, or may see',
  access: anyone(),
  query: () =>
    p.params({
      ...filters(),
      order_by: p.oneOf(['name', 'path', 'id', 'similarity'], { default: 'name' }),
      top_level_only: p.boolean({ default: false }),
    }),
  returns: { body: shapes.groups },
  paginate: 'offset+keyset',
  keyset: { marker: 'cursor', orderBy: ['name'] },
  noun: 'Group',
  errors: [
    { status: 405, description: `An offset above ${MAX_OFFSET}, or an order that keyset does not know` },
  ],
  handle: async ({ actor, query, page, request }, deps) => {
    const found = await listGroups(deps, actor, {
      ...inputOf(actor, query),
      order: query.order_by,
      topLevelOnly: query.top_level_only,
      ...(page.kind === 'offset' ? counted(page) : { page: 1, perPage: page.perPage }),
      ...(page.kind === 'keyset' && page.after !== undefined ? { cursor: page.after } : {}),
    });
    return { ...found, items: await shown(deps, actor, query, found.items, request.baseUrl) };
  },
});

const inside = (name: 'subgroups' | 'descendant_groups', deep: boolean, summary: string) =>
  endpoint({
    method: 'GET',
    path: `/groups/:id/${name}`,
    area,
    summary,
    access: group('read_group', { anonymous: true }),
    query: () => p.params({ ...filters(), order_by: p.oneOf(['name', 'path', 'id'], { default: 'name' }) }),
    returns: { body: shapes.groups },
    paginate: 'offset',
    noun: 'Group',
    errors: [
      { status: 404, description: 'Absent, or not yours to see' },
      { status: 405, description: `An offset above ${MAX_OFFSET}` },
    ],
    handle: async ({ actor, group: access, query, page, request }, deps) => {
      const found = await listGroups(deps, actor, {
        ...inputOf(actor, query),
        ...counted(page),
        order: query.order_by,
        below: { access: access as GroupAccess, deep },
      });
      return { ...found, items: await shown(deps, actor, query, found.items, request.baseUrl) };
    },
  });

const projectFilters = () => ({
  archived: p.boolean({ description: 'Only archived, or only others' }),
  visibility: p.oneOf(VISIBILITIES),
  sort: p.oneOf(['asc', 'desc'], { default: 'desc' }),
  search: p.string({ description: 'Part of a name or path' }),
  simple: p.boolean({ default: false, description: 'Only the basic fields' }),
  owned: p.boolean({ default: false, description: 'Only your own' }),
  starred: p.boolean({ default: false }),
  with_issues_enabled: p.boolean({ default: false }),
  with_merge_requests_enabled: p.boolean({ default: false }),
  min_access_level: p.integer({
    values: [10, 20, 30, 40, 50],
    description: 'Only where you hold this level',
  }),
  with_custom_attributes: p.boolean({ default: false }),
});
const PROJECT_ORDERS = ['id', 'name', 'path', 'created_at', 'updated_at', 'last_activity_at'] as const;

const projects = endpoint({
  method: 'GET',
  path: '/groups/:id/projects',
  area,
  summary: 'List the projects of a group',
  access: group('read_group', { anonymous: true }),
  query: () =>
    p.params({
      ...projectFilters(),
      order_by: p.oneOf([...PROJECT_ORDERS, 'similarity'], { default: 'created_at' }),
      with_shared: p.boolean({ default: true, description: 'Also those the group was invited to' }),
      include_subgroups: p.boolean({ default: false, description: 'Also those of the groups inside' }),
      with_security_reports: p.boolean({ default: false }),
    }),
  returns: { body: projectsListed },
  paginate: 'offset',
  noun: 'Project',
  errors: [
    { status: 404, description: 'Absent, or not yours to see' },
    { status: 405, description: `An offset above ${MAX_OFFSET}` },
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
  summary: 'List the projects that a group was invited to',
  access: group('read_group', { anonymous: true }),
  query: () =>
    p.params({ ...projectFilters(), order_by: p.oneOf(PROJECT_ORDERS, { default: 'created_at' }) }),
  returns: { body: projectsListed },
  paginate: 'offset',
  noun: 'Project',
  errors: [
    { status: 404, description: 'Absent, or not yours to see' },
    { status: 405, description: `An offset above ${MAX_OFFSET}` },
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
  inside('subgroups', false, 'List the groups directly in a group'),
  inside('descendant_groups', true, 'List all groups in a group'),
  projects,
  sharedProjects,
];

async function shown(
  deps: ApiDeps,
  actor: Actor,
  query: { with_custom_attributes: boolean; statistics: boolean },
  listed: readonly ListedGroup[],
  baseUrl: string,
) {
  const ids = listed.map(({ group }) => group.id);
  const sizes =
    query.statistics && isAdministrator(actor) ? await deps.store.statistics.ofGroups(ids) : undefined;
  const noted = query.with_custom_attributes ? await attributesOfMany(deps, actor, 'group', ids) : undefined;
  const instance = await deps.settings.current();
  return listed.map(({ group }, i) => ({
    ...presentedGroup(group, baseUrl, instance),
    ...(sizes === undefined ? {} : { statistics: storage(sizes[i]!) }),
    ...(noted === undefined ? {} : { custom_attributes: noted[i] }),
  }));
}
