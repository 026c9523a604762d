import { closeSync, copyFileSync, fsyncSync, mkdtempSync, openSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gitBeside } from './git.ts';
import { type HostProcess, OTHER_STORAGE } from './host.ts';
import { median } from './measure.ts';
import type { Report } from './report.ts';
import type { Subject } from './subjects.ts';

const DEFAULT_STORAGE = 'default';
const REFUSED_MS = 1_000;

/** Moves a repository of the host to another storage, beside copying the packs that git has of it, and pushes to it meanwhile. */
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
    const { longest, refusedFor } = await pushesDuring(host, subject);
    const row = { subject: subject.name, unit: 'ms' } as const;
    report.row({ ...row, operation: 'longest push during a move', ours: longest });
    report.row({ ...row, operation: 'pushes refused during a move', ours: refusedFor, target: REFUSED_MS });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Pushes a new branch again and again while the repository moves back. @returns the longest time of each */
async function pushesDuring(
  host: HostProcess,
  { name, directory }: Subject,
): Promise<{ readonly longest: number; readonly refusedFor: number }> {
  let moving = true;
  const moved = move(host, name, DEFAULT_STORAGE).finally(() => {
    moving = false;
  });
  let [longest, refusedFor, accepted] = [0, 0, performance.now()];
  for (let n = 0; moving; n++) {
    const begun = performance.now();
    try {
      await gitBeside(directory, 'push', '--quiet', host.remote(name), `HEAD:refs/heads/during-${n}`);
      longest = Math.max(longest, performance.now() - begun);
      accepted = performance.now();
    } catch {
      refusedFor = Math.max(refusedFor, performance.now() - accepted);
    }
  }
  await moved;
  return { longest, refusedFor };
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
