import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { ERROR_STATUSES } from '../../records/error-tracking.ts';
import { time } from '../users/shapes.ts';

const url = () => z.string().nullable().describe('Of another service; null: there is none');

export const settings = shape(() =>
  z
    .object({
      active: z.boolean(),
      project_name: z.string().nullable().describe('The name at another service; null: there is none'),
      sentry_external_url: url(),
      errtracker_external_url: url(),
      api_url: url(),
      integrated: z.boolean().describe('Whether this service collects the errors'),
    })
    .meta({ id: 'ErrorTrackingSettings' }),
);

const dsn = () => z.string().describe('The address that a program sends errors to, with the key in it');

export const clientKey = shape(() =>
  z
    .object({
      id: z.int(),
      active: z.boolean(),
      public_key: z.string(),
      sentry_dsn: dsn(),
      errtracker_dsn: dsn(),
    })
    .meta({ id: 'ErrorTrackingClientKey' }),
);
export const clientKeys = shape(() => z.array(clientKey()));

export const taken = shape(() =>
  z
    .object({ id: z.string().nullable().describe('The client’s ID of the event; null: there was none') })
    .meta({ id: 'TakenErrorEvent' }),
);

export const trackedError = shape(() =>
  z
    .object({
      id: z.int(),
      project_id: z.int(),
      fingerprint: z.string().describe('What makes occurrences one error'),
      name: z.string(),
      description: z.string().nullable(),
      actor: z.string().nullable().describe('Where it happened: a route, or a function'),
      platform: z.string().nullable(),
      level: z.string().nullable(),
      status: z.enum(ERROR_STATUSES),
      count: z.int().describe('How often it happened'),
      first_seen_at: time(),
      last_seen_at: time(),
    })
    .meta({ id: 'TrackedError' }),
);
export const trackedErrors = shape(() => z.array(trackedError()));

const errorEvent = shape(() =>
  z
    .object({
      id: z.string(),
      event_id: z.string().describe('The client’s own ID of it'),
      description: z.string().nullable(),
      level: z.string().nullable(),
      environment: z.string().nullable(),
      occurred_at: time(),
      payload: z.record(z.string(), z.unknown()).describe('What the client sent, without its largest parts'),
    })
    .meta({ id: 'ErrorEvent' }),
);
export const errorEvents = shape(() => z.array(errorEvent()));
