/** A runner made of the Rust crate `gitlab-runner`, which speaks with the service as nobody here has told it to. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { run, signal, start } from '../deploy/process.ts';
import { ownService } from '../harness/own-service.ts';
import { runnerStory } from './runner-story.ts';

const crate = join(import.meta.dirname, 'gitlab-runner-crate');
const cache = join(import.meta.dirname, '../../.cache/gitlab-runner-crate');

/** Releases through the API: this runner has no steps beside the script. */
const PUBLISH = `
publish:
  stage: deploy
  script:
    - >-
      curl --fail --silent --show-error --header "JOB-TOKEN: $CI_JOB_TOKEN"
      --data tag_name=v7 --data name=Seven --data ref=$CI_COMMIT_SHA --data "description=made by a job"
      "$CI_API_V4_URL/projects/$CI_PROJECT_ID/releases"
`;

/** What takes a second step, which this runner does not know. */
const STEPS = `
steps: { script: ['true'], release: { tag_name: v8, description: eight } }
`;

/** Builds it on first use: 270 crates, of which one processor has for two minutes. */
async function built(): Promise<string> {
  const environment = { ...process.env, CARGO_TARGET_DIR: cache };
  await run('cargo', ['build', '--quiet', '--locked'], { cwd: crate, env: environment, timeout: 900_000 });
  return join(cache, 'debug/small-runner');
}

describe('a runner of the crate gitlab-runner', () => {
  const service = ownService();
  const builds = mkdtempSync(join(tmpdir(), 'lemnos-builds-'));
  let program: string | undefined;
  beforeAll(async () => {
    program = await built().catch((error: unknown) => {
      process.stderr.write(`the crate gitlab-runner cannot be built: ${error}\n`);
      return undefined;
    });
  }, 900_000);
  afterAll(() => rmSync(builds, { recursive: true, force: true }));

  test('runs pipelines, and everything of them is told', { timeout: 600_000 }, async (context) => {
    if (program === undefined) return context.skip('it needs cargo, and its registry once');
    const story = await runnerStory(service, 'ferris');
    const json = { token: story.registration, description: 'ferris', run_untagged: true };
    const { token } = (await service.call('POST', '/runners', { json })).body;
    const runner = start(program, [service.url, token, builds], { stdio: ['ignore', 'inherit', 'pipe'] });
    let warnings = '';
    runner.stderr!.setEncoding('utf8').on('data', (text: string) => {
      process.stderr.write(text);
      warnings += text;
    });
    try {
      await story.succeeds({ publish: PUBLISH, failure: 'unknown_failure' });
      await story.deploys();
      await story.fails({ failure: 'unknown_failure' });
      expect(warnings).toBe('');
      await story.commit('steps', { '.gitlab-ci.yml': STEPS }, 'main');
      await story.becomes('steps', 'steps', 'failed');
      expect((await story.jobsOf('steps')).steps.failure_reason).toBe('runner_unsupported');
      await story.cancels((id) => !existsSync(join(builds, `${id}`)));
      expect(await story.runner()).toMatchObject({ status: 'online', version: '0.3.2', jobs: 12 });
    } finally {
      signal(runner, 'SIGKILL');
    }
  });
});
