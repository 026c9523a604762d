import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { signal, start } from './process.ts';
import { pythonWith } from './python.ts';

const root = join(import.meta.dirname, '../..');
const requirements = join(import.meta.dirname, 'requirements.txt');

/** AWS emulated on loopback, with IAM enforced, for as long as it is not disposed of. */
export interface Emulator extends AsyncDisposable {
  readonly endpoint: string;
  readonly python: string;
  /** A temporary folder that goes with it. */
  readonly folder: string;
  /** The environment in which AWS's tools talk to the emulator, and to nothing else. */
  readonly environment: NodeJS.ProcessEnv;
  /** What it wrote since it started. */
  log(): string;
}

/** Installs the emulator on first use, into a folder of its own, and starts it with empty data. */
export async function startEmulator(): Promise<Emulator> {
  const python = await pythonWith(requirements, 'emulator');
  const port = await freePort();
  const data = mkdtempSync(join(tmpdir(), 'lemnos-deploy-'));
  const endpoint = `http://127.0.0.1:${port}`;
  const environment = environmentFor(endpoint);
  const logFile = join(data, 'emulator.log');
  const output = openSync(logFile, 'w');
  const child = start(
    python,
    ['-m', 'hypercorn', 'aws_behaviour:app', '--bind', `127.0.0.1:${port}`, '--keep-alive', '75'],
    {
      cwd: data,
      stdio: ['ignore', output, output],
      env: {
        ...environment,
        PYTHONPATH: import.meta.dirname,
        PYTHONDONTWRITEBYTECODE: '1',
        TMPDIR: data,
        STATE_DIR: join(data, 'state'),
        S3_DATA_DIR: join(data, 's3'),
        GATEWAY_PORT: String(port),
        BIND_HOST: '127.0.0.1',
        // Every call is held against the policies of the role that makes it.
        AUTH: 'true',
      },
    },
  );
  let ended = false;
  child.once('exit', () => {
    ended = true;
  });
  const discard = () => rmSync(data, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  process.once('exit', discard);

  const emulator: Emulator = {
    endpoint,
    python,
    folder: data,
    environment,
    log: () => readFileSync(logFile, 'utf8'),
    async [Symbol.asyncDispose]() {
      signal(child, 'SIGTERM');
      for (let waited = 0; waited < 3000 && !ended; waited += 50) await sleep(50);
      signal(child, 'SIGKILL');
      process.removeListener('exit', discard);
      discard();
    },
  };
  for (let waited = 0; waited < 30_000 && !ended; waited += 100) {
    const answer = await fetch(`${endpoint}/_ministack/health`).catch(() => undefined);
    if (answer?.ok) return emulator;
    await sleep(100);
  }
  const log = emulator.log();
  await emulator[Symbol.asyncDispose]();
  throw new Error(`The emulator did not start:\n${log}`);
}

/** Nothing of the caller's own AWS settings: a profile or an endpoint left in it could reach a real account. */
function environmentFor(endpoint: string): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^(AWS|CDK)_/i.test(name));
  return {
    ...Object.fromEntries(own),
    // The Node that runs the functions too.
    PATH: `${join(root, 'node_modules/.bin')}:${process.env['PATH'] ?? ''}`,
    AWS_ENDPOINT_URL: endpoint,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_REGION: 'us-east-1',
    AWS_DEFAULT_REGION: 'us-east-1',
    AWS_S3_FORCE_PATH_STYLE: '1',
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    AWS_EC2_METADATA_DISABLED: 'true',
    CDK_DISABLE_CLI_TELEMETRY: 'true',
    NO_PROXY: '127.0.0.1,localhost',
    no_proxy: '127.0.0.1,localhost',
  };
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
