/** A key or signature that is not what its format says. The text is for logs and tests. */
export class MalformedSignature extends Error {
  override readonly name = 'MalformedSignature';
}

/** What `read` gives, or undefined when the bytes are not what they should be. Other failures are thrown. */
export function wellFormed<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof MalformedSignature) return undefined;
    throw error;
  }
}
