/** Log lines: one line of JSON each, with the id of the request. */
import { Logger, type LogItem, LogLevel, LogLevelThreshold } from '@aws-lambda-powertools/logger';
import { type Facts, requestId } from './correlation.ts';

export type Level = 'info' | 'warn' | 'error';

/** As written by Powertools. Empty fields are omitted. */
export interface Line extends Facts {
  readonly level: Uppercase<Level>;
  /** `request`, `job`, or the event. */
  readonly message: string;
  /** ISO 8601: UTC, or the time of `TZ`, with its offset. */
  readonly timestamp: string;
  readonly service: string;
  readonly requestId?: string | undefined;
}

/** The default level hides successful requests and jobs, for tests and embedders. */
const UNSET = 'WARN';

/** Writes to stdout, because Lambda's console adds a prefix, and lines must be JSON from the first character. */
const bare = (line: string): void => void process.stdout.write(`${line}\n`);
const printed = (line: string): void => console.error(line);

let write = process.env['AWS_LAMBDA_FUNCTION_NAME'] === undefined ? printed : bare;

/**
 * Powertools' appended keys are per process, and the embedded host and the Git front handle many requests at once: so
 * the fields of a request are passed with each line.
 */
class Lines extends Logger {
  protected override printLog(_level: number, item: LogItem): void {
    item.prepareForPrint();
    // Nothing is sampled, and nothing is traced.
    const { sampling_rate: _, xray_trace_id: __, ...told } = item.getAttributes();
    write(JSON.stringify(told, this.getJsonReplacer()));
  }
}

/** Created at the first line, when the environment variables are set. */
let logger: { readonly lines: Logger; readonly lowest: number } | undefined;

/** Sets where lines go. Reads `LOG_LEVEL` again. */
export function logTo(writer: (line: Line) => void): void {
  write = (line) => writer(JSON.parse(line) as Line);
  logger = undefined;
}

/**
 * `facts` must not contain secrets: no tokens, no query strings, no texts of mail.
 * @param facts plain values, and errors from {@link plainError}; a `requestId` among them replaces that of the current
 * request. `level`, `message`, `service`, `timestamp` and `sampling_rate` are reserved.
 */
export function log(level: Level, message: string, facts: Facts = {}): void {
  logger ??= {
    // Lambda's own level, which is `INFO` for the sake of metrics, would replace another one given here.
    lines: new Lines({ logLevel: LogLevel.INFO, serviceName: serviceName() }),
    lowest: LogLevelThreshold[chosenLevel()],
  };
  if (LogLevelThreshold[level.toUpperCase() as Uppercase<Level>] < logger.lowest) return;
  logger.lines[level](message, { requestId: requestId(), ...facts });
}

/** The service name in log lines and metrics. */
export const serviceName = (): string => process.env['SERVICE_NAME'] ?? 'Lemnos';

function chosenLevel(): keyof typeof LogLevel {
  const named = process.env['LOG_LEVEL']?.toUpperCase() ?? UNSET;
  return named in LogLevel ? (named as keyof typeof LogLevel) : UNSET;
}
