/** The programming languages of a project, and the place of its repository. */
import { createHash } from 'node:crypto';
import { isAdministrator } from '../../domain/actor.ts';
import { forbidden } from '../../domain/errors.ts';
import { project } from '../../http/access.ts';
import { storageOf } from '../../records/storages.ts';
import { endpoint } from '../endpoint.ts';
import * as shapes from './shapes.ts';

const area = 'project-relations';

const languages = endpoint({
  method: 'GET',
  path: '/projects/:id/languages',
  area,
  summary: 'List the programming languages of a project',
  description:
    'Percentage of bytes on the default branch, for the five most used languages. Computed shortly after a push.',
  access: project('read_code', { anonymous: true }),
  returns: { body: shapes.languages },
  handle: async ({ project }, { store }) =>
    (await store.statistics.ofProject(project.project.id))?.languages ?? {},
});

const fetches = endpoint({
  method: 'GET',
  path: '/projects/:id/statistics',
  area: 'projects',
  summary: 'Get the fetch statistics of a project',
  description: 'Clones and fetches over HTTP in the last 30 days, by day (UTC); the latest comes first.',
  access: project('read_statistics'),
  returns: { body: shapes.fetches },
  handle: async ({ project: { project } }, deps) => {
    const days = await deps.store.fetches.ofProject(project.id, deps.now());
    const total = days.reduce((sum, { count }) => sum + count, 0);
    return { fetches: { total, days: days.map(({ count, date }) => ({ count, date })) } };
  },
});

const storage = endpoint({
  method: 'GET',
  path: '/projects/:id/storage',
  area,
  summary: 'Get the repository storage of a project',
  access: project('read_project'),
  returns: { body: shapes.storage },
  errors: [{ status: 403, description: 'The caller is not an administrator' }],
  handle: async ({ actor, project: { project } }) => {
    if (!isAdministrator(actor)) throw forbidden();
    const hash = createHash('sha256').update(String(project.id)).digest('hex');
    return {
      project_id: project.id,
      disk_path: `@hashed/${hash.slice(0, 2)}/${hash.slice(2, 4)}/${hash}`,
      created_at: project.createdAt,
      repository_storage: storageOf(project.storagePrefix),
    };
  },
});

export const statisticsEndpoints = [languages, storage];
export const fetchEndpoints = [fetches];
