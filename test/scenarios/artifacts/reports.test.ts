/** What jobs report by the files that they leave and by what they print; and when these files end. */
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { expireProjectArtifacts, type ProjectExpiry } from '../../../lib/domain/artifacts/expire-project.ts';
import { expireArtifacts } from '../../../lib/domain/artifacts/expiry.ts';
import { type JobProject, jobProject } from '../../harness/job-projects.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { changeSettings } from '../../harness/settings.ts';
import { settled } from '../../harness/settled.ts';
import { report, sendArtifact, sendTrace, type Taken } from '../../harness/small-runner.ts';

const own = ownWorld();
const { service, world, as } = own;
const DOTENV = { artifact_type: 'dotenv', artifact_format: 'gzip', filename: '.env.gz' };
const recordOf = async ({ id }: Pick<Taken, 'id'>) => (await world.store.jobs.get(id))!;

describe('variables that a job leaves', () => {
  const CONFIG = `
    stages: [build, test]
    make: { stage: build, script: [x] }
    check: { stage: test, script: [x], variables: { COLOUR: of the job, OWN: own } }
    alone: { stage: test, script: [x], dependencies: [] }`;

  test('are those of the jobs that depend on it: before the job’s own, behind configured ones', async () => {
    const project = await jobProject(own, 'dotenv', CONFIG);
    await as('owner', 'POST', `/projects/${project.id}/variables`, {
      key: 'CONFIGURED',
      value: 'configured',
    });
    const job = await project.take();
    const text = '# comment\nCOLOUR = red=blue\n\nCONFIGURED=reported\r\nEMPTY=\n';
    expect((await sendArtifact(service, job, gzipSync(text), DOTENV)).status).toBe(201);
    await project.end(job);
    // biome-ignore lint/suspicious/noExplicitAny: what runners get has every shape
    const values = ({ variables }: Record<string, any>) => {
      const wanted = ['COLOUR', 'CONFIGURED', 'EMPTY', 'OWN'];
      return wanted.map((key) => variables.find((each: { key: string }) => each.key === key)?.value);
    };
    const [check, alone] = [await project.take(), await project.take()];
    expect(values(check)).toEqual(['red=blue', 'configured', '', 'own']);
    expect(values(alone)).toEqual([undefined, 'configured', undefined, undefined]);
    // It fetches no archive of a job that left none.
    expect(check['dependencies']).toEqual([]);
  });

  test('are refused where they are too many, too large, or none', async () => {
    const project = await jobProject(own, 'bad dotenv', CONFIG);
    const job = await project.take();
    const big = 'Dotenv Artifact Too Big. Maximum Allowable Size: 5120';
    for (const [content, message] of [
      [gzipSync('no variable'), 'Invalid Format'],
      [gzipSync('A B=1'), 'Invalid Format'],
      [Buffer.from('A=1'), 'Invalid Format'],
      [gzipSync(`A=${'x'.repeat(5200)}`), big],
      [gzipSync(Buffer.alloc(9_000_000)), big],
      [
        gzipSync(Array.from({ length: 21 }, (_, n) => `A${n}=1`).join('\n')),
        'Dotenv files cannot have more than 20 variables',
      ],
    ] as const) {
      const answer = await sendArtifact(service, job, content, DOTENV);
      expect([answer.status, answer.body]).toEqual([400, { message }]);
    }
    expect((await recordOf(job)).artifacts).toEqual([]);
  });
});

describe('reports of tests', () => {
  const JUNIT = { artifact_type: 'junit', artifact_format: 'gzip', filename: 'junit.xml.gz' };
  const suite = (cases: string) => gzipSync(`<testsuite>${cases}</testsuite>`);
  const reported = async (name: string, config: string, files: readonly Uint8Array[], more = {}) => {
    const project = await jobProject(own, name, config, more);
    const jobs: Taken[] = [];
    for (const file of files) {
      const job = await project.take();
      expect((await sendArtifact(service, job, file, JUNIT)).status).toBe(201);
      await project.end(job);
      jobs.push(job);
    }
    const { pipelineId } = await recordOf(jobs[0]!);
    const path = `/projects/${project.id}/pipelines/${pipelineId}`;
    return {
      project,
      jobs,
      path,
      ofPath: async (rest: string) => (await as('owner', 'GET', `${path}/${rest}`)).body,
    };
  };

  test('make the suites of a pipeline, by the names of jobs', async () => {
    const made = await reported('tests', 'unit: { script: [x], parallel: 2 }\nlint: { script: [x] }', [
      suite(
        '<testcase name="quick" classname="a" time="0.5"/><testcase name="slow" classname="a" time="2"/>',
      ),
      // Two files of one job.
      Buffer.concat([
        suite(
          '<testcase name="bad" file="b.js"><failure>at b:1</failure><system-out>[[ATTACHMENT|shots/b c.png]]</system-out></testcase>',
        ),
        suite('<testcase name="left out"><skipped/></testcase>'),
      ]),
      suite('<testcase name="odd"><error message="m"/></testcase>'),
    ]);
    const counts = { success_count: 2, failed_count: 1, skipped_count: 1, error_count: 0 };
    const rest = {
      classname: null,
      file: null,
      execution_time: 0,
      system_output: null,
      stack_trace: null,
      recent_failures: null,
    };
    const [, second] = made.jobs;
    expect(await made.ofPath('test_report')).toEqual({
      total_time: 2.5,
      total_count: 5,
      ...counts,
      error_count: 1,
      test_suites: [
        {
          name: 'unit',
          total_time: 2.5,
          total_count: 4,
          ...counts,
          suite_error: null,
          test_cases: [
            {
              ...rest,
              status: 'failed',
              name: 'bad',
              file: 'b.js',
              system_output: 'at b:1',
              attachment_url: `${service.url}/${made.project.path}/-/jobs/${second!.id}/artifacts/file/shots/b%20c.png`,
            },
            { ...rest, status: 'success', name: 'slow', classname: 'a', execution_time: 2 },
            { ...rest, status: 'success', name: 'quick', classname: 'a', execution_time: 0.5 },
            { ...rest, status: 'skipped', name: 'left out' },
          ],
        },
        {
          name: 'lint',
          total_time: 0,
          total_count: 1,
          ...{ success_count: 0, failed_count: 0, skipped_count: 0, error_count: 1 },
          suite_error: null,
          test_cases: [{ ...rest, status: 'error', name: 'odd', system_output: { message: 'm' } }],
        },
      ],
    });
    expect(await made.ofPath('test_report_summary')).toEqual({
      total: { time: 2.5, count: 5, success: 2, failed: 1, skipped: 1, error: 1, suite_error: null },
      test_suites: [
        {
          name: 'unit',
          total_time: 2.5,
          total_count: 4,
          ...counts,
          build_ids: made.jobs.slice(0, 2).map(({ id }) => id),
          suite_error: null,
        },
        {
          name: 'lint',
          total_time: 0,
          total_count: 1,
          ...{ success_count: 0, failed_count: 0, skipped_count: 0, error_count: 1 },
          build_ids: [made.jobs[2]!.id],
          suite_error: null,
        },
      ],
    });
  });

  test('that cannot be read empty their suite, and say so', async () => {
    const made = await reported(
      'bad tests',
      ['a', 'b', 'c', 'd'].map((name) => `${name}: { script: [x] }`).join('\n'),
      [
        Buffer.from('<testsuite/>'),
        suite('<testcase>'),
        gzipSync(Buffer.concat([Buffer.from('<testsuite>'), Buffer.alloc(65 * 1024 * 1024, ' ')])),
        suite('<testcase name="good"/>'),
      ],
    );
    const { total, test_suites: suites } = await made.ofPath('test_report_summary');
    expect(suites.map((each: Record<string, unknown>) => each['suite_error'])).toEqual([
      'JUnit data parsing failed: it cannot be unpacked',
      'JUnit XML parsing failed: testcase is not closed',
      ...Array(2).fill('JUnit data parsing failed: the reports of the pipeline are too large'),
    ]);
    expect(total).toMatchObject({
      count: 0,
      suite_error: 'JUnit data parsing failed: it cannot be unpacked',
    });
  });

  test('that no answer can carry empty their suite there alone', async () => {
    const long = (name: string) =>
      `<testcase name="${name}"><failure>${'"'.repeat(600_000)}</failure></testcase>`;
    const made = await reported('long tests', 'a: { script: [x] }\nb: { script: [x] }', [
      suite('<testcase name="good"/>'),
      suite(['one', 'two'].map(long).join('')),
    ]);
    const { test_suites: suites, total_count: total } = await made.ofPath('test_report');
    expect(suites.map((each: Record<string, unknown>) => each['suite_error'])).toEqual([
      null,
      'The cases of the pipeline are too many for one answer',
    ]);
    expect(total).toBe(1);
    expect((await made.ofPath('test_report_summary')).total.count).toBe(3);
  });

  test('of jobs whose files are for members are for members', async () => {
    const made = await reported(
      'private tests',
      'a: { script: [x], artifacts: { public: false, reports: { junit: [x] } } }',
      [suite('<testcase name="good"/>')],
      { visibility: 'public' },
    );
    // Whether files are for members is told of the archive.
    const { pipelineId } = await recordOf(made.jobs[0]!);
    const job = (await world.store.jobs.ofPipeline(pipelineId, made.jobs[0]!.id))!;
    await world.store.jobs.change([{ job, change: { privateArtifacts: true } }], { advance: false });
    expect((await made.ofPath('test_report')).total_count).toBe(1);
    expect((await as('stranger', 'GET', `${made.path}/test_report`)).body.total_count).toBe(0);
    expect((await as('stranger', 'GET', `${made.path}/test_report_summary`)).body.total.count).toBe(0);
  });
});

describe('the coverage that a job prints', () => {
  const covered = async (
    pattern: string | undefined,
    trace: string,
    ofProject: string | undefined = undefined,
  ) => {
    const said = pattern === undefined ? '' : `, coverage: '${pattern}'`;
    const project = await jobProject(own, `coverage ${++names}`, `a: { script: [x]${said} }`);
    const settings = { build_coverage_regex: ofProject };
    if (ofProject !== undefined) await as('owner', 'PUT', `/projects/${project.id}`, settings);
    const job = await project.take();
    await sendTrace(service, job, 0, trace);
    await project.end(job);
    const { coverage } = (await as('owner', 'GET', `/projects/${project.id}/jobs/${job.id}`)).body;
    const { pipelineId } = await recordOf(job);
    const pipeline = (await as('owner', 'GET', `/projects/${project.id}/pipelines/${pipelineId}`)).body;
    return [coverage, pipeline.coverage];
  };
  let names = 0;

  test.each([
    [
      String.raw`/Total: \d+ lines, (\d+\.\d+)%/`,
      'Total: 7 lines, 12.5%\nTotal: 9 lines, 98.75%\nend\n',
      98.75,
    ],
    [String.raw`/\d+%/`, 'first 10% then 42%\n', 42],
    ['/none/', 'covered 10%\n', null],
    ['/covered/', 'covered without a number\n', null],
  ])('%s of %j is %s', async (pattern, trace, expected) => {
    const shown = expected === null ? null : expected.toFixed(2);
    expect(await covered(pattern, trace)).toEqual([expected, shown]);
  });

  test.each([
    [undefined, String.raw`of all (\d+)%`, 50],
    [String.raw`/of this (\d+)%/`, String.raw`of all (\d+)%`, 40],
    [undefined, '(', null],
    [undefined, '', null],
  ])(
    'is found by the pattern of the project where the job has none: %s, %s',
    async (job, ofProject, expected) => {
      const shown = expected === null ? null : expected.toFixed(2);
      expect(await covered(job, 'of this 40%\nof all 50%\n', ofProject)).toEqual([expected, shown]);
    },
  );
});

describe('files that expire', () => {
  const left = async (name: string, more: Record<string, unknown> = {}) => {
    const project = await jobProject(own, name, 'a: { script: [x] }', more);
    const job = await project.take();
    await sendArtifact(service, job, 'the archive', { expire_in: '1 day' });
    return { project, job };
  };
  /** What the worker does so many days later. */
  const later = async (job: Taken, days: number) => {
    const { pipelineId } = await recordOf(job);
    const real = await deps();
    const now = () => new Date(Date.now() + days * 86_400_000);
    const outcome = await expireArtifacts({ ...real, now }, { pipelineId, jobId: job.id });
    await settled();
    return { outcome, artifacts: (await recordOf(job)).artifacts.length };
  };

  test('are deleted when their time has come, and not before', async () => {
    const { project, job } = await left('expires');
    await project.end(job, 'failed');
    const { blob } = (await recordOf(job)).artifacts[0]!;
    const early = await later(job, 0.5);
    expect(early.artifacts).toBe(1);
    expect((early.outcome as { delayMs: number }).delayMs).toBeGreaterThan(0.4 * 86_400_000);
    expect(await later(job, 1.1)).toEqual({ outcome: undefined, artifacts: 0 });
    expect(await world.store.blobs.head(blob)).toBe(undefined);
    expect((await recordOf(job)).artifactsExpireAt).toBe(null);
  });

  test('stay where somebody keeps them', async () => {
    const { project, job } = await left('kept');
    await project.end(job, 'failed');
    await as('owner', 'POST', `/projects/${project.id}/jobs/${job.id}/artifacts/keep`);
    expect(await later(job, 2)).toEqual({ outcome: undefined, artifacts: 1 });
  });

  test('stay as long as they are of the newest pipeline of their ref that succeeded', async () => {
    const { project, job } = await left('latest');
    await project.end(job);
    expect(await later(job, 1.5)).toEqual({ outcome: { delayMs: 86_400_000 }, artifacts: 1 });
    expect((await later(job, 100)).outcome).toEqual({ delayMs: 30 * 86_400_000 });
    await project.configure('a: { script: [x] }');
    const next = await project.take();
    await project.end(next);
    expect((await later(job, 2)).artifacts).toBe(0);
  });

  test('go in spite of that where the project or the instance says so', async () => {
    const { project, job } = await left('not kept');
    await project.end(job);
    await as('owner', 'PUT', `/projects/${project.id}`, { keep_latest_artifact: false });
    expect((await later(job, 2)).artifacts).toBe(0);
    const other = await left('not kept by the instance');
    await other.project.end(other.job);
    await changeSettings(service, { keep_latest_artifact: false });
    try {
      expect((await later(other.job, 2)).artifacts).toBe(0);
    } finally {
      await changeSettings(service, { keep_latest_artifact: true });
    }
  });

  test('have the end that the instance says unless the job does', async () => {
    const { project } = await left('default');
    await changeSettings(service, { default_artifacts_expire_in: '2 hours' });
    try {
      await project.configure('a: { script: [x] }');
      const job = await project.take();
      await sendArtifact(service, job, 'x');
      const { artifactsExpireAt } = await recordOf(job);
      expect((Date.parse(artifactsExpireAt!) - Date.now()) / 3_600_000).toBeCloseTo(2, 1);
    } finally {
      await changeSettings(service, { default_artifacts_expire_in: '30 days' });
    }
  });
});

describe('deleting what all jobs of a project have left', () => {
  const path = ({ id }: { id: number }) => `/projects/${id}/artifacts`;
  const count = async (job: Taken) => (await recordOf(job)).artifacts.length;
  const end = async (project: JobProject, state: string) => {
    const job = await project.take();
    await sendArtifact(service, job, 'the archive');
    await project.end(job, state);
    return job;
  };

  test('spares jobs that run, and what is kept of the newest pipeline that succeeded until another one does', async () => {
    const project = await jobProject(own, 'all', 'a: { script: [x] }');
    const old = await end(project, 'success');
    await project.configure('a: { script: [x] }');
    const latest = await end(project, 'success');
    await as('owner', 'POST', `/projects/${project.id}/jobs/${latest.id}/artifacts/keep`);
    await project.configure('a: { script: [x] }');
    const failed = await end(project, 'failed');
    await project.configure('a: { script: [x] }');
    const running = await project.take();
    await sendArtifact(service, running, 'the archive');
    const answer = await as('owner', 'DELETE', path(project));
    expect([answer.status, answer.body]).toEqual([202, { message: '202 Accepted' }]);
    await settled();
    expect(await Promise.all([old, latest, failed, running].map(count))).toEqual([0, 1, 0, 1]);
    await project.end(running);
    // A day later.
    const real = await deps();
    const { pipelineId } = await recordOf(latest);
    const now = () => new Date(Date.now() + 86_400_000);
    await expireArtifacts({ ...real, now }, { pipelineId, jobId: latest.id });
    expect(await count(latest)).toBe(0);
  });

  test('goes on where its time ended, and is done once', async () => {
    const project = await jobProject(own, 'all in slices', 'a: { script: [x] }');
    const jobs: Taken[] = [];
    for (const state of ['success', 'failed', 'success']) {
      jobs.push(await end(project, state));
      await project.configure('a: { script: [x] }');
    }
    const real = await deps();
    const at = new Date().toISOString();
    let body: ProjectExpiry | undefined = { projectId: project.id, at };
    let slices = 0;
    while (body !== undefined) {
      const outcome = (await expireProjectArtifacts(real, body, { deadline: 0 })) as
        | { body?: ProjectExpiry }
        | undefined;
      body = outcome?.body;
      slices++;
    }
    expect(slices).toBe(3);
    await settled();
    expect(await Promise.all(jobs.map(count))).toEqual([0, 0, 1]);
    expect((await recordOf(jobs[2]!)).artifactsExpireAt).toBe(at);
    const versions = async () => Promise.all(jobs.map(async (job) => (await recordOf(job)).version));
    const before = await versions();
    await expireProjectArtifacts(real, { projectId: project.id, at }, { deadline: Number.MAX_SAFE_INTEGER });
    expect(await versions()).toEqual(before);
  });

  test('is for Maintainers', async () => {
    const project = await jobProject(own, 'whose', 'a: { script: [x] }', { visibility: 'public' });
    await as('owner', 'POST', `/projects/${project.id}/members`, {
      user_id: world.ids['developer'],
      access_level: 30,
    });
    expect((await as('developer', 'DELETE', path(project))).status).toBe(403);
    expect((await as('anonymous', 'DELETE', path(project))).status).toBe(401);
  });
});

test('the statistics of a project count what its jobs have left', async () => {
  const project = await jobProject(own, 'counted', 'a: { script: [x] }');
  const job = await project.take();
  await sendArtifact(service, job, 'twelve bytes');
  await report(service, job, 'success');
  const { statistics: measured, measure } = {
    statistics: async () =>
      (await as('owner', 'GET', `/projects/${project.id}?statistics=true`)).body.statistics,
    measure: async () =>
      (await import('../../../lib/domain/statistics/measure.ts')).measureProject(await deps(), project.id),
  };
  await measure();
  const { job_artifacts_size: size, storage_size: all, ...rest } = await measured();
  expect(size).toBe(12);
  expect(all).toBe(12 + rest.repository_size + rest.wiki_size + rest.lfs_objects_size + rest.packages_size);
});
