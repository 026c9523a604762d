/** The drill of docs/operations.md, "The master key": rotated under use, retired too early and in time, and lost. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deps } from '../../functions/deps.ts';
import { MasterKey } from '../../lib/store/secrets/master-key.ts';
import { Secrets } from '../../lib/store/secrets/secrets.ts';
import { ROOT_TOKEN, type Service, startService } from '../harness/service.ts';

let service: Service;
const dataDir = mkdtempSync(join(tmpdir(), 'lemnos-master-key-'));
beforeAll(async () => {
  service = await startService({ dataDir });
});
afterAll(async () => {
  await service.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

interface State {
  readonly current: string;
  readonly keys: readonly string[];
  readonly resealed: number;
}
const change = (step?: string) => service.host.invoke('master-key', { step }) as Promise<State>;
const put = (json: Record<string, unknown>) =>
  service.call('PUT', '/application/settings', { token: ROOT_TOKEN, json });
/** As a function that has just started. */
const start = () => {
  const { store, environment } = deps();
  return new Secrets(store.table, new MasterKey(environment.masterKeyParameter));
};

test('the master key is rotated and the old one retired under load', async () => {
  await put({ spamcheck_enabled: true, spamcheck_api_key: 'of the first day' });
  const before = await change();
  expect(before).toMatchObject({ keys: [before.current], resealed: 0 });
  const behind = start();
  await behind.read('SETTINGS', 'akismet_api_key');

  const rotated = await change('rotate');
  expect(rotated).toMatchObject({ keys: [before.current, rotated.current], resealed: 1 });
  // A function that has not heard of it seals with the old key.
  await deps().store.table.transact([
    await behind.writeOf('SETTINGS', 'asset_proxy_secret_key', 'meanwhile'),
  ]);
  expect(await start().read('SETTINGS', 'asset_proxy_secret_key')).toBe('meanwhile');

  await expect(change('retire')).rejects.toThrow('twenty minutes');
  const { now } = deps();
  Object.assign(deps(), { now: () => new Date(Date.now() + 21 * 60_000) });
  const retired = await change('retire').finally(() => Object.assign(deps(), { now }));
  expect(retired).toEqual({ current: rotated.current, keys: [rotated.current], resealed: 1 });
  expect(await start().read('SETTINGS', 'akismet_api_key')).toBe('of the first day');
  expect(await start().read('SETTINGS', 'asset_proxy_secret_key')).toBe('meanwhile');
});

test('without the master key only secrets are unusable, until they are set again', async () => {
  for (const file of readdirSync(join(dataDir, 'parameters'))) rmSync(join(dataDir, 'parameters', file));
  await expect(start().read('SETTINGS', 'akismet_api_key')).rejects.toThrow('a secret stays shut');
  expect((await service.call('GET', '/application/settings', { token: ROOT_TOKEN })).body).toMatchObject({
    spamcheck_enabled: true,
  });
  // By a function that started since: what runs on seals with what it remembers, for a minute.
  await deps().store.table.transact([await start().writeOf('SETTINGS', 'akismet_api_key', 'given anew')]);
  expect(await start().read('SETTINGS', 'akismet_api_key')).toBe('given anew');
});
