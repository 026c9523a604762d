import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Tally } from '../deploy/tally.ts';
import { call } from './client.ts';
import { ExpectedState } from './expected-state.ts';
import { Host, ROOT_TOKEN, settle } from './host.ts';
import { checked } from './kills.ts';
import { expect, report } from './races.ts';
import { introduce, write } from './writers.ts';

const SIZE = '200m';
/** With everybody writing, before the disk is full, and while it is. */
const WRITING_MS = 1500;
const FULL_MS = 2500;
/** The host tries once a second whether there is room. */
const PATIENCE_MS = 30_000;

/** A file system of its own runs full under a host with everybody writing: what was acknowledged stays. */
export async function fullDisk(tally: Tally, folder: string): Promise<void> {
  const disk = join(folder, 'disk');
  mkdirSync(disk);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE}`, 'tmpfs', disk], { stdio: 'ignore' });
  } catch {
    // No other way makes a disk full for one process: a limit of the size of files ends with the first large pack.
    return report('skipped: a full disk, as this process may not mount one');
  }
  const unmount = () => execFileSync('umount', ['-l', disk]);
  // Before the folder is deleted.
  process.prependOnceListener('exit', unmount);
  try {
    await rounds(tally, disk, folder);
  } finally {
    process.removeListener('exit', unmount);
    unmount();
  }
}

async function rounds(tally: Tally, disk: string, folder: string): Promise<void> {
  const dataDir = join(disk, 'data');
  const ballast = join(disk, 'ballast');
  const expectedState = new ExpectedState();
  const first = await Host.start(dataDir);
  const fixtures = await introduce(first.url, folder, expectedState);
  await first.stop();
  const refusals = new Set<string>();
  /** @param ending what happens to the host while the disk is full */
  const round = async (number: number, ending: (host: Host) => Promise<void>) => {
    const host = await Host.start(dataDir);
    const writers = write(host, fixtures, expectedState, number, (_, outcome) => {
      if (outcome.kind === 'refused') refusals.add(outcome.reason);
    });
    await sleep(WRITING_MS);
    fill(ballast);
    await sleep(FULL_MS);
    const errors = host.errors().join('\n');
    const { alive } = host;
    await ending(host);
    await writers;
    rmSync(ballast, { force: true });
    expect(alive, `the host ended by itself: ${host.lastWords}`);
    expect(errors.includes('the disk is full'), `the host did not notice: ${errors}`);
    await checked(dataDir, expectedState, false);
  };
  await tally.step('a full disk, and a kill on it', () => round(1, (host) => host.kill()));
  await tally.step('a full disk, and room again under the same host', () =>
    round(2, async (host) => {
      rmSync(ballast);
      const end = Date.now() + PATIENCE_MS;
      for (let n = 0; ; n++) {
        const made = await call(host.url, ROOT_TOKEN, 'POST', '/projects', { name: `room-${n}` });
        if (made.kind === 'done') break;
        expect(Date.now() < end, `still ${made.reason}`);
        await sleep(100);
      }
      await sleep(WRITING_MS);
      expect((await host.stop()) === 0, `the host did not stop: ${host.lastWords}`);
    }),
  );
  await tally.step('promises made around a full disk are kept', async () => {
    await settle(dataDir);
    await checked(dataDir, expectedState, true);
  });
  await tally.step('a full disk refused nobody but for its fullness, and clones were sound', async () => {
    expect(refusals.size === 0, [...refusals].slice(0, 3).join('\n'));
  });
}

/** Takes all room that there is. */
function fill(path: string): void {
  const file = openSync(path, 'w');
  try {
    for (let size = 2 ** 20; size > 0; ) {
      try {
        writeSync(file, Buffer.alloc(size));
      } catch {
        size = size > 1 ? Math.floor(size / 8) : 0;
      }
    }
  } finally {
    closeSync(file);
  }
}
