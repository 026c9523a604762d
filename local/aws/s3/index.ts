import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Faults } from '../faults.ts';
import type { SdkRequest, SdkRequestHandler } from '../request-handler.ts';
import type { Fault } from './faults.ts';
import { createHttpHandler } from './http-transport.ts';
import { createRequestHandler, operationOf } from './sdk-transport.ts';
import { createService, type OperationRecord, type Service } from './service.ts';
import type { Credentials } from './signature.ts';
import { Store } from './store.ts';

export type { FaultRule, Faults } from '../faults.ts';
export type { SdkRequestHandler } from '../request-handler.ts';
export type { Fault } from './faults.ts';
export type { OperationRecord } from './service.ts';
export type { Credentials } from './signature.ts';

/** S3 in this process, stored in a directory. README.md of the package says what it does as S3 does, and what it does not. */
export interface EmbeddedS3 {
  /** For `new S3Client({ requestHandler, forcePathStyle: true, ... })`. */
  requestHandler: SdkRequestHandler;
  /** For a node:http server: presigned URLs and signed requests under `pathPrefix` (such as `/_s3`). */
  httpHandler(req: IncomingMessage, res: ServerResponse, pathPrefix: string): void;
  /** The credentials that clients must sign with. */
  credentials: Credentials;
  faults: Faults<Fault>;
  /** Called after each request that gets an answer. */
  onOperation?: ((record: OperationRecord) => void) | undefined;
  /** Waits for requests under way. Later requests fail. */
  close(): Promise<void>;
}

export interface S3Options {
  /** Where data is stored durably; if absent, data is in a temporary directory until `close`. */
  dir?: string;
  /** Random if absent: presigned URLs are then valid only while the process runs. */
  credentials?: Credentials;
  /** The path of the endpoint that SDK clients are configured with; `/_s3` by default. */
  endpointPath?: string;
  /** The least size of every part but the last of a multipart upload, in bytes; 5 MiB by default, as in S3. */
  minPartSize?: number;
  /** Called with what is answered as InternalError; by default it is printed. */
  onError?: (error: unknown) => void;
}

/**
 * Opens a directory, which only one process may have open at a time. A write is acknowledged when it is synced to disk; in
 * a temporary directory, when it is written.
 */
export async function openS3(options: S3Options = {}): Promise<EmbeddedS3> {
  const { endpointPath = '/_s3', minPartSize = 5 * 2 ** 20 } = options;
  const credentials = options.credentials ?? {
    accessKeyId: `LOCAL${randomBytes(8).toString('hex').toUpperCase()}`,
    secretAccessKey: randomBytes(30).toString('base64url'),
  };
  const dir = options.dir ?? (await mkdtemp(join(tmpdir(), 's3-')));
  const store = await Store.open(dir, { durable: options.dir !== undefined });
  const faults = new Faults<Fault>();
  const running = new Set<Promise<unknown>>();
  const perform = createService({
    store,
    faults,
    minPartSize,
    observe: (record) => embedded.onOperation?.(record),
    onError: options.onError ?? ((error) => console.error('s3:', error)),
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

/** Reads objects of a directory that another thread of the process has open. */
export interface S3Reader {
  /** Whether it answers a request: one that gets an object, or its headers. */
  answers(request: SdkRequest): boolean;
  requestHandler: SdkRequestHandler;
}

/** What is written is renamed into place, so that a reader finds an object as it was or as it is. */
export function readS3({
  dir,
  endpointPath = '/_s3',
  onError,
}: Pick<S3Options, 'endpointPath'> & Required<Pick<S3Options, 'dir' | 'onError'>>): S3Reader {
  const service = createService({
    store: Store.reading(dir),
    faults: new Faults<Fault>(),
    minPartSize: 0,
    observe: () => {},
    onError,
  });
  return {
    answers(request) {
      try {
        return /^(?:Get|Head)Object$/.test(operationOf(request, endpointPath));
      } catch {
        return false;
      }
    },
    requestHandler: createRequestHandler(service, endpointPath),
  };
}
