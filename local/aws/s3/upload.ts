import { BodyDigest, type Checksums, readClaims } from './checksum.ts';
import { decodeAwsChunked } from './chunked.ts';
import { notImplemented, S3Error } from './errors.ts';
import { bodyChunks, readDocument, type S3Request } from './message.ts';

/** S3's limit for one PUT or one part: 5 GiB. */
const MAX_UPLOAD_BYTES = 5 * 2 ** 30;

/** The body of PutObject or UploadPart: its decoded bytes, and the verification of its digests. */
export interface Upload {
  chunks: AsyncIterable<Buffer>;
  /**
   * Call it after the last chunk.
   * @throws S3Error BadDigest, XAmzContentSHA256Mismatch, IncompleteBody
   */
  finish(): { md5Hex: string; checksums: Checksums };
}

/**
 * Reads an upload. Requires a length known in advance, as S3 does: a stream without one would work here and fail in
 * production.
 * @throws S3Error MissingContentLength, NotImplemented, EntityTooLarge, and those of `readClaims`
 */
export function openUpload(request: S3Request): Upload {
  const { headers } = request;
  const chunked = isAwsChunked(headers);
  const expected = declaredSize(request, chunked);
  const digest = new BodyDigest(readClaims(headers));
  const trailers = new Map<string, string>();
  let received = 0;

  async function* chunks(): AsyncGenerator<Buffer> {
    const raw = bodyChunks(request.body);
    for await (const chunk of chunked ? decodeAwsChunked(raw, trailers) : raw) {
      received += chunk.length;
      if (received > expected) break;
      digest.update(chunk);
      yield chunk;
    }
    if (received !== expected) {
      throw new S3Error(
        'IncompleteBody',
        'You did not provide the number of bytes specified by the Content-Length HTTP header',
      );
    }
  }

  return { chunks: chunks(), finish: () => digest.finish(trailers) };
}

function isAwsChunked(headers: S3Request['headers']): boolean {
  const payload = headers['x-amz-content-sha256'] ?? '';
  return (
    payload.startsWith('STREAMING-') ||
    (headers['content-encoding'] ?? '').split(',').some((coding) => coding.trim() === 'aws-chunked')
  );
}

function declaredSize({ headers, body }: S3Request, chunked: boolean): number {
  if (!chunked && headers['transfer-encoding'] !== undefined) throw notImplemented('Transfer-Encoding');
  let declared = headers[chunked ? 'x-amz-decoded-content-length' : 'content-length'];
  if (!chunked && (body === undefined || body instanceof Uint8Array)) declared ??= String(body?.length ?? 0);
  if (declared === undefined || !/^\d+$/.test(declared)) {
    throw new S3Error('MissingContentLength', 'You must provide the Content-Length HTTP header.');
  }
  const size = Number(declared);
  if (size > MAX_UPLOAD_BYTES) {
    throw new S3Error('EntityTooLarge', 'Your proposed upload exceeds the maximum allowed size', {
      ProposedSize: size,
      MaxSizeAllowed: MAX_UPLOAD_BYTES,
    });
  }
  return size;
}

/** Reads a request document and verifies the digests in its headers. */
export async function readVerified(request: S3Request): Promise<string> {
  const upload = openUpload(request);
  const document = await readDocument(upload.chunks);
  upload.finish();
  return document;
}
