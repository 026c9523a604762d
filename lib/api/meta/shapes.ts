import * as z from 'zod';
import { shape } from '../../http/shape.ts';

export const version = shape(() => z.object({ version: z.string(), revision: z.string() }));

export const metadata = shape(() =>
  z.object({
    version: z.string(),
    revision: z.string(),
    kas: z.object({
      enabled: z.boolean(),
      externalUrl: z.string().nullable(),
      externalK8sProxyUrl: z.string().nullable(),
      version: z.string().nullable(),
    }),
    enterprise: z.boolean(),
  }),
);

export const openapi = shape(() =>
  z.looseObject({ openapi: z.string(), paths: z.record(z.string(), z.unknown()) }),
);

export const accepted = shape(() => z.object({ message: z.literal('202 Accepted') }));

const queues = () =>
  z.record(z.string(), z.object({ backlog: z.int(), latency: z.int() })).describe('By name of the queue');

const processes = () =>
  z.array(
    z.object({
      hostname: z.string(),
      pid: z.int(),
      tag: z.string(),
      started_at: z.string(),
      queues: z.array(z.string()),
      labels: z.array(z.string()),
      concurrency: z.int(),
      busy: z.int(),
    }),
  );

const jobs = () => z.object({ processed: z.int(), failed: z.int(), enqueued: z.int(), dead: z.int() });

export const queueMetrics = shape(() => z.object({ queues: queues() }));

export const processMetrics = shape(() => z.object({ processes: processes() }));

export const jobStats = shape(() => z.object({ jobs: jobs() }));

export const compoundMetrics = shape(() =>
  z.object({ queues: queues(), processes: processes(), jobs: jobs() }),
);
