import { closeSync } from 'node:fs';
import type { Algorithm } from './checksum.ts';
import { checkRead, writeConditions } from './conditions.ts';
import { noSuchKey, S3Error } from './errors.ts';
import type { S3Request, S3Response } from './message.ts';
import { readBody } from './object-body.ts';
import { Draft, type ObjectMeta } from './object-file.ts';
import { describeObject, renderChecksums, renderObject } from './object-headers.ts';
import { type ByteRange, parseRange } from './range.ts';
import type { Bucket, Store } from './store.ts';
import { openUpload, readVerified, type Upload } from './upload.ts';
import {
  childrenNamed,
  childText,
  element,
  type Markup,
  parseXml,
  S3_NAMESPACE,
  xmlDocument,
} from './xml.ts';

export async function putObject(bucket: Bucket, key: string, request: S3Request): Promise<S3Response> {
  const conditions = writeConditions(request.headers);
  const described = describeObject(request.headers);
  const upload = openUpload(request);
  const meta = await bucket.write(
    key,
    conditions,
    async () => {
      const { draft, md5Hex, checksums } = await receive(bucket, upload);
      return { draft, meta: { ...described, etag: `"${md5Hex}"`, lastModified: Date.now(), checksums } };
    },
    request.signal,
  );
  return { status: 200, headers: { etag: meta.etag, ...renderChecksums(meta) } };
}

/** Writes an upload to a draft and verifies its digests; deletes the draft when that fails. */
export async function receive(
  bucket: Bucket,
  upload: Upload,
): Promise<{ draft: Draft } & ReturnType<Upload['finish']>> {
  const draft = await bucket.createDraft();
  try {
    for await (const chunk of upload.chunks) await draft.write(chunk);
    return { draft, ...upload.finish() };
  } catch (error) {
    await draft.discard();
    throw error;
  }
}

export async function getObject(bucket: Bucket, key: string, request: S3Request): Promise<S3Response> {
  const object = bucket.openObject(key);
  if (object === undefined) throw noSuchKey(key);
  let response: S3Response;
  let range: ByteRange;
  try {
    ({ response, range } = answerFor(object.meta, request));
  } catch (error) {
    closeSync(object.fd);
    throw error;
  }
  return { ...response, body: await readBody(object.fd, range.start, range.end) };
}

export function headObject(bucket: Bucket, key: string, request: S3Request): S3Response {
  const meta = bucket.readMeta(key);
  if (meta === undefined) throw noSuchKey(key);
  return answerFor(meta, request).response;
}

function answerFor(meta: ObjectMeta, request: S3Request): { response: S3Response; range: ByteRange } {
  checkRead(request.headers, meta);
  const requested = parseRange(request.headers['range'], meta.size);
  const range = requested ?? { start: 0, end: meta.size };
  const headers = renderObject(meta, request);
  headers['content-length'] = String(range.end - range.start);
  if (requested !== undefined)
    headers['content-range'] = `bytes ${range.start}-${range.end - 1}/${meta.size}`;
  else if (request.headers['x-amz-checksum-mode'] === 'ENABLED')
    Object.assign(headers, renderChecksums(meta));
  return { response: { status: requested === undefined ? 200 : 206, headers }, range };
}

export async function deleteObject(bucket: Bucket, key: string, request: S3Request): Promise<S3Response> {
  await bucket.deleteObject(key, request.headers['if-match']);
  return { status: 204, headers: {} };
}

const MAX_DELETIONS = 1000;

export async function deleteObjects(bucket: Bucket, request: S3Request): Promise<S3Response> {
  const document = readXml(await readVerified(request));
  const keys = childrenNamed(document, 'Object').map((object) => childText(object, 'Key'));
  if (keys.length === 0 || keys.length > MAX_DELETIONS || keys.some((key) => !key)) throw malformedXml();
  const results = await Promise.all(
    keys.map(async (key): Promise<Markup | undefined> => {
      try {
        await bucket.deleteObject(key!);
        return childText(document, 'Quiet') === 'true'
          ? undefined
          : element('Deleted', [element('Key', key!)]);
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        return element('Error', [
          element('Key', key!),
          element('Code', 'InternalError'),
          element('Message', message),
        ]);
      }
    }),
  );
  const root = element(
    'DeleteResult',
    results.filter((result) => result !== undefined),
  );
  return xmlResponse(root);
}

/** Copies data and, unless the request replaces it, metadata. The ETag and the checksums are the source's. */
export async function copyObject(
  store: Store,
  bucket: Bucket,
  key: string,
  request: S3Request,
): Promise<S3Response> {
  const { headers } = request;
  const source = copySource(store, headers['x-amz-copy-source']!);
  const replace = headers['x-amz-metadata-directive'] === 'REPLACE';
  if (source.bucket === bucket && source.key === key && !replace) {
    throw new S3Error(
      'InvalidRequest',
      "This copy request is illegal because it is trying to copy an object to itself without changing the object's metadata.",
    );
  }
  const meta = await bucket.write(
    key,
    writeConditions(headers),
    () =>
      // The source's lock keeps the file from being replaced between the read of its footer and the copy.
      source.bucket.locks.hold(source.key, async () => {
        const original = source.bucket.readMeta(source.key);
        if (original === undefined) throw noSuchKey(source.key);
        checkRead(headers, original, 'x-amz-copy-source-');
        const path = source.bucket.pathOf(source.key);
        const draft = await Draft.copyOf({ path, size: original.size }, store.tmpDir, store.durable);
        const { size: _, key: __, ...rest } = original;
        const described = replace ? describeObject(headers) : {};
        return { draft, meta: { ...rest, ...described, lastModified: Date.now() } };
      }),
    request.signal,
  );
  return xmlResponse(
    element('CopyObjectResult', [
      element('ETag', meta.etag),
      element('LastModified', new Date(meta.lastModified).toISOString()),
      ...checksumElements(meta),
    ]),
  );
}

/** @throws S3Error InvalidArgument, NoSuchBucket */
export function copySource(store: Store, header: string): { bucket: Bucket; key: string } {
  const match = /^\/?([^/]+)\/(.+)$/.exec(header);
  if (match === null || /\?versionId=/.test(header)) {
    throw new S3Error(
      'InvalidArgument',
      'Copy Source must mention the source bucket and key: sourcebucket/sourcekey',
    );
  }
  return { bucket: store.bucket(match[1]!), key: decodeURIComponent(match[2]!) };
}

export function checksumElements(meta: Pick<ObjectMeta, 'checksums' | 'parts'>): Markup[] {
  const entries = Object.entries(meta.checksums) as [Algorithm, string][];
  if (entries.length === 0) return [];
  return [
    ...entries.map(([algorithm, value]) => element(`Checksum${algorithm}`, value)),
    element('ChecksumType', meta.parts === undefined ? 'FULL_OBJECT' : 'COMPOSITE'),
  ];
}

export function xmlResponse(root: Markup): S3Response {
  return {
    status: 200,
    headers: { 'content-type': 'application/xml' },
    body: xmlDocument(root, S3_NAMESPACE),
  };
}

export function readXml(source: string): ReturnType<typeof parseXml> {
  try {
    return parseXml(source);
  } catch {
    throw malformedXml();
  }
}

export const malformedXml = () =>
  new S3Error(
    'MalformedXML',
    'The XML you provided was not well-formed or did not validate against our published schema',
  );
