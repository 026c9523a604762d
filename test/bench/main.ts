/**
 * `npm run bench`: this service compared with git, on the same machine in the same run. `npm run bench growth`: what
 * requests cost as a repository grows, and nothing else. `npm run bench refs`: the same of a million branches. `npm run
 * bench merges 2000`: as many merges of each history, compared with those of git.
 * `npm run bench load`: many people at once (`load.ts`). `npm run bench hooks`: pushes, clones, a move to another
 * storage, and calls of hooks, no more. `npm run bench proposals`: verdicts, changes and merges of merge requests.
 * `npm run bench jobs`: from pushes to their jobs.
 *
 * `BENCH_REPOS` names a folder with the bare repositories express.git and git.git; without it a generated history
 * is measured. `BENCH_PROFILE` names a folder for the host's CPU profiles. A figure that misses its target is
 * marked `over` and fails nothing; a wrong answer, or memory above the limit, does.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agreement, agreementOfMerges } from './agreement.ts';
import { measureDerived } from './derived.ts';
import { measureEngine } from './engine.ts';
import { growth } from './growth.ts';
import { hookDeliveries } from './hooks.ts';
import { HostProcess } from './host.ts';
import { jobsOfPushes } from './jobs.ts';
import { load } from './load.ts';
import { measureOperations } from './measure-operations.ts';
import { changesOfMergeRequest, mergeRequests } from './merging.ts';
import { apiReads } from './reads.ts';
import { manyRefs } from './refs.ts';
import { Report } from './report.ts';
import { bundles, start } from './start.ts';
import { storageMove } from './storage-move.ts';
import { subjects } from './subjects.ts';
import { pushed, transfer } from './transfer.ts';

/** Limit for the peak memory of the host, in MB, with pushes, clones and reads. */
const MEMORY_LIMIT = 1536;
/** The same with API reads only. */
const READ_MEMORY_LIMIT = 512;

if (process.argv[2] === 'growth' || process.argv[2] === 'refs') {
  await (process.argv[2] === 'growth' ? growth() : manyRefs());
  process.exit(0);
}
const report = new Report();
const scratch = mkdtempSync(join(tmpdir(), 'lemnos-bench-'));
try {
  const only = process.argv[2] === 'merges' ? Number(process.argv[3] ?? 2000) : undefined;
  const all = subjects(scratch);
  const underLoad = process.argv[2] === 'load';
  const hooksAlone = process.argv[2] === 'hooks';
  const proposalsAlone = process.argv[2] === 'proposals';
  const jobsAlone = process.argv[2] === 'jobs';
  // The larger one, where there are two.
  if (underLoad) await load(report, all.at(-1)!);
  for (const subject of underLoad || jobsAlone ? [] : all) {
    if (only !== undefined) {
      await agreementOfMerges(report, subject, scratch, only);
      continue;
    }
    let host = await HostProcess.start();
    if (proposalsAlone) {
      try {
        await pushed(host, subject, subject.name);
        await mergeRequests(report, host, subject);
        await changesOfMergeRequest(report, host, subject);
      } finally {
        await host.stop();
      }
      await measureOperations(report, subject, /verdict|three-way|diff/);
      continue;
    }
    const memory = (operation: string, target: number) => {
      const ours = host.peakMemory();
      if (ours !== undefined) report.limit({ subject: subject.name, operation, ours, unit: 'MB', target });
    };
    try {
      await transfer(report, host, subject);
      memory('peak memory of the host', MEMORY_LIMIT);
      await storageMove(report, host, subject);
      if (hooksAlone) continue;
      // API reads only, in a new process, without the memory of pushes.
      host = await host.again();
      await apiReads(report, host, subject);
      memory('peak memory of API reads', READ_MEMORY_LIMIT);
      await mergeRequests(report, host, subject);
      await changesOfMergeRequest(report, host, subject);
    } finally {
      await host.stop();
    }
    await measureEngine(report, subject);
    await measureOperations(report, subject);
    await measureDerived(report, subject);
    await agreement(report, subject, scratch);
  }
  const whole = only === undefined && !underLoad && !hooksAlone && !proposalsAlone && !jobsAlone;
  if (whole || hooksAlone) await hookDeliveries(report);
  if (whole || jobsAlone) await jobsOfPushes(report);
  if (whole) {
    await start(report);
    await bundles(report);
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
process.exitCode = report.end() ? 0 : 1;
