import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { nextTurn } from '../work.ts';

/** Input bytes per bzip2 stream. The largest block holds 900,000 bytes after run-length encoding. */
const CHUNK_BYTES = 880_000;
const BLOCK_SIZE = 9;
/** Maximum output size (bzlib.h): one percent more than the input, plus 600 bytes. */
const MAX_OUTPUT_BYTES = Math.ceil(CHUNK_BYTES * 1.01) + 600;
/** When the library falls back to its slower sorting algorithm: its own default. */
const WORK_FACTOR = 30;

/**
 * Compresses a stream as bzip2. The output is a concatenation of bzip2 streams, which readers accept as one, as they do
 * that of parallel compressors. Memory is bounded by one chunk.
 */
export async function* bzip2(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const library = await load();
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let used = 0;
  let streams = 0;
  for await (const bytes of source) {
    for (let at = 0; at < bytes.length; ) {
      const count = Math.min(CHUNK_BYTES - used, bytes.length - at);
      chunk.set(bytes.subarray(at, at + count), used);
      used += count;
      at += count;
      if (used < CHUNK_BYTES) continue;
      yield compress(library, chunk);
      streams++;
      used = 0;
      // A chunk takes a tenth of a second: let other work run in between.
      await nextTurn();
    }
  }
  if (used > 0 || streams === 0) yield compress(library, chunk.subarray(0, used));
}

/** The C library bzip2 1.0.8, compiled to WebAssembly. */
interface Bzlib {
  readonly memory: WebAssembly.Memory;
  malloc(size: number): number;
  BZ2_bzBuffToBuffCompress(
    target: number,
    targetLength: number,
    source: number,
    sourceLength: number,
    blockSize: number,
    verbosity: number,
    workFactor: number,
  ): number;
}

interface Loaded {
  readonly library: Bzlib;
  readonly source: number;
  readonly target: number;
  readonly length: number;
}

function compress({ library, source, target, length }: Loaded, bytes: Uint8Array): Uint8Array {
  new Uint8Array(library.memory.buffer).set(bytes, source);
  new DataView(library.memory.buffer).setUint32(length, MAX_OUTPUT_BYTES, true);
  const status = library.BZ2_bzBuffToBuffCompress(
    target,
    length,
    source,
    bytes.length,
    BLOCK_SIZE,
    0,
    WORK_FACTOR,
  );
  if (status !== 0) throw new Error(`bzip2 failed with ${status}`);
  // The memory may have grown, which detaches earlier views.
  const size = new DataView(library.memory.buffer).getUint32(length, true);
  return new Uint8Array(library.memory.buffer).slice(target, target + size);
}

let loading: Promise<Loaded> | undefined;

/** One instance for the process: calls are synchronous, so they do not overlap. */
function load(): Promise<Loaded> {
  loading ??= instantiate().catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

async function instantiate(): Promise<Loaded> {
  const never = () => {
    throw new Error('bzip2 called a function that is not provided');
  };
  let memory: WebAssembly.Memory | undefined;
  const { instance } = await WebAssembly.instantiate(await code(), {
    env: {
      exit: never,
      emscripten_memcpy_big: (to: number, from: number, count: number) =>
        new Uint8Array(memory!.buffer).copyWithin(to, from, from + count),
      emscripten_resize_heap: (wanted: number) => {
        const pages = Math.ceil((wanted - memory!.buffer.byteLength) / 65_536);
        try {
          memory!.grow(Math.max(0, pages));
          return 1;
        } catch {
          return 0;
        }
      },
    },
    wasi_snapshot_preview1: { fd_close: never, fd_write: never, fd_seek: never },
  });
  const library = instance.exports as unknown as Bzlib & { __wasm_call_ctors(): void };
  memory = library.memory;
  library.__wasm_call_ctors();
  return {
    library,
    source: library.malloc(CHUNK_BYTES),
    target: library.malloc(MAX_OUTPUT_BYTES),
    length: library.malloc(4),
  };
}

/** The WebAssembly file: next to the bundle, where the build put it, else in the package. */
async function code(): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return await readFile(new URL('./bzip2.wasm', import.meta.url));
  } catch {
    return readFile(createRequire(import.meta.url).resolve('bzip2-wasm/bzip2-1.0.8/bzip2.wasm'));
  }
}
