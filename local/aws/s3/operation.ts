import type { S3Request } from './message.ts';

const bucketOperations = {
  GET: 'ListObjectsV2',
  HEAD: 'HeadBucket',
  PUT: 'CreateBucket',
  DELETE: 'DeleteBucket',
} as const;

const objectOperations = {
  GET: 'GetObject',
  HEAD: 'HeadObject',
  PUT: 'PutObject',
  DELETE: 'DeleteObject',
} as const;

/** Settings without an effect here, taken quietly so that a deployment's set-up code runs unchanged. */
const quietSettings = [
  'encryption',
  'lifecycle',
  'ownershipControls',
  'publicAccessBlock',
  'requestPayment',
  'tagging',
  'versioning',
  'cors',
];

/** Query parameters that change what an operation is; those we do not know make it `Unknown`. */
const subresources = new Set([
  ...quietSettings,
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
  | (typeof bucketOperations)[keyof typeof bucketOperations]
  | (typeof objectOperations)[keyof typeof objectOperations]
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

/** S3 names its operations by method, address, query and, for copies, a header. */
export function nameOperation(
  request: S3Request,
  bucket: string | undefined,
  key: string | undefined,
): Operation {
  const { method, query, headers } = request;
  if (bucket === undefined) return method === 'GET' ? 'ListBuckets' : 'Unknown';
  const asked = [...query.keys()].filter((name) => subresources.has(name)).sort();
  const copy = 'x-amz-copy-source' in headers;
  const shape = `${method} ${asked.join('+')}`.trimEnd();
  if (key === undefined) {
    if (asked.length === 0) {
      // ListObjects, the first version, is not offered.
      if (method === 'GET' && query.get('list-type') !== '2') return 'Unknown';
      return bucketOperations[method as keyof typeof bucketOperations] ?? 'Unknown';
    }
    if (shape === 'GET location') return 'GetBucketLocation';
    if (shape === 'GET versioning') return 'GetBucketVersioning';
    if (shape === 'GET uploads') return 'ListMultipartUploads';
    if (shape === 'POST delete') return 'DeleteObjects';
    if (method === 'PUT' && asked.every((name) => quietSettings.includes(name)))
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
  if (asked.length > 0) return 'Unknown';
  return objectOperations[method as keyof typeof objectOperations] ?? 'Unknown';
}
