/** The drill of docs/operations.md, "Upgrading": no request is lost while one release takes over from another. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startProcess } from '../harness/process.ts';
import { type Answer, request } from '../harness/service.ts';
import { Replica } from './replica.ts';
import { type ServedData, serveData } from './served-data.ts';

const ROOT_TOKEN = 'root-token-for-drills-only';
/** The release before messages told which request they came from. */
const PREVIOUS = '6603eadc3b8899b90e73b15b6a5b647d63838118';
const root = join(import.meta.dirname, '../..');

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lemnos-upgrade-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** @returns a folder with that release; a checkout without history has only its own */
function release(commit: string): { checkout: string; name: string } {
  const known = () =>
    execFileSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: root, stdio: 'ignore' });
  try {
    known();
  } catch {
    return { checkout: root, name: 'this release, because the history of the one before is not here' };
  }
  const checkout = join(folder, 'previous');
  mkdirSync(checkout);
  const archive = execFileSync('git', ['archive', commit, 'lib', 'functions', 'local', 'package.json'], {
    cwd: root,
    maxBuffer: 1 << 28,
  });
  execFileSync('tar', ['-x', '-C', checkout], { input: archive });
  linkPackages(checkout);
  return { checkout, name: commit.slice(0, 7) };
}

/** Gives a release the packages of this one, but for those of its own that it brings along. */
function linkPackages(checkout: string): void {
  const modules = join(checkout, 'node_modules');
  mkdirSync(join(modules, '@lemnos'), { recursive: true });
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name !== '@lemnos') symlinkSync(join(root, 'node_modules', name), join(modules, name));
  }
  symlinkSync(join(checkout, 'local/aws'), join(modules, '@lemnos/embedded-aws'));
}

/** What a client requested and the service confirmed. */
interface Outcomes {
  readonly done: Map<string, string>;
  readonly wrong: string[];
  retried: number;
}

/**
 * Makes projects and changes them, one after the other, until it is told to stop. A connection that is refused or breaks is
 * tried again, as a client would; an answer that is no success is wrong.
 */
async function client(
  name: string,
  url: () => string,
  outcomes: Outcomes,
  signal: AbortSignal,
): Promise<void> {
  const ask = async (method: string, path: string, json: object): Promise<Answer> => {
    for (let attempt = 0; ; attempt++) {
      try {
        const headers = { 'PRIVATE-TOKEN': ROOT_TOKEN, 'Content-Type': 'application/json' };
        return await request(`${url()}/api/v4${path}`, method, { headers, body: JSON.stringify(json) });
      } catch (error) {
        if (attempt > 1000) throw error;
        outcomes.retried++;
        await sleep(50);
      }
    }
  };
  for (let n = 0; !signal.aborted; n++) {
    const path = `${name}-${n}`;
    const made = await ask('POST', '/projects', { name: path, path });
    // Its first attempt was done, and its answer lost.
    const there = made.status === 400 && JSON.stringify(made.body).includes('taken');
    if (made.status !== 201 && !there)
      outcomes.wrong.push(`POST ${path}: ${made.status} ${JSON.stringify(made.body)}`);
    const description = `made by ${name}`;
    // A new name is indexed by a worker.
    const changed = await ask('PUT', `/projects/root%2F${path}`, { description, name: `${path} changed` });
    if (changed.status !== 200)
      outcomes.wrong.push(`PUT ${path}: ${changed.status} ${JSON.stringify(changed.body)}`);
    else outcomes.done.set(path, description);
  }
}

const CLIENTS = 4;
function load(url: () => string): { outcomes: Outcomes; stop(): Promise<void> } {
  const outcomes: Outcomes = { done: new Map(), wrong: [], retried: 0 };
  const stopping = new AbortController();
  const running = Array.from({ length: CLIENTS }, (_, i) =>
    client(`client-${i}`, url, outcomes, stopping.signal),
  );
  const all = Promise.all(running);
  // A test that fails before it waits for them says why itself.
  all.catch(() => {});
  return {
    outcomes,
    async stop() {
      stopping.abort();
      await all;
    },
  };
}

async function expectKept(outcomes: Outcomes, call: Replica['call']): Promise<void> {
  expect(outcomes.wrong).toEqual([]);
  for (const [path, description] of outcomes.done) {
    const { status, body } = await call('GET', `/projects/root%2F${path}`, { token: ROOT_TOKEN });
    expect([path, status, body.description]).toEqual([path, 200, description]);
  }
}

describe('while functions are upgraded one by one', () => {
  let data: ServedData;
  let old: Replica | undefined;
  let fresh: Replica | undefined;
  beforeAll(async () => {
    data = await serveData();
  });
  afterAll(async () => {
    old?.kill();
    fresh?.kill();
    await data[Symbol.asyncDispose]();
  });

  test('old and new versions on the same data answer every request and process every outbox message', async () => {
    const { checkout, name } = release(PREVIOUS);
    old = await Replica.start({ ...data.environment, CHECKOUT: checkout, ROOT_TOKEN });
    let serving = [old];
    let turn = 0;
    const { outcomes, stop } = load(() => serving[turn++ % serving.length]!.url);
    const phase = async (ms: number) => {
      const before = outcomes.done.size;
      await sleep(ms);
      // A busy machine may need longer for the first.
      for (let waited = 0; outcomes.done.size === before && waited < 60_000; waited += 50) await sleep(50);
      expect(outcomes.done.size).toBeGreaterThan(before);
      return outcomes.done.size - before;
    };
    const alone = await phase(1500);
    fresh = await Replica.start(data.environment);
    serving = [old, fresh];
    const together = await phase(2500);
    // No new requests; those under way end.
    serving = [fresh];
    await old.stop();
    const after = await phase(1500);
    await stop();
    console.log(
      `${name}: ${alone} projects alone, ${together} side by side, ${after} after; ${outcomes.retried} retried`,
    );
    expect(outcomes.retried).toBe(0);
    await expectKept(outcomes, (...asked) => fresh!.call(...asked));

    // Messages enqueued by the previous release, in its format, are processed by this one.
    const jobs = await fresh.work();
    expect(jobs.filter((job) => job === 'search.index').length).toBeGreaterThanOrEqual(outcomes.done.size);
    const told = fresh.log.map((line) => JSON.parse(line)).filter(({ message }) => message === 'job');
    expect(told.length).toBe(jobs.length);
    expect(told.filter(({ outcome }) => outcome !== 'done')).toEqual([]);
    // A message of the release before has no id but its own.
    const own = told.filter(({ requestId, messageId }) => requestId === messageId).length;
    expect(own < told.length && own > 0).toBe(checkout !== root);
    const found = await fresh.call('GET', '/projects?search=client-0-0&simple=true', { token: ROOT_TOKEN });
    expect(found.body.map(({ path }: { path: string }) => path)).toContain('client-0-0');
  });
});

describe('while the embedded host restarts for an upgrade', () => {
  test('clients that retry lose nothing', async () => {
    const DATA_DIR = join(folder, 'data');
    let host = await startProcess({ DATA_DIR, ROOT_TOKEN, LOG_LEVEL: 'silent' });
    const { port } = new URL(host.url);
    try {
      const { outcomes, stop } = load(() => `http://127.0.0.1:${port}`);
      for (let restart = 0; restart < 2; restart++) {
        await sleep(700);
        await host.stop();
        host = await startProcess({ DATA_DIR, ROOT_TOKEN, PORT: port, LOG_LEVEL: 'silent' });
      }
      await sleep(500);
      await stop();
      console.log(`${outcomes.done.size} projects over 2 restarts, ${outcomes.retried} requests tried again`);
      expect(outcomes.done.size).toBeGreaterThan(3);
      await expectKept(outcomes, (...asked) => host.call(...asked));
    } finally {
      await host.stop();
    }
  });
});
