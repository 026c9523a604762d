import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { logTo } from '../lib/telemetry/log.ts';
import { type Host, startHost } from './host.ts';
import { readable } from './readable-log.ts';
import { redrive } from './redrive.ts';

/**
 * `npm start`: reads the environment, starts the host, makes the first administrator, says where it is.
 * `npm start -- --redrive` also puts back the jobs that were given up; `-- --master-key=rotate` and `=retire` change what
 * secrets are sealed with.
 */
async function main(): Promise<void> {
  const begun = performance.now();
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

  const host = await startHost({
    dataDir,
    port,
    host: process.env['HOST'] ?? '127.0.0.1',
    limits: process.env['GATEWAY_LIMITS'] === '1',
    ...(process.env['BASE_URL'] === undefined ? {} : { baseUrl: process.env['BASE_URL'] }),
  });
  const made = (await host.invoke(
    'first-administrator',
    rootToken === undefined ? {} : { token: rootToken },
  )) as {
    token?: string;
    username: string;
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void host.stop().then(() => process.exit(0)));
  }

  const lines = [
    `Lemnos is ready at ${host.url} after ${((performance.now() - begun) / 1000).toFixed(1)} s`,
    `  data      ${dataDir}${isNew ? ' (new)' : ''}`,
    `  try it    ${host.url}/api/docs`,
  ];
  if (rootToken !== undefined) lines.push(`  sign in   ${made.username}, with the token in ROOT_TOKEN`);
  else if (made.token !== undefined) {
    lines.push(`  sign in   ${made.username}, with this token, shown only now: ${made.token}`);
  } else
    lines.push(
      `  sign in   ${made.username}, with the token you were shown first (ROOT_TOKEN=... sets another)`,
    );
  if (process.argv.includes('--redrive')) {
    const moved = [...(await redrive())].map(([queue, count]) => `${count} of ${queue}`);
    lines.splice(1, 0, `  put back  ${moved.join(', ') || 'nothing was given up'}`);
  }
  const step = /^--master-key=(.*)$/.exec(process.argv.find((arg) => arg.startsWith('--master-key=')) ?? '');
  if (step !== null) lines.splice(1, 0, `  master key  ${await changeMasterKey(host, step[1])}`);
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** @returns what was done, or why it was not: the host serves all the same */
async function changeMasterKey(host: Host, step: string | undefined): Promise<string> {
  try {
    return JSON.stringify(await host.invoke('master-key', { step }));
  } catch (error) {
    return `not changed: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/**
 * Whoever looks on is shown a line per request; who keeps what is printed asks for it (`LOG_LEVEL=info`), because a pipe
 * that nobody reads would in the end hold up the service.
 */
function chooseLog(): void {
  const seen = process.stderr.isTTY === true;
  process.env['LOG_LEVEL'] ??= seen ? 'info' : 'warn';
  const format = process.env['LOG_FORMAT'] ?? (seen ? 'text' : 'json');
  if (format === 'text') logTo((line) => void process.stderr.write(`${readable(line)}\n`));
}

main().catch((error: unknown) => {
  process.stderr.write(`Lemnos could not start: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
