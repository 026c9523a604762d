/** Projects in the namespace of a user, and projects that a user has starred or contributed to. */

import { maySeeProfile, userNamed } from '../../domain/accounts/accounts.ts';
import { listContributedProjects } from '../../domain/projects/contributions.ts';
import { listProjects } from '../../domain/projects/projects.ts';
import { anyone } from '../../http/access.ts';
import { MAX_OFFSET } from '../../http/pagination.ts';
import * as p from '../../http/params.ts';
import { VISIBILITIES } from '../../records/visibility.ts';
import { counted, endpoint } from '../endpoint.ts';
import { listInput } from './listing.ts';
import { presented } from './presented.ts';
import { projectsListed } from './shapes.ts';

const area = 'users';

const of = (name: 'projects' | 'starred_projects' | 'contributed_projects', summary: string) =>
  endpoint({
    method: 'GET',
    path: `/users/:user_id/${name}`,
    area,
    summary,
    description: 'Only projects that the caller can see.',
    access: anyone(),
    params: () =>
      p.params({ user_id: p.string({ required: true, description: 'Id or username of the user' }) }),
    query: () =>
      p.params({
        archived: p.boolean({
          description: 'Return only archived projects, or only projects that are not archived',
        }),
        membership: p.boolean({
          default: false,
          description: 'Return only projects that you are a member of',
        }),
        min_access_level: p.integer({
          values: [10, 20, 30, 40, 50],
          description: 'Return only projects where you have at least this access level',
        }),
        order_by: p.oneOf(['id', 'name', 'path', 'created_at', 'updated_at', 'last_activity_at'], {
          default: 'created_at',
          description: 'Field to sort the projects by',
        }),
        owned: p.boolean({ default: false, description: 'Return only projects that you own' }),
        search: p.string({ description: 'Return only projects whose name or path contains this text' }),
        simple: p.boolean({ default: false, description: 'Return only a limited set of fields' }),
        sort: p.oneOf(['asc', 'desc'], { default: 'desc', description: 'Sort direction' }),
        starred: p.boolean({ default: false, description: 'Return only projects that you have starred' }),
        statistics: p.boolean({
          default: false,
          description: 'Include statistics; requires the Reporter role',
        }),
        visibility: p.oneOf(VISIBILITIES, { description: 'Return only projects with this visibility' }),
        with_custom_attributes: p.boolean({
          default: false,
          description: 'Include custom attributes; administrators only',
        }),
        with_issues_enabled: p.boolean({
          default: false,
          description: 'Return only projects with issues enabled',
        }),
        with_merge_requests_enabled: p.boolean({
          default: false,
          description: 'Return only projects with merge requests enabled',
        }),
      }),
    returns: { body: projectsListed },
    paginate: 'offset',
    noun: 'Project',
    errors: [
      { status: 404, description: 'The user does not exist' },
      { status: 405, description: `The offset is above ${MAX_OFFSET}` },
    ],
    handle: async ({ actor, params, query, page, request }, deps) => {
      const user = await userNamed(deps, params.user_id);
      if (name === 'starred_projects' && !maySeeProfile(actor, user)) return NOTHING;
      const input = { ...counted(page), membership: query.membership, ...listInput(query) };
      const found =
        name === 'contributed_projects'
          ? await listContributedProjects(deps, actor, user, input)
          : await listProjects(deps, actor, {
              ...input,
              ...(name === 'projects' ? { ownerId: user.id } : { starredBy: user.id }),
            });
      const items = await presented(deps, actor, found.items, request.baseUrl, query.simple, query);
      return { ...found, items };
    },
  });

const NOTHING = { items: [], total: 0, more: false };

export const userProjectEndpoints = [
  of('projects', 'List the projects of a user'),
  of('starred_projects', 'List the projects that a user has starred'),
  of('contributed_projects', 'List the projects of others that a user has contributed to in the last year'),
];
