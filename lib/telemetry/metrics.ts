import type { Facts } from './correlation.ts';

/** What is counted beyond what AWS counts by itself (`cdk/dashboard.ts`): only what somebody has to look at. */
export type Metric = 'ServerErrors' | 'RateLimited' | 'JobsFailed' | 'MessagesSwept';

/**
 * Counts as part of a log line that has an `area`. Where `METRICS_NAMESPACE` is set, CloudWatch makes metrics of them
 * ("Specification: embedded metric format", CloudWatch user guide), one per area. A metric is paid for by the hour in
 * which it was told: say nothing of a count that is zero.
 */
export function counted(counts: Partial<Readonly<Record<Metric, number>>>): Facts {
  const Namespace = process.env['METRICS_NAMESPACE'];
  const names = Object.keys(counts);
  if (Namespace === undefined || names.length === 0) return counts;
  const Metrics = names.map((Name) => ({ Name, Unit: 'Count' }));
  return {
    ...counts,
    _aws: {
      Timestamp: Date.now(),
      CloudWatchMetrics: [{ Namespace, Dimensions: [['area']], Metrics }],
    },
  };
}
