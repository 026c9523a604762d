/** Projects in the namespace of a user, and projects that a user has starred or contributed to. */

import { maySeeProfile, userNamed } from '../../domain/accounts/accounts.ts';
import { listContributedProjects } from '../../domain/projects/contributions.ts';
import { listProjects } from '../../domain/projects/projects.ts';
import { anyone } from '../../http/access.ts';
import { MAX_OFFSET } from '../../http/pagination.ts';
import * as p from '../../http/params.ts';
import { BY_ROWS, counted, endpoint } from '../endpoint.ts';
import { relatedListParams } from './list-params.ts';
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
    query: relatedListParams,
    returns: { body: projectsListed },
    ...BY_ROWS,
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
