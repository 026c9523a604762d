/** What is written down: one line of JSON each, with the id of the request that led to it. */
import { Logger, type LogItem, LogLevel } from '@aws-lambda-powertools/logger';
import { type Facts, requestId } from './correlation.ts';

export type Level = 'info' | 'warn' | 'error';

/** As Powertools writes it; on Lambda `xray_trace_id` too. What is empty is left out. */
export interface Line extends Facts {
  readonly level: Uppercase<Level>;
  /** What kind of line it is: `request`, `job`, or what happened. */
  readonly message: string;
  /** ISO 8601: UTC, or the time of `TZ`, with its offset. */
  readonly timestamp: string;
  readonly service: string;
  readonly requestId?: string | undefined;
}

/** Requests and jobs that went well are for those who ask: tests and embedders did not. */
const UNSET = 'WARN';

/** Lambda puts a prefix before what goes through its console, and a line is to be JSON from its first character. */
const bare = (line: string): void => void process.stdout.write(`${line}\n`);
const printed = (line: string): void => console.error(line);

let write = process.env['AWS_LAMBDA_FUNCTION_NAME'] === undefined ? printed : bare;

/**
 * Its appended keys belong to the process, which on the embedded host and the Git front serves many requests at once:
 * whatever a line says of its request is handed over with it.
 */
class Lines extends Logger {
  protected override printLog(_level: number, item: LogItem): void {
    item.prepareForPrint();
    write(JSON.stringify(item.getAttributes(), this.getJsonReplacer()));
  }
}

/** Made at the first line, by when the environment says what it is to be. */
let logger: Logger | undefined;

/** Where lines go from now on. `LOG_LEVEL` is read anew. */
export function logTo(writer: (line: Line) => void): void {
  write = (line) => writer(JSON.parse(line) as Line);
  logger = undefined;
}

/**
 * Nothing secret may be in `facts`: no tokens, no query strings, no texts of mail.
 * @param facts plain values, and errors of {@link plainError}; a `requestId` among them takes the place of the one under
 * way. `level`, `message`, `service`, `timestamp` and `sampling_rate` are the line's own.
 */
export function log(level: Level, message: string, facts: Facts = {}): void {
  logger ??= new Lines({ logLevel: chosenLevel(), serviceName: serviceName() });
  logger[level](message, { requestId: requestId(), ...facts });
}

/** Whose lines and metrics these are. */
export const serviceName = (): string => process.env['SERVICE_NAME'] ?? 'Lemnos';

function chosenLevel(): keyof typeof LogLevel {
  const named = process.env['LOG_LEVEL']?.toUpperCase() ?? UNSET;
  return named in LogLevel ? (named as keyof typeof LogLevel) : UNSET;
}
