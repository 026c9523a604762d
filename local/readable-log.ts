import { type Line, logTo } from '../lib/telemetry/log.ts';

/** Fields that are not appended as `name=value`. */
const HIDDEN = new Set([
  'level',
  'timestamp',
  'service',
  'message',
  'method',
  'route',
  'path',
  'status',
  'ms',
  'job',
]);

/**
 * Formats a line of the log for a terminal:
 * `17:03:11 INFO  request GET /projects/:id 200 12 ms  area=projects requestId=01K...`
 */
export function readable(line: Line): string {
  const { level, timestamp, message } = line;
  const request = ['method', 'route', 'path', 'job', 'status'].flatMap((name) => line[name] ?? []);
  const duration = line['ms'] === undefined ? [] : [`${line['ms']} ms`];
  const rest = Object.entries(line)
    .filter(([name, value]) => !HIDDEN.has(name) && value !== undefined)
    .map(([name, value]) => `${name}=${typeof value === 'object' ? JSON.stringify(value) : value}`);
  const head = [timestamp.slice(11, 19), level.padEnd(5), message, ...request, ...duration].join(' ');
  return rest.length === 0 ? head : `${head}  ${rest.join(' ')}`;
}

/**
 * On a terminal the default is a line per request. Elsewhere it is warnings only (`LOG_LEVEL=info` for all), because a pipe
 * that nobody reads would block the service when it is full. Threads that are started afterwards do the same.
 */
export function chooseLog(): void {
  const interactive = process.stderr.isTTY === true;
  process.env['LOG_LEVEL'] ??= interactive ? 'info' : 'warn';
  process.env['LOG_FORMAT'] ??= interactive ? 'text' : 'json';
  if (process.env['LOG_FORMAT'] === 'text') logTo((line) => void process.stderr.write(`${readable(line)}\n`));
}
