/**
 * docs/cost.md tells what runners cost that ask for jobs where none waits: what one request asks of AWS is counted, and the
 * month is computed. `COST_TABLE=write npm run test:drills -- runners` writes the tables anew.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LogLines } from '../harness/log-lines.ts';
import { MetricLines } from '../harness/metric-lines.ts';
import { type Service, startService } from '../harness/service.ts';
import { smallRunner } from '../harness/small-runner.ts';
import { Waits } from '../harness/waits.ts';
import { type Action, counted } from './counted-units.ts';
import { DocumentedPart, rounded, tableHead, tableRow } from './documented-table.ts';

const DOCUMENTED = new DocumentedPart('idle-runners');
const RUNNERS = 100;
/** Seconds between two requests: `check_interval` of the runner's configuration. */
const INTERVALS = [3, 10, 60, 130, 600] as const;
const SECONDS_OF_MONTH = 730 * 3600;

let service: Service;
let lines: LogLines;
let metrics: MetricLines;
const asked = new Map<string, Action>();

beforeAll(async () => {
  [lines, metrics] = [LogLines.watch(), MetricLines.watch('Lemnos')];
  service = await startService({ background: false });
  const waits = Waits.of(service.host);
  const owner = await service.user('owner');
  const call = async (method: string, path: string, json?: object) =>
    (await service.call(method, path, { token: owner.token, ...(json && { json }) })).body;
  const { id } = await call('POST', '/projects', { name: 'quiet' });
  const { runners_token } = await call('GET', `/projects/${id}`);
  const runner = await smallRunner(service, runners_token);
  // The first request notes that the runner is there.
  for (const name of ['', 'a request for a job, where none waits']) {
    const action = await counted(
      service,
      { lines, metrics, waits },
      { like: 'GET /user', warm: true },
      async () => {
        expect((await runner.take()).status).toBe(204);
      },
    );
    if (name !== '') asked.set(name, action);
  }
  if (process.env['COST_TABLE'] === 'write') writeTables();
}, 300_000);
afterAll(async () => {
  metrics?.stop();
  await service?.stop();
});

const COLUMNS = ['requests', 'calls', 'readUnits', 'writeUnits'] as const;

test('a runner that asks where no job waits costs two reads', () => {
  for (const { readUnits, writeUnits, messages } of asked.values())
    expect({ readUnits, writeUnits, messages }).toEqual({ readUnits: 2, writeUnits: 0, messages: 0 });
});

test('docs/cost.md tells what it costs, and a hundred of them for a month', () => {
  const rows = DOCUMENTED.rows();
  expect([...rows.keys()]).toEqual([...asked.keys()]);
  for (const [name, action] of asked) {
    const told = rows.get(name)!;
    for (const [i, unit] of COLUMNS.entries()) expect(action[unit], unit).toBe(told[i]);
    expect(Math.abs(action.million - told[COLUMNS.length]!)).toBeLessThan(0.25 * action.million);
  }
  const [action] = asked.values();
  for (const seconds of INTERVALS) {
    const row = new RegExp(`^\\| ${seconds} \\| ([\\d.]+) \\| ([\\d.]+) \\|`, 'm').exec(DOCUMENTED.read());
    expect(Number(row?.[1])).toBeCloseTo(requestsOf(seconds) / 1e6, 1);
    expect(Math.abs(Number(row?.[2]) - dollarsOf(action!, seconds))).toBeLessThan(
      0.25 * dollarsOf(action!, seconds),
    );
  }
});

const requestsOf = (seconds: number) => (RUNNERS * SECONDS_OF_MONTH) / seconds;
const dollarsOf = ({ million }: Action, seconds: number) => (million * requestsOf(seconds)) / 1e6;

function writeTables(): void {
  const [action] = asked.values();
  DOCUMENTED.write([
    ...tableHead(['action', 'requests', 'function calls', 'read units', 'write units', '$ per million']),
    ...[...asked].map(([name, each]) =>
      tableRow([name, ...COLUMNS.map((unit) => rounded(each[unit])), each.million.toFixed(2)]),
    ),
    '',
    ...tableHead(['seconds between two requests', 'million requests a month', '$ a month']),
    ...INTERVALS.map((seconds) =>
      tableRow([
        String(seconds),
        (requestsOf(seconds) / 1e6).toFixed(1),
        dollarsOf(action!, seconds).toFixed(dollarsOf(action!, seconds) < 100 ? 1 : 0),
      ]),
    ),
  ]);
}
