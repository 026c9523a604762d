import { can } from '../../domain/access/permissions.ts';
import * as environments from '../../domain/environments/environments.ts';
import { DomainError } from '../../domain/errors.ts';
import { stopEnvironment } from '../../domain/pipelines/stop-environment.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { json, noContent } from '../../http/reply.ts';
import { ENVIRONMENT_STATES, TIERS } from '../../records/environments.ts';
import { counted, endpoint } from '../endpoint.ts';
import { deploymentEndpoints } from './deployments.ts';
import { entry, environmentsOf, presentedDetail } from './present.ts';
import { protectedEnvironmentEndpoints } from './protected.ts';
import * as shapes from './shapes.ts';

const area = 'environments';
const path = '/projects/:id/environments';
const readers = project('read_environments');
const writers = project('admin_environments');
const absent = { status: 404, description: 'The project has no such environment' };
const closed = { status: 403, description: 'Not allowed, or the environment is protected' };
const changed = { status: 409, description: 'It was changed by another request' };
const environmentId = () =>
  p.params({ environment_id: p.integer({ required: true, description: 'ID of the environment' }) });

const fields = () => ({
  external_url: p.string({ nullable: true, description: 'Where it is reached' }),
  tier: p.oneOf(TIERS, { description: 'Default: what the name suggests' }),
});

const list = endpoint({
  method: 'GET',
  path,
  area,
  summary: 'List the environments of a project',
  access: readers,
  query: () =>
    p.params(
      {
        name: p.string({ description: 'Return only the environment of this name' }),
        search: p.string({ description: 'Return only environments whose name contains this text' }),
        states: p.oneOf(ENVIRONMENT_STATES, { description: 'Return only environments in this state' }),
      },
      [p.mutuallyExclusive('name', 'search')],
    ),
  returns: { body: shapes.environments },
  paginate: 'offset',
  handle: async ({ actor, project, query, page, request }, deps) => {
    const { name, search, states: state } = query;
    const found = await environments.listEnvironments(deps, project, {
      ...counted(page),
      name,
      search,
      state,
    });
    const shown = await environmentsOf(deps, actor, project, request.baseUrl);
    return { ...found, items: found.items.map(shown) };
  },
});

const get = endpoint({
  method: 'GET',
  path: `${path}/:environment_id`,
  area,
  summary: 'Get an environment with its last deployment',
  access: readers,
  params: environmentId,
  returns: { body: shapes.environmentDetail },
  errors: [absent],
  handle: async ({ project, params, request }, deps) => {
    const record = await environments.getEnvironment(deps, project, params.environment_id);
    const last = await environments.lastDeployment(deps, record);
    return presentedDetail(deps, project, record, last, request.baseUrl);
  },
});

const create = endpoint({
  method: 'POST',
  path,
  area,
  summary: 'Create an environment',
  access: writers,
  body: () =>
    p.params({
      name: p.string({
        required: true,
        description: 'Name of the environment; what is before a slash is its folder',
      }),
      slug: p.string({ description: 'Refused: it is made of the name' }),
      ...fields(),
    }),
  returns: { body: shapes.environment },
  errors: [{ status: 400, description: 'A value is invalid, or the name is taken' }],
  handle: async ({ actor, project, body, request }, deps) => {
    requireNoSlug(body);
    const { name, external_url: externalUrl, tier } = body;
    const made = await environments.createEnvironment(deps, project, { name, externalUrl, tier });
    return (await environmentsOf(deps, actor, project, request.baseUrl))(made);
  },
});

const update = endpoint({
  method: 'PUT',
  path: `${path}/:environment_id`,
  area,
  summary: 'Update an environment',
  access: writers,
  params: environmentId,
  body: () =>
    p.params({
      name: p.string({ description: 'New name; the slug stays' }),
      slug: p.string({ description: 'Refused: it is never changed' }),
      ...fields(),
    }),
  returns: { body: shapes.environment },
  errors: [{ status: 400, description: 'A value is invalid, or the name is taken' }, closed, absent, changed],
  handle: async ({ actor, project, params, body, request }, deps) => {
    requireNoSlug(body);
    const input = {
      ...(body.name === undefined ? {} : { name: body.name }),
      externalUrl: body.external_url,
      tier: body.tier,
    };
    const { environment_id: id } = params;
    const changed = await environments.changeEnvironment(deps, actor, project, id, input);
    return (await environmentsOf(deps, actor, project, request.baseUrl))(changed);
  },
});

const stop = endpoint({
  method: 'POST',
  path: `${path}/:environment_id/stop`,
  area,
  summary: 'Stop an environment',
  description: 'The job starts that its last deployment names for that.',
  access: writers,
  params: environmentId,
  returns: { status: 200, body: shapes.environment },
  errors: [
    {
      status: 403,
      description: 'Not allowed, also to deploy to it if it is protected, or not to start its stop job',
    },
    absent,
    changed,
  ],
  handle: async ({ actor, project, params, request }, deps) => {
    const stopped = await stopEnvironment(deps, actor, project, params.environment_id);
    return json((await environmentsOf(deps, actor, project, request.baseUrl))(stopped));
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: `${path}/:environment_id`,
  area,
  summary: 'Delete a stopped environment',
  description: 'Its deployments are deleted soon afterwards.',
  access: writers,
  params: environmentId,
  returns: { status: 204 },
  errors: [
    { status: 403, description: 'It is not stopped, or the caller may not delete or deploy to it' },
    absent,
    changed,
  ],
  handle: async ({ actor, project, params, unmodifiedSince }, deps) => {
    await environments.removeEnvironment(deps, actor, project, params.environment_id, unmodifiedSince);
    return noContent();
  },
});

const removeReviewApps = endpoint({
  method: 'DELETE',
  path: `${path}/review_apps`,
  area,
  summary: 'Delete stopped review apps in a week',
  description:
    'Environments whose name begins with `review/`. Those that are available again by then are not deleted.',
  access: readers,
  query: () =>
    p.params({
      before: p.datetime({ description: 'Only those created before this time. Default: 30 days ago' }),
      limit: p.integer({ default: 100, min: 1, max: 1000, description: 'Maximum number of environments' }),
      dry_run: p.boolean({ default: true, description: 'Only tell which would be deleted' }),
    }),
  returns: { status: 200, body: shapes.reviewApps },
  errors: [{ status: 403, description: 'Not allowed; the body has both lists, which are empty' }],
  handle: async ({ actor, project, query: { before, limit, dry_run: dryRun } }, deps) => {
    if (!can(actor, project, 'admin_environments'))
      throw new DomainError('forbidden', '403 Forbidden', presentedDeletion({}));
    const found = await environments.removeReviewApps(deps, actor, project, { before, limit, dryRun });
    return json(presentedDeletion(found));
  },
});

const presentedDeletion = ({
  scheduled = [],
  unprocessable = [],
}: Partial<environments.ReviewAppDeletion>) => ({
  scheduled_entries: scheduled.map(entry),
  unprocessable_entries: unprocessable.map(entry),
});

/** @throws 400 */
function requireNoSlug({ slug }: { readonly slug?: string | undefined }): void {
  if (slug !== undefined) throw p.parameterFailure(['slug is automatically generated and cannot be changed']);
}

export const environmentEndpoints = [
  list,
  removeReviewApps,
  get,
  create,
  update,
  stop,
  remove,
  ...deploymentEndpoints,
  ...protectedEnvironmentEndpoints,
];
