/** What is written down: one line of JSON each, with the id of the request that led to it. */
import { type Facts, requestId } from './correlation.ts';

export type Level = 'info' | 'warn' | 'error';

export interface Line extends Facts {
  readonly level: Level;
  /** ISO 8601, UTC. */
  readonly time: string;
  /** What kind of line it is: `request`, `job`, or what happened. */
  readonly message: string;
  readonly requestId?: string | undefined;
}

/** Those that `LOG_LEVEL` names, and how much each leaves out. */
const RANK: Readonly<Record<string, number>> = { info: 1, warn: 2, error: 3, silent: 4 };
/** Requests and jobs that went well are for those who ask: tests and embedders did not. */
const UNSET = 'warn';

/** Lambda puts a prefix before what goes through its console; metrics are only read from bare lines. */
const bare = (line: Line): void => void process.stdout.write(`${JSON.stringify(line)}\n`);
const printed = (line: Line): void => console.error(JSON.stringify(line));

let write = process.env['AWS_LAMBDA_FUNCTION_NAME'] === undefined ? printed : bare;

/** Where lines go from now on. */
export function logTo(writer: (line: Line) => void): void {
  write = writer;
}

/**
 * Nothing secret may be in `facts`: no tokens, no query strings, no texts of mail.
 * @param facts plain values; a `requestId` among them takes the place of the one under way
 */
export function log(level: Level, message: string, facts: Facts = {}): void {
  if (RANK[level]! < (RANK[process.env['LOG_LEVEL'] ?? UNSET] ?? RANK[UNSET]!)) return;
  write({ level, time: new Date().toISOString(), message, requestId: requestId(), ...facts });
}
