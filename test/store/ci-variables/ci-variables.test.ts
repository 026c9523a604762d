import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SSMClient } from '@aws-sdk/client-ssm';
import { openSsm } from '@lemnos/embedded-aws/ssm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CiVariable } from '../../../lib/records/ci-variables.ts';
import { AlreadyExists, Stale } from '../../../lib/store/errors.ts';
import { variableCountKey } from '../../../lib/store/row-keys/ci-variables.ts';
import { MasterKey } from '../../../lib/store/secrets/master-key.ts';
import { Secrets } from '../../../lib/store/secrets/secrets.ts';
import { openTestStore, type TestStore } from '../table/store-fixture.ts';

let opened: TestStore;
let dir: string;
let masterKey: MasterKey;
let secrets: Secrets;
beforeAll(async () => {
  opened = await openTestStore();
  dir = mkdtempSync(join(tmpdir(), 'lemnos-ssm-'));
  const client = new SSMClient({
    endpoint: 'http://ssm.local',
    region: 'local',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    requestHandler: openSsm({ dir }).requestHandler,
  });
  masterKey = new MasterKey('/test/master-key', client);
  secrets = new Secrets(opened.store.table, masterKey);
});
afterAll(async () => {
  await opened.close();
  rmSync(dir, { recursive: true, force: true });
});

const owner = { kind: 'instance' } as const;
const at = '2030-01-01T00:00:00.000Z';
const variable = (id: number, key: string, change: Partial<CiVariable> = {}): CiVariable => ({
  id,
  owner,
  key,
  value: `value ${id}`,
  type: 'env_var',
  protected: false,
  masked: false,
  raw: false,
  environmentScope: '*',
  createdAt: at,
  updatedAt: at,
  version: 1,
  ...change,
});
const count = () => opened.store.table.get(variableCountKey(owner));

test('of several who create one key at once, one does, and one is counted', async () => {
  const { ciVariables } = opened.store;
  const tried = await Promise.allSettled(
    [1, 2, 3, 4].map((id) => ciVariables.create(secrets, variable(id, 'RACE'))),
  );
  expect(tried.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const each of tried) if (each.status === 'rejected') expect(each.reason).toBeInstanceOf(AlreadyExists);
  const [only, ...others] = await ciVariables.of(secrets, owner);
  expect(others).toEqual([]);
  expect(await count()).toMatchObject({ total: 1, bytes: 7 });
  await ciVariables.remove(only!);
  expect(await count()).toMatchObject({ total: 0, bytes: 0 });
});

test('of a change, another change and a deletion at once, one happens', async () => {
  const { ciVariables } = opened.store;
  const made = variable(10, 'CHANGED');
  await ciVariables.create(secrets, made);
  const tried = await Promise.allSettled([
    ciVariables.change(secrets, made, { value: 'much longer' }, new Date(at)),
    ciVariables.change(secrets, made, { environmentScope: 'prod' }, new Date(at)),
    ciVariables.remove(made),
  ]);
  expect(tried.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const each of tried) if (each.status === 'rejected') expect(each.reason).toBeInstanceOf(Stale);
  const left = await ciVariables.of(secrets, owner);
  const bytes = left.reduce((sum, { value }) => sum + value.length, 0);
  expect(await count()).toMatchObject({ total: left.length, bytes });
  for (const each of left) await ciVariables.remove(each);
});

test('values are sealed again with a new master key, and stay what they were', async () => {
  const { ciVariables } = opened.store;
  const made = variable(20, 'SEALED', { masked: true });
  await ciVariables.create(secrets, made);
  await masterKey.rotate(new Date());
  expect((await secrets.reseal()).resealed).toBe(1);
  await masterKey.retire();
  expect(await ciVariables.ofKey(secrets, owner, 'SEALED')).toEqual([made]);
  await ciVariables.remove(made);
});
