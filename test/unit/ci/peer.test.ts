import { execFile, execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import type { Job } from '../../../lib/ci/entries/job.ts';
import type { Plan } from '../../../lib/ci/plan.ts';
import { parseYaml } from '../../../lib/ci/yaml/parse.ts';
import { configOf, planOf } from './configs.ts';

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

type Files = Readonly<Record<string, string>>;

const CORPUS: Readonly<Record<string, Files>> = {
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
  'needs that are optional, of a matrix, and of the same stage': {
    '.gitlab-ci.yml': `
stages: [build, test]
never: {stage: build, script: [x], rules: [{if: $ABSENT}]}
m: {stage: build, script: [x], parallel: {matrix: [{OS: [linux, mac], ARCH: [arm, x86]}]}}
a: {stage: test, script: [x], needs: [{job: never, optional: true}]}
b: {stage: test, script: [x], needs: [m, {job: a, artifacts: false}]}
c: {stage: test, script: [x], needs: [b], when: always}`,
  },
  'a matrix of lists and single values': {
    '.gitlab-ci.yml': `
a:
  script: [x]
  parallel:
    matrix:
      - {PROVIDER: aws, STACK: [monitoring, app1]}
      - {PROVIDER: [gcp, vultr], STACK: [data]}
b: {script: [x], parallel: 2, rules: [{if: $WANTED, when: manual, allow_failure: true}]}`,
  },
  'extends in depth': {
    '.gitlab-ci.yml': `
.root:
  image: alpine
  before_script: [root]
  variables: {A: root, B: root, C: root}
  artifacts: {paths: [root], expire_in: 1 day, reports: {junit: [root.xml]}}
  cache: {key: root, paths: [c]}
  tags: [one]
.mid: {extends: .root, variables: {B: mid}, artifacts: {paths: [mid], when: always}}
.side: {variables: {C: side, D: side}, artifacts: {reports: {dotenv: [side.env]}}, tags: [two, three]}
a: {extends: .mid, script: [a]}
b: {extends: [.mid, .side], script: [b], variables: {D: b}}
c: {extends: [.side, .mid], script: [c], image: {name: busybox, entrypoint: [""]}}
d: {extends: a, stage: deploy, before_script: []}`,
  },
  'references in depth': {
    '.gitlab-ci.yml': `
.vars: {variables: {URL: "https://example.com", KIND: test}}
.one: {script: [one], after_script: [after one]}
.two: {script: [!reference [.one, script], two], before_script: [!reference [.one, after_script]]}
.three: {script: [three, !reference [.two, script]], rules: [{if: $ABSENT}, {if: $WANTED, when: manual}]}
a:
  variables: !reference [.vars, variables]
  before_script: !reference [.two, before_script]
  script: [zero, !reference [.three, script], end]
  rules: [!reference [.three, rules]]
b:
  variables: {KIND: !reference [.vars, variables, KIND], OWN: b}
  script: !reference [.two, script]
  after_script: [!reference [.one, after_script], last]`,
  },
  'includes that are merged': {
    '.gitlab-ci.yml': `
include:
  - local: /ci/base.yml
  - local: /ci/jobs/*.yml
  - {local: /ci/wanted.yml, rules: [{if: '$WANTED == "yes"'}]}
  - {local: /ci/unwanted.yml, rules: [{if: $ABSENT}]}
  - {local: /ci/docker.yml, rules: [{exists: [Dockerfile]}]}
variables: {B: own}
lint: {before_script: [own], variables: {X: own}}
.shared: {tags: [own]}`,
    'ci/base.yml': `
stages: [check, ship]
variables: {A: base, B: base}
default: {image: alpine, before_script: [base]}
.shared: {stage: check, tags: [base], variables: {Y: base}}`,
    'ci/jobs/lint.yml': 'lint: {extends: .shared, script: [lint], variables: {X: lint, Z: lint}}',
    'ci/jobs/unit.yml': 'unit: {extends: .shared, script: [unit], needs: [lint]}',
    'ci/wanted.yml': 'wanted: {stage: ship, script: [wanted]}',
    'ci/unwanted.yml': 'unwanted: {stage: ship, script: [unwanted]}',
    'ci/docker.yml': 'picture: {stage: ship, script: [build], when: manual, allow_failure: true}',
    Dockerfile: 'FROM scratch',
  },
  'default and inherit': {
    '.gitlab-ci.yml': `
default:
  image: {name: alpine, entrypoint: [""]}
  before_script: [before]
  after_script: [after]
  artifacts: {paths: [out], when: always}
  cache: {key: k, paths: [deps]}
  retry: 1
variables: {WANTED: file, OTHER: file}
all: {script: [x]}
none: {script: [x], inherit: {default: false, variables: false}}
some: {script: [x], inherit: {default: [image, cache], variables: [OTHER]}}
own: {script: [x], image: busybox, before_script: []}`,
  },
  'workflow that wants the pipeline, and gives variables': {
    '.gitlab-ci.yml': `
workflow:
  rules:
    - if: $ABSENT
      when: never
    - if: $CI_PIPELINE_SOURCE == "push"
      variables: {FROM: workflow}
    - when: always
variables: {FROM: file}
a: {script: [x], rules: [{if: '$FROM == "workflow"'}]}
b: {script: [x], rules: [{if: '$FROM == "file"'}]}
c: {script: [x]}`,
  },
  'rules on changes': {
    '.gitlab-ci.yml': `
a: {script: [x], rules: [{changes: [src/a.c]}]}
b: {script: [x], rules: [{changes: ["src/*.h"]}]}
c: {script: [x], rules: [{changes: ["**/*.c"], when: manual}]}
d: {script: [x], rules: [{changes: [docs/**/*]}, {if: $WANTED, when: always}]}
e: {script: [x], rules: [{if: $ABSENT, changes: [src/a.c]}]}
f: {script: [x], rules: [{changes: {paths: [src/deep/**/*]}}]}`,
    'docs/a.md': '# A',
    'src/b.h': 'b',
  },
};

/** What a second commit changes. */
const CHANGES: Readonly<Record<string, Files>> = {
  'rules on changes': { 'src/a.c': 'a', 'src/deep/er/x.c': 'x' },
};

const peer = createRequire(import.meta.url).resolve('gitlab-ci-local/dist/index.js');

/** What an independent implementation makes of a configuration: the jobs that it selects, and all of it put together. */
async function peersReading(files: Files, changes: Files = {}) {
  const cwd = await mkdtemp(join(tmpdir(), 'ci-'));
  try {
    const git = (...args: string[]) => execFileSync('git', args, { cwd });
    const commit = async (added: Files) => {
      for (const [path, text] of Object.entries(added)) {
        await mkdir(dirname(join(cwd, path)), { recursive: true });
        await writeFile(join(cwd, path), text);
      }
      git('add', '-A');
      git('-c', 'user.name=A', '-c', 'user.email=a@example.com', 'commit', '--allow-empty', '-qm', 'x');
    };
    git('init', '-q', '-b', 'main');
    git('remote', 'add', 'origin', 'https://forge.example.com/group/project.git');
    await commit(files);
    // What it compares with.
    git('update-ref', 'refs/remotes/origin/main', 'HEAD');
    git('symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/main');
    await commit(changes);
    const set = Object.entries(VARIABLES).flatMap(([name, value]) => ['--variable', `${name}=${value}`]);
    const run = async (what: string) => {
      const args = [peer, what, '--json-schema-validation=false', '--home', cwd, ...set];
      const env = { PATH: process.env['PATH'], HOME: cwd };
      return (await promisify(execFile)(process.execPath, args, { cwd, env })).stdout;
    };
    const [list, preview] = await Promise.all([run('--list-json'), run('--preview')]);
    return {
      listed: JSON.parse(list.slice(list.search(/^\[/m))) as Listed[],
      merged: await parseYaml(preview.slice(preview.search(/^---$/m))),
    };
  } finally {
    await rm(cwd, { recursive: true });
  }
}

test.each(Object.entries(CORPUS))(
  'an independent implementation finds the same jobs: %s',
  { timeout: 600_000 },
  async (name, files) => {
    const changes = CHANGES[name];
    const given = { files: { ...files, ...changes }, variables: VARIABLES };
    const changed = changes === undefined ? {} : { changed: Object.keys(changes) };
    const text = files['.gitlab-ci.yml']!;
    const [{ listed, merged }, { jobs }, config] = await Promise.all([
      peersReading(files, changes),
      planOf(text, { ...given, ...changed }),
      configOf(text, given),
    ]);
    expect(selectedOf(jobs)).toEqual(selectedOfPeer(listed));
    // Jobs with all that they include, extend, refer to and inherit.
    const ours = [...config.jobs.values()];
    expect(Object.fromEntries(ours.map((job) => [job.name, contentOf(job)]))).toEqual(
      Object.fromEntries(ours.map((job) => [job.name, contentOfPeer(merged[job.name] as Merged)])),
    );
  },
);

const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);

function selectedOf(jobs: Plan['jobs']) {
  // It lets a need name all jobs of a `parallel`.
  const whole = (name: string) => name.replace(/(?: \d+\/\d+|: \[.*\])$/, '');
  return jobs
    .map(({ name, stage, when, allowFailure, needs }) => ({
      ...{ name, stage, when, allowFailure },
      needs: needs && [
        ...new Map(needs.map(({ job, artifacts }) => [whole(job), { job: whole(job), artifacts }])).values(),
      ],
    }))
    .sort(byName);
}

function selectedOfPeer(listed: readonly Listed[]) {
  // It numbers jobs as `a: [1/3]`, writes no space in `[x, z]`, lists what never runs and needs that are not there, and counts
  // a manual job that says nothing as one that may not fail; the documentation says otherwise.
  const named = (name: string) => name.replace(/: \[(\d+\/\d+)\]$/, ' $1').replaceAll(',', ', ');
  const saysNothing = (name: string) => /^manual/.test(name);
  const selected = listed.filter(({ when }) => when !== 'never');
  const isThere = (need: string) =>
    selected.some(({ name }) => name === need || name.startsWith(`${need}: [`));
  return selected
    .map((job) => ({
      name: named(job.name),
      ...{ stage: job.stage, when: job.when, allowFailure: job.allow_failure || saysNothing(job.name) },
      needs: job.needs
        ?.filter(({ job: need }) => isThere(need))
        .map((need) => ({ job: need.job, artifacts: need.artifacts })),
    }))
    .sort(byName);
}

interface Merged {
  readonly script?: readonly string[];
  readonly before_script?: readonly string[];
  readonly after_script?: readonly string[];
  readonly variables?: Readonly<Record<string, string>>;
  readonly image?: { readonly name: string } | string;
  readonly artifacts?: unknown;
  readonly cache?: unknown;
  readonly tags?: readonly string[];
  readonly stage?: string;
  readonly inherit?: { readonly variables?: unknown };
}

function contentOf(job: Job) {
  const { script, beforeScript, afterScript, variables, image, artifacts, cache, tags, stage } = job;
  return {
    ...{ script, before: beforeScript ?? [], after: afterScript ?? [], variables, image: image?.name },
    ...{ artifacts, cache: cache?.[0]?.paths, tags: tags ?? [], stage, inherits: job.inheritsVariables },
  };
}

function contentOfPeer(job: Merged) {
  const { image, artifacts, cache, stage = 'test' } = job;
  const [first] = [cache].flat() as readonly ({ readonly paths: unknown } | undefined)[];
  return {
    ...{ script: job.script, before: job.before_script ?? [], after: job.after_script ?? [] },
    ...{ variables: job.variables ?? {}, image: typeof image === 'object' ? image.name : image },
    ...{ artifacts, cache: first?.paths, tags: job.tags ?? [], stage },
    inherits: job.inherit?.variables ?? true,
  };
}
