import * as stars from '../../domain/stars/stars.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { json, notModified } from '../../http/reply.ts';
import { BY_ROWS, counted, endpoint } from '../endpoint.ts';
import { presented } from '../projects/presented.ts';
import * as projectShapes from '../projects/shapes.ts';
import { userBasic } from '../users/present.ts';
import * as shapes from './shapes.ts';

const area = 'project-relations';

const setStar = (name: 'star' | 'unstar', summary: string, unchanged: string) =>
  endpoint({
    method: 'POST',
    path: `/projects/:id/${name}`,
    area,
    summary,
    access: project('read_project'),
    returns: { body: projectShapes.project },
    errors: [{ status: 304, description: unchanged }],
    handle: async ({ actor, project, request }, deps) => {
      const changed = await stars.setStar(deps, actor, project, name === 'star');
      if (changed === undefined) return notModified();
      const [shown] = await presented(deps, actor, [changed], request.baseUrl, false);
      return json(shown, { status: 201 });
    },
  });

const starrers = endpoint({
  method: 'GET',
  path: '/projects/:id/starrers',
  area,
  summary: 'List the users who starred a project',
  description: 'Users with a private profile are left out.',
  access: project('read_project', { anonymous: true }),
  query: () =>
    p.params({
      search: p.string({ description: 'Return only users whose name or username contains this text' }),
    }),
  returns: { body: shapes.starrers },
  ...BY_ROWS,
  handle: async ({ actor, project, query, page, request }, deps) => {
    const found = await stars.listStarrers(deps, actor, project, {
      ...counted(page),
      ...(query.search === undefined ? {} : { search: query.search }),
    });
    const shown = found.items.map(({ user, star }) => ({
      starred_since: star.createdAt,
      user: userBasic(user, request.baseUrl),
    }));
    return { ...found, items: shown };
  },
});

export const starEndpoints = [
  setStar('star', 'Star a project', 'The project is already starred'),
  setStar('unstar', 'Unstar a project', 'The project is not starred'),
  starrers,
];
