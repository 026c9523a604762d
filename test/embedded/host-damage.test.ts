import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ClassicLevel } from 'classic-level';
import { expect, test } from 'vitest';
import { projectKey } from '../../lib/store/row-keys/projects.ts';
import { TABLE_DIR } from '../../local/data-directory.ts';
import { Host } from '../crash/host.ts';
import { ownHost } from './own-host.ts';

const CHECK_DATA = fileURLToPath(new URL('../../local/check-data.ts', import.meta.url));
const TEXT = 'this-text-is-damaged';
const own = ownHost('host-damage');
const { call } = own;

/** Changes a letter of each stored {@link TEXT}. @returns how many there were */
async function damage(): Promise<number> {
  const table = join(own.dataDir, TABLE_DIR);
  // In sorted tables, and as it was written: a log is read when the host starts, and compressed text is not found.
  const level = new ClassicLevel(table, { compression: false });
  await level.open();
  await level.compactRange('', '~');
  await level.close();
  let found = 0;
  for (const name of readdirSync(table).filter((each) => each.endsWith('.ldb'))) {
    const bytes = readFileSync(join(table, name));
    for (let at = bytes.indexOf(TEXT); at >= 0; at = bytes.indexOf(TEXT, at)) {
      bytes[at]! ^= 1;
      found += 1;
    }
    writeFileSync(join(table, name), bytes);
  }
  return found;
}

async function checkData(): Promise<{ code: number; text: string }> {
  const child = spawn(process.execPath, [CHECK_DATA], {
    env: { PATH: process.env['PATH'], DATA_DIR: own.dataDir },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  const [code] = (await once(child, 'close')) as [number];
  return { code, text };
}

test('a damaged row is answered with 503 and logged once, the rest is served, and check:data names it', async () => {
  own.host = await Host.start(own.dataDir);
  const damaged = (await call('POST', '/projects', { name: 'damaged', description: TEXT })).body;
  const whole = (await call('POST', '/projects', { name: 'whole' })).body;
  expect([damaged.id, whole.id]).toEqual([expect.any(Number), expect.any(Number)]);
  await own.host.stop();
  expect(await checkData()).toMatchObject({ code: 0 });
  expect(await damage()).toBeGreaterThan(0);

  const key = Buffer.from(projectKey(damaged.id).pk).toString('hex');
  const row = new RegExp(`The row .*${key}.* is damaged`);
  own.host = await Host.start(own.dataDir);
  for (let i = 0; i < 2; i++) {
    const { status, body } = await call('GET', `/projects/${damaged.id}`);
    expect(status).toBe(503);
    expect(JSON.stringify(body)).not.toContain(TEXT.slice(1));
  }
  expect((await call('GET', `/projects/${whole.id}`)).body.name).toBe('whole');
  const told = own.host
    .errors()
    .map((line) => JSON.parse(line))
    .filter(({ message, error }) => message === 'table' && row.test(String(error)));
  expect(told, own.host.errors().join('\n')).toHaveLength(1);
  await own.host.stop();

  const { code, text } = await checkData();
  expect(code, text).toBe(1);
  expect(text).toMatch(/^damaged {3}The row /m);
  expect(text).toMatch(row);
  expect(text).toContain('restore a copy');
});
