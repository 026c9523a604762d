import { closeSync, copyFileSync, fsyncSync, mkdtempSync, openSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type HostProcess, OTHER_STORAGE } from './host.ts';
import { median } from './measure.ts';
import type { Report } from './report.ts';
import type { Subject } from './subjects.ts';

/** Moves a repository of the host to another storage, beside copying the packs that git has of it. */
export async function storageMove(report: Report, host: HostProcess, subject: Subject): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'lemnos-bench-copy-'));
  try {
    const ours = await median(1, () => move(host, subject.name, OTHER_STORAGE));
    const packs = join(subject.directory, 'objects/pack');
    const git = await median(3, () => copy(packs, folder));
    report.row({
      subject: subject.name,
      operation: 'storage move (git: its packs copied)',
      ours,
      git,
      unit: 'ms',
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function move(host: HostProcess, project: string, to: string): Promise<void> {
  const moves = `/projects/root%2F${project}/repository_storage_moves`;
  const { id } = await (await host.call('POST', moves, { destination_storage_name: to })).json();
  for (;;) {
    const { state } = await (await host.call('GET', `${moves}/${id}`)).json();
    if (state === 'replicated') return;
    if (state === 'failed') throw new Error(`the move of ${project} failed`);
    await sleep(10);
  }
}

/** Until the bytes are on the disk. */
function copy(from: string, to: string): void {
  for (const name of readdirSync(from)) {
    copyFileSync(join(from, name), join(to, name));
    const file = openSync(join(to, name), 'r');
    fsyncSync(file);
    closeSync(file);
  }
}
