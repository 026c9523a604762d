import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { HostProcess } from './host.ts';
import type { Report } from './report.ts';

const READY_WITHIN = 5_000;
const BUNDLE_KB = 900;
const IMPORT_MS = 120;

/** How long `npm start` takes on an empty data directory, including the start of the process. */
export async function start(report: Report): Promise<void> {
  const times: number[] = [];
  for (let i = 0; i < 3; i++) {
    const host = await HostProcess.start();
    times.push(host.readyAfter);
    await host.stop();
  }
  const ours = Math.min(...times);
  report.row({ subject: 'host', operation: 'ready', ours, unit: 'ms', target: READY_WITHIN });
}

/** What a cold start loads: the largest bundle, and the slowest to import, of all functions. */
export function bundles(report: Report): void {
  const root = join(import.meta.dirname, '../..');
  const run = spawnSync(process.execPath, ['cdk/build.ts'], { cwd: root, encoding: 'utf8' });
  // Report which function failed, and why.
  if (run.status !== 0) process.stdout.write(`${run.stdout}${run.stderr}`);
  report.check('the bundles are made and within their sizes', run.status === 0);
  const built = [...run.stdout.matchAll(/^([\w-]+) +(\d+) +(\d+)/gm)].map(([, name, size, time]) => ({
    name: name!,
    size: Number(size),
    time: Number(time),
  }));
  if (built.length === 0) return;
  const [largest] = built.toSorted((a, b) => b.size - a.size);
  const [slowest] = built.toSorted((a, b) => b.time - a.time);
  const row = { subject: 'functions' } as const;
  report.row({
    ...row,
    operation: `largest bundle: ${largest!.name}`,
    ours: largest!.size,
    unit: 'KB',
    target: BUNDLE_KB,
  });
  report.row({
    ...row,
    operation: `slowest import: ${slowest!.name}`,
    ours: slowest!.time,
    unit: 'ms',
    target: IMPORT_MS,
  });
}
