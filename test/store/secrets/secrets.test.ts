import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SSMClient } from '@aws-sdk/client-ssm';
import { openSsm } from '@lemnos/embedded-aws/ssm';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { changeMasterKey } from '../../../lib/domain/secrets/master-key.ts';
import { SECRET_SHARDS, secretKey, secretPartition } from '../../../lib/store/row-keys/secrets.ts';
import { MasterKey } from '../../../lib/store/secrets/master-key.ts';
import { Secrets } from '../../../lib/store/secrets/secrets.ts';
import { openTestStore, type TestStore } from '../table/store-fixture.ts';

let opened: TestStore;
let dir: string;
beforeAll(async () => {
  opened = await openTestStore();
  dir = mkdtempSync(join(tmpdir(), 'lemnos-ssm-'));
});
afterAll(async () => {
  await opened.close();
  rmSync(dir, { recursive: true, force: true });
});

let client: SSMClient;
let name: string;
let count = 0;
beforeEach(async () => {
  const { requestHandler } = openSsm({ dir });
  client = new SSMClient({
    endpoint: 'http://ssm.local',
    region: 'local',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    requestHandler,
  });
  name = `/test-${count++}/master-key`;
  for (const row of await rows()) await opened.store.table.delete({ delete: keyOf(row) });
});

const keyOf = (row: Record<string, unknown>) => ({ pk: row['pk'] as string, sk: row['sk'] as string });

async function rows(): Promise<Record<string, unknown>[]> {
  const found: Record<string, unknown>[] = [];
  for (let shard = 0; shard < SECRET_SHARDS; shard++)
    for await (const row of opened.store.table.queryAll({ partition: secretPartition(shard) }))
      found.push(row);
  return found;
}

/** As a function that has just started. */
function start() {
  const masterKey = new MasterKey(name, client);
  return { masterKey, secrets: new Secrets(opened.store.table, masterKey) };
}
type Started = ReturnType<typeof start>;

const keep = async ({ secrets }: Started, owner: string, what: string, text: string) =>
  opened.store.table.transact([await secrets.writeOf(owner, what, text)]);
const change = (at: Date, step?: unknown, started = start()) =>
  changeMasterKey({ store: opened.store, now: () => at }, started, step);
const minutesOn = (minutes: number) => new Date(Date.now() + minutes * 60_000);

test('a secret is readable by another process, and not visible in the table', async () => {
  await keep(start(), 'SETTINGS', 'spamcheck_api_key', 'open sesame');
  expect(await start().secrets.read('SETTINGS', 'spamcheck_api_key')).toBe('open sesame');
  expect(await start().secrets.read('SETTINGS', 'another')).toBeUndefined();
  const [row] = await rows();
  expect(Buffer.from(row!['sealed'] as Uint8Array).includes('sesame')).toBe(false);
  expect(JSON.stringify(row)).not.toContain('sesame');
});

test('a secret moved to another row cannot be opened', async () => {
  const started = start();
  await keep(started, 'PROJECT#1', 'token', 'of the first');
  const [row] = await rows();
  await opened.store.table.put({ put: { ...row, ...secretKey('PROJECT#2', 'token') } });
  await expect(started.secrets.read('PROJECT#2', 'token')).rejects.toThrow();
  expect(await started.secrets.read('PROJECT#1', 'token')).toBe('of the first');
});

test('functions that start at the same time agree on one key', async () => {
  const all = await Promise.all(Array.from({ length: 6 }, () => start().masterKey.keys()));
  expect(new Set(all.map(({ current }) => current)).size).toBe(1);
  expect(new Set(all.map(({ keys }) => JSON.stringify(keys))).size).toBe(1);
});

test('rotation seals all secrets again; a process with the old key still reads, and its new secrets are included', async () => {
  const old = start();
  for (let i = 0; i < 20; i++) await keep(old, `PROJECT#${i}`, 'token', `secret ${i}`);
  const before = await change(new Date());
  expect(before.resealed).toBe(0);

  const rotated = await change(new Date(), 'rotate');
  expect(rotated.resealed).toBe(20);
  expect(rotated.keys).toContain(before.current);
  expect(rotated.current).not.toBe(before.current);
  expect(new Set((await rows()).map((row) => row['key']))).toEqual(new Set([rotated.current]));
  // The old process meets a key it does not know, and reads the keys again.
  expect(await old.secrets.read('PROJECT#3', 'token')).toBe('secret 3');

  const stale = start();
  await stale.masterKey.keys();
  await change(new Date(), 'rotate');
  await keep(stale, 'PROJECT#99', 'token', 'late');
  await expect(change(minutesOn(19), 'retire')).rejects.toThrow('twenty minutes');
  const retired = await change(minutesOn(21), 'retire');
  expect(retired.resealed).toBe(1);
  expect(retired.keys).toEqual([retired.current]);
  const fresh = start();
  expect(await fresh.secrets.read('PROJECT#99', 'token')).toBe('late');
  expect(await fresh.secrets.read('PROJECT#7', 'token')).toBe('secret 7');
});

test('an interrupted rotation is finished by the next one', async () => {
  const old = start();
  for (let i = 0; i < 10; i++) await keep(old, `PROJECT#${i}`, 'token', `secret ${i}`);
  // The key is new, and nothing is sealed with it yet.
  await start().masterKey.rotate(new Date());
  expect((await start().secrets.reseal()).resealed).toBe(10);
  expect(await start().secrets.reseal()).toEqual({ resealed: 0, left: 0 });
});

test('of two concurrent rotations one is refused, and no key is lost', async () => {
  await keep(start(), 'SETTINGS', 'a', 'kept');
  const results = await Promise.allSettled([change(new Date(), 'rotate'), change(new Date(), 'rotate')]);
  expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  expect(await start().secrets.read('SETTINGS', 'a')).toBe('kept');
  await expect(change(new Date(), 'forget')).rejects.toThrow('step is rotate or retire');
});

test('the embedded parameter is a file that only its owner can read', async () => {
  await start().masterKey.keys();
  const file = join(dir, readdirSync(dir).find((entry) => entry.startsWith(encodeURIComponent(name)))!);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(file, 'utf8')).Version).toBe(1);
});
