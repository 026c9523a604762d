import { ALGORITHMS, type Algorithm } from './checksum.ts';
import { checkRead, writeConditions } from './conditions.ts';
import { noSuchKey, S3Error } from './errors.ts';
import { nameEncoder, parseMaximum } from './listing.ts';
import type { S3Request, S3Response } from './message.ts';
import * as multipart from './multipart.ts';
import { renderChecksums } from './object-headers.ts';
import { checksumElements, copySource, malformedXml, readXml, receive, xmlResponse } from './objects.ts';
import { parseRange } from './range.ts';
import type { Bucket, Store } from './store.ts';
import { openUpload, readVerified } from './upload.ts';
import { childrenNamed, childText, element } from './xml.ts';

const MAX_PARTS = 10_000;

export async function createMultipartUpload(
  bucket: Bucket,
  key: string,
  request: S3Request,
): Promise<S3Response> {
  const upload = await multipart.beginUpload(bucket, key, request);
  const response = xmlResponse(
    element('InitiateMultipartUploadResult', [
      element('Bucket', bucket.name),
      element('Key', key),
      element('UploadId', upload.id),
    ]),
  );
  if (upload.algorithm !== undefined) {
    response.headers['x-amz-checksum-algorithm'] = upload.algorithm;
    response.headers['x-amz-checksum-type'] = 'COMPOSITE';
  }
  return response;
}

export async function uploadPart(bucket: Bucket, key: string, request: S3Request): Promise<S3Response> {
  const number = partNumber(request);
  const upload = await uploadOf(bucket, key, request);
  const headers =
    upload.algorithm === undefined
      ? request.headers
      : { 'x-amz-sdk-checksum-algorithm': upload.algorithm, ...request.headers };
  const { draft, ...part } = await receive(bucket, openUpload({ ...request, headers }));
  const meta = await multipart.commitPart(bucket, upload, number, draft, part);
  return { status: 200, headers: { etag: meta.etag, ...renderChecksums(meta) } };
}

export async function uploadPartCopy(
  store: Store,
  bucket: Bucket,
  key: string,
  request: S3Request,
): Promise<S3Response> {
  const number = partNumber(request);
  const upload = await uploadOf(bucket, key, request);
  const source = copySource(store, request.headers['x-amz-copy-source']!);
  const range = request.headers['x-amz-copy-source-range'];
  const sourceMeta = source.bucket.readMeta(source.key);
  if (sourceMeta === undefined) throw noSuchKey(source.key);
  checkRead(request.headers, sourceMeta, 'x-amz-copy-source-');
  const window = copyRange(range, sourceMeta.size);
  const body = multipart.readObject(source.bucket, source.key, (meta) => {
    if (meta.etag !== sourceMeta.etag) throw new S3Error('PreconditionFailed', 'The copy source has changed');
    return window;
  });
  const headers = {
    'content-length': String(window.end - window.start),
    ...(upload.algorithm === undefined ? {} : { 'x-amz-sdk-checksum-algorithm': upload.algorithm }),
  };
  const { draft, ...part } = await receive(bucket, openUpload({ ...request, headers, body }));
  const meta = await multipart.commitPart(bucket, upload, number, draft, part);
  return xmlResponse(
    element('CopyPartResult', [
      element('ETag', meta.etag),
      element('LastModified', new Date(meta.lastModified).toISOString()),
      ...checksumElements(meta).slice(0, -1),
    ]),
  );
}

/** Unlike a GET, a copy accepts only `bytes=first-last`, and the whole range must exist. */
function copyRange(header: string | undefined, size: number): { start: number; end: number } {
  if (header === undefined) return { start: 0, end: size };
  const range = /^bytes=\d+-\d+$/.test(header) ? parseRange(header, size) : undefined;
  if (range === undefined || Number(header.slice(header.indexOf('-') + 1)) >= size) {
    throw new S3Error(
      'InvalidArgument',
      'The x-amz-copy-source-range value must be of the form bytes=first-last where first and last are the zero-based offsets of the first and last bytes to copy',
    );
  }
  return range;
}

/** @param minPartSize the least size of every part but the last, in bytes; 5 MiB in S3 */
export async function completeMultipartUpload(
  bucket: Bucket,
  key: string,
  request: S3Request,
  minPartSize: number,
): Promise<S3Response> {
  const conditions = writeConditions(request.headers);
  const upload = await uploadOf(bucket, key, request);
  const listed = parseCompletion(await readVerified(withoutObjectChecksums(request)));
  const parts = chooseParts(await multipart.readParts(bucket, upload), listed, minPartSize);
  const meta = await bucket.write(
    key,
    conditions,
    async () => ({
      draft: await multipart.joinParts(bucket, upload, parts),
      meta: {
        ...multipart.summarize(upload, parts),
        lastModified: Date.now(),
        headers: upload.headers,
        metadata: upload.metadata,
      },
    }),
    request.signal,
  );
  await multipart.removeUpload(bucket, upload);
  return xmlResponse(
    element('CompleteMultipartUploadResult', [
      element('Location', `/${bucket.name}/${encodeURIComponent(key)}`),
      element('Bucket', bucket.name),
      element('Key', key),
      element('ETag', meta.etag),
      ...checksumElements(meta),
    ]),
  );
}

/** In this request `x-amz-checksum-*` is of the completed object, not of the document that is sent. */
function withoutObjectChecksums(request: S3Request): S3Request {
  const headers = Object.entries(request.headers).filter(([name]) => !name.startsWith('x-amz-checksum-'));
  return { ...request, headers: Object.fromEntries(headers) };
}

interface ListedPart {
  number: number;
  etag: string;
  checksums: { algorithm: Algorithm; value: string }[];
}

function parseCompletion(source: string): ListedPart[] {
  const parts = childrenNamed(readXml(source), 'Part').map((part): ListedPart => {
    const number = Number(childText(part, 'PartNumber'));
    const etag = childText(part, 'ETag');
    if (!Number.isInteger(number) || etag === undefined) throw malformedXml();
    const checksums = ALGORITHMS.flatMap((algorithm) => {
      const value = childText(part, `Checksum${algorithm}`);
      return value === undefined ? [] : [{ algorithm, value }];
    });
    return { number, etag, checksums };
  });
  if (parts.length === 0) throw malformedXml();
  return parts;
}

/** @throws S3Error InvalidPartOrder, InvalidPart, EntityTooSmall; checked in this order, each over the whole list */
function chooseParts(present: multipart.Part[], listed: ListedPart[], minPartSize: number): multipart.Part[] {
  if (listed.some(({ number }, i) => i > 0 && number <= listed[i - 1]!.number)) {
    throw new S3Error(
      'InvalidPartOrder',
      'The list of parts was not in ascending order. The parts list must be specified in order by part number.',
    );
  }
  const byNumber = new Map(present.map((part) => [part.number, part]));
  const chosen = listed.map(({ number, etag, checksums }) => {
    const part = byNumber.get(number);
    if (
      part === undefined ||
      part.etag.replaceAll('"', '') !== etag.replaceAll('"', '') ||
      checksums.some(({ algorithm, value }) => (part.checksums[algorithm] ?? value) !== value)
    ) {
      throw new S3Error(
        'InvalidPart',
        "One or more of the specified parts could not be found. The part may not have been uploaded, or the specified entity tag may not match the part's entity tag.",
        { PartNumber: number, ETag: etag },
      );
    }
    return part;
  });
  const small = chosen.slice(0, -1).find((part) => part.size < minPartSize);
  if (small !== undefined) {
    throw new S3Error('EntityTooSmall', 'Your proposed upload is smaller than the minimum allowed size', {
      ProposedSize: small.size,
      MinSizeAllowed: minPartSize,
      PartNumber: small.number,
      ETag: small.etag,
    });
  }
  return chosen;
}

export async function abortMultipartUpload(
  bucket: Bucket,
  key: string,
  request: S3Request,
): Promise<S3Response> {
  await multipart.removeUpload(bucket, await uploadOf(bucket, key, request));
  return { status: 204, headers: {} };
}

export async function listParts(bucket: Bucket, key: string, request: S3Request): Promise<S3Response> {
  const upload = await uploadOf(bucket, key, request);
  const limit = parseMaximum(request.query.get('max-parts'), 'max-parts');
  const marker = Number(request.query.get('part-number-marker') ?? 0);
  const following = (await multipart.readParts(bucket, upload)).filter((part) => part.number > marker);
  const parts = following.slice(0, limit);
  const truncated = following.length > parts.length;
  return xmlResponse(
    element('ListPartsResult', [
      element('Bucket', bucket.name),
      element('Key', key),
      element('UploadId', upload.id),
      element('PartNumberMarker', marker),
      ...(truncated ? [element('NextPartNumberMarker', parts.at(-1)?.number ?? marker)] : []),
      element('MaxParts', limit),
      element('IsTruncated', truncated),
      ...parts.map((part) =>
        element('Part', [
          element('PartNumber', part.number),
          element('LastModified', new Date(part.lastModified).toISOString()),
          element('ETag', part.etag),
          element('Size', part.size),
          ...checksumElements(part).slice(0, -1),
        ]),
      ),
    ]),
  );
}

export async function listMultipartUploads(bucket: Bucket, { query }: S3Request): Promise<S3Response> {
  if (query.get('delimiter')) throw new S3Error('NotImplemented', 'delimiter of ListMultipartUploads');
  const prefix = query.get('prefix') ?? '';
  const limit = parseMaximum(query.get('max-uploads'), 'max-uploads');
  const name = nameEncoder(query.get('encoding-type'));
  const keyMarker = Buffer.from(query.get('key-marker') ?? '');
  const idMarker = query.get('upload-id-marker') ?? '';
  const all = (await multipart.readUploads(bucket)).filter(({ key }) => key.startsWith(prefix));
  const markerAt = all.findIndex(({ key, id }) => keyMarker.equals(Buffer.from(key)) && id === idMarker);
  const following =
    markerAt !== -1
      ? all.slice(markerAt + 1)
      : all.filter(({ key }) => keyMarker.length === 0 || Buffer.compare(Buffer.from(key), keyMarker) > 0);
  const uploads = following.slice(0, limit);
  const last = uploads.at(-1);
  const truncated = following.length > uploads.length;
  return xmlResponse(
    element('ListMultipartUploadsResult', [
      element('Bucket', bucket.name),
      element('KeyMarker', name(keyMarker.toString())),
      element('UploadIdMarker', idMarker),
      ...(truncated && last
        ? [element('NextKeyMarker', name(last.key)), element('NextUploadIdMarker', last.id)]
        : []),
      element('MaxUploads', limit),
      element('IsTruncated', truncated),
      ...uploads.map((upload) =>
        element('Upload', [
          element('Key', name(upload.key)),
          element('UploadId', upload.id),
          element('StorageClass', 'STANDARD'),
          element('Initiated', new Date(upload.initiated).toISOString()),
        ]),
      ),
    ]),
  );
}

const uploadOf = (bucket: Bucket, key: string, request: S3Request) =>
  multipart.readUpload(bucket, request.query.get('uploadId') ?? '', key);

/** @throws S3Error InvalidArgument */
function partNumber({ query }: S3Request): number {
  const number = Number(query.get('partNumber'));
  if (!Number.isInteger(number) || number < 1 || number > MAX_PARTS) {
    throw new S3Error('InvalidArgument', 'Part number must be an integer between 1 and 10000, inclusive');
  }
  return number;
}
