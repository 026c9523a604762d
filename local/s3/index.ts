import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Faults } from './faults.ts';
import { createHttpHandler } from './httpTransport.ts';
import { createRequestHandler, type SdkRequestHandler } from './sdkTransport.ts';
import { createService, type OperationRecord, type Service } from './service.ts';
import type { Credentials } from './signature.ts';
import { Store } from './store.ts';

export type { Fault } from './faults.ts';
export type { OperationRecord } from './service.ts';

/** S3 in this process, kept in a directory. */
export interface EmbeddedS3 {
  /** For `new S3Client({ requestHandler, forcePathStyle: true, ... })`. */
  requestHandler: SdkRequestHandler;
  /** For a node:http server: presigned URLs and signed requests below `pathPrefix` (such as `/_s3`). */
  httpHandler(req: IncomingMessage, res: ServerResponse, pathPrefix: string): void;
  /** What clients must sign with. */
  credentials: Credentials;
  faults: Faults;
  /** Called with each request that gets an answer. */
  onOperation?: ((record: OperationRecord) => void) | undefined;
  /** Waits for the requests under way. */
  close(): Promise<void>;
}

export interface S3Options {
  /** Data outlives the process here; without it they lie in a temporary directory until `close`. */
  dir?: string;
  /** Random when absent: presigned URLs then end with the process. */
  credentials?: Credentials;
  /** The path of the endpoint the SDK clients are given; `/_s3` by default. */
  endpointPath?: string;
  /** Bytes that every part of an upload but the last must have; 5 MiB as in S3 by default. */
  minPartSize?: number;
}

/**
 * A directory belongs to one process at a time.
 * A write is acknowledged when it is on disk; with a temporary directory, when it is written.
 */
export async function openS3(options: S3Options = {}): Promise<EmbeddedS3> {
  const { endpointPath = '/_s3', minPartSize = 5 * 2 ** 20 } = options;
  const credentials = options.credentials ?? {
    accessKeyId: `LOCAL${randomBytes(8).toString('hex').toUpperCase()}`,
    secretAccessKey: randomBytes(30).toString('base64url'),
  };
  const dir = options.dir ?? (await mkdtemp(join(tmpdir(), 's3-')));
  const store = await Store.open(dir, { durable: options.dir !== undefined });
  const faults = new Faults();
  const running = new Set<Promise<unknown>>();
  const perform = createService({
    store,
    faults,
    minPartSize,
    observe: (record) => embedded.onOperation?.(record),
  });
  let closed = false;
  const service: Service = (request) => {
    if (closed) return Promise.reject(new Error('the object store is closed'));
    const answer = perform(request);
    const settled: Promise<unknown> = answer.then(
      () => running.delete(settled),
      () => running.delete(settled),
    );
    running.add(settled);
    return answer;
  };
  const embedded: EmbeddedS3 = {
    requestHandler: createRequestHandler(service, endpointPath),
    httpHandler: createHttpHandler(service, credentials),
    credentials,
    faults,
    async close() {
      closed = true;
      await Promise.all(running);
      if (options.dir === undefined) await rm(dir, { recursive: true, force: true });
    },
  };
  return embedded;
}
