import { getMilestone } from '../../domain/milestones/milestones.ts';
import { group, project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { accessOf } from '../container-access.ts';
import { countedOrAfter, endpoint } from '../endpoint.ts';
import * as shapes from './shapes.ts';

const KINDS = {
  project: { base: '/projects/:id/milestones', readers: project('read_milestone') },
  group: { base: '/groups/:id/milestones', readers: group('read_group') },
} as const;

const of = (kind: keyof typeof KINDS) =>
  endpoint({
    method: 'GET',
    path: `${KINDS[kind].base}/:milestone_id/merge_requests`,
    area: 'labels',
    summary: `List the merge requests of a milestone of a ${kind}`,
    description: 'The newest first, as far as the caller may read them.',
    access: KINDS[kind].readers,
    params: () =>
      p.params({ milestone_id: p.integer({ required: true, description: 'ID of the milestone' }) }),
    returns: { body: shapes.mergeRequests },
    paginate: 'offset+keyset',
    keyset: { marker: 'cursor' },
    noun: 'Merge Request',
    errors: [{ status: 404, description: `The ${kind} has no such milestone` }],
    handle: async ({ actor, params, page, request, ...found }, deps) => {
      const access = accessOf(found);
      // Few requests to this function show merge requests.
      const [{ title }, { newestMergeRequests }] = await Promise.all([
        getMilestone(deps, access, params.milestone_id),
        import('./newest.ts'),
      ]);
      const scope =
        'project' in access ? ({ kind: 'project', access } as const) : ({ kind: 'group', access } as const);
      return newestMergeRequests(
        deps,
        actor,
        { scope, milestone: { title } },
        countedOrAfter(page),
        request.baseUrl,
      );
    },
  });

export const mergeRequestOfMilestoneEndpoints = [of('project'), of('group')];
