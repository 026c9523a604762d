/** A hundred callers at once, over several processes that know nothing of each other but the table. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../../harness/service.ts';
import { changeSettings } from '../../harness/settings.ts';
import type { Round, Told } from './rate-limit-caller.ts';

const PROCESSES = 4;
const CALLERS = 100;
const REQUESTS = 5;
const LIMIT = 200;
/** Below the throttle, which counts the same requests. */
const ACTIONS = 150;

const throttle = (name: string) => ({
  [`throttle_${name}_enabled`]: true,
  [`throttle_${name}_requests_per_period`]: LIMIT,
  [`throttle_${name}_period_in_seconds`]: 3600,
});

interface Caller {
  readonly child: ChildProcess;
  readonly lines: AsyncIterator<string>;
}

let service: Service;
let table: Server;
const callers: Caller[] = [];
const tokens: string[] = [];

beforeAll(async () => {
  service = await startService({ background: false });
  for (let n = 0; n < 4; n++) tokens.push((await service.user(`somebody${n}`)).token);
  // Before there are other processes: what changes later reaches them in some seconds.
  await changeSettings(service, {
    ...throttle('unauthenticated_api'),
    ...throttle('authenticated_api'),
    users_get_by_id_limit: ACTIONS,
  });
  table = createServer(service.host.dynamo.listener()).listen(0, '127.0.0.1');
  await once(table, 'listening');
  const { port } = table.address() as AddressInfo;
  const script = fileURLToPath(new URL('./rate-limit-caller.ts', import.meta.url));
  for (let n = 0; n < PROCESSES; n++) {
    const child = spawn(process.execPath, [script], {
      env: {
        PATH: process.env['PATH'],
        AWS_REGION: 'local',
        AWS_ACCESS_KEY_ID: 'any',
        AWS_SECRET_ACCESS_KEY: 'any',
        AWS_ENDPOINT_URL_DYNAMODB: `http://127.0.0.1:${port}`,
      },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    callers.push({ child, lines: createInterface({ input: child.stdout! })[Symbol.asyncIterator]() });
  }
  for (const { lines } of callers) expect((await lines.next()).value).toBe('ready');
});
afterAll(async () => {
  for (const { child } of callers) {
    child.stdin!.end();
    if (child.exitCode === null) await once(child, 'exit');
  }
  table?.close();
  await service?.stop();
});

/**
 * Nobody above the limit. On a machine that is busy with other things a process may not hear in time that it has
 * counted, and counts once more, or does not reach the table at all: then it is fewer.
 */
function expectAtMost(limit: number, success: string, found: Readonly<Record<string, number>>): void {
  const { [success]: allowed = 0, '429': refused = 0, '503': lost = 0, ...more } = found;
  process.stderr.write(
    `${allowed} of ${CALLERS * REQUESTS} were let in, ${limit} is the limit, ${lost} did not reach the table\n`,
  );
  expect(more).toEqual({});
  expect(allowed + refused + lost).toBe(CALLERS * REQUESTS);
  expect(allowed).toBeLessThanOrEqual(limit);
  expect(allowed).toBeGreaterThanOrEqual(limit * 0.8);
}

/** What all processes were told, when each asked as the round says. */
async function together(round: Omit<Round, 'callers' | 'requests'>) {
  const asked: Round = { ...round, callers: CALLERS / PROCESSES, requests: REQUESTS };
  const told = await Promise.all(
    callers.map(async ({ child, lines }) => {
      child.stdin!.write(`${JSON.stringify(asked)}\n`);
      return JSON.parse((await lines.next()).value) as Told;
    }),
  );
  const statuses: Record<string, number> = {};
  for (const one of told)
    for (const [status, count] of Object.entries(one.statuses))
      statuses[status] = (statuses[status] ?? 0) + count;
  return statuses;
}

/** By which the limits count: hours, and ten minutes for single actions. */
const WINDOW_MS = 600_000;

/** Not over the turn of a window, after which a caller has all of the limit again. */
async function withinAWindow(work: () => Promise<Record<string, number>>) {
  for (;;) {
    const window = Math.floor(Date.now() / WINDOW_MS);
    const found = await work();
    if (Math.floor(Date.now() / WINDOW_MS) === window) return found;
  }
}

test('over several processes anonymous callers are admitted up to the limit, by address', async () => {
  let address = 0;
  const found = await withinAWindow(() => together({ path: '/user', address: `10.0.0.${++address}` }));
  expectAtMost(LIMIT, '401', found);
});

test('over several processes users are admitted up to the limit, by id', async () => {
  const asking = () => together({ path: '/user', address: '10.1.0.1', token: tokens.pop()! });
  expectAtMost(LIMIT, '200', await withinAWindow(asking));
});

test('over several processes a single action is admitted up to its limit', async () => {
  const asking = () => together({ path: '/users/1', address: '10.1.0.1', token: tokens.pop()! });
  expectAtMost(ACTIONS, '200', await withinAWindow(asking));
});
