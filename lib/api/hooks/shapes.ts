import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { HOOK_SWITCHES } from '../../records/hooks.ts';
import { time } from '../users/shapes.ts';

export const hook = shape(() =>
  z
    .object({
      id: z.int(),
      url: z.string(),
      project_id: z.int().optional().describe('Of a hook of a project'),
      group_id: z.int().optional().describe('Of a hook of a group'),
      created_at: time(),
      enable_ssl_verification: z.boolean(),
      alert_status: z
        .enum(['executable', 'temporarily_disabled', 'disabled'])
        .describe('Whether it is called: it is not for a while, or no more, after calls that failed'),
      disabled_until: time().nullable().describe('When it is called again'),
      push_events_branch_filter: z.string().nullable().optional(),
      ...Object.fromEntries(HOOK_SWITCHES.map((name) => [name, z.boolean().optional()])),
    })
    .meta({ id: 'Hook' }),
);
export const hooks = shape(() => z.array(hook()));

export const delivery = shape(() =>
  z
    .object({
      id: z.string(),
      url: z.string(),
      trigger: z.enum(HOOK_SWITCHES),
      event_uuid: z.string().describe('The same for all hooks that hear of the event, and over retries'),
      state: z.enum(['waiting', 'delivered', 'failed']),
      attempts: z.int(),
      created_at: time(),
      request_headers: z.record(z.string(), z.string()),
      request_data: z.record(z.string(), z.unknown()),
      response_headers: z.record(z.string(), z.string()),
      response_body: z.string().describe('Its beginning'),
      execution_duration: z.number().describe('Seconds'),
      response_status: z.string().nullable().describe('Status, or why there was no answer'),
    })
    .meta({ id: 'HookDelivery' }),
);
export const deliveries = shape(() => z.array(delivery()));

export const tried = shape(() => z.object({ message: z.string() }).meta({ id: 'TriedHook' }));

export const example = shape(() =>
  z
    .object({
      event_name: z.string(),
      name: z.string(),
      path: z.string(),
      project_id: z.int(),
      owner_name: z.string(),
      owner_email: z.string(),
    })
    .meta({ id: 'HookExample' }),
);
