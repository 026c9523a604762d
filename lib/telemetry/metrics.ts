import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { requestId } from './correlation.ts';
import { serviceName } from './log.ts';

/** Metrics in addition to those of AWS (`cdk/dashboard.ts`): those that show whether an operator has to act. */
export type Count = 'ServerErrors' | 'RateLimited' | 'JobsFailed' | 'MessagesSwept';
export type Counts = Partial<Readonly<Record<Count, number>>>;

/** An endpoint, by method and declared path (`GET /projects/:id`), or a kind of job. */
export type Piece = { readonly endpoint: string } | { readonly job: string };

/**
 * If `POWERTOOLS_METRICS_NAMESPACE` is set, writes metrics for CloudWatch ("Specification: embedded metric format",
 * CloudWatch user guide). A metric is billed for each hour in which it is reported, so zeros are not reported.
 * @param counts by area
 */
export function count(area: string, counts: Counts): void {
  publish({ area }, counts);
}

/**
 * Counts by area and, if `ENDPOINT_METRICS` is 1, reports the duration by endpoint and kind of job. The number of calls
 * is the sample count of the duration, because a separate metric would cost as much again.
 * @param ms duration
 */
export function measure(area: string, piece: Piece | undefined, ms: number, counts: Counts): void {
  count(area, counts);
  if (piece !== undefined && process.env['ENDPOINT_METRICS'] === '1') publish({ area, ...piece }, counts, ms);
}

let metrics: Metrics | undefined;

/**
 * Adds and publishes synchronously: the library's state is per process, and the embedded host and the Git front handle
 * many requests at once.
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
