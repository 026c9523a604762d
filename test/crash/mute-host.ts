import { startHost } from '../../local/host.ts';

/** A host whose queue accepts no messages: they stay in the outbox. */
const host = await startHost({ dataDir: process.env['DATA_DIR']!, port: 0, host: '127.0.0.1' });
host.sqs.faults.inject({
  operation: 'SendMessageBatch',
  fault: { kind: 'error', code: 'InternalFailure' },
  times: Number.POSITIVE_INFINITY,
});
console.log(`Lemnos is ready at ${host.url}`);
