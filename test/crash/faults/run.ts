import { awsClients } from '../../../lib/store/clients.ts';
import type { Tally } from '../../deploy/tally.ts';
import { startService } from '../../harness/service.ts';
import { changeSettings } from '../../harness/settings.ts';
import { check } from '../checker.ts';
import { ExpectedState } from '../expected-state.ts';
import { expect, report } from '../races.ts';
import { alertJobs } from './alert-endpoints.ts';
import { brought } from './brought.ts';
import { Driver, type Operation } from './driver.ts';
import { reads, writes } from './endpoints.ts';
import { errorTrackingJobs } from './error-tracking-endpoints.ts';
import { Fixtures } from './fixtures.ts';
import { gitOperations } from './git.ts';
import { removeInstanceHooks } from './hook-endpoints.ts';
import { hookJobs } from './hook-jobs.ts';
import { Injector } from './injector.ts';
import { jobs } from './jobs.ts';
import { leavings } from './leaving-endpoints.ts';
import { lfsOperations } from './lfs.ts';
import { mergeRequestJobs } from './merge-request-jobs.ts';
import { pipelineJobs } from './pipeline-jobs.ts';
import { storageMoveJobs } from './storage-move-jobs.ts';
import { uploads } from './uploads.ts';

/**
 * Every call to AWS of every operation fails once in every way it can. `FAULTS=<text>` tries those whose name has it,
 * `FAULTS_PART=<n>/<of>` each n-th of all, `FAULTS_SHARD=<n>/<of>` each n-th of those (`faults-suite.ts`).
 */
export async function faults(tally: Tally, dataDir: string): Promise<void> {
  // The address of the other server, for imports.
  process.env['OUTBOUND_ALLOW'] = '127.0.0.1';
  // Storages to move repositories to.
  process.env['REPOSITORY_STORAGES'] = 'cold,warm';
  const service = await startService({ dataDir, background: false });
  // The same thing is done again and again.
  await changeSettings(service, {
    ...{ project_import_limit: 0, raw_blob_request_limit: 0, notes_create_limit: 0, issues_create_limit: 0 },
  });
  const fixtures = new Fixtures(service);
  const driver = new Driver(fixtures, new Injector(service.host));
  const only = process.env['FAULTS'] ?? '';
  const [shard = 0, shards = 1] = (process.env['FAULTS_SHARD'] ?? '0/1').split('/').map(Number);
  const [part = 0, parts = 1] = (process.env['FAULTS_PART'] ?? '0/1').split('/').map(Number);
  const operations: readonly Operation[] = [
    ...writes,
    ...leavings,
    ...reads,
    ...gitOperations,
    ...lfsOperations,
    ...uploads,
    ...jobs,
    ...mergeRequestJobs,
    ...hookJobs,
    ...storageMoveJobs,
    ...pipelineJobs,
    ...errorTrackingJobs,
    ...alertJobs,
    ...brought,
  ];
  const totals = { sites: 0, runs: 0 };
  // What the service has to say of faults is what it was told to.
  const log = console.error;
  console.error = () => {};
  try {
    const chosen = operations
      .filter(({ name }, i) => name.includes(only) && (i + part) % parts === 0)
      .filter((_, i) => i % shards === shard);
    for (const operation of chosen) {
      await tally.step(`faults: ${operation.name}`, async () => {
        const { sites, runs, ends, problems } = await driver.try(operation);
        totals.sites += sites;
        totals.runs += runs;
        if (operation.name.includes(' /hooks')) await removeInstanceHooks(fixtures);
        report(`${sites} calls, ${runs} runs: ${ends.done} done, ${ends.unavailable} told to be unavailable`);
        expect(problems.length === 0, told(problems));
      });
    }
    report(`${totals.sites} calls, ${totals.runs} runs`);
    await tally.step(
      'after the faults everything stored is in order, and every promise is kept',
      async () => {
        const problems = await storedProblems(fixtures, await fixtures.settle());
        expect(problems.length === 0, told(problems));
      },
    );
  } finally {
    console.error = log;
    await fixtures.end();
    await service.stop();
  }
}

/** What the checker of the crash suite finds in a running service that nobody talks to; what falls due later waits. */
export async function storedProblems(
  { service, store }: Fixtures,
  settledAt: number,
): Promise<readonly string[]> {
  const data = {
    store,
    clients: awsClients(),
    dynamo: service.host.dynamo,
    async [Symbol.asyncDispose]() {},
  };
  return (await check(data, new ExpectedState(), settledAt)).problems;
}

const told = (problems: readonly string[]) =>
  `${problems.length} problems\n${problems
    .slice(0, 12)
    .map((problem) => problem.slice(0, 600))
    .join('\n')}`;
