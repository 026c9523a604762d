/** The page at `/api/docs` in Chromium, at the root and below a gateway's stage. */
import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import { type AddressInfo, createServer as createSocket } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROOT_TOKEN, type Service, startService } from '../harness/service.ts';
import { startBrowser } from './browser.ts';

const STAGE = '/prod';
const WAIT = 60_000;

let service: Service;
let stage: Server;
let browser: Browser | undefined;
const origins = { root: '', stage: '' };
beforeAll(async () => {
  const [port, stagePort] = [await freePort(), await freePort()];
  origins.root = `http://127.0.0.1:${port}`;
  origins.stage = `http://127.0.0.1:${stagePort}`;
  stage = stageBefore(port).listen(stagePort, '127.0.0.1');
  service = await startService({ port, limits: true, baseUrl: origins.stage + STAGE });
  browser = await startBrowser();
}, WAIT);
afterAll(async () => {
  await browser?.close();
  stage.close();
  await service.stop();
});

async function freePort(): Promise<number> {
  const server = createSocket().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** A server that has the service below the stage, and nothing beside it. */
function stageBefore(port: number): Server {
  return createServer((incoming, outgoing) => {
    if (!incoming.url?.startsWith(`${STAGE}/`)) {
      outgoing.writeHead(403).end('outside the stage');
      return;
    }
    const { method, headers } = incoming;
    const path = incoming.url.slice(STAGE.length);
    const inner = request({ host: '127.0.0.1', port, path, method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(inner);
  });
}

interface Seen {
  readonly page: Page;
  /** URLs that were asked for, but for what is in the page itself. */
  readonly requests: string[];
  /** What the browser complained of: errors, warnings, what the policy forbade, answers that are failures. */
  readonly complaints: string[];
}

async function open(address: string): Promise<Seen> {
  const page = await browser!.newPage({ viewport: { width: 1300, height: 900 } });
  const requests: string[] = [];
  const complaints: string[] = [];
  page.on('request', (one) => {
    if (!/^(data|blob):/.test(one.url())) requests.push(one.url());
  });
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('response', (answer) => {
    if (answer.status() >= 400) complaints.push(`${answer.status()} ${answer.url()}`);
  });
  await page.addInitScript(() => {
    addEventListener('securitypolicyviolation', (event) =>
      console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`),
    );
  });
  await page.goto(address);
  await page.getByRole('heading', { name: 'Lemnos', exact: true }).waitFor({ timeout: WAIT });
  return { page, requests, complaints };
}

/** Searches for a path, and goes to the operation of that title. */
async function find(page: Page, path: string, title: string): Promise<void> {
  await page
    .getByRole('button', { name: /search/i })
    .first()
    .click();
  await page
    .getByPlaceholder(/search/i)
    .last()
    .fill(path);
  await page.getByRole('option', { name: title }).first().click();
  await page.getByRole('heading', { name: title, exact: true }).waitFor({ timeout: WAIT });
}

describe.each(['root', 'stage'] as const)('at the %s', (place) => {
  const base = () => origins[place] + (place === 'stage' ? STAGE : '');

  test('the API documentation loads, searches, shows and sends requests, all to its own origin', {
    timeout: 4 * WAIT,
  }, async (context) => {
    if (browser === undefined) return context.skip('it needs Chromium (apt-get install chromium)');
    const { page, requests, complaints } = await open(`${base()}/api/docs`);
    await page.getByPlaceholder('Token').fill(ROOT_TOKEN);

    // A schema and an example: what a user is.
    await find(page, '/users/{id}', 'Get a user');
    const user = page
      .locator('section', { has: page.getByRole('heading', { name: 'Get a user', exact: true }) })
      .last();
    await user.getByText('"ann"').first().waitFor({ timeout: WAIT });
    await user.getByText(/^200/).first().click();
    await user.getByText('username', { exact: true }).first().waitFor({ timeout: WAIT });

    await find(page, '/version', 'Get the release');
    await page.getByRole('button', { name: /test request.*get \/version/i }).click();
    const [answer] = await Promise.all([
      page.waitForResponse((one) => one.url().endsWith('/version')),
      page.getByRole('button', { name: /^send/i }).last().click(),
    ]);
    expect([answer.status(), answer.url(), answer.request().headers()['private-token']]).toEqual([
      200,
      `${base()}/api/v4/version`,
      ROOT_TOKEN,
    ]);
    await page.getByText('200 OK').first().waitFor({ timeout: WAIT });

    expect(complaints).toEqual([]);
    expect(requests.filter((url) => !url.startsWith(`${base()}/`))).toEqual([]);
    expect(requests).toContain(`${base()}/api/v4/openapi.json`);
    expect(await kept(page)).not.toContain(ROOT_TOKEN);
    await page.close();
  });
});

/** All that the page keeps in the browser. */
const kept = (page: Page): Promise<string> =>
  page.evaluate(async () => {
    const databases = await indexedDB.databases();
    const rows = databases.map(
      ({ name }) =>
        new Promise((resolve) => {
          const opening = indexedDB.open(name!);
          opening.onsuccess = () => {
            const names = [...opening.result.objectStoreNames];
            if (names.length === 0) return resolve([]);
            const reading = opening.result.transaction(names);
            const found: unknown[] = [];
            for (const one of names) {
              const asked = reading.objectStore(one).getAll();
              asked.onsuccess = () => found.push(asked.result);
            }
            reading.oncomplete = () => resolve(found);
          };
        }),
    );
    const storage = [{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href];
    return JSON.stringify([storage, await Promise.all(rows)]);
  });
