/** What a runner that nobody here wrote does with pipelines, and what the API tells afterwards. */
import { expect } from 'vitest';
import type { Service } from '../harness/service.ts';

const COMMON = `
stages: [build, test, deploy]
workflow: { rules: [{ if: $CI_COMMIT_BRANCH }] }
variables: { COLOUR: red }

compile:
  stage: build
  script:
    - cat greeting.txt
    - mkdir -p out/deep && echo "made by $CI_JOB_NAME in $COLOUR" > out/deep/made.txt
    - head -c 300000 /dev/urandom > out/large.bin && sha256sum out/large.bin > large.sum
    - echo "MADE=version-7" > made.env
  artifacts: { name: result, paths: [out, large.sum], expire_in: 1 week, reports: { dotenv: made.env } }

lint:
  stage: build
  script: ['echo "not nice"', 'exit 3']
  allow_failure: true

check:
  stage: test
  needs: [compile]
  coverage: '/Coverage: \\d+%/'
  script:
    - cat out/deep/made.txt
    - sha256sum --check large.sum
    - test "$MADE" = version-7
    - 'echo "Coverage: 87%"'
  after_script: ['echo "the end of $CI_JOB_STATUS"']

measure:
  stage: test
  needs: [{ job: compile, artifacts: false }]
  script: ['test ! -e out']

bare:
  stage: test
  dependencies: []
  script: ['test ! -e out', 'test -z "$MADE"']

deploy:
  stage: deploy
  script: [cat out/deep/made.txt]
  when: manual
  environment: { name: production, url: 'https://example.com/$CI_COMMIT_REF_SLUG', on_stop: stop }

stop:
  stage: deploy
  script: ['echo "stops $CI_ENVIRONMENT_NAME"']
  when: manual
  environment: { name: production, action: stop }
`;

const BROKEN = `
stages: [build, test]
spoil:
  stage: build
  script: ['echo "what went wrong" > log.txt', 'false', 'echo never']
  after_script: ['echo cleaned']
  artifacts: { paths: [log.txt], when: on_failure }
never: { stage: test, script: ['true'] }
rescue: { stage: test, script: ['grep wrong log.txt'], when: on_failure }
`;

const ENDLESS = `
endless: { script: ['echo begun', 'sleep 300'] }
`;

export interface Told {
  /** The configuration of the job \`publish\`, which makes the release \`v7\`. */
  readonly publish: string;
  /** Why a script fails, as the runner says it. */
  readonly failure: string;
}

const PATIENT = { timeout: 60_000, interval: 200 };

export async function runnerStory(service: Service, name: string) {
  const { token } = await service.user(name);
  const call = async (method: string, path: string, json?: unknown) => {
    const options = { token, ...(json === undefined ? {} : { json }) };
    const { status, body } = await service.call(method, path, options);
    expect(status, `${method} ${path}: ${JSON.stringify(body)}`).toBeLessThan(300);
    return body;
  };
  const { id } = await call('POST', '/projects', { name });
  const at = `/projects/${id}`;
  const { runners_token } = await call('GET', at);
  const commit = (branch: string, files: Readonly<Record<string, string>>, from?: string) =>
    call('POST', `${at}/repository/commits`, {
      branch,
      commit_message: `for ${branch}`,
      actions: Object.entries(files).map(([file_path, content]) => ({
        action: from === undefined ? 'create' : 'update',
        file_path,
        content,
      })),
      ...(from === undefined ? {} : { start_branch: from }),
    });
  /** The jobs of the newest pipeline of a ref, by name. */
  const jobsOf = async (ref: string) => {
    const [pipeline] = await call('GET', `${at}/pipelines?ref=${ref}`);
    const jobs = pipeline === undefined ? [] : await call('GET', `${at}/pipelines/${pipeline.id}/jobs`);
    return Object.fromEntries(jobs.map((job: { name: string }) => [job.name, job]));
  };
  const statusOf = async (ref: string) => (await call('GET', `${at}/pipelines?ref=${ref}`))[0]?.status;
  const trace = async (job: { id: number }) => String(await call('GET', `${at}/jobs/${job.id}/trace`));
  /** Waits until a job has a status. Where it ended with another one, the reason and what it printed are told. */
  const becomes = async (ref: string, jobName: string, expected: string): Promise<void> => {
    const statusOfJob = async () => (await jobsOf(ref))[jobName]?.status;
    const end = new RegExp(`^(${expected}|success|failed|canceled|skipped)$`);
    await expect.poll(statusOfJob, PATIENT).toMatch(end);
    const job = (await jobsOf(ref))[jobName];
    const printed = job.status === expected ? '' : `${job.failure_reason}: ${await trace(job)}`;
    expect(job.status, printed).toBe(expected);
  };

  return {
    registration: runners_token as string,

    /** A pipeline that succeeds: files and variables go from job to job, and are told. */
    async succeeds({ publish, failure }: Told): Promise<void> {
      await commit('main', { 'greeting.txt': 'hello runner\n', '.gitlab-ci.yml': COMMON + publish });
      await expect.poll(() => statusOf('main'), PATIENT).toMatch(/^(success|failed)$/);
      const jobs = await jobsOf('main');
      if ((await statusOf('main')) === 'failed') process.stderr.write(await trace(jobs.publish));
      expect(Object.fromEntries(Object.entries(jobs).map(([key, { status }]) => [key, status]))).toEqual({
        ...{ compile: 'success', lint: 'failed', check: 'success', measure: 'success', bare: 'success' },
        ...{ publish: 'success', deploy: 'manual', stop: 'manual' },
      });
      expect(jobs.lint).toMatchObject({ allow_failure: true, failure_reason: failure });
      expect(jobs.check.coverage).toBe(87);
      expect(await trace(jobs.compile)).toContain('hello runner\n');
      expect(await trace(jobs.lint)).toContain('not nice\n');
      expect(await trace(jobs.check)).toContain('made by compile in red\n');
      expect(await trace(jobs.check)).toContain('the end of ');

      const { artifacts, artifacts_file: archive, artifacts_expire_at: expiry } = jobs.compile;
      expect(archive).toMatchObject({ filename: 'result.zip' });
      expect(archive.size).toBeGreaterThan(300_000);
      const types = artifacts.map((each: { file_type: string }) => each.file_type);
      expect(types).toEqual(expect.arrayContaining(['archive', 'dotenv']));
      expect((Date.parse(expiry) - Date.now()) / 86_400_000).toBeCloseTo(7, 1);
      const made = 'made by compile in red\n';
      expect(await call('GET', `${at}/jobs/${jobs.compile.id}/artifacts/out/deep/made.txt`)).toBe(made);
      const newest = `${at}/jobs/artifacts/main/raw/out/deep/made.txt?job=compile`;
      expect(await call('GET', newest)).toBe(made);

      const release = await call('GET', `${at}/releases/v7`);
      expect(release).toMatchObject({ name: 'Seven', description: 'made by a job', tag_name: 'v7' });
      const { sha } = jobs.compile.pipeline;
      expect(release.commit.id).toBe(sha);
    },

    /** After it: a person deploys, and stops what was deployed. */
    async deploys(): Promise<void> {
      const { deploy } = await jobsOf('main');
      await call('POST', `${at}/jobs/${deploy.id}/play`);
      await becomes('main', 'deploy', 'success');
      expect(await trace(deploy)).toContain('made by compile in red\n');
      const environment = async () => (await call('GET', `${at}/environments`))[0];
      await expect
        .poll(async () => (await call('GET', `${at}/deployments`))[0]?.status, PATIENT)
        .toBe('success');
      const { id: environmentId, ...shown } = await environment();
      expect(shown).toMatchObject({
        name: 'production',
        state: 'available',
        external_url: 'https://example.com/main',
      });
      const one = await call('GET', `${at}/environments/${environmentId}`);
      expect(one.last_deployment).toMatchObject({ status: 'success', deployable: { id: deploy.id } });
      await call('POST', `${at}/environments/${environmentId}/stop`);
      await becomes('main', 'stop', 'success');
      expect(await trace((await jobsOf('main')).stop)).toContain('stops production\n');
      expect((await environment()).state).toBe('stopped');
    },

    /** A pipeline that fails: what comes behind is left out, except for what is there for failures. */
    async fails({ failure }: Pick<Told, 'failure'>): Promise<void> {
      await commit('broken', { '.gitlab-ci.yml': BROKEN }, 'main');
      await expect.poll(() => statusOf('broken'), PATIENT).toBe('failed');
      await becomes('broken', 'rescue', 'success');
      const { spoil, never } = await jobsOf('broken');
      expect(spoil).toMatchObject({ status: 'failed', failure_reason: failure });
      expect(never.status).toBe('skipped');
      expect(await trace(spoil)).toContain('cleaned\n');
      expect(await trace(spoil)).not.toContain('never\n');
      expect(await call('GET', `${at}/jobs/${spoil.id}/artifacts/log.txt`)).toBe('what went wrong\n');
    },

    /** A job that is cancelled: its runner stops it. @param gone whether none of its processes runs */
    async cancels(gone: (jobId: number) => boolean): Promise<void> {
      await commit('endless', { '.gitlab-ci.yml': ENDLESS }, 'main');
      await becomes('endless', 'endless', 'running');
      const { endless } = await jobsOf('endless');
      await expect.poll(() => gone(endless.id), PATIENT).toBe(false);
      await call('POST', `${at}/jobs/${endless.id}/cancel`);
      await expect.poll(() => gone(endless.id), PATIENT).toBe(true);
      expect((await jobsOf('endless')).endless.status).toBe('canceled');
      expect(await statusOf('endless')).toBe('canceled');
    },

    /** Its runner, as the project tells it. */
    async runner() {
      const [{ id: runnerId }] = await call('GET', `${at}/runners?type=project_type`);
      const jobs: { runner: { id: number } | null }[] = await call('GET', `${at}/jobs?per_page=100`);
      const taken = jobs.filter(({ runner }) => runner?.id === runnerId);
      return { ...(await call('GET', `/runners/${runnerId}`)), jobs: taken.length };
    },
    runners: () => call('GET', `${at}/runners?type=project_type`),
    jobsOf,
    commit,
    becomes,
  };
}
