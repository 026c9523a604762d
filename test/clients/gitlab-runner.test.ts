/** The runner that people have installed, with the shell as its executor. It is no package: this takes the one on the PATH. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { attempt, run, signal, start } from '../deploy/process.ts';
import { ownService } from '../harness/own-service.ts';
import { runnerStory } from './runner-story.ts';

const version = (() => {
  try {
    const said = execFileSync('gitlab-runner', ['--version'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return /^Version: +(\S+)/m.exec(said)?.[1];
  } catch {
    return undefined;
  }
})();

const PUBLISH = `
publish:
  stage: deploy
  script: ['true']
  cache: { key: $CI_COMMIT_REF_SLUG, paths: [kept] }
  release: { tag_name: v7, name: Seven, ref: $CI_COMMIT_SHA, description: 'made by a job' }
`;

const CACHES = `
write: { stage: build, script: ['mkdir kept && echo warm > kept/file'], cache: { key: one, paths: [kept] } }
read: { stage: test, script: ['cat kept/file'], cache: { key: one, paths: [kept], policy: pull } }
`;

/** What the runner calls for a release: it is a program of its own, of which this is the part that is asked for here. */
const RELEASE_CLI = `#!/bin/sh
shift
while [ $# -gt 0 ]; do
  case "$1" in
    --name) name=$2 ;;
    --description) description=$2 ;;
    --tag-name) tag=$2 ;;
    --ref) ref=$2 ;;
    *) echo "unknown: $1"; exit 1 ;;
  esac
  shift 2
done
exec curl --fail --silent --show-error --header "JOB-TOKEN: $CI_JOB_TOKEN" --data "name=$name" \\
  --data "description=$description" --data "tag_name=$tag" --data "ref=$ref" "$CI_API_V4_URL/projects/$CI_PROJECT_ID/releases"
`;

describe('gitlab-runner', () => {
  const service = ownService();
  const home = mkdtempSync(join(tmpdir(), 'lemnos-runner-'));
  const bin = join(home, 'bin');
  const config = join(home, 'config.toml');
  const environment = { ...process.env, HOME: home, PATH: `${bin}${delimiter}${process.env['PATH']}` };
  mkdirSync(bin);
  writeFileSync(join(bin, 'release-cli'), RELEASE_CLI);
  chmodSync(join(bin, 'release-cli'), 0o755);
  afterAll(() => rmSync(home, { recursive: true, force: true }));

  test('registers, runs pipelines, and everything of them is told', { timeout: 600_000 }, async (context) => {
    if (version === undefined) return context.skip('gitlab-runner is not on the PATH');
    const story = await runnerStory(service, 'gopher');
    const folders = ['--builds-dir', join(home, 'builds'), '--cache-dir', join(home, 'cache')];
    await run(
      'gitlab-runner',
      [
        ...['register', '--non-interactive', '--config', config, '--url', service.url],
        ...['--registration-token', story.registration, '--description', 'gopher'],
        ...['--executor', 'shell', '--shell', 'bash', '--env', `PATH=${environment.PATH}`, ...folders],
      ],
      { env: environment },
    );
    const written = readFileSync(config, 'utf8');
    writeFileSync(
      config,
      written
        .replace(/^concurrent = .*$/m, 'concurrent = 4')
        .replace(/^check_interval = .*$/m, 'check_interval = 1'),
    );
    const runner = start('gitlab-runner', ['run', '--config', config, '--working-directory', home], {
      env: environment,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    runner.stderr!.setEncoding('utf8').on('data', (text: string) => {
      said += stripVTControlCharacters(text);
    });
    try {
      await story.succeeds({ publish: PUBLISH, failure: 'script_failure' });
      await story.deploys();
      await story.fails({ failure: 'script_failure' });
      await story.commit('caches', { '.gitlab-ci.yml': CACHES }, 'main');
      await story.becomes('caches', 'read', 'success');
      // It says how long each job took when it has ended all of its processes.
      await story.cancels(
        (id) => !said.includes(` job=${id} `) || RegExp(`duration_s=\\S+ +job=${id} `).test(said),
      );
      expect(await story.runner()).toMatchObject({ status: 'online', version, jobs: 13 });
    } catch (error) {
      process.stderr.write(said);
      throw error;
    } finally {
      signal(runner, 'SIGKILL');
    }
    await attempt('gitlab-runner', ['unregister', '--config', config, '--all-runners'], { env: environment });
    expect((await story.runners()).length).toBe(0);
  });
});
