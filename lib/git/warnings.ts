/** Tells what the engine noticed and goes on without. */
export type Warn = (message: string, facts: Readonly<Record<string, unknown>>) => void;

let write: Warn = (message, facts) => console.warn(JSON.stringify({ level: 'WARN', message, ...facts }));

export const warn: Warn = (message, facts) => write(message, facts);

/** Where warnings go from now on: whoever uses the engine has them written where the rest is. */
export function warnTo(writer: Warn): void {
  write = writer;
}
