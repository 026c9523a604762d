import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { RUNNER_ACCESS_LEVELS, RUNNER_TYPES } from '../../records/runners.ts';
import { identityFields } from '../projects/identity-shapes.ts';
import { time } from '../users/shapes.ts';

const fields = () => ({
  id: z.int(),
  description: z.string(),
  ip_address: z.string().describe('From where it last asked; empty: it never did'),
  active: z.boolean().describe('The opposite of `paused`'),
  paused: z.boolean(),
  is_shared: z.boolean().describe('Whether it is a runner of the instance'),
  runner_type: z.enum(RUNNER_TYPES),
  name: z.string().nullable().describe('Name of the program, as it says'),
  online: z.boolean().describe('Whether it asked in the last two hours'),
  status: z.enum(['not_connected', 'paused', 'online', 'offline']),
});

/** As a job tells it. */
export const runnerBasic = shape(() =>
  z.object(fields()).omit({ paused: true, runner_type: true }).meta({ id: 'RunnerBasic' }),
);
export const runner = shape(() => z.object(fields()).meta({ id: 'Runner' }));
export const runners = shape(() => z.array(runner()));

export const runnerDetails = shape(() =>
  z
    .object({
      ...fields(),
      tag_list: z.array(z.string()),
      run_untagged: z.boolean(),
      locked: z.boolean(),
      maximum_timeout: z.int().nullable().describe('Seconds'),
      access_level: z.enum(RUNNER_ACCESS_LEVELS),
      version: z.string().nullable(),
      revision: z.string().nullable(),
      platform: z.string().nullable(),
      architecture: z.string().nullable(),
      contacted_at: time().nullable().describe('When it last asked, to half an hour'),
      projects: z.array(z.object(identityFields())),
      groups: z.array(z.object({ id: z.int(), web_url: z.string(), name: z.string() })),
    })
    .meta({ id: 'RunnerDetails' }),
);

export const registered = shape(() =>
  z
    .object({ id: z.int(), token: z.string().describe('Token of the runner; not shown again') })
    .meta({ id: 'RegisteredRunner' }),
);

export const registrationToken = shape(() =>
  z.object({ token: z.string() }).meta({ id: 'RunnerRegistrationToken' }),
);
