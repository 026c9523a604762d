/** Parses `multipart/form-data` (RFC 7578) while it arrives, so that files are never held in memory. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Busboy, type BusboyHeaders } from '@fastify/busboy';
import { DomainError } from '../domain/errors.ts';
import { HttpFailure, malformed } from './errors.ts';

/** One part, which is to be read to its end before the next one is asked for. */
export interface MultipartPart {
  readonly name: string;
  /** The last segment of the client's file name; absent: it is no file. */
  readonly filename: string | undefined;
  readonly content: AsyncIterable<Uint8Array>;
}

const LIMITS = { files: 100, fieldNameSize: 4096, headerPairs: 100, headerSize: 16_384 };

/**
 * Yields the parts in the order in which they come.
 * @throws HttpFailure 400 for a body that is malformed, truncated or has too many parts; what reading the content throws
 */
export async function* multipartParts(
  content: AsyncIterable<Uint8Array>,
  contentType: string,
): AsyncGenerator<MultipartPart> {
  const headers: BusboyHeaders = { 'content-type': contentType };
  let parser: InstanceType<typeof Busboy>;
  try {
    // A part without a file name is read as bytes too, so that all are bounded in the same way.
    parser = new Busboy({ headers, limits: LIMITS, isPartAFile: () => true });
  } catch {
    throw malformedBody();
  }
  const parts: (MultipartPart & { readonly stream: Readable })[] = [];
  let failure: unknown;
  let ended = false;
  let wake = () => {};
  let open: Readable | undefined;
  parser.on('file', (name, stream, filename) => {
    // Whoever reads it is told.
    stream.on('error', () => {});
    parts.push({ name: name ?? '', filename, content: stream, stream });
    wake();
  });
  parser.on('filesLimit', () => parser.destroy(malformed('too many parameters')));
  const fed = pipeline(Readable.from(content, { objectMode: false }), parser).then(
    () => {
      ended = true;
    },
    (error: unknown) => {
      failure = known(error);
      open?.destroy(failure as Error);
    },
  );
  void fed.finally(() => wake());
  try {
    for (;;) {
      const part = parts.shift();
      if (part !== undefined) {
        open = part.stream;
        if (failure !== undefined) throw failure;
        yield { name: part.name, filename: part.filename, content: read(part.stream) };
        open = undefined;
        continue;
      }
      if (failure !== undefined) throw failure;
      if (ended) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (parts.length > 0 || ended || failure !== undefined) resolve();
      });
    }
  } finally {
    parser.destroy();
  }
}

async function* read(stream: Readable): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of stream) yield piece as Uint8Array;
  } catch (error) {
    throw known(error);
  }
}

/** What the parser throws is about the body; everything else is passed on. */
const known = (error: unknown): unknown =>
  error instanceof DomainError || error instanceof HttpFailure ? error : malformedBody();

const malformedBody = () => malformed('the multipart body is malformed');
