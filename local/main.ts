import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseAllowList } from '../lib/outbound/allow-list.ts';
import { type Host, startHost } from './host.ts';
import { chooseLog } from './readable-log.ts';
import { redrive } from './redrive.ts';
import { stopOnSignals } from './signals.ts';

/**
 * `npm start`: reads the environment, starts the host, creates the first administrator and prints the address.
 * `npm start -- --redrive` also moves dead letters back to their queues; `-- --master-key=rotate` and `=retire` change the
 * key that secrets are sealed with.
 */
async function main(): Promise<void> {
  const startedAt = performance.now();
  const dataDir = resolve(process.env['DATA_DIR'] ?? '.data');
  const isNew = !existsSync(dataDir);
  const rootToken = process.env['ROOT_TOKEN'];
  if (rootToken !== undefined && !/^[A-Za-z0-9_-]{20,255}$/.test(rootToken)) {
    throw new Error('ROOT_TOKEN must be 20 to 255 characters of A-Z, a-z, 0-9, _ and -');
  }
  chooseLog();
  const port = Number(process.env['PORT'] ?? 8080);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new Error('PORT must be a number from 0 to 65535');
  const baseUrl = process.env['BASE_URL'];
  if (baseUrl !== undefined && !/^https?:$/.test(URL.parse(baseUrl)?.protocol ?? ''))
    throw new Error('BASE_URL must be a URL, such as https://git.example.com');
  // Otherwise the first call to another server would find out.
  parseAllowList(process.env['OUTBOUND_ALLOW'] ?? '');

  const host = await startHost({
    dataDir,
    port,
    host: process.env['HOST'] ?? '127.0.0.1',
    limits: process.env['GATEWAY_LIMITS'] === '1',
    threads: process.env['FUNCTION_THREADS'] !== '0',
    loadAhead: true,
    ...(baseUrl === undefined ? {} : { baseUrl }),
  });
  const administrator = (await host.invoke(
    'first-administrator',
    rootToken === undefined ? {} : { token: rootToken },
  )) as {
    token?: string;
    username: string;
  };
  stopOnSignals(host);

  const lines = [
    `Lemnos is ready at ${host.url} after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
    `  data      ${dataDir}${isNew ? ' (new)' : ''}`,
    `  try it    ${host.url}/api/docs`,
  ];
  if (rootToken !== undefined)
    lines.push(`  sign in   ${administrator.username}, with the token in ROOT_TOKEN`);
  else if (administrator.token !== undefined) {
    lines.push(
      `  sign in   ${administrator.username}, with this token, shown only now: ${administrator.token}`,
    );
  } else
    lines.push(
      `  sign in   ${administrator.username}, with the token shown at the first start (ROOT_TOKEN=... sets another)`,
    );
  if (process.argv.includes('--redrive')) {
    const moved = [...(await redrive())].map(([queue, count]) => `${count} of ${queue}`);
    lines.splice(1, 0, `  redriven  ${moved.join(', ') || 'no dead letters'}`);
  }
  const step = /^--master-key=(.*)$/.exec(process.argv.find((arg) => arg.startsWith('--master-key=')) ?? '');
  if (step !== null) lines.splice(1, 0, `  master key  ${await changeMasterKey(host, step[1])}`);
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** @returns the result, or why it failed: the host keeps running */
async function changeMasterKey(host: Host, step: string | undefined): Promise<string> {
  try {
    return JSON.stringify(await host.invoke('master-key', { step }));
  } catch (error) {
    return `not changed: ${error instanceof Error ? error.message : String(error)}`;
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`Lemnos could not start: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
