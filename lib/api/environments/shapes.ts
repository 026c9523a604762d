import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { DEPLOYMENT_STATUSES, ENVIRONMENT_STATES, TIERS } from '../../records/environments.ts';
import { accessLevels } from '../branches/shapes.ts';
import { job } from '../pipelines/shapes.ts';
import { projectBasic } from '../projects/shapes.ts';
import { time, userBasic } from '../users/shapes.ts';

const basicFields = () => ({
  id: z.int(),
  name: z.string(),
  slug: z.string().describe('The name as part of host names, at most 24 characters'),
  external_url: z.string().nullable(),
});

const basicEnvironment = shape(() =>
  z.object({ ...basicFields(), created_at: time(), updated_at: time() }).meta({ id: 'EnvironmentBasic' }),
);

const deploymentFields = () => ({
  id: z.int(),
  iid: z.int().describe('Number in the project'),
  ref: z.string(),
  sha: z.string(),
  created_at: time(),
  updated_at: time(),
  status: z.enum(DEPLOYMENT_STATUSES),
  user: userBasic().nullable(),
  deployable: job().nullable().describe('The job that deploys'),
});

export const deployment = shape(() =>
  z.object({ ...deploymentFields(), environment: basicEnvironment() }).meta({ id: 'Deployment' }),
);
export const deployments = shape(() => z.array(deployment()));

const environmentFields = () => ({
  ...basicFields(),
  state: z.enum(ENVIRONMENT_STATES),
  tier: z.enum(TIERS),
  auto_stop_at: time().nullable(),
  created_at: time(),
  updated_at: time(),
});

export const environment = shape(() =>
  z.object({ ...environmentFields(), project: projectBasic() }).meta({ id: 'Environment' }),
);
export const environments = shape(() => z.array(environment()));
export const environmentDetail = shape(() =>
  z
    .object({
      ...environmentFields(),
      last_deployment: z
        .object(deploymentFields())
        .nullable()
        .describe('The newest successful one of the newest hundred'),
    })
    .meta({ id: 'EnvironmentDetail' }),
);

export const protectedEnvironment = shape(() =>
  z.object({ name: z.string(), deploy_access_levels: accessLevels() }).meta({ id: 'ProtectedEnvironment' }),
);
export const protectedEnvironments = shape(() => z.array(protectedEnvironment()));

export const reviewApps = shape(() => {
  const entry = z.object(basicFields()).meta({ id: 'ReviewApp' });
  return z
    .object({ scheduled_entries: z.array(entry), unprocessable_entries: z.array(entry) })
    .meta({ id: 'ReviewAppDeletion' });
});
