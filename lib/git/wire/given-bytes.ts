/**
 * Bytes that whoever takes them from a stream has alone, with all of their memory: it may move to another thread, or be
 * freed. Left to be collected, a few megabytes make a collection of all garbage come sooner, which takes longer than to send them.
 */
const given = new WeakSet<Uint8Array>();

export function give<T extends Uint8Array>(bytes: T): T {
  given.add(bytes);
  return bytes;
}

export const isGiven = (bytes: Uint8Array): boolean => given.has(bytes);

/** Frees the memory of given bytes, which are then empty; other bytes stay as they are. */
export function free(bytes: Uint8Array): void {
  if (given.has(bytes)) (bytes.buffer as ArrayBuffer).transfer(0);
}
