import type { EmbeddedMetrics } from './embedded-metrics.ts';

const BEGINNING = '{"_aws":';

/** What this process tells CloudWatch from now on, that of endpoints and jobs too. */
export class MetricLines {
  readonly all: EmbeddedMetrics[] = [];
  bytes = 0;
  readonly #write = process.stdout.write;

  static watch(namespace: string): MetricLines {
    const lines = new MetricLines();
    Object.assign(process.env, { POWERTOOLS_METRICS_NAMESPACE: namespace, ENDPOINT_METRICS: '1' });
    process.stdout.write = ((chunk: string | Uint8Array, ...rest: []) => {
      if (!String(chunk).startsWith(BEGINNING)) return lines.#write.call(process.stdout, chunk, ...rest);
      lines.all.push(JSON.parse(String(chunk)) as EmbeddedMetrics);
      lines.bytes += String(chunk).length;
      return true;
    }) as typeof process.stdout.write;
    return lines;
  }

  stop(): void {
    process.stdout.write = this.#write;
    delete process.env['POWERTOOLS_METRICS_NAMESPACE'];
    delete process.env['ENDPOINT_METRICS'];
  }

  /** Every metric that was told, once: what is paid for in an hour. */
  get names(): Set<string> {
    const told = this.all.flatMap((line) =>
      line._aws.CloudWatchMetrics.flatMap(({ Namespace, Dimensions, Metrics }) =>
        Dimensions.flatMap((set) => {
          const values = set.map((name) => `${name}=${line[name]}`);
          return Metrics.map(({ Name }) => [Namespace, Name, ...values].join(' '));
        }),
      ),
    );
    return new Set(told);
  }
}
