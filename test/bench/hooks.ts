/** How fast hooks are called, one after another and several at once, and what a receiver that never answers costs others. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { git, gitBeside } from './git.ts';
import { HostProcess } from './host.ts';
import type { Report } from './report.ts';

/** A thousand a minute. */
const TARGET_MS = 60;
const PUSHED = 100;
const SEVERAL = 4;
const PATIENCE_MS = 60_000;

export async function hookDeliveries(report: Report): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'lemnos-bench-hooks-'));
  const receiver = await startReceiver();
  const host = await HostProcess.start();
  try {
    await host.call('PUT', '/application/settings', {
      allow_local_requests_from_web_hooks_and_services: true,
      push_event_hooks_limit: PUSHED,
      push_event_activities_limit: 1,
    });
    const row = async (operation: string, hooks: readonly string[]) => {
      const ours = await timeEach(host, receiver, join(folder, operation), hooks);
      report.row({ subject: 'hooks', operation, ours, unit: 'ms', target: TARGET_MS });
    };
    await row('a delivery of one', ['one']);
    await row('a delivery of one beside one that hangs', ['beside', 'hang']);
    await row(
      `a delivery of ${SEVERAL} at once`,
      Array.from({ length: SEVERAL }, (_, i) => `several-${i}`),
    );
  } finally {
    await host.stop();
    receiver.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Milliseconds of a delivery: those of a push of many branches, from the first call to the last. */
async function timeEach(
  host: HostProcess,
  receiver: Awaited<ReturnType<typeof startReceiver>>,
  folder: string,
  hooks: readonly string[],
): Promise<number> {
  const name = hooks[0]!;
  const branches = Array.from({ length: PUSHED }, (_, n) => `HEAD:refs/heads/b${n}`);
  await host.call('POST', '/projects', { name, path: name });
  git(tmpdir(), 'init', '--quiet', folder);
  git(folder, '-c', 'user.name=A', '-c', 'user.email=a@b', 'commit', '--quiet', '--allow-empty', '-m', 'One');
  for (const hook of hooks)
    await host.call('POST', `/projects/root%2F${name}/hooks`, { url: `${receiver.url}/${hook}` });
  const all = PUSHED * hooks.filter((hook) => hook !== HANGS).length;
  const calls = receiver.forget();
  await gitBeside(folder, 'push', '--quiet', host.remote(name), ...branches);
  for (const until = Date.now() + PATIENCE_MS; calls.length < all; ) {
    if (Date.now() > until) throw new Error(`${calls.length} of ${all} calls came`);
    await sleep(20);
  }
  return (calls[all - 1]! - calls[0]!) / (all - 1);
}

const HANGS = 'hang';

async function startReceiver() {
  let calls: number[] = [];
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      if (request.url === `/${HANGS}`) return;
      calls.push(performance.now());
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    /** @returns when each call from now on came */
    forget: (): readonly number[] => {
      calls = [];
      return calls;
    },
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
