/** Of an error of errors the first few say enough. */
const DEPTH = 5;

/**
 * What may be written down of an error: names, texts, stacks and causes. What else errors carry, the SDK's above all, are
 * rows and requests.
 * @param hide what becomes of each text
 */
export function plainError(
  error: unknown,
  hide: (text: string) => string = (text) => text,
  depth = DEPTH,
): Error {
  const isError = error instanceof Error;
  const plain = new Error(hide(isError ? error.message : String(error)));
  plain.name = isError ? error.name : typeof error;
  // Where it was written down says nothing.
  plain.stack = isError ? hide(error.stack ?? '') : '';
  if (isError && error.cause !== undefined && depth > 1)
    plain.cause = plainError(error.cause, hide, depth - 1);
  return plain;
}
