/** Maximum length of a chain of causes. */
const DEPTH = 5;

/**
 * The parts of an error that may be logged: names, messages, stacks and causes. Other properties of errors, especially
 * those of the SDK, may contain rows and requests.
 * @param hide replaces secrets in a text
 */
export function plainError(
  error: unknown,
  hide: (text: string) => string = (text) => text,
  depth = DEPTH,
): Error {
  const isError = error instanceof Error;
  const plain = new Error(hide(isError ? error.message : String(error)));
  plain.name = isError ? error.name : typeof error;
  // The stack of this copy would be meaningless.
  plain.stack = isError ? hide(error.stack ?? '') : '';
  if (isError && error.cause !== undefined && depth > 1)
    plain.cause = plainError(error.cause, hide, depth - 1);
  return plain;
}
