/** `multipart/form-data` (RFC 7578) of a body that is already in memory and bounded. */
import { Busboy, type BusboyHeaders } from '@fastify/busboy';
import { malformed } from './errors.ts';
import { LIMITS, type Parameters, ParameterTree } from './rack-params.ts';

/** An uploaded file, whole. */
export interface UploadedFile {
  /** The last part of the name the client gave; no path. */
  readonly filename: string;
  /** The part's content type. */
  readonly type: string;
  readonly bytes: Uint8Array;
}

const PART_LIMITS = {
  fields: LIMITS.count,
  files: 1000,
  fieldNameSize: 4096,
  headerPairs: 100,
  headerSize: 16_384,
};

/** @throws HttpFailure 400 for a body that is no multipart, is cut short or has too many parts. */
export function readMultipart(bytes: Uint8Array, contentType: string): Promise<Parameters> {
  return new Promise((resolve, reject) => {
    const tree = new ParameterTree();
    // Whatever goes wrong inside ends the request here; the parser may emit more after its first complaint.
    const fail = (error: unknown) =>
      reject(error instanceof Error ? error : malformed('the multipart body is broken'));
    const broken = () => fail(malformed('the multipart body is broken'));
    const add = (name: string | undefined, value: unknown) => {
      try {
        if (name !== undefined) tree.add(name, value);
      } catch (error) {
        fail(error);
      }
    };
    let parser: InstanceType<typeof Busboy>;
    try {
      const headers: BusboyHeaders = { 'content-type': contentType };
      // A field may be as long as the body, whose length is bounded already.
      parser = new Busboy({ headers, limits: { ...PART_LIMITS, fieldSize: bytes.length + 1 } });
    } catch {
      broken();
      return;
    }
    parser.on('field', (name, value) => {
      if (value.includes('\uFFFD')) fail(malformed('the request is not valid UTF-8'));
      else add(name, value);
    });
    parser.on('file', (name, stream, filename, _encoding, type) => {
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('error', broken);
      stream.on('end', () => add(name, { filename: filename ?? '', type, bytes: Buffer.concat(parts) }));
    });
    for (const limit of ['fieldsLimit', 'filesLimit', 'partsLimit'] as const) {
      parser.on(limit, () => fail(malformed('too many parameters')));
    }
    parser.on('error', broken);
    parser.on('finish', () => resolve(tree.root));
    parser.end(bytes);
  });
}
