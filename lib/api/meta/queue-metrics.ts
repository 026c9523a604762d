import { type WorkMetrics, workMetrics } from '../../domain/worker/queue-metrics.ts';
import { administrator } from '../../http/access.ts';
import { endpoint } from '../endpoint.ts';
import * as shapes from './shapes.ts';

const area = 'meta';

/** SQS tells no age of messages; CloudWatch does, minutes later. */
const LATENCY_UNKNOWN = 0;

const queuesOf = ({ backlogs }: WorkMetrics) =>
  Object.fromEntries([...backlogs].map(([name, backlog]) => [name, { backlog, latency: LATENCY_UNKNOWN }]));

/** What was done is counted by CloudWatch alone. */
const jobsOf = ({ enqueued, dead }: WorkMetrics) => ({ processed: 0, failed: 0, enqueued, dead });

/** Metrics of work in the background. Functions take it on, so there are no processes to list. */
export const queueMetricEndpoints = [
  endpoint({
    method: 'GET',
    path: '/sidekiq/queue_metrics',
    area,
    summary: 'Get the number of jobs that wait in each queue',
    description: 'Numbers are estimates. `latency` is always 0.',
    access: administrator(),
    returns: { body: shapes.queueMetrics },
    handle: async (_, deps) => ({ queues: queuesOf(await workMetrics(deps)) }),
  }),
  endpoint({
    method: 'GET',
    path: '/sidekiq/process_metrics',
    area,
    summary: 'Get the processes that run jobs',
    description: 'Always an empty list: jobs are run by functions, which start as jobs arrive.',
    access: administrator(),
    returns: { body: shapes.processMetrics },
    handle: () => ({ processes: [] }),
  }),
  endpoint({
    method: 'GET',
    path: '/sidekiq/job_stats',
    area,
    summary: 'Get the number of jobs that wait, and of those that were given up',
    description: 'Numbers are estimates. `processed` and `failed` are always 0.',
    access: administrator(),
    returns: { body: shapes.jobStats },
    handle: async (_, deps) => ({ jobs: jobsOf(await workMetrics(deps)) }),
  }),
  endpoint({
    method: 'GET',
    path: '/sidekiq/compound_metrics',
    area,
    summary: 'Get the metrics of queues, processes and jobs at once',
    access: administrator(),
    returns: { body: shapes.compoundMetrics },
    handle: async (_, deps) => {
      const metrics = await workMetrics(deps);
      return { queues: queuesOf(metrics), processes: [], jobs: jobsOf(metrics) };
    },
  }),
];
