/** Checking configurations of pipelines: `POST /ci/lint`, and `/projects/:id/ci/lint`. */
import { beforeAll, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';

const { as } = ownWorld();
let project: { id: number; path_with_namespace: string };
let shared: { id: number; path_with_namespace: string };

async function commit(id: number, files: Record<string, string>, branch = 'main') {
  const actions = Object.entries(files).map(([file_path, content]) => ({
    action: 'create',
    file_path,
    content,
  }));
  const { status } = await as('owner', 'POST', `/projects/${id}/repository/commits`, {
    ...{ branch, commit_message: 'Files', actions },
  });
  expect(status).toBe(201);
}

async function newProject(name: string, visibility = 'private') {
  const { status, body } = await as('owner', 'POST', '/projects', { name, visibility });
  expect(status).toBe(201);
  return body;
}

beforeAll(async () => {
  project = await newProject('ci-linted', 'public');
  shared = await newProject('ci-shared');
  await commit(shared.id, { 'jobs.yml': 'shared: {script: x}' });
  await commit(project.id, {
    '.gitlab-ci.yml': `
include: [{local: ci/local.yml}, {project: ${shared.path_with_namespace}, file: jobs.yml}, {template: Nodejs.gitlab-ci.yml, rules: [{if: $ABSENT}]}]
a: {extends: .base, needs: [b], environment: {name: live}, rules: [{if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH, when: manual}]}
b: {stage: build, script: [one, two], rules: [{exists: ["src/**/*.c"]}]}`,
    'ci/local.yml': '.base: {script: base, tags: [docker], before_script: [first]}',
    'src/deep/a.c': 'int main;',
  });
});

test('a text is valid, or its errors are told', async () => {
  const valid = await as('stranger', 'POST', '/ci/lint', { content: 'a: {script: x}' });
  expect([valid.status, valid.body]).toEqual([200, { status: 'valid', errors: [], warnings: [] }]);
  const wrong = await as('stranger', 'POST', '/ci/lint', {
    content: 'a: {stage: x}',
    include_merged_yaml: true,
  });
  expect([wrong.status, wrong.body]).toEqual([
    200,
    {
      status: 'invalid',
      errors: ['jobs:a config should implement a script: or a trigger: keyword'],
      warnings: [],
      merged_yaml: null,
    },
  ]);
  expect((await as('stranger', 'POST', '/ci/lint', { content: ' ' })).body.errors).toEqual([
    'Please provide content of .gitlab-ci.yml',
  ]);
  expect((await as('stranger', 'POST', '/ci/lint', {})).body).toEqual({
    error: 'content is missing',
  });
  expect((await as('anonymous', 'POST', '/ci/lint', { content: 'x' })).status).toBe(401);
});

test('the merged configuration and the jobs are told where they are asked for', async () => {
  const json = {
    content: '.b: {script: [x]}\na: {extends: .b, when: manual}',
    include_merged_yaml: true,
    include_jobs: true,
  };
  const { body } = await as('stranger', 'POST', '/ci/lint', json);
  expect(body.merged_yaml).toContain('a:\n  script:\n    - x\n  extends: .b\n  when: manual\n');
  expect(body.jobs).toEqual([
    {
      ...{ name: 'a', stage: 'test', before_script: [], script: ['x'], after_script: [], tag_list: [] },
      ...{ environment: null, when: 'manual', allow_failure: true, needs: null },
    },
  ]);
});

test("a project's configuration is read with its files, its templates and those of other projects", async () => {
  const { status, body } = await as(
    'owner',
    'GET',
    `/projects/${project.id}/ci/lint?dry_run=true&include_jobs=true`,
  );
  expect(status).toBe(200);
  expect(body).toMatchObject({ valid: true, errors: [], warnings: [] });
  expect(body.jobs.map(({ name, when }: { name: string; when: string }) => [name, when]).sort()).toEqual([
    ['a', 'manual'],
    ['b', 'on_success'],
    ['shared', 'on_success'],
  ]);
  expect(body.jobs.find(({ name }: { name: string }) => name === 'a')).toMatchObject({
    ...{ before_script: ['first'], tag_list: ['docker'], environment: 'live', needs: [{ name: 'b' }] },
  });
});

test('a file of a project that the caller may not read is told as one that there is not', async () => {
  const told = async (path: string) => {
    const json = { content: `include: {project: ${path}, file: jobs.yml}` };
    return (await as('stranger', 'POST', '/ci/lint', json)).body.errors;
  };
  const expected = (path: string) => [
    `Project \`${path}\` not found or access denied! Make sure any includes in the pipeline configuration are correctly defined.`,
  ];
  expect(await told(shared.path_with_namespace)).toEqual(expected(shared.path_with_namespace));
  expect(await told('no/where')).toEqual(expected('no/where'));
  const seen = await as('stranger', 'GET', `/projects/${project.id}/ci/lint`);
  expect(seen.body).toMatchObject({
    valid: false,
    merged_yaml: null,
    errors: expected(shared.path_with_namespace),
  });
});

test('a push that is pretended names what its jobs lack', async () => {
  const json = { content: 'a: {script: x, rules: [{if: $NO}]}', dry_run: true };
  const { body } = await as('owner', 'POST', `/projects/${project.id}/ci/lint`, json);
  expect(body).toMatchObject({ valid: false, errors: ['No stages / jobs for this pipeline.'] });
  const other = await as('owner', 'POST', `/projects/${project.id}/ci/lint`, {
    ...json,
    ref: 'nowhere',
  });
  expect([other.status, other.body]).toEqual([404, { message: '404 Reference Not Found' }]);
});

test('an empty repository has no configuration; a path of its own is obeyed', async () => {
  const empty = await newProject('ci-empty');
  const path = `/projects/${empty.id}/ci/lint`;
  expect((await as('owner', 'GET', path)).body.errors).toEqual(['Please provide content of .gitlab-ci.yml']);
  expect((await as('owner', 'POST', path, { content: 'a: {script: x}' })).body.valid).toBe(true);
  await commit(empty.id, { 'ci/own.yml': 'own: {script: x}' });
  expect((await as('owner', 'GET', path)).body.valid).toBe(false);
  await as('owner', 'PUT', `/projects/${empty.id}`, { ci_config_path: 'ci/own.yml' });
  const found = await as('owner', 'GET', `${path}?include_jobs=true`);
  expect(found.body.jobs.map(({ name }: { name: string }) => name)).toEqual(['own']);
});

test('a job that stands for more than a file may hold is refused with words', async () => {
  const content = `.a: {list: [${'x,'.repeat(40_000)}]}\na: {script: [${'!reference [.a, list],'.repeat(2)}]}`;
  expect((await as('stranger', 'POST', '/ci/lint', { content })).body.errors).toEqual([
    'The parsed YAML is too big',
  ]);
});

test('what is large or in a circle is refused with words', async () => {
  const errors = async (content: string) =>
    (await as('owner', 'POST', `/projects/${project.id}/ci/lint`, { content })).body.errors;
  expect(await errors(`a: {script: "${'x'.repeat(2 ** 20)}"}`)).toEqual([
    'The configuration file is larger than 1048576 bytes',
  ]);
  expect(await errors('a: &a [*a]')).toHaveLength(1);
  expect(await errors('a: {script: !reference [a, script]}')).toEqual([
    '!reference ["a","script"] is part of a circular chain',
  ]);
});
