import * as deployments from '../../domain/environments/deployments.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { DEPLOYMENT_STATUSES } from '../../records/environments.ts';
import { BY_ROWS, counted, endpoint } from '../endpoint.ts';
import { EXCLUSIVE, filterFields, listed, scopeField } from '../merge-requests/lists.ts';
import * as mergeRequestShapes from '../merge-requests/shapes.ts';
import { presented } from './present.ts';
import * as shapes from './shapes.ts';

const area = 'environments';
const path = '/projects/:id/deployments';
const readers = project('read_environments');
const writers = project('admin_environments');
const absent = { status: 404, description: 'The project has no such deployment' };
const deploymentId = () =>
  p.params({ deployment_id: p.integer({ required: true, description: 'ID of the deployment' }) });
/** Ids, numbers and times of creation have one order. */
const ORDERS = { id: 'ID', iid: 'ID', created_at: 'ID', updated_at: 'UPDATED', ref: 'REF' } as const;

const list = endpoint({
  method: 'GET',
  path,
  area,
  summary: 'List the deployments of a project',
  access: readers,
  query: () =>
    p.params({
      order_by: p.oneOf(['id', 'iid', 'created_at', 'updated_at', 'ref'], {
        default: 'id',
        description: 'Field to sort by',
      }),
      sort: p.oneOf(['asc', 'desc'], { default: 'asc', description: 'Sort direction' }),
      updated_after: p.datetime({ description: 'Return only those changed at this time or later' }),
      updated_before: p.datetime({ description: 'Return only those changed at this time or earlier' }),
      environment: p.string({ description: 'Name of the environment' }),
      status: p.oneOf(DEPLOYMENT_STATUSES, { description: 'Return only deployments with this status' }),
    }),
  returns: { body: shapes.deployments },
  ...BY_ROWS,
  handle: async ({ project, query, page, request }, deps) => {
    const found = await deployments.listDeployments(deps, project, {
      ...counted(page),
      order: ORDERS[query.order_by],
      direction: query.sort,
      environment: query.environment,
      status: query.status,
      updatedAfter: query.updated_after,
      updatedBefore: query.updated_before,
    });
    return { ...found, items: await presented(deps, project, found.items, request.baseUrl) };
  },
});

const get = endpoint({
  method: 'GET',
  path: `${path}/:deployment_id`,
  area,
  summary: 'Get a deployment',
  access: readers,
  params: deploymentId,
  returns: { body: shapes.deployment },
  errors: [absent],
  handle: async ({ project, params, request }, deps) => {
    const found = await deployments.getDeployment(deps, project, params.deployment_id);
    return (await presented(deps, project, [found], request.baseUrl))[0]!;
  },
});

const create = endpoint({
  method: 'POST',
  path,
  area,
  summary: 'Create a deployment',
  description: 'Creates the environment too, if there is none of this name.',
  access: writers,
  body: () =>
    p.params({
      environment: p.string({ required: true, blank: false, description: 'Name of the environment' }),
      sha: p.string({ required: true, description: 'Commit that is deployed' }),
      ref: p.string({ required: true, description: 'Branch or tag that is deployed' }),
      tag: p.boolean({ required: true, description: 'Whether the ref is a tag' }),
      status: p.oneOf(DEPLOYMENT_STATUSES, { default: 'created', description: 'Status of the deployment' }),
    }),
  returns: { body: shapes.deployment },
  errors: [
    { status: 400, description: 'A value is invalid, or the commit or the ref does not exist' },
    { status: 403, description: 'Not allowed, or not to deploy to the protected environment' },
    { status: 409, description: 'The environment is being changed by many requests' },
  ],
  prefetch: ({ body }) => ({ revisions: [body.sha], branches: [body.ref], tags: [body.ref] }),
  handle: async ({ actor, project, body, request }, deps) => {
    const { environment, sha, ref, tag, status } = body;
    const input = { environment, sha, ref, tag, status };
    const found = await deployments.createDeployment(deps, actor, project, input);
    return (await presented(deps, project, [found], request.baseUrl))[0]!;
  },
});

const update = endpoint({
  method: 'PUT',
  path: `${path}/:deployment_id`,
  area,
  summary: 'Update a deployment',
  access: writers,
  params: deploymentId,
  body: () =>
    p.params({ status: p.oneOf(DEPLOYMENT_STATUSES, { description: 'New status of the deployment' }) }),
  returns: { body: shapes.deployment },
  errors: [
    {
      status: 403,
      description: 'Not allowed, also to deploy to the protected environment, or a job made it',
    },
    absent,
    { status: 409, description: 'The environment is being changed by many requests' },
  ],
  handle: async ({ actor, project, params, body, request }, deps) => {
    const { deployment_id: id } = params;
    const found =
      body.status === undefined
        ? await deployments.getDeployment(deps, project, id)
        : await deployments.changeDeployment(deps, actor, project, id, body.status);
    return (await presented(deps, project, [found], request.baseUrl))[0]!;
  },
});

const mergeRequests = endpoint({
  method: 'GET',
  path: `${path}/:deployment_id/merge_requests`,
  area,
  summary: 'List the merge requests of a deployment',
  description:
    'Those of the project that a successful deployment brought to its environment: merged by a commit that the deployment before did not have.',
  access: project('read_merge_requests'),
  params: deploymentId,
  query: () => p.params({ ...filterFields(), scope: scopeField('all') }, EXCLUSIVE()),
  returns: { body: mergeRequestShapes.mergeRequests },
  paginate: 'offset',
  noun: 'Merge Request',
  errors: [absent],
  handle: async ({ actor, project: access, params, query, page, request }, deps) => {
    const { deployment } = await deployments.getDeployment(deps, access, params.deployment_id);
    const landed = await deployments.broughtBy(deps, access, deployment);
    const asked = { ...query, landed };
    return listed(deps, actor, { kind: 'project', access }, asked, counted(page), request.baseUrl);
  },
});

export const deploymentEndpoints = [list, get, create, update, mergeRequests];
