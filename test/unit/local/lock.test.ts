import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lockDirectory } from '../../../local/lock.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lemnos-lock-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test('the lock of a running process keeps other processes out', () => {
  const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60000)']);
  try {
    writeFileSync(join(directory, 'host.pid'), String(child.pid));
    expect(() => lockDirectory(directory)).toThrow(/in use by process/);
  } finally {
    child.kill('SIGKILL');
  }
});

test('the lock of a killed process is taken over', async () => {
  const child = spawn(process.execPath, ['-e', '']);
  await new Promise((resolve) => child.once('exit', resolve));
  writeFileSync(join(directory, 'host.pid'), String(child.pid));
  lockDirectory(directory)();
  lockDirectory(directory)();
});
