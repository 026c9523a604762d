import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { requestId } from './correlation.ts';
import { serviceName } from './log.ts';

/** What is counted beyond what AWS counts by itself (`cdk/dashboard.ts`): what tells whether somebody has to look. */
type Count = 'ServerErrors' | 'RateLimited' | 'JobsFailed' | 'MessagesSwept';
export type Counts = Partial<Readonly<Record<Count, number>>>;

/** One endpoint, by its method and its path as it is declared (`GET /projects/:id`), or one kind of job. */
export type Piece = { readonly endpoint: string } | { readonly job: string };

/**
 * Where `POWERTOOLS_METRICS_NAMESPACE` is set, CloudWatch makes metrics of what is told here ("Specification: embedded
 * metric format", CloudWatch user guide). A metric is paid for by the hour in which it was told: nothing is said of what
 * did not happen.
 * @param counts by area
 */
export function count(area: string, counts: Counts): void {
  publish({ area }, counts);
}

/**
 * Counts by area, and where `ENDPOINT_METRICS` is 1 by endpoint and kind of job too, with the time that each took. How many
 * there were is the number of its samples: a metric of its own would cost as much again.
 * @param ms that it took
 */
export function measure(area: string, piece: Piece | undefined, ms: number, counts: Counts): void {
  count(area, counts);
  if (piece !== undefined && process.env['ENDPOINT_METRICS'] === '1') publish({ area, ...piece }, counts, ms);
}

let metrics: Metrics | undefined;

/**
 * All in one go: what the library gathers belongs to the process, which on the embedded host and the Git front serves many
 * requests at once.
 */
function publish(dimensions: Record<string, string>, counts: Counts, ms?: number): void {
  const told = Object.entries(counts);
  const namespace = process.env['POWERTOOLS_METRICS_NAMESPACE'];
  if (namespace === undefined || (told.length === 0 && ms === undefined)) return;
  metrics ??= new Metrics({ namespace, serviceName: serviceName() });
  metrics.addDimensions(dimensions);
  for (const [name, value] of told) metrics.addMetric(name, MetricUnit.Count, value);
  if (ms !== undefined) metrics.addMetric('Latency', MetricUnit.Milliseconds, ms);
  const id = requestId();
  if (id !== undefined) metrics.addMetadata('requestId', id);
  metrics.publishStoredMetrics();
}
