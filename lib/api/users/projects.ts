/** Projects of one user: those in their namespace, and those they starred. */

import { maySeeProfile, userNamed } from '../../domain/accounts/accounts.ts';
import { listProjects } from '../../domain/projects/projects.ts';
import { anyone } from '../../http/access.ts';
import { MAX_OFFSET } from '../../http/pagination.ts';
import * as p from '../../http/params.ts';
import { VISIBILITIES } from '../../records/visibility.ts';
import { counted, endpoint } from '../endpoint.ts';
import { listInput } from '../projects/listing.ts';
import { presented } from '../projects/presented.ts';
import { projectsListed } from '../projects/shapes.ts';

const area = 'users';

const of = (name: 'projects' | 'starred_projects', summary: string) =>
  endpoint({
    method: 'GET',
    path: `/users/:user_id/${name}`,
    area,
    summary,
    access: anyone(),
    params: () => p.params({ user_id: p.string({ required: true, description: 'Id or username' }) }),
    query: () =>
      p.params({
        archived: p.boolean({ description: 'Only archived, or only others' }),
        membership: p.boolean({ default: false, description: 'Only where you are a member' }),
        min_access_level: p.integer({
          values: [10, 20, 30, 40, 50],
          description: 'Only where you hold this level',
        }),
        order_by: p.oneOf(['id', 'name', 'path', 'created_at', 'updated_at', 'last_activity_at'], {
          default: 'created_at',
        }),
        owned: p.boolean({ default: false, description: 'Only your own' }),
        search: p.string({ description: 'Part of a name or path' }),
        simple: p.boolean({ default: false, description: 'Only the basic fields' }),
        sort: p.oneOf(['asc', 'desc'], { default: 'desc' }),
        starred: p.boolean({ default: false, description: 'Only those you have starred' }),
        statistics: p.boolean({ default: false }),
        visibility: p.oneOf(VISIBILITIES),
        with_custom_attributes: p.boolean({ default: false }),
        with_issues_enabled: p.boolean({ default: false }),
        with_merge_requests_enabled: p.boolean({ default: false }),
      }),
    returns: { body: projectsListed },
    paginate: 'offset',
    noun: 'Project',
    errors: [
      { status: 404, description: 'No such user' },
      { status: 405, description: `An offset above ${MAX_OFFSET}` },
    ],
    handle: async ({ actor, params, query, page, request }, deps) => {
      const user = await userNamed(deps, params.user_id);
      if (name === 'starred_projects' && !maySeeProfile(actor, user)) return NOTHING;
      const found = await listProjects(deps, actor, {
        ...counted(page),
        ...(name === 'projects' ? { ownerId: user.id } : { starredBy: user.id }),
        membership: query.membership,
        ...listInput(query),
      });
      const items = await presented(deps, actor, found.items, request.baseUrl, query.simple, query);
      return { ...found, items };
    },
  });

const NOTHING = { items: [], total: 0, more: false };

export const userProjectEndpoints = [
  of('projects', "List the projects in a user's namespace, as far as you may see them"),
  of('starred_projects', 'List the projects that a user starred, as far as you may see them'),
];
