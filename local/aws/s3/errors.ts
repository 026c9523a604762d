import { element, xmlDocument } from './xml.ts';

/** Codes and HTTP statuses from the S3 API reference, "List of error codes". */
const STATUSES = {
  AccessDenied: 403,
  AuthorizationHeaderMalformed: 400,
  AuthorizationQueryParametersError: 400,
  BadDigest: 400,
  BucketAlreadyOwnedByYou: 409,
  BucketNotEmpty: 409,
  ConditionalRequestConflict: 409,
  EntityTooSmall: 400,
  EntityTooLarge: 400,
  IncompleteBody: 400,
  InternalError: 500,
  InvalidAccessKeyId: 403,
  InvalidArgument: 400,
  InvalidBucketName: 400,
  InvalidDigest: 400,
  InvalidPart: 400,
  InvalidPartOrder: 400,
  InvalidRange: 416,
  InvalidRequest: 400,
  InvalidURI: 400,
  KeyTooLongError: 400,
  MalformedXML: 400,
  MetadataTooLarge: 400,
  MethodNotAllowed: 405,
  MissingContentLength: 411,
  NoSuchBucket: 404,
  NoSuchKey: 404,
  NoSuchUpload: 404,
  NotImplemented: 501,
  NotModified: 304,
  PreconditionFailed: 412,
  RequestTimeTooSkewed: 403,
  SignatureDoesNotMatch: 403,
  SlowDown: 503,
  XAmzContentSHA256Mismatch: 400,
} as const;

export type S3ErrorCode = keyof typeof STATUSES;

/** An error as S3 answers it. */
export class S3Error extends Error {
  override readonly name = 'S3Error';
  readonly code: S3ErrorCode;
  readonly status: number;
  /** Additional elements of the error document, such as `ActualObjectSize` of InvalidRange. */
  readonly details: Readonly<Record<string, string | number>>;

  constructor(code: S3ErrorCode, message: string, details: Record<string, string | number> = {}) {
    super(message);
    this.code = code;
    this.status = STATUSES[code];
    this.details = details;
  }

  toXml(resource: string, requestId: string): string {
    return xmlDocument(
      element('Error', [
        element('Code', this.code),
        element('Message', this.message),
        ...Object.entries(this.details).map(([name, value]) => element(name, value)),
        element('Resource', resource),
        element('RequestId', requestId),
      ]),
    );
  }
}

export const noSuchKey = (key: string) =>
  new S3Error('NoSuchKey', 'The specified key does not exist.', { Key: key });

export const noSuchBucket = (bucket: string) =>
  new S3Error('NoSuchBucket', 'The specified bucket does not exist', { BucketName: bucket });

export const noSuchUpload = (uploadId: string) =>
  new S3Error(
    'NoSuchUpload',
    'The specified multipart upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed.',
    { UploadId: uploadId },
  );

export const preconditionFailed = (condition: string) =>
  new S3Error('PreconditionFailed', 'At least one of the pre-conditions you specified did not hold', {
    Condition: condition,
  });

export const notImplemented = (what: string) =>
  new S3Error(
    'NotImplemented',
    'A header or query you provided implies functionality that is not implemented',
    {
      Header: what,
    },
  );
