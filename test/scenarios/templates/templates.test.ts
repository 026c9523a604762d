/** Templates of licences and files: the lists, one by its key, and what is filled in. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { GitCli } from '../../clients/git-cli.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { expectSchema } from '../../harness/schemas.ts';

const { as, world } = ownWorld();
const KINDS = ['gitignores', 'dockerfiles', 'gitlab_ci_ymls', 'ci_ymls'];
const get = async (path: string, who: 'anonymous' | 'owner' = 'anonymous') => {
  const { status, body } = await as(who, 'GET', path);
  return { status, body };
};

test('licences are listed with their terms, popular ones alone where asked', async () => {
  const { status, body, headers } = await as('anonymous', 'GET', '/templates/licenses?per_page=100');
  expect([status, headers.get('x-total')]).toEqual([200, String(body.length)]);
  for (const license of body) expectSchema('license', license);
  const keys = body.map(({ key }: { key: string }) => key);
  expect(keys).toEqual([...keys].sort());
  expect(keys).toEqual(expect.arrayContaining(['apache-2.0', 'gpl-3.0', 'mit', 'mpl-2.0', 'unlicense']));
  const popular = (await get('/templates/licenses?popular=1')).body;
  expect(popular.map(({ key }: { key: string }) => key)).toEqual(['apache-2.0', 'gpl-3.0', 'mit']);
  const second = await as('anonymous', 'GET', '/templates/licenses?per_page=2&page=2');
  expect(second.body.map(({ key }: { key: string }) => key)).toEqual(keys.slice(2, 4));
});

test.each([
  ['mit', `Copyright (c) YEAR HOLDER`],
  ['MIT', `Copyright (c) YEAR HOLDER`],
  ['apache-2.0', 'Copyright YEAR HOLDER'],
  ['gpl-3.0', 'Copyright (C) YEAR  HOLDER'],
])('the licence %s is filled in with year and holder', async (key, line) => {
  const year = String(new Date().getUTCFullYear());
  const expected = (holder: string) => line.replace('YEAR', year).replace('HOLDER', () => holder);
  const given = await get(`/templates/licenses/${key}?fullname=${encodeURIComponent("A & $' B")}`);
  expect(given.body.content).toContain(expected("A & $' B"));
  const caller = await as('owner', 'GET', '/user');
  expect((await get(`/templates/licenses/${key}`, 'owner')).body.content).toContain(
    expected(caller.body.name),
  );
  const open = (await get(`/templates/licenses/${key}`)).body.content;
  expect(open).toContain(year);
  expect(open).toMatch(/[[<](fullname|name of (author|copyright owner))[\]>]/);
});

test('the name of the project stands in the licences that name one', async () => {
  const { content } = (await get('/templates/licenses/gpl-3.0?project=Rocket')).body;
  expect(content).toContain('Rocket');
  expect(content).not.toContain("<one line to give the program's name");
});

test.each(KINDS)('files of the kind %s are listed and shown by name', async (kind) => {
  const { status, body } = await get(`/templates/${kind}`);
  expect(status).toBe(200);
  expectSchema('template_list', body);
  expect(body.length).toBeGreaterThan(2);
  for (const { key } of body) {
    const one = await get(`/templates/${kind}/${encodeURIComponent(key)}`);
    expect(one.status).toBe(200);
    expectSchema('template', one.body);
  }
  expect(await get(`/templates/${kind}/none`)).toEqual({
    status: 404,
    body: { message: '404 Template Not Found' },
  });
});

test('ignore files are those of languages, editors and systems, as git understands them', async () => {
  const names: string[] = [];
  for (let page = 1; page < 4; page++) {
    const { body } = await get(`/templates/gitignores?per_page=100&page=${page}`);
    names.push(...body.map(({ name }: { name: string }) => name));
  }
  expect(names).toEqual(expect.arrayContaining(['Go', 'Java', 'Node', 'Python', 'Rust', 'VisualStudioCode']));
  expect(new Set(names).size).toBe(names.length);
  using git = new GitCli();
  await git.ok(git.home, 'init', '--quiet', git.path('work'));
  const { content } = (await get('/templates/gitignores/node')).body;
  writeFileSync(join(git.path('work'), '.gitignore'), content);
  const isIgnored = async (path: string) =>
    (await git.run(['check-ignore', '--quiet', path], { cwd: git.path('work') })).code === 0;
  expect([await isIgnored('packages/a/node_modules/b.js'), await isIgnored('src/a.js')]).toEqual([
    true,
    false,
  ]);
});

test('an unknown licence is 404', async () => {
  expect(await get('/templates/licenses/none')).toEqual({
    status: 404,
    body: { message: '404 License Not Found' },
  });
});

test('a project offers the templates of the instance to users who may see it', async () => {
  const shown = `/projects/${world.ids['public']}/templates`;
  for (const kind of ['licenses', ...KINDS]) {
    const { status, body } = await get(`${shown}/${kind}?per_page=100`);
    expect(status).toBe(200);
    expectSchema('template_list', body);
    const one = await get(`${shown}/${kind}/${body[0].key}`);
    expect(one.status).toBe(200);
    expectSchema(kind === 'licenses' ? 'license' : 'template', one.body);
  }
  const filled = await get(`${shown}/licenses/mit?fullname=Ada`);
  expect(filled.body.content).toContain(`${new Date().getUTCFullYear()} Ada`);
  expect((await get(`${shown}/issues_of_old`)).body).toEqual({ error: 'type does not have a valid value' });
  expect((await get(`/projects/${world.ids['private']}/templates/licenses`)).body).toEqual({
    message: '404 Project Not Found',
  });
});

test('a project offers the templates of issues and merge requests in its default branch to those who read its code', async () => {
  const { body: project } = await as('owner', 'POST', '/projects', {
    name: 'Templated',
    visibility: 'private',
  });
  const path = `/projects/${project.id}`;
  expect((await get(`${path}/templates/issues`, 'owner')).body).toEqual([]);
  const file = (file_path: string, content: string) => ({ action: 'create', file_path, content });
  const { status } = await as('owner', 'POST', `${path}/repository/commits`, {
    branch: 'main',
    commit_message: 'templates',
    actions: [
      file('.gitlab/issue_templates/Bug.md', '## Steps\n'),
      file('.gitlab/issue_templates/A feature.md', 'Why?'),
      file('.gitlab/issue_templates/notes.txt', 'none'),
      file('.gitlab/issue_templates/deeper/Other.md', 'none'),
      file('.gitlab/merge_request_templates/Default.md', 'What'),
      file('secret.md', 'none'),
    ],
  });
  expect(status).toBe(201);
  const { body } = await get(`${path}/templates/issues`, 'owner');
  expectSchema('template_list', body);
  expect(body).toEqual([
    { key: 'A feature', name: 'A feature' },
    { key: 'Bug', name: 'Bug' },
  ]);
  const bug = await get(`${path}/templates/issues/Bug`, 'owner');
  expectSchema('template', bug.body);
  expect(bug.body).toEqual({ name: 'Bug', content: '## Steps\n' });
  expect((await get(`${path}/templates/issues/A%20feature`, 'owner')).body.content).toBe('Why?');
  expect((await get(`${path}/templates/merge_requests/Default`, 'owner')).body.content).toBe('What');
  for (const name of ['none', 'notes', 'Other', 'deeper%2FOther', '..%2F..%2Fsecret'])
    expect((await get(`${path}/templates/issues/${name}`, 'owner')).status).toBe(404);
  await as('owner', 'POST', `${path}/members`, { user_id: world.ids['stranger'], access_level: 10 });
  const guest = await as('stranger', 'GET', `${path}/templates/issues`);
  expect([guest.status, guest.body]).toEqual([200, []]);
  expect((await as('stranger', 'GET', `${path}/templates/issues/Bug`)).status).toBe(404);
});
