import { S3Error } from './errors.ts';

/** Bytes of a line of the framing. */
const MAX_LINE_BYTES = 8192;

/**
 * Decodes `Content-Encoding: aws-chunked`: chunks of `<hex size>[;chunk-signature=...]\r\n<bytes>\r\n`, a chunk
 * of size 0, then trailers. The SDK sends streams this way, with their checksum as a trailer.
 * ("Signature calculations ... including trailing headers" in the S3 API reference.)
 *
 * Yields the bytes and fills `trailers` (names in lower case) before it ends.
 * @throws S3Error IncompleteBody when the framing is broken or the end is missing
 */
export async function* decodeAwsChunked(
  source: AsyncIterable<Buffer>,
  trailers: Map<string, string>,
): AsyncGenerator<Buffer> {
  const input = new Input(source);
  for (;;) {
    const line = await input.line();
    const size = /^([0-9a-f]{1,12})(?:;.*)?$/i.exec(line)?.[1];
    if (size === undefined) throw incomplete();
    let left = Number.parseInt(size, 16);
    if (left === 0) break;
    while (left > 0) {
      const bytes = await input.bytes(left);
      left -= bytes.length;
      yield bytes;
    }
    if ((await input.line()) !== '') throw incomplete();
  }
  for (;;) {
    // The final blank line is optional in practice: some encoders stop after the last trailer.
    const line = await input.line({ orEnd: true });
    if (line === '') return;
    const colon = line.indexOf(':');
    if (colon < 1) throw incomplete();
    trailers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
}

const incomplete = () => new S3Error('IncompleteBody', 'The request body terminated unexpectedly');

/** Reads lines and byte runs from a sequence of buffers without joining them all. */
class Input {
  readonly #source: AsyncIterator<Buffer>;
  #buffer: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  async bytes(max: number): Promise<Buffer> {
    if (this.#buffer.length === 0 && !(await this.#more())) throw incomplete();
    const taken = this.#buffer.subarray(0, max);
    this.#buffer = this.#buffer.subarray(taken.length);
    return taken;
  }

  async line({ orEnd = false } = {}): Promise<string> {
    for (;;) {
      const end = this.#buffer.indexOf('\r\n');
      if (end !== -1) {
        const line = this.#buffer.toString('latin1', 0, end);
        this.#buffer = this.#buffer.subarray(end + 2);
        return line;
      }
      if (this.#buffer.length > MAX_LINE_BYTES) throw incomplete();
      if (!(await this.#more())) {
        if (!orEnd) throw incomplete();
        const rest = this.#buffer.toString('latin1');
        this.#buffer = Buffer.alloc(0);
        return rest;
      }
    }
  }

  async #more(): Promise<boolean> {
    const { value, done } = await this.#source.next();
    if (done) return false;
    this.#buffer = this.#buffer.length === 0 ? value : Buffer.concat([this.#buffer, value]);
    return true;
  }
}
