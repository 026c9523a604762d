import type { S3Request } from './message.ts';

const BUCKET_OPERATIONS = {
  GET: 'ListObjectsV2',
  HEAD: 'HeadBucket',
  PUT: 'CreateBucket',
  DELETE: 'DeleteBucket',
} as const;

const OBJECT_OPERATIONS = {
  GET: 'GetObject',
  HEAD: 'HeadObject',
  PUT: 'PutObject',
  DELETE: 'DeleteObject',
} as const;

/** Settings that are accepted without effect, so that a deployment's set-up code runs unchanged. */
const IGNORED_SETTINGS = [
  'encryption',
  'lifecycle',
  'ownershipControls',
  'publicAccessBlock',
  'requestPayment',
  'tagging',
  'versioning',
  'cors',
];

/** Query parameters that select another operation. One without support makes the operation `Unknown`. */
const SUBRESOURCES = new Set([
  ...IGNORED_SETTINGS,
  'accelerate',
  'acl',
  'analytics',
  'attributes',
  'delete',
  'intelligent-tiering',
  'inventory',
  'legal-hold',
  'location',
  'logging',
  'metrics',
  'notification',
  'object-lock',
  'partNumber',
  'policy',
  'policyStatus',
  'replication',
  'restore',
  'retention',
  'select',
  'torrent',
  'uploadId',
  'uploads',
  'versionId',
  'versions',
  'website',
]);

export type Operation =
  | (typeof BUCKET_OPERATIONS)[keyof typeof BUCKET_OPERATIONS]
  | (typeof OBJECT_OPERATIONS)[keyof typeof OBJECT_OPERATIONS]
  | 'AbortMultipartUpload'
  | 'CompleteMultipartUpload'
  | 'CopyObject'
  | 'CreateMultipartUpload'
  | 'DeleteObjects'
  | 'GetBucketLocation'
  | 'GetBucketVersioning'
  | 'ListBuckets'
  | 'ListMultipartUploads'
  | 'ListParts'
  | 'PutBucketConfiguration'
  | 'Unknown'
  | 'UploadPart'
  | 'UploadPartCopy';

/** The operation of a request: S3 defines it by method, address, query and, for copies, a header. */
export function nameOperation(
  request: S3Request,
  bucket: string | undefined,
  key: string | undefined,
): Operation {
  const { method, query, headers } = request;
  if (bucket === undefined) return method === 'GET' ? 'ListBuckets' : 'Unknown';
  const selected = [...query.keys()].filter((name) => SUBRESOURCES.has(name)).sort();
  const copy = 'x-amz-copy-source' in headers;
  const shape = `${method} ${selected.join('+')}`.trimEnd();
  if (key === undefined) {
    if (selected.length === 0) {
      // Version 1 of ListObjects is not supported.
      if (method === 'GET' && query.get('list-type') !== '2') return 'Unknown';
      return BUCKET_OPERATIONS[method as keyof typeof BUCKET_OPERATIONS] ?? 'Unknown';
    }
    if (shape === 'GET location') return 'GetBucketLocation';
    if (shape === 'GET versioning') return 'GetBucketVersioning';
    if (shape === 'GET uploads') return 'ListMultipartUploads';
    if (shape === 'POST delete') return 'DeleteObjects';
    if (method === 'PUT' && selected.every((name) => IGNORED_SETTINGS.includes(name)))
      return 'PutBucketConfiguration';
    return 'Unknown';
  }
  switch (shape) {
    case 'POST uploads':
      return 'CreateMultipartUpload';
    case 'PUT partNumber+uploadId':
      return copy ? 'UploadPartCopy' : 'UploadPart';
    case 'POST uploadId':
      return 'CompleteMultipartUpload';
    case 'DELETE uploadId':
      return 'AbortMultipartUpload';
    case 'GET uploadId':
      return 'ListParts';
    case 'PUT':
      return copy ? 'CopyObject' : 'PutObject';
  }
  if (selected.length > 0) return 'Unknown';
  return OBJECT_OPERATIONS[method as keyof typeof OBJECT_OPERATIONS] ?? 'Unknown';
}
