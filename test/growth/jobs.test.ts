/**
 * What lists of jobs and pipelines cost, and what a runner's request for a job does, does not depend on how many there are:
 * with 2,000 jobs in a project, a tenth of which wait, and with five times as many. `GROWTH_JOBS=1000000` makes a million.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { projectScope } from '../../lib/domain/jobs/scopes.ts';
import type { CiStatus, JobRecord, PipelineRecord } from '../../lib/records/pipelines.ts';
import { awsClients } from '../../lib/store/clients.ts';
import { queuedJob, queuesOf } from '../../lib/store/jobs/rows.ts';
import { newPipeline } from '../../lib/store/pipelines/rows.ts';
import { jobIdKey, jobKey, jobSpecKey, jobStateKey, runnerJobKey } from '../../lib/store/row-keys/jobs.ts';
import { TableClient } from '../../lib/store/table/table-client.ts';
import { BulkTable } from '../harness/bulk-table.ts';
import { RoundTrips } from '../harness/round-trips.ts';
import { type Service, startService } from '../harness/service.ts';
import { smallRunner } from '../harness/small-runner.ts';
import { storeOf } from '../harness/world.ts';
import { type Cost, costOf, shownCosts } from './page-cost.ts';

const SMALL = 2_000;
const LARGE = Number(process.env['GROWTH_JOBS'] ?? 10_000);
const PER_PIPELINE = 10;
/** Below those of later jobs, which runners take last. */
const FIRST = 1_000_000;

interface Pattern {
  readonly path: () => string;
  readonly most: Pick<Cost, 'trips' | 'kilobytes'>;
  readonly rows?: number;
  /** The total among so many jobs; up to 10,000 it is told. */
  readonly total?: (jobs: number) => number;
}

let service: Service;
let trips: RoundTrips;
let owner: Awaited<ReturnType<Service['user']>>;
let me: Awaited<ReturnType<Service['user']>>;
let project: number;
let sha: string;
/** Takes jobs with the tag of nearly all that wait, and has taken all others. */
let runner: Awaited<ReturnType<typeof smallRunner>>;
/** Takes the newest of those that wait alone. */
let other: Awaited<ReturnType<typeof smallRunner>>;
let size = 0;

const isWaiting = (n: number) => n % 10 === 9;
const statusOf = (n: number): CiStatus =>
  isWaiting(n) ? 'pending' : n % 10 === 3 ? 'failed' : n % 1000 === 1 ? 'canceled' : 'success';
const countOf = (all: number, is: (n: number) => boolean) =>
  Array.from({ length: all }, (_, n) => n).filter(is).length;
/** Of pipelines. */
const isMine = (n: number) => n % 5 === 2;
const isOfMain = (n: number) => n % 2 === 0;
const isFailed = (n: number) => n % 4 === 1;
const pipelinesOf = (jobs: number) => jobs / PER_PIPELINE;

const jobs = (query: string) => () => `/projects/${project}/jobs?per_page=20&${query}`;
const pipelines = (query: string) => () => `/projects/${project}/pipelines?per_page=20&${query}`;
const day = (n: number) => at(n * 86_400);

/** Two round trips for the caller and the project, and a few for keys and records. */
const PAGE = { trips: 8, kilobytes: 60 };
/** The same where 1,000 records are looked at for the total. */
const WALKED = { trips: 15, kilobytes: 1_400 };
/** The same where the page is not full by then: 5,000 at most. */
const WALKED_ON = { trips: 24, kilobytes: 4_000 };

const PATTERNS: Readonly<Record<string, Pattern>> = {
  'jobs of a project': { path: jobs(''), most: PAGE },
  'jobs of a project, page 30': { path: jobs('page=30'), most: { trips: 9, kilobytes: 1_200 } },
  'jobs of a project, failed': { path: jobs('scope=failed'), most: PAGE },
  'jobs of a project, three scopes': {
    path: jobs('scope[]=failed&scope[]=pending&scope[]=canceled'),
    most: PAGE,
  },
  'jobs of a pipeline': {
    path: () => `/projects/${project}/pipelines/${FIRST + 50}/jobs`,
    most: PAGE,
    rows: 10,
  },
  'one job': { path: () => `/projects/${project}/jobs/${FIRST + 500}`, most: PAGE, rows: 1 },
  'jobs of a runner': {
    path: () => `/runners/${runner.id}/jobs?per_page=20`,
    most: { trips: 9, kilobytes: 60 },
  },
  'jobs of a runner, by status': {
    path: () => `/runners/${runner.id}/jobs?per_page=20&status=failed`,
    most: WALKED,
  },
  pipelines: { path: pipelines(''), most: PAGE, total: pipelinesOf },
  'pipelines of a ref': {
    path: pipelines('ref=main'),
    most: PAGE,
    total: (n) => countOf(pipelinesOf(n), isOfMain),
  },
  'pipelines by status': {
    path: pipelines('status=failed'),
    most: PAGE,
    total: (n) => countOf(pipelinesOf(n), isFailed),
  },
  'pipelines of a user': {
    path: () => pipelines(`username=${me.username}`)(),
    most: { ...PAGE, trips: 8 },
    total: (n) => countOf(pipelinesOf(n), isMine),
  },
  'pipelines in a status, by the last change': {
    path: pipelines('status=failed&order_by=updated_at'),
    most: WALKED,
  },
  'pipelines by the last change': { path: pipelines('order_by=updated_at'), most: PAGE, total: pipelinesOf },
  'pipelines by the last change, of a day long ago': {
    path: () => pipelines(`order_by=updated_at&updated_after=${day(2)}&updated_before=${day(3)}`)(),
    most: PAGE,
  },
  'pipelines of a day long ago': {
    path: () => pipelines(`updated_after=${day(2)}&updated_before=${day(3)}`)(),
    most: PAGE,
  },
  'pipelines that have ended': { path: pipelines('scope=finished'), most: PAGE, total: pipelinesOf },
  'the newest pipelines of branches': { path: pipelines('scope=branches'), most: WALKED_ON, rows: 11 },
};

const small = new Map<string, Cost>();
const large = new Map<string, Cost>();

beforeAll(async () => {
  service = await startService({ background: false });
  trips = RoundTrips.of(service.host);
  [owner, me] = [await service.user('owner'), await service.user('me')];
  const call = async (method: string, path: string, json?: object) => {
    const { status, body } = await service.call(method, path, { token: owner.token, ...(json && { json }) });
    if (status >= 300) throw new Error(`${path}: ${JSON.stringify(body)}`);
    return body;
  };
  project = (await call('POST', '/projects', { name: 'busy', shared_runners_enabled: false })).id;
  const actions = [{ action: 'create', file_path: 'a.txt', content: 'a' }];
  const commit = { branch: 'main', commit_message: 'First', actions };
  sha = (await call('POST', `/projects/${project}/repository/commits`, commit)).id;
  const { runners_token } = await call('GET', `/projects/${project}`);
  runner = await smallRunner(service, runners_token, { tag_list: 'common', run_untagged: false });
  other = await smallRunner(service, runners_token, { tag_list: 'rare', run_untagged: false });
  for (const [costs, all] of [
    [small, SMALL],
    [large, LARGE],
  ] as const) {
    const rows = await grow(all);
    process.stderr.write(`${rows} rows to ${all} jobs in ${pipelinesOf(all)} pipelines\n`);
    for (const [name, { path }] of Object.entries(PATTERNS))
      costs.set(name, await costOf(service, trips, path(), owner.token));
    for (const [name, { token }] of Object.entries({
      'a request for a job': runner,
      'a request for a rare job': other,
    })) {
      const json = { token, info: { features: { refspecs: true } } };
      costs.set(name, await costOf(service, trips, '/jobs/request', owner.token, json));
    }
  }
  process.stderr.write(`${shownCosts(small, large)}\n`);
}, 7_200_000);
afterAll(() => service.stop());

const sizes = [
  [small, SMALL],
  [large, LARGE],
] as const;

describe('the cost is the same at any size of', () => {
  test.each(Object.entries(PATTERNS))('%s', (name, { most, rows = 20, total }) => {
    for (const [costs, all] of sizes) {
      const cost = costs.get(name)!;
      expect(cost.rows, 'rows').toBe(rows);
      expect(cost.trips, 'round trips').toBeLessThanOrEqual(most.trips);
      expect(cost.kilobytes, 'KB').toBeLessThanOrEqual(most.kilobytes);
      const told = total?.(all);
      if (told !== undefined) expect(cost.total).toBe(told > 10_000 ? null : String(told));
    }
  });
});

describe('among a tenth of them that wait', () => {
  test('a runner gets the oldest that it takes at a cost that does not grow', () => {
    for (const [costs] of sizes) {
      const cost = costs.get('a request for a job')!;
      expect(cost.body).toMatchObject({ id: expect.any(Number), job_info: { name: 'common' } });
      expect(cost.trips).toBeLessThanOrEqual(16);
      expect(cost.kilobytes).toBeLessThanOrEqual(90);
    }
  });

  test('it gets one behind 10,000 that it does not take, and looks no further', () => {
    for (const [costs, all] of sizes) {
      const cost = costs.get('a request for a rare job')!;
      if (all / 10 <= 10_000) expect(cost.body).toMatchObject({ job_info: { name: 'rare' } });
      expect(cost.trips).toBeLessThanOrEqual(28);
      expect(cost.kilobytes).toBeLessThanOrEqual(3_000);
    }
  });
});

async function grow(all: number): Promise<number> {
  const client = new TableClient(awsClients().dynamodb);
  const bulk = new BulkTable(client, storeOf().table.name, service.host.dynamo);
  for (let n = size; n < all; n++) {
    if (n % PER_PIPELINE === 0) await bulk.transact(newPipeline(pipelineOf(n / PER_PIPELINE)));
    const job = jobOf(n, all);
    const { id, pipelineId, projectId, status, runnerId } = job;
    const rows: readonly { pk: string; sk: string }[] = [
      { ...jobKey(pipelineId, id), ...job },
      { ...jobIdKey(id), ...{ projectId, pipelineId } },
      { ...jobStateKey(projectId, status, id), ...{ pipelineId } },
      ...(runnerId === null ? [] : [{ ...runnerJobKey(runnerId, id), ...{ pipelineId, projectId } }]),
      ...queuesOf(job).map((scope) => queuedJob(scope, job)),
      ...(status === 'pending' ? [{ ...jobSpecKey(pipelineId, id), ...{ text: SPEC } }] : []),
    ];
    for (const put of rows) await bulk.put({ put });
  }
  await bulk.flush();
  size = all;
  return bulk.written;
}

const SPEC = JSON.stringify({ script: ['true'], variables: {}, crossNeeds: [] });

/** Hours apart, so that few pipelines are of one day however many there are. */
function at(seconds: number): string {
  return new Date(Date.UTC(2000, 0, 1) + seconds * 1000).toISOString();
}
const refOf = (n: number) => (isOfMain(n) ? 'main' : `topic-${n % 20}`);

function pipelineOf(n: number): PipelineRecord {
  const time = at(n * 1800);
  const author = isMine(n) ? me : owner;
  return {
    ...{ id: FIRST + n, iid: n + 1, projectId: project, sha, ref: refOf(n), source: 'push' },
    ...{ status: isFailed(n) ? 'failed' : 'success', states: {}, statuses: 0 },
    author: { id: author.id, username: author.username, name: author.username },
    ...{ createdAt: time, updatedAt: time, startedAt: time, finishedAt: time, version: 1 },
  };
}

function jobOf(n: number, all: number): JobRecord {
  const pipeline = Math.floor(n / PER_PIPELINE);
  const time = at(pipeline * 1800);
  const status = statusOf(n);
  const waits = status === 'pending';
  const isLast = n > all - PER_PIPELINE;
  const tag = isLast ? 'rare' : 'common';
  return {
    ...{
      id: FIRST + n,
      projectId: project,
      pipelineId: FIRST + pipeline,
      kind: 'build',
      name: waits ? tag : `job ${n}`,
    },
    ...{ stage: 'test', stageIndex: 0, status, when: 'on_success', allowFailure: false, tags: [tag] },
    ...{ ref: refOf(pipeline), sha, tag: false, protected: false, userId: owner.id },
    ...{
      createdAt: time,
      updatedAt: time,
      queuedAt: time,
      scheduledAt: null,
      interruptible: false,
      attempt: 0,
    },
    ...{
      startedAt: waits ? null : time,
      finishedAt: waits ? null : time,
      retried: false,
      failureReason: null,
    },
    ...{ coverage: null, runnerId: waits ? null : runner.id, artifacts: [], artifactsExpireAt: null },
    ...{ erasedAt: null, erasedById: null, scopes: [projectScope(project)], version: 1 },
  };
}
