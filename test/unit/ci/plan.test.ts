import { expect, test } from 'vitest';
import { readConfig } from '../../../lib/ci/config.ts';
import { planPipeline } from '../../../lib/ci/plan.ts';
import { contextOf, type Given, planOf } from './configs.ts';

const names = async (text: string, given?: Given) => (await planOf(text, given)).jobs.map(({ name }) => name);

test('jobs have the stages of the pipeline, of which those without jobs are left out', async () => {
  const { stages, jobs } = await planOf(
    'a: {script: x, stage: deploy}\nb: {script: x, stage: .pre}\nc: {script: x}',
  );
  expect(stages).toEqual(['.pre', 'test', 'deploy']);
  expect(jobs.map(({ name, stageIndex }) => [name, stageIndex])).toEqual([
    ['a', 2],
    ['b', 0],
    ['c', 1],
  ]);
});

test('the first rule that holds decides when a job runs, whether it may fail and what variables it has', async () => {
  const text = `
variables: {A: all, B: all}
a:
  script: x
  variables: {B: job}
  rules:
    - if: $NO
    - if: $MANUAL
      when: manual
      allow_failure: true
      variables: {B: rule, C: rule}
    - if: $LATE
      when: delayed
      start_in: 2 minutes
    - if: $NEVER
      when: never
    - when: on_failure
b: {script: x}`;
  const a = async (variables: Record<string, string>) =>
    (await planOf(text, { variables })).jobs.find(({ name }) => name === 'a');
  expect(await a({ MANUAL: '1' })).toMatchObject({
    when: 'manual',
    allowFailure: true,
    variables: { A: 'all', B: 'rule', C: 'rule' },
  });
  expect(await a({ LATE: '1' })).toMatchObject({ when: 'delayed', startIn: 120, allowFailure: false });
  expect(await a({ NEVER: '1' })).toBeUndefined();
  expect(await a({})).toMatchObject({ when: 'on_failure', variables: { A: 'all', B: 'job' } });
});

test('a manual job may fail where it says nothing, and not where a rule makes it manual', async () => {
  const { jobs } = await planOf(
    'a: {script: x, when: manual}\nb: {script: x, rules: [{when: manual}]}\nc: {script: x, when: manual, allow_failure: false}',
  );
  expect(jobs.map(({ allowFailure }) => allowFailure)).toEqual([true, false, false]);
});

test('variables of the server and the caller count more than those of the file in conditions', async () => {
  const text = 'variables: {A: file}\na: {script: x, rules: [{if: $A == "caller"}]}\nb: {script: x}';
  expect(await names(text, { variables: { A: 'caller' } })).toEqual(['a', 'b']);
  expect(await names(text)).toEqual(['b']);
});

test('changes hold where a path fits, and where nothing is compared; exists where a file fits', async () => {
  const text =
    'a: {script: x, rules: [{changes: ["docs/**/*"]}]}\nb: {script: x, rules: [{exists: ["*.gem"]}]}\nc: {script: x}';
  expect(await names(text, { changed: ['docs/deep/a.md'], files: {} })).toEqual(['a', 'c']);
  expect(await names(text, { changed: ['src/a.c'], files: { 'x.gem': '' } })).toEqual(['b', 'c']);
  expect(await names(text)).toEqual(['a', 'c']);
});

test.each<[string, Given, readonly string[]]>([
  ['push to a branch', {}, ['default', 'branches', 'main', 'pattern', 'pushes', 'not-tags', 'own']],
  ['push of a tag', { ref: 'v1', isTag: true }, ['default', 'tags', 'pushes']],
  ['schedule', { source: 'schedule', ref: 'other' }, ['default', 'branches', 'schedules', 'not-tags']],
  ['merge request', { source: 'merge_request_event', ref: 'main' }, ['mrs', 'not-tags-only-mrs']],
])('only and except select for a %s', async (_name, given, expected) => {
  const text = `
default: {tags: [x]}
default-job: &d {script: x}
default2: {script: x, only: [nothing]}
branches: {script: x, only: [branches]}
tags: {script: x, only: [tags]}
main: {script: x, only: [main]}
pattern: {script: x, only: [/^MA/i]}
pushes: {script: x, only: {refs: [pushes]}}
schedules: {script: x, only: [schedules]}
mrs: {script: x, only: [merge_requests]}
not-tags: {script: x, only: [branches], except: [tags]}
not-tags-only-mrs: {script: x, only: [merge_requests], except: [tags]}
own: {script: x, only: ["main@group/project"]}
foreign: {script: x, only: ["main@other/project"]}`;
  expect((await names(text, given)).map((name) => name.replace('default-job', 'default'))).toEqual(expected);
});

test('workflow rules decide about the whole pipeline, and give it variables', async () => {
  const text = 'workflow: {rules: [{if: $GO, variables: {A: wf}}]}\na: {script: x}';
  expect((await planOf(text, { variables: { GO: '1' } })).jobs[0]!.variables).toEqual({ A: 'wf' });
  await expect(planOf(text)).rejects.toThrow('Pipeline filtered out by workflow rules.');
});

test('a pipeline without jobs, or with those of .pre and .post alone, is none', async () => {
  await expect(planOf('a: {script: x, rules: [{if: $NO}]}')).rejects.toThrow(
    'No stages / jobs for this pipeline.',
  );
  await expect(planOf('a: {script: x, stage: .pre}')).rejects.toThrow('No stages / jobs for this pipeline.');
});

test('a need must be in the pipeline unless it is optional', async () => {
  const text = (need: string) => `
a: {script: x, stage: build, rules: [{if: $NO}]}
b: {script: x, needs: [${need}]}`;
  await expect(planOf(text('a'))).rejects.toThrow(
    "'b' job needs 'a' job, but 'a' is not in any previous stage",
  );
  expect((await planOf(text('{job: a, optional: true}'))).jobs[0]!.needs).toEqual([]);
});

test('parallel makes jobs with names and variables of their own, which a need means all together', async () => {
  const { jobs } = await planOf(`
a: {script: x, stage: build, parallel: 2}
b: {script: x, stage: build, parallel: {matrix: [{P: [x, y], Q: z}, {P: w}]}}
c: {script: x, needs: [a, {job: b, artifacts: false}]}`);
  expect(jobs.map(({ name }) => name)).toEqual(['a 1/2', 'a 2/2', 'b: [x, z]', 'b: [y, z]', 'b: [w]', 'c']);
  expect(jobs[3]!.variables).toMatchObject({ P: 'y', Q: 'z', CI_NODE_INDEX: '2', CI_NODE_TOTAL: '3' });
  expect(jobs[5]!.needs).toEqual([
    { job: 'a 1/2', artifacts: true },
    { job: 'a 2/2', artifacts: true },
    ...['b: [x, z]', 'b: [y, z]', 'b: [w]'].map((job) => ({ job, artifacts: false })),
  ]);
});

test('a job inherits the variables that it asks for', async () => {
  const { jobs } = await planOf(
    'variables: {A: "1", B: "2"}\na: {script: x, inherit: {variables: [A]}}\nb: {script: x, inherit: {variables: false}}',
  );
  expect(jobs.map(({ variables }) => variables)).toEqual([{ A: '1' }, {}]);
});

test('conditions on files of one configuration make a million comparisons; further ones hold', async () => {
  const rules = (glob: string) => `{script: x, rules: [{exists: [${glob}]}]}`;
  const jobs = Array.from({ length: 120 }, (_, i) => `j${i}: ${rules(`none-${i}`)}`).join('\n');
  const paths = Array.from({ length: 9_000 }, (_, i) => `file-${i}`);
  const given = { ...contextOf(), allPaths: async () => paths };
  const { jobs: found } = await planPipeline(await readConfig(jobs, given), given);
  // 111 jobs compare 9,000 paths each, and find none.
  expect(found.map(({ name }) => name)).toEqual(Array.from({ length: 9 }, (_, i) => `j${111 + i}`));
});

test('what all jobs have from `default` and the variables of the pipeline counts for each of them', async () => {
  const jobs = (count: number) => Array.from({ length: count }, (_, i) => `j${i}: {script: x}\n`).join('');
  const long = 'x'.repeat(100_000);
  for (const shared of [`default: {before_script: [${long}]}\n`, `variables: {V: ${long}}\n`]) {
    expect((await planOf(shared + jobs(400))).jobs).toHaveLength(400);
    await expect(planOf(shared + jobs(501))).rejects.toThrow('The parsed YAML is too big');
  }
});

test('a job that is longer than a file may be is refused', async () => {
  const lines = (count: number) => `${'*a, '.repeat(count)}*a`;
  const text = (count: number) =>
    `.a: {script: [&a ${'x'.repeat(100_000)}]}\nj: {before_script: [${lines(count)}], script: [${lines(20)}]}\n`;
  expect((await planOf(text(20))).jobs).toHaveLength(1);
  const files = { 'a.yml': text(25), 'b.yml': `j: {after_script: [${'x'.repeat(900_000)}]}\n` };
  await expect(planOf('include: [a.yml, b.yml]\n', { files })).rejects.toThrow('The parsed YAML is too big');
});
