/** An error in a message: cloning one loses its name and its code. */
export interface Failure {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly code: unknown;
}

export function failureOf(error: unknown): Failure {
  if (!(error instanceof Error))
    return { name: 'Error', message: String(error), stack: undefined, code: undefined };
  const { name, message, stack } = error;
  const code = (error as { code?: unknown }).code;
  return { name, message, stack, code: typeof code === 'string' ? code : undefined };
}

export function errorOf({ name, message, stack, code }: Failure): Error {
  const error = Object.assign(new Error(message), { name, ...(code === undefined ? {} : { code }) });
  if (stack !== undefined) error.stack = stack;
  return error;
}
