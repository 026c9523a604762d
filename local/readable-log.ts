import type { Line } from '../lib/telemetry/log.ts';

/** Fields that are not appended as `name=value`. */
const HIDDEN = new Set([
  'level',
  'timestamp',
  'service',
  'sampling_rate',
  'xray_trace_id',
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
