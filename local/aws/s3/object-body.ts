import { close, read } from 'node:fs';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';

const readAt = promisify(read);

/** Chunks of a streamed body: large enough that the cost of a read call is negligible. */
const CHUNK_BYTES = 256 * 1024;
/** A body of up to this size is read at once, and its file is closed before the answer is sent. */
const MAX_BUFFERED_BYTES = 1024 * 1024;

/**
 * The bytes `start` to `end` (exclusive) of an open file, by positioned reads and in constant memory.
 * Takes ownership of `fd` and closes it.
 */
export async function readBody(fd: number, start: number, end: number): Promise<Buffer | Readable> {
  if (end - start > MAX_BUFFERED_BYTES) return streamBody(fd, start, end);
  try {
    return await readFully(fd, start, end);
  } finally {
    close(fd);
  }
}

function streamBody(fd: number, start: number, end: number): Readable {
  let position = start;
  return new Readable({
    highWaterMark: CHUNK_BYTES,
    read() {
      if (position >= end) {
        this.push(null);
        return;
      }
      readFully(fd, position, Math.min(end, position + CHUNK_BYTES)).then(
        (chunk) => {
          position += chunk.length;
          this.push(chunk);
        },
        (error: Error) => this.destroy(error),
      );
    },
    destroy(error, done) {
      close(fd, () => done(error));
    },
  });
}

export async function readFully(fd: number, start: number, end: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(end - start);
  let done = 0;
  while (done < bytes.length) {
    const { bytesRead } = await readAt(fd, bytes, done, bytes.length - done, start + done);
    if (bytesRead === 0) throw new Error('object file is shorter than its footer says');
    done += bytesRead;
  }
  return bytes;
}
