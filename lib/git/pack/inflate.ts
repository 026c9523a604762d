import zlib from 'node:zlib';
import { CorruptData } from '../corrupt-data.ts';

/** The input ended before the zlib stream did: call again with more. */
export const NEED_MORE = -1;

/**
 * Inflates `size` bytes from a zlib stream at `from` into `out`, and checks the stream's end and checksum.
 * `out` must have `size + 1` bytes from `at`: the extra byte detects a stream that is longer than `size`.
 *
 * @returns input bytes used, or NEED_MORE.
 * @throws CorruptData (`object-inflate`, `object-size`)
 */
export function inflateInto(
  input: Uint8Array,
  from: number,
  to: number,
  out: Uint8Array,
  at: number,
  size: number,
): number {
  return handle
    ? inflateByHandle(handle, input, from, to, out, at, size)
    : inflateWhole(input, from, to, out, at, size);
}

/** The first `length` bytes of a zlib stream; fewer when it or the input ends before. */
export function inflateStart(input: Uint8Array, from: number, to: number, length: number): Uint8Array {
  const out = Buffer.alloc(length);
  if (handle) {
    handle.reset();
    failure = '';
    handle.writeSync(zlib.constants.Z_SYNC_FLUSH, input, from, to - from, out, 0, length);
    if (failure && failure !== 'Z_BUF_ERROR') throw new CorruptData('object-inflate', `zlib: ${failure}`);
    return out.subarray(0, length - state[0]!);
  }
  try {
    return zlib
      .inflateSync(input.subarray(from, Math.min(to, from + 4096)), {
        finishFlush: zlib.constants.Z_SYNC_FLUSH,
      })
      .subarray(0, length);
  } catch (error) {
    throw new CorruptData('object-inflate', `zlib: ${(error as Error).message}`);
  }
}

/** Inflates one zlib stream in pieces, for objects too large for memory. Not to be shared. */
export class InflateStream {
  /** Bytes inflated so far. */
  produced = 0;
  /** The stream has ended with a correct checksum. */
  ended = false;
  readonly #size: number;
  readonly #out = Buffer.allocUnsafeSlow(OUT_BYTES);
  readonly #inflate: OpenHandle;

  /** @param size inflated bytes. @throws CorruptData `object-too-large` where Node's binding is not usable */
  constructor(size: number) {
    this.#size = size;
    const opened = usesHandle ? openHandle(zlib.createInflate) : undefined;
    if (opened === undefined) throw new CorruptData('object-too-large', 'large objects cannot be read here');
    this.#inflate = opened;
  }

  /**
   * @param sink receives the inflated bytes, in pieces that are valid only during the call
   * @returns input bytes used: all of them unless the stream has ended. The end shows with the first byte after it.
   * @throws CorruptData (`object-inflate`, `object-size`)
   */
  push(input: Uint8Array, from: number, to: number, sink: (bytes: Uint8Array) => void): number {
    const { handle, state, failed } = this.#inflate;
    for (let at = from; at < to; ) {
      handle.writeSync(zlib.constants.Z_NO_FLUSH, input, at, to - at, this.#out, 0, OUT_BYTES);
      const failure = failed();
      if (failure) throw new CorruptData('object-inflate', `zlib: ${failure}`);
      const made = OUT_BYTES - state[0]!;
      at = to - state[1]!;
      this.produced += made;
      if (this.produced > this.#size) {
        throw new CorruptData('object-size', 'object is larger than its header says');
      }
      if (made > 0) sink(this.#out.subarray(0, made));
      // Neither input nor output is exhausted, but zlib makes no progress.
      if (at < to && made < OUT_BYTES) {
        if (this.produced < this.#size) {
          throw new CorruptData('object-size', 'object is smaller than its header says');
        }
        this.ended = true;
        return at - from;
      }
    }
    return to - from;
  }

  /** Frees the memory early. */
  close(): void {
    this.#inflate.close();
  }
}

const OUT_BYTES = 256 * 1024;

/**
 * Node's internal binding of zlib.Inflate: `writeSync` into our buffer and `reset` instead of a new stream per
 * object, about twice as fast as inflateSync on small objects. It is undocumented, so it is tested at start
 * and not used when it does not behave as expected.
 */
interface InflateHandle {
  onerror: (message: string, errno: number, code: string) => void;
  reset(): void;
  writeSync(
    flush: number,
    input: Uint8Array,
    inputOffset: number,
    inputLength: number,
    out: Uint8Array,
    outOffset: number,
    outLength: number,
  ): void;
}

interface OpenHandle {
  readonly handle: InflateHandle;
  /** After a write: remaining output and input bytes. After a failure, those of the previous write. */
  readonly state: Uint32Array;
  /** Returns and clears the error code of the last write. */
  failed(): string;
  close(): void;
}

let failure = '';
let state: Uint32Array = new Uint32Array(2);
const handle = openShared();

/** Whether Node's internal binding is used; for benchmarks and tests. */
export const usesHandle = handle !== undefined;

function inflateByHandle(
  zlibHandle: InflateHandle,
  input: Uint8Array,
  from: number,
  to: number,
  out: Uint8Array,
  at: number,
  size: number,
): number {
  zlibHandle.reset();
  failure = '';
  zlibHandle.writeSync(zlib.constants.Z_FINISH, input, from, to - from, out, at, size + 1);
  // After an error, the state is still that of the previous call.
  if (failure) {
    if (failure === 'Z_BUF_ERROR') return NEED_MORE;
    throw new CorruptData('object-inflate', `zlib: ${failure}`);
  }
  const produced = size + 1 - state[0]!;
  if (produced > size) throw new CorruptData('object-size', 'object is larger than its header says');
  if (produced < size) throw new CorruptData('object-size', 'object is smaller than its header says');
  return to - from - state[1]!;
}

function inflateWhole(
  input: Uint8Array,
  from: number,
  to: number,
  out: Uint8Array,
  at: number,
  size: number,
): number {
  let result: { buffer: Uint8Array; engine: { bytesWritten: number } };
  try {
    result = zlib.inflateSync(input.subarray(from, to), {
      maxOutputLength: size + 1,
      chunkSize: Math.max(64, Math.min(size + 1, 1 << 20)),
      info: true,
    }) as unknown as typeof result;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'Z_BUF_ERROR') return NEED_MORE;
    if (code === 'ERR_BUFFER_TOO_LARGE') {
      throw new CorruptData('object-size', 'object is larger than its header says');
    }
    throw new CorruptData('object-inflate', `zlib: ${code}`);
  }
  if (result.buffer.length !== size) {
    throw new CorruptData('object-size', 'object has another size than its header says');
  }
  out.set(result.buffer, at);
  return result.engine.bytesWritten;
}

/** The handle behind a stream; undefined where Node's binding is not as expected. */
export function openHandle(create: () => zlib.Inflate | zlib.Deflate): OpenHandle | undefined {
  try {
    const stream = create();
    const { _handle, _writeState } = stream as unknown as {
      _handle?: InflateHandle;
      _writeState?: Uint32Array;
    };
    if (!_handle || !(_writeState instanceof Uint32Array) || _writeState.length !== 2) return undefined;
    let code = '';
    _handle.onerror = (_message, _errno, text) => {
      code = text;
    };
    const failed = () => {
      const last = code;
      code = '';
      return last;
    };
    return { handle: _handle, state: _writeState, failed, close: () => stream.close() };
  } catch {
    return undefined;
  }
}

/** The handle that is shared by all one-shot inflations. */
function openShared(): InflateHandle | undefined {
  const opened = openHandle(zlib.createInflate);
  if (opened === undefined) return undefined;
  state = opened.state;
  opened.handle.onerror = (_message, _errno, code) => {
    failure = code;
  };
  try {
    return selfTest(opened.handle) ? opened.handle : undefined;
  } catch {
    return undefined;
  }
}

function selfTest(candidate: InflateHandle): boolean {
  const text = Buffer.from('the quick brown fox '.repeat(50));
  const deflated = zlib.deflateSync(text);
  const input = Buffer.concat([Buffer.from('ab'), deflated, Buffer.from('tail')]);
  const out = Buffer.alloc(text.length + 1);
  const attempt = (from: number, to: number, size: number): number | string => {
    try {
      return inflateByHandle(candidate, input, from, to, out, 0, size);
    } catch (error) {
      return error instanceof CorruptData ? error.code : 'other';
    }
  };
  const end = 2 + deflated.length;
  for (let round = 0; round < 2; round++) {
    out.fill(0);
    if (attempt(2, input.length, text.length) !== deflated.length) return false;
    if (Buffer.compare(out.subarray(0, text.length), text) !== 0) return false;
    if (attempt(2, end, text.length) !== deflated.length) return false;
    if (attempt(2, end - 1, text.length) !== NEED_MORE) return false;
    if (attempt(2, input.length, text.length - 1) !== 'object-size') return false;
    if (attempt(0, input.length, text.length) !== 'object-inflate') return false;
  }
  return true;
}
