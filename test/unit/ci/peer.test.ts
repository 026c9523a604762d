import { execFile, execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { planOf } from './configs.ts';

interface Listed {
  readonly name: string;
  readonly stage: string;
  readonly when: string;
  readonly allow_failure: boolean;
  readonly needs?: readonly { readonly job: string; readonly artifacts: boolean }[];
}

const VARIABLES = {
  CI_COMMIT_BRANCH: 'main',
  CI_COMMIT_REF_NAME: 'main',
  CI_PIPELINE_SOURCE: 'push',
  WANTED: 'yes',
  EMPTY: '',
};

const CORPUS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  stages: {
    '.gitlab-ci.yml': `
stages: [one, two, three]
c: {stage: three, script: [x]}
a: {stage: one, script: [x]}
manual: {stage: two, script: [x], when: manual}
d: {stage: two, script: [x], when: on_failure, allow_failure: true}
e: {stage: .pre, script: [x]}
f: {stage: .post, script: [x], when: always}`,
  },
  rules: {
    '.gitlab-ci.yml': `
a: {script: [x], rules: [{if: '$CI_COMMIT_BRANCH == "main"'}]}
b: {script: [x], rules: [{if: '$CI_COMMIT_BRANCH != "main"'}]}
c: {script: [x], rules: [{if: '$CI_COMMIT_BRANCH =~ /^MA/i', when: manual}]}
d: {script: [x], rules: [{if: '$ABSENT', when: always}, {if: '$WANTED == "yes" && $EMPTY == ""', when: on_failure, allow_failure: true}]}
e: {script: [x], rules: [{if: '$EMPTY', when: always}, {when: never}]}
f: {script: [x], rules: [{if: '$ABSENT == null || $WANTED == null', when: always}]}
g: {script: [x], rules: [{if: '($WANTED == "no" || $WANTED == "yes") && $CI_PIPELINE_SOURCE == "push"'}]}
h: {script: [x], rules: [{if: '$CI_COMMIT_BRANCH !~ /^release-/'}]}
i: {script: [x], when: manual, rules: [{if: '$WANTED'}]}`,
  },
  'rules on files': {
    '.gitlab-ci.yml': `
a: {script: [x], rules: [{exists: [Dockerfile]}]}
b: {script: [x], rules: [{exists: ["**/*.md"]}]}
c: {script: [x], rules: [{exists: ["*.nothing"]}]}`,
    Dockerfile: 'FROM scratch',
    'docs/deep/a.md': '# A',
  },
  needs: {
    '.gitlab-ci.yml': `
stages: [build, test, deploy]
b1: {stage: build, script: [x]}
b2: {stage: build, script: [x]}
t1: {stage: test, script: [x], needs: [b1]}
t2: {stage: test, script: [x], needs: [{job: b2, artifacts: false}]}
t3: {stage: test, script: [x], needs: [t1]}
d1: {stage: deploy, script: [x], needs: []}
d2: {stage: deploy, script: [x], needs: [t1, t2]}`,
  },
  extends: {
    '.gitlab-ci.yml': `
.base: {script: [base], stage: build, when: manual, variables: {A: "1"}}
.mid: {extends: .base, allow_failure: false}
.other: {stage: deploy}
a: {extends: .mid}
b: {extends: [.mid, .other]}
c: {extends: [.other, .mid], when: on_success}`,
  },
  references: {
    '.gitlab-ci.yml': `
.setup: {script: [one, two], rules: [{if: $WANTED, when: manual}]}
.more: {script: [!reference [.setup, script], three]}
a: {script: [zero, !reference [.more, script]], rules: !reference [.setup, rules]}
b: {script: [x], rules: [!reference [.setup, rules], {when: always}]}`,
  },
  parallel: {
    '.gitlab-ci.yml': `
a: {script: [x], parallel: 3}
b: {script: [x], parallel: {matrix: [{P: [x, y], Q: [z]}, {P: [w]}]}}
c: {stage: deploy, script: [x], needs: [a]}`,
  },
  includes: {
    '.gitlab-ci.yml': `
include: [{local: /ci/one.yml}, {local: /ci/two.yml}]
stages: [x, y]
a: {stage: y}
b: {stage: x, script: [own]}`,
    'ci/one.yml': 'include: /ci/three.yml\na: {script: [one], when: manual}\nb: {when: always}',
    'ci/two.yml': 'a: {allow_failure: false}',
    'ci/three.yml': 'c: {stage: x, script: [three]}',
  },
  anchors: {
    '.gitlab-ci.yml': `
.common: &common {script: [x], stage: build}
.rules: &rules [{if: $ABSENT}, {if: $WANTED, when: always}]
manual: {<<: *common, when: manual}
b: {<<: [*common, {stage: test, allow_failure: true}], rules: *rules}`,
  },
  defaults: {
    '.gitlab-ci.yml': `
default: {image: alpine, before_script: [x], interruptible: true}
variables: {WANTED: "no"}
a: {script: [x], rules: [{if: '$WANTED == "yes"'}]}
b: {script: [x], inherit: {default: false}, when: delayed, start_in: 5 minutes}`,
  },
};

const peer = createRequire(import.meta.url).resolve('gitlab-ci-local/dist/index.js');

/** The jobs that an independent implementation finds. */
async function peersJobs(files: Readonly<Record<string, string>>): Promise<readonly Listed[]> {
  const cwd = await mkdtemp(join(tmpdir(), 'ci-'));
  try {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(cwd, path)), { recursive: true });
      await writeFile(join(cwd, path), text);
    }
    const git = (...args: string[]) => execFileSync('git', args, { cwd });
    git('init', '-q', '-b', 'main');
    git('remote', 'add', 'origin', 'https://forge.example.com/group/project.git');
    git('add', '-A');
    git('-c', 'user.name=A', '-c', 'user.email=a@example.com', 'commit', '-qm', 'x');
    const set = Object.entries(VARIABLES).flatMap(([name, value]) => ['--variable', `${name}=${value}`]);
    const args = [peer, '--list-json', '--json-schema-validation=false', '--home', cwd, ...set];
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      cwd,
      env: { PATH: process.env['PATH'], HOME: cwd },
    });
    return JSON.parse(stdout.slice(stdout.indexOf('\n[') + 1)) as Listed[];
  } finally {
    await rm(cwd, { recursive: true });
  }
}

test.each(Object.entries(CORPUS))(
  'an independent implementation finds the same jobs: %s',
  { timeout: 60_000 },
  async (_name, files) => {
    const [theirs, { jobs }] = await Promise.all([
      peersJobs(files),
      planOf(files['.gitlab-ci.yml']!, { files, variables: VARIABLES }),
    ]);
    // It numbers jobs as `a: [1/3]`, writes no space in `[x, z]`, lets a need name all jobs of a `parallel`, lists what never
    // runs, and counts a manual job that says nothing as one that may not fail; the documentation says otherwise.
    const whole = (name: string) => name.replace(/(?: \d+\/\d+|: \[.*\])$/, '');
    const named = (name: string) => name.replace(/: \[(\d+\/\d+)\]$/, ' $1').replaceAll(',', ', ');
    const saysNothing = (name: string) => /^manual/.test(name);
    const expected = theirs
      .filter(({ when }) => when !== 'never')
      .map((job) => ({
        name: named(job.name),
        ...{ stage: job.stage, when: job.when, allowFailure: job.allow_failure || saysNothing(job.name) },
        needs: job.needs?.map((need) => ({ job: need.job, artifacts: need.artifacts })),
      }));
    const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
    const ours = jobs.map(({ name, stage, when, allowFailure, needs }) => ({
      ...{ name, stage, when, allowFailure },
      needs: needs && [
        ...new Map(needs.map(({ job, artifacts }) => [whole(job), { job: whole(job), artifacts }])).values(),
      ],
    }));
    expect(ours.sort(byName)).toEqual(expected.sort(byName));
  },
);
