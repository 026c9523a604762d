/** A malformed key or signature. The message is for logs and tests. */
export class MalformedSignature extends Error {
  override readonly name = 'MalformedSignature';
}

/** The result of `read`, or undefined when it throws MalformedSignature. Throws other errors. */
export function wellFormed<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof MalformedSignature) return undefined;
    throw error;
  }
}
