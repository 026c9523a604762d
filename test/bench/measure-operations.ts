import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { median, medians } from './measure.ts';
import { operationsOn } from './operations.ts';
import type { Report } from './report.ts';
import type { Subject } from './subjects.ts';

/** Limit for the peak memory of a process that runs a single operation, in MB. */
const MEMORY_LIMIT = 1024;
const MEMORY = join(import.meta.dirname, 'operation-memory.ts');

/**
 * Times compared with git's, and the memory of each single operation.
 * @param only part of the names of those that are wanted
 */
export async function measureOperations(
  report: Report,
  { name, directory }: Subject,
  only = /./,
): Promise<void> {
  const wanted = operationsOn(directory).filter((operation) => only.test(operation.name));
  for (const { name: operation, runs, target, ours, git } of wanted) {
    const row = { subject: name, operation, unit: 'ms' } as const;
    if (git === undefined) report.row({ ...row, ours: await median(runs, ours) });
    else report.row({ ...row, ...(await medians(runs, ours, git)), ...(target ? { target } : {}) });
    const peak = execFileSync(process.execPath, [MEMORY, directory, operation], { encoding: 'utf8' });
    report.limit({
      subject: name,
      operation: `${operation}: memory`,
      ours: Number(peak),
      unit: 'MB',
      target: MEMORY_LIMIT,
    });
  }
}
