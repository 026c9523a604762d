import type { IssueScope } from '../../domain/issues/list.ts';
import { listIssues } from '../../domain/issues/list.ts';
import type { ContainerAccess } from '../../domain/labels/containers.ts';
import { getMilestone } from '../../domain/milestones/milestones.ts';
import { group, project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { accessOf } from '../container-access.ts';
import { countedOrAfter, endpoint } from '../endpoint.ts';
import { askedIn, presentedIssues } from './presented.ts';
import * as shapes from './shapes.ts';

const KINDS = {
  project: { base: '/projects/:id/milestones', readers: project('read_milestone') },
  group: { base: '/groups/:id/milestones', readers: group('read_group') },
} as const;

const scopeOf = (access: ContainerAccess): IssueScope =>
  'project' in access ? { kind: 'project', access } : { kind: 'group', access };

const of = (kind: keyof typeof KINDS) =>
  endpoint({
    method: 'GET',
    path: `${KINDS[kind].base}/:milestone_id/issues`,
    area: 'labels',
    summary: `List the issues of a milestone of a ${kind}`,
    access: KINDS[kind].readers,
    params: () =>
      p.params({ milestone_id: p.integer({ required: true, description: 'ID of the milestone' }) }),
    returns: { body: shapes.issues },
    paginate: 'offset+keyset',
    keyset: { marker: 'cursor' },
    noun: 'Issue',
    errors: [{ status: 404, description: `The ${kind} has no such milestone` }],
    handle: async ({ actor, params, page, request, ...found }, deps) => {
      const access = accessOf(found);
      const { title } = await getMilestone(deps, access, params.milestone_id);
      const scope = scopeOf(access);
      const listed = await listIssues(
        deps,
        actor,
        { scope, milestone: { title } },
        { ...countedOrAfter(page), order: 'created_at', direction: 'desc' },
      );
      const items = await presentedIssues(deps, actor, listed.items, request.baseUrl, askedIn(scope));
      return { ...listed, items };
    },
  });

export const milestoneIssueEndpoints = [of('project'), of('group')];
