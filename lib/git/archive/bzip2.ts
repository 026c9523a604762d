import { Worker } from 'node:worker_threads';

/** Input bytes of one bzip2 stream. The largest block holds 900,000 bytes after run-length encoding. */
const CHUNK_BYTES = 880_000;

/**
 * Compresses a stream as bzip2. The output is a concatenation of bzip2 streams, which readers accept as one, as they do
 * that of parallel compressors. A chunk takes a tenth of a second and up to half of one, in which nothing else could
 * run, so chunks are compressed in a thread, each while the next one is read. Memory is bounded by two chunks.
 */
export async function* bzip2(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const thread = new Bzip2Thread();
  try {
    let last: Promise<Uint8Array> | undefined;
    for await (const chunk of chunksOf(source)) {
      const compressed = thread.compress(chunk);
      if (last !== undefined) yield await last;
      last = compressed;
    }
    yield await (last ?? thread.compress(new Uint8Array(0)));
  } finally {
    await thread.end();
  }
}

async function* chunksOf(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  let used = 0;
  for await (const bytes of source) {
    for (let at = 0; at < bytes.length; ) {
      const count = Math.min(CHUNK_BYTES - used, bytes.length - at);
      chunk.set(bytes.subarray(at, at + count), used);
      used += count;
      at += count;
      if (used < CHUNK_BYTES) continue;
      yield chunk;
      chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
      used = 0;
    }
  }
  if (used > 0) yield chunk.subarray(0, used);
}

/** Beside the source, and beside the bundle that `cdk/bundle.ts` makes of it. */
const CODE = new URL(
  import.meta.url.endsWith('.ts') ? './bzip2-thread.ts' : './bzip2-thread.mjs',
  import.meta.url,
);

interface Task {
  done(compressed: Uint8Array): void;
  failed(reason: unknown): void;
}

/** A thread for one stream: it ends with it, also when nobody reads on. */
class Bzip2Thread {
  readonly #worker = new Worker(CODE, { workerData: CHUNK_BYTES });
  /** In the order of their chunks. */
  readonly #tasks: Task[] = [];

  constructor() {
    this.#worker.on('message', (compressed: Uint8Array) => this.#tasks.shift()?.done(compressed));
    this.#worker.on('error', (error) => this.#fail(error));
    this.#worker.on('exit', () => this.#fail(new Error('the thread of bzip2 has ended')));
  }

  compress(chunk: Uint8Array): Promise<Uint8Array> {
    const compressed = new Promise<Uint8Array>((done, failed) => this.#tasks.push({ done, failed }));
    // Told to whoever waits for it; nobody does when the source has failed.
    compressed.catch(() => undefined);
    this.#worker.postMessage(chunk);
    return compressed;
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  #fail(reason: unknown): void {
    for (const { failed } of this.#tasks.splice(0)) failed(reason);
  }
}
