/** Parses `multipart/form-data` (RFC 7578) from a body that is in memory and limited in size. */
import { Busboy, type BusboyHeaders } from '@fastify/busboy';
import { inTurns, Pace } from '../git/work.ts';
import { malformed } from './errors.ts';
import { joined } from './joined.ts';
import { type Parameters, ParameterTree } from './rack-params.ts';
import { utf8InSteps } from './utf8.ts';

/** An uploaded file. */
export interface UploadedFile {
  /** The last segment of the client's file name, without a path. */
  readonly filename: string;
  /** The part's content type. */
  readonly type: string;
  readonly bytes: Uint8Array;
}

/** Each part costs a stream, so fewer parts are allowed than parameters of a form. */
const LIMITS = { files: 10_000, fieldNameSize: 4096, headerPairs: 100, headerSize: 16_384 };

/** Bytes that are parsed between two stops. */
const PIECE = 64 * 1024;

interface Part {
  readonly name: string;
  readonly filename: string | undefined;
  readonly type: string;
  readonly chunks: Buffer[];
}

/** @throws HttpFailure 400 for a body that is malformed, truncated or has too many parts. */
export async function readMultipart(bytes: Uint8Array, contentType: string): Promise<Parameters> {
  const tree = new ParameterTree();
  for (const { name, filename, type, chunks } of await partsOf(bytes, contentType)) {
    const content = await inTurns(joined(chunks));
    if (filename === undefined) tree.add(name, await inTurns(utf8InSteps(content)));
    else tree.add(name, { filename, type, bytes: content } satisfies UploadedFile);
  }
  return tree.root;
}

function partsOf(bytes: Uint8Array, contentType: string): Promise<Part[]> {
  return new Promise((resolve, reject) => {
    const fail = () => reject(malformed('the multipart body is malformed'));
    const parts: Part[] = [];
    const headers: BusboyHeaders = { 'content-type': contentType };
    let parser: InstanceType<typeof Busboy>;
    try {
      // Every part is read as bytes: the parser would replace invalid UTF-8 without an error.
      parser = new Busboy({ headers, limits: LIMITS, isPartAFile: () => true });
    } catch {
      fail();
      return;
    }
    parser.on('file', (name, stream, filename, _encoding, type) => {
      const part: Part = { name: name ?? '', filename, type, chunks: [] };
      parts.push(part);
      stream.on('data', (chunk: Buffer) => part.chunks.push(chunk));
      stream.on('error', fail);
    });
    parser.on('filesLimit', () => reject(malformed('too many parameters')));
    parser.on('error', fail);
    parser.on('finish', () => resolve(parts));
    feed(parser, bytes).catch(reject);
  });
}

/** Has the parser read a body piece by piece, beside other work of the process. */
async function feed(parser: InstanceType<typeof Busboy>, bytes: Uint8Array): Promise<void> {
  const pace = new Pace();
  for (let at = 0; at < bytes.length; at += PIECE) {
    if (pace.due()) await pace.rest();
    if (!parser.writable) return;
    // What the parser cannot take yet it would take later, and all at once.
    await new Promise((taken) => parser.write(bytes.subarray(at, at + PIECE), taken));
  }
  parser.end();
}
