import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type DynamoDBClient,
  QueryCommand,
  ScanCommand,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { openDynamo } from '@lemnos/embedded-aws/dynamodb';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { groupTransaction } from './dynamodb-crash-child.ts';
import { clientOf, partition } from './dynamodb-fixture.ts';

const WRITERS = 8;
const ROUNDS = 6;
let path: string;
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'dynamo-crash-'));
});
afterEach(() => rmSync(path, { recursive: true }));

/** Kills the writers some time after their first line. @returns the last acknowledged version of each group */
async function writeUntilKilled(starts: number[], afterMs: number): Promise<Map<string, number>> {
  const script = join(import.meta.dirname, 'dynamodb-crash-child.ts');
  const child = spawn(process.execPath, [script, path, ...starts.map(String)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').once('data', () => setTimeout(() => child.kill('SIGKILL'), afterMs));
  child.stdout.on('data', (text: string) => {
    output += text;
  });
  const signal = await new Promise((resolve) => child.on('close', (_, by) => resolve(by)));
  expect(signal).toBe('SIGKILL');
  const acknowledged = new Map<string, number>();
  // The last line may be incomplete.
  for (const line of output.split('\n').slice(0, -1)) {
    const [, group, version] = line.split(' ');
    acknowledged.set(group!, Number(version));
  }
  return acknowledged;
}

interface Row {
  sk: string;
  version: number;
  changes: number;
}

async function rowsOf(client: DynamoDBClient, group: string, IndexName?: string): Promise<Row[]> {
  const input = IndexName
    ? partition('h1', group, { IndexName })
    : partition('pk', group, { ConsistentRead: true });
  const { Items } = await client.send(new QueryCommand(input));
  return Items!
    .map((row) => ({
      sk: row['sk']!.S!,
      version: Number(row['version']!.N),
      changes: Number(row['changes']?.N),
    }))
    .sort((a, b) => (a.sk < b.sk ? -1 : 1));
}

test('after kill -9 every acknowledged write is there, and no write is there in part', async () => {
  let starts: number[] = Array(WRITERS).fill(1);
  /** The version of each group when the last round ended. */
  const known = new Map<string, number>();
  for (let round = 0; round < ROUNDS; round++) {
    const acknowledged = await writeUntilKilled(starts, Math.random() * 250);
    const dynamo = await openDynamo({ path });
    const client = clientOf(dynamo);
    const next: number[] = [];
    for (let writer = 0; writer < WRITERS; writer++) {
      let version = 0;
      for (const [group, size] of [
        [`group-${writer}`, 3],
        [`single-${writer}`, 1],
        [`batch-${writer}`, 2],
      ] as const) {
        const rows = await rowsOf(client, group);
        const last = acknowledged.get(group);
        const allowed = last === undefined ? [known.get(group) ?? 0, starts[writer]] : [last, last + 1];
        // One more write may have been committed without an acknowledgement, but not a part of it.
        const versions = new Set(rows.map((row) => row.version));
        expect(versions.size, `${group}: one version`).toBeLessThanOrEqual(1);
        const [found = 0] = versions;
        expect(allowed, `${group}: the last acknowledged, or the next`).toContain(found);
        expect(rows).toHaveLength(found === 0 ? 0 : size);
        expect(await rowsOf(client, group, 'all'), `${group}: its index rows`).toEqual(rows);
        version = Math.max(version, found);
        known.set(group, found);
      }
      // Whether or not the next transaction was committed, a repeat applies it exactly once.
      const repeated = version + 1;
      const { version: current = 0 } = (await rowsOf(client, `group-${writer}`))[0] ?? {};
      for (const again of new Set([Math.max(current, 1), repeated])) {
        await client.send(new TransactWriteItemsCommand(groupTransaction(`group-${writer}`, again)));
      }
      const rows = await rowsOf(client, `group-${writer}`);
      expect(rows.map(({ changes }) => changes)).toEqual([repeated, repeated, repeated]);
      expect(await rowsOf(client, `group-${writer}`, 'all')).toEqual(rows);
      known.set(`group-${writer}`, repeated);
      next.push(repeated + 1);
    }
    const whole = await client.send(new ScanCommand({ TableName: 'main', Select: 'COUNT' }));
    const index = await client.send(
      new ScanCommand({ TableName: 'main', IndexName: 'all', Select: 'COUNT' }),
    );
    expect(index.Count).toBe(whole.Count);
    await dynamo.close();
    starts = next;
  }
});

test('only one process may have a directory open', async () => {
  const first = await openDynamo({ path });
  await expect(openDynamo({ path })).rejects.toThrow('is in use by another process');
  await first.close();
  await (await openDynamo({ path })).close();
});
