/** `multipart/form-data` (RFC 7578) of a body that is already in memory and bounded. */
import { Busboy, type BusboyHeaders } from '@fastify/busboy';
import { malformed } from './errors.ts';
import { type Parameters, ParameterTree } from './rack-params.ts';
import { utf8 } from './utf8.ts';

/** An uploaded file, whole. */
export interface UploadedFile {
  /** The last part of the name the client gave; no path. */
  readonly filename: string;
  /** The part's content type. */
  readonly type: string;
  readonly bytes: Uint8Array;
}

/** Each part costs a stream, so there may be fewer of them than parameters of a form. */
const LIMITS = { files: 10_000, fieldNameSize: 4096, headerPairs: 100, headerSize: 16_384 };

interface Part {
  readonly name: string;
  readonly filename: string | undefined;
  readonly type: string;
  readonly pieces: Buffer[];
}

/** @throws HttpFailure 400 for a body that is no multipart, is cut short or has too many parts. */
export async function readMultipart(bytes: Uint8Array, contentType: string): Promise<Parameters> {
  const tree = new ParameterTree();
  for (const { name, filename, type, pieces } of await partsOf(bytes, contentType)) {
    const content = Buffer.concat(pieces);
    if (filename === undefined) tree.add(name, utf8(content));
    else tree.add(name, { filename, type, bytes: content } satisfies UploadedFile);
  }
  return tree.root;
}

function partsOf(bytes: Uint8Array, contentType: string): Promise<Part[]> {
  return new Promise((resolve, reject) => {
    const broken = () => reject(malformed('the multipart body is broken'));
    const parts: Part[] = [];
    const headers: BusboyHeaders = { 'content-type': contentType };
    let parser: InstanceType<typeof Busboy>;
    try {
      // Every part is read as bytes: the parser's own decoding would replace what is no UTF-8 unseen.
      parser = new Busboy({ headers, limits: LIMITS, isPartAFile: () => true });
    } catch {
      broken();
      return;
    }
    parser.on('file', (name, stream, filename, _encoding, type) => {
      const part: Part = { name: name ?? '', filename, type, pieces: [] };
      parts.push(part);
      stream.on('data', (piece: Buffer) => part.pieces.push(piece));
      stream.on('error', broken);
    });
    parser.on('filesLimit', () => reject(malformed('too many parameters')));
    parser.on('error', broken);
    parser.on('finish', () => resolve(parts));
    parser.end(bytes);
  });
}
