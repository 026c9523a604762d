import { startHost } from '../../local/host.ts';
import { stopOnSignals } from '../../local/signals.ts';

/** A host whose bucket answers no read for an hour: each request and job that reads an object is under way for so long. */
const threads = process.env['FUNCTION_THREADS'] === '1';
const host = await startHost({ dataDir: process.env['DATA_DIR']!, port: 0, host: '127.0.0.1', threads });
host.s3.faults.inject({
  operation: 'GetObject',
  fault: { kind: 'latency', ms: 3_600_000 },
  times: Number.POSITIVE_INFINITY,
});
stopOnSignals(host);
console.log(`Lemnos is ready at ${host.url}`);
