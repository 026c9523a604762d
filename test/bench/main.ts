/**
 * `npm run bench`: this service beside git itself, on the same machine in the same run.
 *
 * `BENCH_REPOS` names a folder with the bare repositories express.git and git.git; without it a generated history
 * is measured. `BENCH_PROFILE` names a folder for the host's CPU profiles. A figure that misses its target is
 * marked `over` and fails nothing; a wrong answer, or memory above the limit, does.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agreement } from './agreement.ts';
import { measureDerived } from './derived.ts';
import { measureEngine } from './engine.ts';
import { HostProcess } from './host.ts';
import { apiReads } from './reads.ts';
import { Report } from './report.ts';
import { bundles, start } from './start.ts';
import { subjects } from './subjects.ts';
import { transfer } from './transfer.ts';

/** MB of the host's process, at any moment of pushes, clones and reads. */
const MEMORY_LIMIT = 1536;

const report = new Report();
const scratch = mkdtempSync(join(tmpdir(), 'lemnos-bench-'));
try {
  for (const subject of subjects(scratch)) {
    const host = await HostProcess.start();
    try {
      await transfer(report, host, subject);
      await apiReads(report, host, subject);
      const ours = host.peakMemory();
      if (ours !== undefined) {
        const operation = 'peak memory of the host';
        report.limit({ subject: subject.name, operation, ours, unit: 'MB', target: MEMORY_LIMIT });
      }
    } finally {
      await host.stop();
    }
    await measureEngine(report, subject);
    await measureDerived(report, subject);
    await agreement(report, subject, scratch);
  }
  await start(report);
  await bundles(report);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
process.exitCode = report.end() ? 0 : 1;
