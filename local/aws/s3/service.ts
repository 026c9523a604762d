import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { ConnectionFailure, type Faults } from '../faults.ts';
import { noSuchKey, S3Error } from './errors.ts';
import type { Fault } from './faults.ts';
import { listObjectsV2 } from './listing.ts';
import { parseAddress, type S3Request, type S3Response } from './message.ts';
import {
  copyObject,
  deleteObject,
  deleteObjects,
  getObject,
  headObject,
  putObject,
  xmlResponse,
} from './objects.ts';
import { nameOperation, type Operation } from './operation.ts';
import type { Store } from './store.ts';
import * as uploads from './uploads.ts';
import { element } from './xml.ts';

/** A request for `onOperation`, after its answer was made; a streamed body may still be under way. */
export interface OperationRecord {
  operation: Operation;
  bucket?: string;
  key?: string;
  status: number;
  bytesIn: number;
  bytesOut: number;
  /** Milliseconds. */
  duration: number;
}

export interface ServiceOptions {
  store: Store;
  faults: Faults<Fault>;
  /** Bytes; see `completeMultipartUpload`. */
  minPartSize: number;
  observe(record: OperationRecord): void;
  /** Called with an error that is answered as InternalError. */
  onError(error: unknown): void;
}

export type Service = (request: S3Request) => Promise<S3Response>;

/**
 * Answers requests of both transports, with error documents too. The promise rejects only when no answer can be sent:
 * with ConnectionFailure, the request's abort reason, or the failure of its body.
 */
export function createService({ store, faults, minPartSize, observe, onError }: ServiceOptions): Service {
  return async (request) => {
    const started = performance.now();
    const requestId = randomBytes(8).toString('hex').toUpperCase();
    let operation: Operation = 'Unknown';
    let bucket: string | undefined;
    let key: string | undefined;
    let response: S3Response;
    try {
      ({ bucket, key } = parseAddress(request.path));
      operation = nameOperation(request, bucket, key);
      const fault = faults.take(operation, key);
      if (fault?.kind === 'latency')
        await delay(fault.ms, undefined, request.signal ? { signal: request.signal } : {});
      if (fault?.kind === 'error')
        throw new S3Error(fault.code, 'Please reduce your request rate or try again.');
      if (fault?.kind === 'timeout') {
        await delay(fault.ms ?? 0);
        throw new ConnectionFailure('timeout');
      }
      response = await perform(operation, bucket, key, request);
      if (fault?.kind === 'lostAnswer') {
        discardBody(response);
        throw new ConnectionFailure('lostAnswer');
      }
    } catch (error) {
      if (error instanceof ConnectionFailure || request.signal?.aborted || isBroken(error)) throw error;
      if (!(error instanceof S3Error)) onError(error);
      response = renderError(error, request, requestId);
    }
    response.headers['x-amz-request-id'] = requestId;
    if (!('content-length' in response.headers) && response.status !== 304) {
      response.headers['content-length'] = String(bodyLength(response));
    }
    observe({
      operation,
      ...(bucket === undefined ? {} : { bucket }),
      ...(key === undefined ? {} : { key }),
      status: response.status,
      bytesIn: Number(
        request.headers['x-amz-decoded-content-length'] ?? request.headers['content-length'] ?? 0,
      ),
      bytesOut: request.method === 'HEAD' ? 0 : Number(response.headers['content-length'] ?? 0),
      duration: performance.now() - started,
    });
    return response;
  };

  async function perform(
    operation: Operation,
    bucketName: string | undefined,
    key: string | undefined,
    request: S3Request,
  ): Promise<S3Response> {
    const ok: S3Response = { status: 200, headers: {} };
    if (operation === 'ListBuckets') return listBuckets(store);
    if (operation === 'CreateBucket') {
      await store.createBucket(bucketName!);
      return { status: 200, headers: { location: `/${bucketName}` } };
    }
    if (operation === 'Unknown' || bucketName === undefined) {
      throw new S3Error(
        'NotImplemented',
        'A query you provided implies functionality that is not implemented',
      );
    }
    const bucket = store.bucket(bucketName);
    switch (operation) {
      case 'DeleteBucket':
        await store.deleteBucket(bucketName);
        return { status: 204, headers: {} };
      case 'HeadBucket':
        return { status: 200, headers: { 'x-amz-bucket-region': 'us-east-1' } };
      case 'GetBucketLocation':
        return xmlResponse(element('LocationConstraint', ''));
      case 'GetBucketVersioning':
        return xmlResponse(element('VersioningConfiguration', ''));
      case 'PutBucketConfiguration':
        return ok;
      case 'ListObjectsV2':
        return listObjectsV2(bucket, request);
      case 'ListMultipartUploads':
        return uploads.listMultipartUploads(bucket, request);
      case 'DeleteObjects':
        return deleteObjects(bucket, request);
    }
    if (key === undefined) throw noSuchKey('');
    switch (operation) {
      case 'PutObject':
        return putObject(bucket, key, request);
      case 'CopyObject':
        return copyObject(store, bucket, key, request);
      case 'GetObject':
        return getObject(bucket, key, request);
      case 'HeadObject':
        return headObject(bucket, key, request);
      case 'DeleteObject':
        return deleteObject(bucket, key, request);
      case 'CreateMultipartUpload':
        return uploads.createMultipartUpload(bucket, key, request);
      case 'UploadPart':
        return uploads.uploadPart(bucket, key, request);
      case 'UploadPartCopy':
        return uploads.uploadPartCopy(store, bucket, key, request);
      case 'CompleteMultipartUpload':
        return uploads.completeMultipartUpload(bucket, key, request, minPartSize);
      case 'AbortMultipartUpload':
        return uploads.abortMultipartUpload(bucket, key, request);
      case 'ListParts':
        return uploads.listParts(bucket, key, request);
    }
  }
}

function listBuckets(store: Store): S3Response {
  const buckets = store.bucketNames().map((name) => element('Bucket', [element('Name', name)]));
  return xmlResponse(element('ListAllMyBucketsResult', [element('Buckets', buckets)]));
}

/** Renders an error. Anything but an S3Error is a failure of the disk or a bug, and answered as InternalError. */
export function renderError(error: unknown, request: S3Request, requestId: string): S3Response {
  const known =
    error instanceof S3Error
      ? error
      : new S3Error('InternalError', 'We encountered an internal error. Please try again.');
  const headers: Record<string, string> = {};
  if (known.code === 'InvalidRange')
    headers['content-range'] = `bytes */${known.details['ActualObjectSize']}`;
  if (known.code === 'NotModified') return { status: 304, headers: { etag: String(known.details['ETag']) } };
  headers['content-type'] = 'application/xml';
  const body = request.method === 'HEAD' ? '' : known.toXml(request.path, requestId);
  return { status: known.status, headers, body };
}

function bodyLength({ body }: S3Response): number {
  if (body === undefined) return 0;
  return typeof body === 'string' || body instanceof Uint8Array ? Buffer.byteLength(body) : Number.NaN;
}

/** Whether the client closed the connection while its body was read. */
const isBroken = (error: unknown) => (error as NodeJS.ErrnoException)?.code === 'ECONNRESET';

function discardBody({ body }: S3Response): void {
  if (body !== undefined && typeof body !== 'string' && !(body instanceof Uint8Array)) body.destroy();
}
