/** Reports a problem that the engine can work around. */
export type Warn = (message: string, facts: Readonly<Record<string, unknown>>) => void;

let write: Warn = (message, facts) => console.warn(JSON.stringify({ level: 'WARN', message, ...facts }));

export const warn: Warn = (message, facts) => write(message, facts);

/** Sets where warnings go, so that the host can send them to its own log. */
export function warnTo(writer: Warn): void {
  write = writer;
}
