import { resetRegistrationToken } from '../../domain/runners/registration-tokens.ts';
import * as runners from '../../domain/runners/runners.ts';
import { administrator, group, project, signedIn } from '../../http/access.ts';
import type { OffsetPage } from '../../http/pagination.ts';
import * as p from '../../http/params.ts';
import { noContent } from '../../http/reply.ts';
import { RUNNER_ACCESS_LEVELS, RUNNER_TYPES, type RunnerRecord } from '../../records/runners.ts';
import type { Page } from '../../store/table/paging.ts';
import { type ApiDeps, BY_ROWS, counted, endpoint } from '../endpoint.ts';
import * as present from './present.ts';
import { registrationEndpoints } from './registration.ts';
import * as shapes from './shapes.ts';

const area = 'runners';
const absent = { status: 404, description: 'The runner does not exist' };
const notOwned = { status: 403, description: 'The caller may not see or change the runner' };
const changed = { status: 409, description: 'The runner was changed by another request' };

const SCOPES = ['active', 'paused', 'online', 'offline'] as const;

const filters = () => ({
  type: p.oneOf(RUNNER_TYPES, { description: 'Return only runners of this type' }),
  status: p.oneOf(runners.RUNNER_STATUSES, { description: 'Return only runners in this state' }),
  paused: p.boolean({ description: 'Return only runners that are paused, or only those that are not' }),
  tag_list: p.list(p.string(), { maxItems: 50, description: 'Return only runners with all of these tags' }),
});
const scope = <const S extends string>(values: readonly S[]) =>
  p.oneOf(values, { description: 'Deprecated: use `type` or `status`' });

interface Query {
  readonly type?: (typeof RUNNER_TYPES)[number];
  readonly status?: runners.RunnerStatus;
  readonly paused?: boolean;
  readonly tag_list?: readonly string[];
  readonly scope?: string;
}

/** `specific` and `shared` are older words for types. */
function inputOf({ type, status, paused, tag_list: tags, scope }: Query, page: OffsetPage) {
  const ofScope = {
    specific: { type: 'project_type' },
    shared: { type: 'instance_type' },
  }[scope ?? ''] as Query | undefined;
  const known = (values: readonly string[]) => (values.includes(scope ?? '') ? scope : undefined);
  return {
    ...counted(page),
    type: type ?? ofScope?.type ?? (known(RUNNER_TYPES) as Query['type']),
    status: status ?? (known(runners.RUNNER_STATUSES) as Query['status']),
    paused,
    tags,
  };
}

const presented = (deps: ApiDeps, found: Page<RunnerRecord>) => ({
  ...found,
  items: found.items.map((record) => present.runner(record, deps.now())),
});

const list = endpoint({
  method: 'GET',
  path: '/runners',
  area,
  summary: 'List the runners that you own',
  description: 'Runners of projects that you maintain, and of groups that you own.',
  access: signedIn(),
  query: () => p.params({ scope: scope(SCOPES), ...filters() }),
  returns: { body: shapes.runners },
  ...BY_ROWS,
  handle: async ({ actor, query, page }, deps) =>
    presented(deps, await runners.listOwnRunners(deps, actor, inputOf(query, page))),
});

const listAll = endpoint({
  method: 'GET',
  path: '/runners/all',
  area,
  summary: 'List all runners of the instance',
  access: administrator(),
  query: () => p.params({ scope: scope([...SCOPES, 'specific', 'shared', ...RUNNER_TYPES]), ...filters() }),
  returns: { body: shapes.runners },
  ...BY_ROWS,
  handle: async ({ query, page }, deps) =>
    presented(deps, await runners.listAllRunners(deps, inputOf(query, page))),
});

const byId = () => p.params({ id: p.integer({ required: true, description: 'ID of the runner' }) });

const get = endpoint({
  method: 'GET',
  path: '/runners/:id',
  area,
  summary: 'Get a runner',
  access: signedIn(),
  params: byId,
  returns: { body: shapes.runnerDetails },
  errors: [notOwned, absent],
  handle: async ({ actor, params, request }, deps) =>
    present.runnerDetails(await runners.getRunner(deps, actor, params.id), deps.now(), request.baseUrl),
});

const update = endpoint({
  method: 'PUT',
  path: '/runners/:id',
  area,
  summary: 'Update a runner',
  access: signedIn(),
  params: byId,
  body: () =>
    p.params(
      {
        description: p.string({ description: 'Description of the runner' }),
        active: p.boolean({ description: 'Whether the runner gets jobs' }),
        paused: p.boolean({ description: 'Whether the runner gets no jobs' }),
        tag_list: p.list(p.string(), { description: 'Tags of the runner' }),
        run_untagged: p.boolean({ description: 'Whether the runner takes jobs without tags' }),
        locked: p.boolean({
          description: 'Whether only administrators may enable the runner in further projects',
        }),
        access_level: p.oneOf(RUNNER_ACCESS_LEVELS, {
          description: '`ref_protected`: the runner takes jobs of protected branches and tags only',
        }),
        maximum_timeout: p.integer({
          nullable: true,
          description: 'Seconds that a job may take on the runner, at least 600',
        }),
      },
      [
        p.mutuallyExclusive('active', 'paused'),
        p.atLeastOneOf(
          'description',
          'active',
          'paused',
          'tag_list',
          'run_untagged',
          'locked',
          'access_level',
          'maximum_timeout',
        ),
      ],
    ),
  returns: { body: shapes.runnerDetails },
  errors: [{ status: 400, description: 'A value is invalid' }, notOwned, absent, changed],
  handle: async ({ actor, params, body, request }, deps) => {
    const paused = body.paused ?? (body.active === undefined ? undefined : !body.active);
    const change = {
      ...('description' in body ? { description: body.description ?? '' } : {}),
      ...(paused === undefined ? {} : { paused }),
      ...('tag_list' in body ? { tags: body.tag_list ?? [] } : {}),
      ...(body.run_untagged === undefined ? {} : { runUntagged: body.run_untagged }),
      ...(body.locked === undefined ? {} : { locked: body.locked }),
      ...(body.access_level === undefined ? {} : { accessLevel: body.access_level }),
      ...('maximum_timeout' in body ? { maximumTimeout: body.maximum_timeout ?? null } : {}),
    };
    const shown = await runners.changeRunner(deps, actor, params.id, change);
    return present.runnerDetails(shown, deps.now(), request.baseUrl);
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/runners/:id',
  area,
  summary: 'Delete a runner',
  access: signedIn(),
  params: byId,
  returns: { status: 204 },
  errors: [notOwned, absent, changed],
  handle: async ({ actor, params, unmodifiedSince }, deps) => {
    await runners.deleteRunner(deps, actor, params.id, ({ createdAt }) => unmodifiedSince(createdAt));
    return noContent();
  },
});

const reset = endpoint({
  method: 'POST',
  path: '/runners/reset_registration_token',
  area,
  summary: 'Replace the registration token of the instance',
  description: 'Runners that are registered keep their tokens.',
  access: administrator(),
  returns: { body: shapes.registrationToken },
  handle: async ({ actor }, deps) => ({
    token: await resetRegistrationToken(deps, actor, { kind: 'instance' }),
  }),
});

const resetOfProject = endpoint({
  method: 'POST',
  path: '/projects/:id/runners/reset_registration_token',
  area,
  summary: 'Replace the registration token of a project',
  description: 'Runners that are registered keep their tokens.',
  access: project('admin_runners'),
  returns: { body: shapes.registrationToken },
  handle: async ({ actor, project }, deps) => ({
    token: await resetRegistrationToken(deps, actor, { kind: 'project', id: project.project.id }),
  }),
});

const resetOfGroup = endpoint({
  method: 'POST',
  path: '/groups/:id/runners/reset_registration_token',
  area,
  summary: 'Replace the registration token of a group',
  description: 'Runners that are registered keep their tokens.',
  access: group('admin_runners'),
  returns: { body: shapes.registrationToken },
  handle: async ({ actor, group }, deps) => ({
    token: await resetRegistrationToken(deps, actor, { kind: 'group', id: group.group.id }),
  }),
});

const listOfProject = endpoint({
  method: 'GET',
  path: '/projects/:id/runners',
  area,
  summary: 'List the runners that take jobs of a project',
  description:
    'Its own, those of the groups above it and, where shared runners are enabled, of the instance.',
  access: project('admin_runners'),
  query: () => p.params({ scope: scope([...SCOPES, 'specific', 'shared']), ...filters() }),
  returns: { body: shapes.runners },
  ...BY_ROWS,
  handle: async ({ project, query, page }, deps) =>
    presented(deps, await runners.listProjectRunners(deps, project, inputOf(query, page))),
});

const listOfGroup = endpoint({
  method: 'GET',
  path: '/groups/:id/runners',
  area,
  summary: 'List the runners that take jobs of a group',
  description:
    'Its own, those of the groups above it and, where shared runners are enabled, of the instance.',
  access: group('admin_runners'),
  query: () => p.params(filters()),
  returns: { body: shapes.runners },
  ...BY_ROWS,
  handle: async ({ group, query, page }, deps) =>
    presented(deps, await runners.listGroupRunners(deps, group, inputOf(query, page))),
});

const enable = endpoint({
  method: 'POST',
  path: '/projects/:id/runners',
  area,
  summary: 'Add a runner of another project to a project',
  access: project('admin_runners'),
  body: () => p.params({ runner_id: p.integer({ required: true, description: 'ID of the runner' }) }),
  returns: { body: shapes.runner },
  errors: [
    { status: 400, description: 'It does already, or takes jobs of too many' },
    notOwned,
    absent,
    changed,
  ],
  handle: async ({ actor, project, body }, deps) =>
    present.runner(await runners.enableRunner(deps, actor, project, body.runner_id), deps.now()),
});

const disable = endpoint({
  method: 'DELETE',
  path: '/projects/:id/runners/:runner_id',
  area,
  summary: 'Remove a runner from a project',
  access: project('admin_runners'),
  params: () => p.params({ runner_id: p.integer({ required: true, description: 'ID of the runner' }) }),
  returns: { status: 204 },
  errors: [{ status: 403, description: 'The runner takes jobs of no other project' }, absent, changed],
  handle: async ({ actor, project, params }, deps) => {
    await runners.disableRunner(deps, actor, project, params.runner_id);
    return noContent();
  },
});

export const runnerEndpoints = [
  ...registrationEndpoints,
  listAll,
  list,
  reset,
  get,
  update,
  remove,
  resetOfProject,
  resetOfGroup,
  listOfProject,
  listOfGroup,
  enable,
  disable,
];
