import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { areas } from '../../../functions/areas.ts';
import { Admission } from '../../../local/admission.ts';
import { gateway } from '../../../local/gateway.ts';
import { gatewayRoutes } from '../../../local/routes.ts';

const OPTIONS = { atOnce: 2, patience: 60_000, turn: 60_000, late: 10, longest: 60_000, waiting: 10 };
const waits = new AbortController().signal;
let server: Server | undefined;
afterEach(() => new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve())));

/** Whether a request has got its turn by now. */
async function served(entering: Promise<unknown>): Promise<boolean> {
  return Promise.race([entering.then((turn) => turn !== undefined), delay(20).then(() => false)]);
}

test('so many are served at once, and the others in their order as turns end', async () => {
  const admission = new Admission(OPTIONS);
  const first = await admission.enter(waits);
  await admission.enter(waits);
  const third = admission.enter(waits);
  const fourth = admission.enter(waits);
  expect(await served(third)).toBe(false);
  first!();
  expect(await served(third)).toBe(true);
  expect(await served(fourth)).toBe(false);
  // It is over once: this gives no second turn away.
  first!();
  expect(await served(fourth)).toBe(false);
  (await third)!();
  expect(await served(fourth)).toBe(true);
});

test('a request that takes long takes nobody else’s turn', async () => {
  const admission = new Admission({ ...OPTIONS, atOnce: 1, turn: 500 });
  await admission.enter(waits);
  const second = admission.enter(waits);
  expect(await served(second)).toBe(false);
  // None of them ends.
  expect(await second).toBeDefined();
  expect(await admission.enter(waits)).toBeDefined();
});

test('turns of requests that wait for their answers last until they end, when as many others are late as may be', async () => {
  const admission = new Admission({ ...OPTIONS, atOnce: 1, turn: 30, late: 1 });
  let answered = false;
  const first = await admission.enter(waits, () => !answered);
  // The first is late, and gives its turn away.
  await admission.enter(waits, () => true);
  const third = admission.enter(waits, () => true);
  await delay(90);
  expect(await served(third)).toBe(false);
  // The first one reads its answer now, as long as it likes.
  answered = true;
  await third;
  const fourth = admission.enter(waits, () => true);
  await delay(90);
  expect(await served(fourth)).toBe(false);
  first!();
  expect(await served(fourth)).toBe(false);
});

test('nobody waits for a turn longer than the longest time', async () => {
  const admission = new Admission({ ...OPTIONS, atOnce: 1, longest: 30 });
  const end = await admission.enter(waits);
  expect(await admission.enter(waits)).toBeUndefined();
  end!();
  expect(await served(admission.enter(waits))).toBe(true);
});

test('nobody joins a queue whose first has waited too long, nor one that is full, until it moves', async () => {
  const admission = new Admission({ ...OPTIONS, atOnce: 1, patience: 500, waiting: 2 });
  const end = await admission.enter(waits);
  const second = admission.enter(waits);
  expect(admission.full).toBe(false);
  const third = admission.enter(waits);
  expect(admission.full).toBe(true);
  end!();
  (await second)!();
  (await third)!();
  expect(admission.full).toBe(false);
  await admission.enter(waits);
  void admission.enter(waits);
  await vi.waitFor(() => expect(admission.full).toBe(true), 60_000);
  expect(await admission.enter(waits)).toBeUndefined();
});

test('a client that has gone leaves the queue', async () => {
  const admission = new Admission({ ...OPTIONS, atOnce: 1 });
  const end = await admission.enter(waits);
  const gone = new AbortController();
  const second = admission.enter(gone.signal);
  const third = admission.enter(waits);
  gone.abort();
  expect(await second).toBeUndefined();
  end!();
  expect(await served(third)).toBe(true);
});

test('who cannot be served in time is told at once, with the seconds after which to try again', async () => {
  const slow = Promise.withResolvers<object>();
  const admission = new Admission({ ...OPTIONS, atOnce: 1, patience: 30 });
  const serve = gateway({
    route: gatewayRoutes(areas),
    load: async () => ({ handler: () => slow.promise }),
    baseUrl: 'http://lemnos.test',
    limits: false,
    gitAuthorizer: 'authorizer',
    admission: () => admission,
  });
  server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const early = [fetch(`${url}/api/v4/version`), fetch(`${url}/api/v4/version`)];
  // The second one waits, and has waited too long.
  await vi.waitFor(() => expect(admission.full).toBe(true), 60_000);
  const refused = await fetch(`${url}/api/v4/projects`, { method: 'POST', body: '{}' });
  expect(refused.status).toBe(503);
  expect(refused.headers.get('retry-after')).toBe('5');
  expect(await refused.json()).toEqual({ message: 'The server is busy. Please try again in a few seconds.' });
  expect(await (await fetch(`${url}/a/b.git/info/refs?service=git-upload-pack`)).text()).toBe(
    'The server is busy. Please try again in a few seconds.\n',
  );
  slow.resolve({ statusCode: 200, body: 'served' });
  for (const answer of await Promise.all(early)) expect(await answer.text()).toBe('served');
});
