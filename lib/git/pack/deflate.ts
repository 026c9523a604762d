import zlib from 'node:zlib';
import { openHandle } from './inflate.ts';

/** Bytes that the shared handle deflates; more have a stream of their own. */
const MAX_SHARED = 2 ** 20;

let out = Buffer.alloc(0);
const shared = usable();

/** Whether Node's binding is used; for tests. */
export const usesHandle = shared !== undefined;

/**
 * Deflates a whole object. Through one handle for all, as inflating does: a stream for each takes a quarter megabyte of memory,
 * which is to be made and collected.
 * @returns bytes that are valid until the next call
 */
export function deflate(data: Uint8Array): Uint8Array {
  return (shared && data.length <= MAX_SHARED && byHandle(shared, data)) || zlib.deflateSync(data);
}

/** @returns undefined where Node's binding does not do as expected */
function byHandle({ handle, state, failed }: Handle, data: Uint8Array): Uint8Array | undefined {
  // Content that does not become smaller is stored in blocks.
  const most = data.length + (data.length >>> 8) + 64;
  if (out.length < most) out = Buffer.allocUnsafeSlow(Math.min(2 * most, 2 * MAX_SHARED));
  handle.reset();
  handle.writeSync(zlib.constants.Z_FINISH, data, 0, data.length, out, 0, out.length);
  const [left, unread] = state;
  return failed() || unread !== 0 || left === 0 ? undefined : out.subarray(0, out.length - left!);
}

type Handle = NonNullable<ReturnType<typeof openHandle>>;

function usable(): Handle | undefined {
  const opened = openHandle(zlib.createDeflate);
  try {
    const texts = ['', 'the quick brown fox '.repeat(50), 'a'].map((text) => Buffer.from(text));
    const right = opened && texts.every((text) => text.equals(zlib.inflateSync(byHandle(opened, text)!)));
    return right ? opened : undefined;
  } catch {
    return undefined;
  }
}
