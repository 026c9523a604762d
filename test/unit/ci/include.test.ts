import { expect, test } from 'vitest';
import { readConfig } from '../../../lib/ci/config.ts';
import { MAX_INCLUDED } from '../../../lib/ci/include.ts';
import { configOf, contextOf, problemsOf } from './configs.ts';

test('included files are merged in order, and the own entries over them', async () => {
  const { jobs, stages } = await configOf(
    `
include:
  - local: /ci/one.yml
  - project: group/shared
    ref: v1
    file: [/two.yml]
  - https://example.com/three.yml
  - template: Four.gitlab-ci.yml
stages: [own]
a: {stage: own, variables: {OWN: "1"}}`,
    {
      files: { 'ci/one.yml': 'stages: [x]\na: {script: one, variables: {A: "1", B: "1"}}' },
      projects: {
        'group/shared@v1': {
          'two.yml': 'include: more.yml\na: {variables: {B: "2"}}',
          'more.yml': 'b: {script: x, stage: own}',
        },
      },
      remotes: { 'https://example.com/three.yml': 'a: {tags: [remote]}' },
      templates: { 'Four.gitlab-ci.yml': 'c: {script: x, stage: own}' },
    },
  );
  expect(stages).toEqual(['.pre', 'own', '.post']);
  expect([...jobs.keys()].sort()).toEqual(['a', 'b', 'c']);
  expect(jobs.get('a')).toMatchObject({
    script: ['one'],
    variables: { A: '1', B: '2', OWN: '1' },
    tags: ['remote'],
  });
});

test('a pattern includes the files that fit it, in order', async () => {
  const files = {
    'ci/b.yml': 'a: {script: b}',
    'ci/a.yml': 'a: {script: a}',
    'ci/deep/c.yml': 'c: {script: c}',
  };
  const { jobs } = await configOf('include: ci/*.yml', { files });
  expect(jobs.get('a')!.script).toEqual(['b']);
  expect(jobs.has('c')).toBe(false);
});

test('a file is included where its rules hold, and variables are put into its name', async () => {
  const text = 'include: [{local: "$DIR/a.yml", rules: [{if: $WANTED}]}]\nb: {script: x}';
  const files = { 'x/a.yml': 'a: {script: x}' };
  const names = async (variables: Record<string, string>) =>
    [...(await configOf(text, { files, variables })).jobs.keys()].sort();
  expect(await names({ DIR: 'x', WANTED: '1' })).toEqual(['a', 'b']);
  expect(await names({ DIR: 'x' })).toEqual(['b']);
});

test.each([
  ['include: missing.yml', 'Local file `missing.yml` does not exist!'],
  ['include: a.txt', 'Local file `a.txt` does not have YAML extension!'],
  ['include: empty.yml', 'Local file `empty.yml` is empty!'],
  ['include: bad.yml', 'Included file `bad.yml` does not have valid YAML syntax!'],
  ['include: none/*.yml', 'Local file `none/*.yml` does not exist!'],
  ['include: {project: other/one, file: a.yml}', 'Project `other/one` not found or access denied!'],
  ['include: {project: g/p}', 'Project `g/p` file needs to be specified!'],
  ['include: {project: g/p, file: no.yml}', 'Project `g/p` file `no.yml` does not exist!'],
  [
    'include: {template: Nothing.gitlab-ci.yml}',
    'Template file `Nothing.gitlab-ci.yml` is not a valid location!',
  ],
  [
    'include: {local: a.yml, remote: https://x/a.yml}',
    'Include `{"local":"a.yml","remote":"https://x/a.yml"}` needs to match exactly one accessor!',
  ],
  [
    'include: {artifact: a.yml, job: a}',
    'Including configs from artifacts is only allowed when triggering child pipelines',
  ],
  ['include: 1', 'include config should be a hash or a string'],
])('%s', async (text, message) => {
  const given = { files: { 'empty.yml': ' ', 'bad.yml': 'a: [', 'a.txt': 'x' }, projects: { 'g/p': {} } };
  expect(await problemsOf(`${text}\na: {script: x}`, given)).toEqual([message]);
});

test('files that include each other in a circle, or too many, are refused', async () => {
  const message = `Maximum of ${MAX_INCLUDED} nested includes are allowed!`;
  const files = { 'a.yml': 'include: b.yml', 'b.yml': 'include: [a.yml, a.yml]' };
  expect(await problemsOf('include: a.yml', { files })).toEqual([message]);
});

test('files that together are copied too often are refused before all are read', async () => {
  const files = { 'b.yml': Array.from({ length: 9000 }, (_, i) => `.a${i}: {script: x}\n`).join('') };
  let read = 0;
  const context = contextOf({ files });
  const counted = {
    ...context.files,
    read: (path: string) => context.files.read(path).finally(() => read++),
  };
  await expect(
    readConfig(`include: [${'b.yml, '.repeat(99)}b.yml]\na: {script: x}`, { ...context, files: counted }),
  ).rejects.toThrow('The parsed YAML is too big');
  expect(read).toBeLessThan(50);
});

test('files that together have more entries than are copied at once are refused', async () => {
  const jobs = (name: string) =>
    Array.from({ length: 11_000 }, (_, i) => `.${name}${i}: {script: x}\n`).join('');
  const files = { 'a.yml': jobs('a'), 'b.yml': jobs('b') };
  expect(await problemsOf('include: [a.yml, b.yml]\na: {script: x}', { files })).toEqual([
    'The parsed YAML is too big',
  ]);
});
