/** What the thread of `bzip2.ts` runs: it answers each message with a bzip2 stream of its bytes. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';

/** Bytes of a message at most. */
const CHUNK_BYTES: number = workerData;
const BLOCK_SIZE = 9;
/** Maximum output size (bzlib.h): one percent more than the input, plus 600 bytes. */
const MAX_OUTPUT_BYTES = Math.ceil(CHUNK_BYTES * 1.01) + 600;
/** When the library falls back to its slower sorting algorithm: its own default. */
const WORK_FACTOR = 30;

const loading = instantiate();
parentPort!.on('message', (bytes: Uint8Array) => {
  void loading.then((library) => {
    const compressed = compress(library, bytes);
    parentPort!.postMessage(compressed, [compressed.buffer]);
  });
});

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

function compress({ library, source, target, length }: Loaded, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
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
