import { jobsOfRunner } from '../../domain/runners/runner-jobs.ts';
import { signedIn } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { CI_STATUSES } from '../../records/pipelines.ts';
import { BY_ROWS, counted, endpoint } from '../endpoint.ts';
import { presentedBasicJobs } from '../pipelines/present.ts';
import * as shapes from '../pipelines/shapes.ts';

const list = endpoint({
  method: 'GET',
  path: '/runners/:id/jobs',
  area: 'runners',
  summary: 'List the jobs that a runner has taken',
  description: 'Those of projects whose pipelines you may read.',
  access: signedIn(),
  params: () => p.params({ id: p.integer({ required: true, description: 'ID of the runner' }) }),
  query: () =>
    p.params({
      status: p.oneOf(CI_STATUSES, { description: 'Return only jobs in this status' }),
      order_by: p.oneOf(['id'], { default: 'id', description: 'Order of the list' }),
      sort: p.oneOf(['asc', 'desc'], { default: 'desc', description: 'Direction of the order' }),
    }),
  returns: { body: shapes.runnerJobs },
  ...BY_ROWS,
  errors: [
    { status: 403, description: 'The caller may not see the runner' },
    { status: 404, description: 'The runner does not exist' },
  ],
  handle: async ({ actor, params, query, page, request }, deps) => {
    const input = { status: query.status, direction: query.sort };
    const { projects, ...found } = await jobsOfRunner(deps, actor, params.id, input, counted(page));
    return { ...found, items: await presentedBasicJobs(deps, projects, found.items, request.baseUrl) };
  },
});

export const runnerJobEndpoints = [list];
