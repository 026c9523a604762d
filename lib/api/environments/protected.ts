import type { Actor } from '../../domain/actor.ts';
import * as rules from '../../domain/environments/protected.ts';
import { getRule, listRules, removeProtection } from '../../domain/refs/protection-rules.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { noContent } from '../../http/reply.ts';
import { type EnvironmentRule, RULE_LEVELS } from '../../records/refs.ts';
import { grantInputs, presentedRules } from '../branches/rule-grants.ts';
import { type ApiDeps, endpoint } from '../endpoint.ts';
import { protectedEnvironment } from './present.ts';
import * as shapes from './shapes.ts';

const area = 'environments';
const path = '/projects/:id/protected_environments';
const access = project('admin_project');
const absent = { status: 404, description: 'The environment is not protected' };
const ruleName = () =>
  p.params({ name: p.string({ required: true, description: 'Name of the environment' }) });

const list = endpoint({
  method: 'GET',
  path,
  area,
  summary: 'List the protected environments of a project',
  access,
  returns: { body: shapes.protectedEnvironments },
  paginate: 'offset',
  handle: async ({ actor, project, page }, deps) => {
    const at = { offset: page.offset, limit: page.perPage };
    const found = await listRules(deps, project, 'environment', at);
    return { items: await presented(deps, actor, found.items), total: found.total };
  },
});

const get = endpoint({
  method: 'GET',
  path: `${path}/:name`,
  area,
  summary: 'Get a protected environment',
  access,
  params: ruleName,
  returns: { body: shapes.protectedEnvironment },
  errors: [absent],
  handle: async ({ actor, project, params }, deps) =>
    presentedOne(deps, actor, await getRule(deps, project, 'environment', params.name)),
});

const protect = endpoint({
  method: 'POST',
  path,
  area,
  summary: 'Protect an environment',
  description: 'Only those named deploy to it, start jobs for it, change and stop it. It need not exist yet.',
  access,
  body: () =>
    p.params({
      name: p.string({ required: true, description: 'Name of the environment' }),
      deploy_access_levels: p.array(
        p.object({
          access_level: p.integer({
            values: RULE_LEVELS.filter((level) => level !== 0),
            description: 'Everybody from 30 (Developer), 40 (Maintainer) or 60 (administrator) on',
          }),
          user_id: p.integer({ description: 'A member of the project' }),
          group_id: p.integer({
            description: 'A group that the project is in or shared with: its direct members',
          }),
        }),
        {
          required: true,
          maxItems: 100,
          description: 'Who is allowed to deploy, each by a level, a user or a group',
        },
      ),
    }),
  returns: { body: shapes.protectedEnvironment },
  errors: [
    { status: 409, description: 'It is protected already' },
    {
      status: 422,
      description:
        'The name is blank or too long, nobody is named, an entry names a user or group without access to the project, or the project has the maximum number of rules',
    },
  ],
  handle: async ({ actor, project, body }, deps) => {
    const deploy = grantInputs(body.deploy_access_levels);
    const rule = await rules.protectEnvironment(deps, actor, project, { name: body.name, deploy });
    return presentedOne(deps, actor, rule);
  },
});

const unprotect = endpoint({
  method: 'DELETE',
  path: `${path}/:name`,
  area,
  summary: 'Unprotect an environment',
  access,
  params: ruleName,
  returns: { status: 204 },
  errors: [absent, { status: 409, description: 'Changed by a concurrent request' }],
  handle: async ({ actor, project, params, unmodifiedSince }, deps) => {
    await removeProtection(deps, actor, project, 'environment', params.name, unmodifiedSince);
    return noContent();
  },
});

export const protectedEnvironmentEndpoints = [list, get, protect, unprotect];

const presented = (deps: ApiDeps, actor: Actor, found: readonly EnvironmentRule[]) =>
  presentedRules(deps, actor, found, ({ deploy }) => deploy, protectedEnvironment);

const presentedOne = async (deps: ApiDeps, actor: Actor, rule: EnvironmentRule) =>
  (await presented(deps, actor, [rule]))[0]!;
