import type { ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TWO_OPERATIONS_ON_ONE_ITEM } from '../store/table/strict-tests.ts';
import { conformance } from './conformance.ts';
import { freePort } from './emulator.ts';
import { attempt, run, signal, start } from './process.ts';
import { Tally } from './tally.ts';

const pom = join(import.meta.dirname, 'pom.xml');
const folder = join(import.meta.dirname, '../../.cache/dynamodb-local');

/** Runs the store's conformance suite for DynamoDB on Amazon's emulator, where Java and Maven are. */
export async function dynamodbLocal(tally: Tally): Promise<void> {
  const unavailable = await missing();
  if (unavailable !== undefined) {
    console.log(`skip  conformance of DynamoDB Local: ${unavailable}`);
    return;
  }
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const server = serve(port);
  try {
    await answering(endpoint, server);
    const environment = {
      ...process.env,
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      AWS_REGION: 'us-east-1',
    };
    await conformance(tally, 'dynamodb', {
      name: 'DynamoDB Local',
      environment,
      endpoint,
      except: [TWO_OPERATIONS_ON_ONE_ITEM],
    });
  } finally {
    signal(server, 'SIGKILL');
  }
}

/** Why it cannot run here; nothing when it can. The libraries are fetched once. */
async function missing(): Promise<string | undefined> {
  const there = async (command: string, flag: string) =>
    (await attempt(command, [flag]).catch(() => ({ code: -1 }))).code === 0;
  if (!(await there('java', '-version'))) return 'there is no Java';
  const installed = join(folder, 'installed.xml');
  const wanted = readFileSync(pom, 'utf8');
  if (existsSync(installed) && readFileSync(installed, 'utf8') === wanted) return undefined;
  if (!(await there('mvn', '--version'))) return 'there is no Maven to fetch it with';
  rmSync(folder, { recursive: true, force: true });
  const copy = ['-q', '-B', '-f', pom, 'dependency:copy-dependencies', '-DincludeScope=runtime'];
  await run('mvn', [...copy, `-DoutputDirectory=${folder}`], { timeout: 180_000 });
  writeFileSync(installed, wanted);
  return undefined;
}

function serve(port: number): ChildProcess {
  return start(
    'java',
    [
      `-Djava.library.path=${folder}`,
      ...['-cp', `${join(folder, '*')}${delimiter}`],
      'com.amazonaws.services.dynamodbv2.local.main.ServerRunner',
      ...['-inMemory', '-disableTelemetry', '-port', String(port)],
    ],
    { stdio: 'ignore' },
  );
}

/** Any answer will do: an unsigned request gets a refusal. */
async function answering(endpoint: string, server: ChildProcess): Promise<void> {
  for (let waited = 0; waited < 30_000 && server.exitCode === null; waited += 100) {
    if ((await fetch(endpoint).catch(() => undefined)) !== undefined) return;
    await sleep(100);
  }
  throw new Error('DynamoDB Local did not start');
}

if (import.meta.main) {
  const tally = new Tally();
  await dynamodbLocal(tally);
  console.log(`${tally.passed} passed, ${tally.failed} failed`);
  process.exitCode = tally.failed === 0 ? 0 : 1;
}
