import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { type Scenario, scenarios } from '../../harness/scenarios.ts';
import type { Service } from '../../harness/service.ts';
import { ask } from '../../harness/world.ts';
import { codeReads, codeWrites, seedCode } from '../repository/code-audience.ts';
import { type Pushed, pushedProject } from '../repository/pushed-project.ts';

const { service, world } = ownWorld();
let story: Pushed;
let url: string;
beforeAll(async () => {
  await seedCode(world);
  story = await pushedProject(service, { username: 'owner', token: world.tokens.owner! }, 'story', fill);
  url = `${service.url}/owner/story`;
  await ask(world, 'owner', 'POST', `/projects/${story.id}/members`, {
    user_id: world.ids['developer'],
    access_level: 30,
  });
});
afterAll(() => {
  story.git[Symbol.dispose]();
});

/** The commits by their titles. */
const commits = new Map<string, string>();
const link = (title: string) => `[${title}](${url}/-/commit/${commits.get(title)})`;

function fill(git: Pushed['git']): void {
  let at = 1_600_000_000;
  const commit = (
    title: string,
    body = '',
    author = 'Nobody <nobody@example.com>',
    file?: [string, string],
  ) => {
    const message = body === '' ? `${title}\n` : `${title}\n\n${body}\n`;
    const change =
      file === undefined ? '' : `M 100644 inline ${file[0]}\ndata ${file[1].length}\n${file[1]}\n`;
    const from = commits.size === 0 ? '' : 'from refs/heads/main^0\n';
    git.feed(
      `commit refs/heads/main\nauthor ${author} ${++at} +0000\ncommitter C <c@example.com> ${at} +0000\n` +
        `data ${message.length}\n${message}\n${from}${change}\n`,
      'fast-import',
      '--quiet',
    );
    commits.set(title, git.oid('refs/heads/main'));
  };
  commit('Begin', 'Changelog: feature', undefined, ['README', 'x']);
  git.git('tag', 'v1.0.0');
  git.git('tag', 'v1.1.0-rc1');
  git.git('tag', 'version-1');
  commit('Add one', 'At length.\n\nChangelog: feature', 'S <stranger@example.com>');
  git.git('tag', '-a', '-m', 'Not yet', '0.9.0', 'v1.0.0');
  commit('Fix two', 'Changelog: bug\nIssue: #5', 'D <DEVELOPER@example.com>');
  commit('Quiet', 'changelog: bug');
  commit('Break', 'Changelog: bug');
  commit('Revert "Break"', `This reverts commit ${commits.get('Break')}.`);
  commit('Blunder', 'Changelog: bug');
  commit('Revert "Blunder"', `This reverts commit ${commits.get('Blunder')}.`);
  commit('Revert "Revert "Blunder""', `This reverts commit ${commits.get('Revert "Blunder"')}.`);
  commit('Two kinds', 'Changelog: feature\nChangelog: security', 'O <owner@example.com>');
  git.git('branch', 'work');
  git.git('branch', 'tidy');
}

let people = 0;
/** A maintainer of the story with five changelogs a minute of their own. */
async function newOwner(): Promise<(method: string, json: object) => ReturnType<Service['call']>> {
  const { id, token } = await service.user(`somebody${people++}`);
  await ask(world, 'owner', 'POST', `/projects/${story.id}/members`, { user_id: id, access_level: 40 });
  return (method, json) =>
    method === 'GET'
      ? service.call(
          'GET',
          `${story.repository}/changelog?${new URLSearchParams(json as Record<string, string>)}`,
          { token },
        )
      : service.call(method, `${story.repository}/changelog`, { token, json });
}

const fileOf = async (branch: string, file = 'CHANGELOG.md') =>
  (
    await ask(
      world,
      'owner',
      'GET',
      `${story.repository}/files/${encodeURIComponent(file)}/raw?ref=${branch}`,
    )
  ).body;
const write = (branch: string, file_path: string, content: string, action = 'create') =>
  ask(world, 'owner', 'POST', `${story.repository}/commits`, {
    branch,
    commit_message: 'Configure',
    actions: [{ action, file_path, content }],
  });

describe('permission to generate a changelog', () => {
  scenarios(
    () => world,
    [
      ...codeReads('GET', '/repository/changelog?version=2.0.0&from=v1'),
      ...codeWrites(
        'POST',
        '/repository/changelog',
        { version: '2.0.0', from: 'v1', branch: 'feature/x' },
        {
          status: 200,
          forbidden: {
            message: '403 Forbidden - You are not allowed to commit a changelog on this branch',
          },
        },
      ),
      // The default branch is protected.
      {
        request: 'POST /projects/{public}/repository/changelog',
        json: { version: '2.0.0', from: 'v1' },
        as: {
          developer: {
            status: 403,
            holds: { message: '403 Forbidden - You are not allowed to commit a changelog on this branch' },
          },
          maintainer: { status: 200, holds: null },
        },
      } satisfies Scenario,
    ],
  );
});

/** The documented default of a section: no member is credited, nor an unknown author. */
const DEFAULT = (version: string, day: string) => `## ${version} (${day})

### feature (2 changes)

- ${link('Two kinds')}
- ${link('Add one')} by @stranger

### security (1 change)

- ${link('Two kinds')}

### bug (2 changes)

- ${link('Blunder')}
- ${link('Fix two')}
`;

describe('changelog notes', () => {
  test('list the commits since the last stable release', async () => {
    const as = await newOwner();
    const answer = await as('GET', { version: '1.1.0', date: '2021-01-05T20:00:00-05:00' });
    expect([answer.status, answer.body]).toEqual([200, { notes: DEFAULT('1.1.0', '2021-01-06') }]);
    const today = new Date().toISOString().slice(0, 10);
    const { body } = await as('GET', { version: 'v1.1.0-rc2' });
    expect(body.notes).toBe(DEFAULT('v1.1.0-rc2', today));
  });

  test('cover a given range and a given trailer', async () => {
    const as = await newOwner();
    const told = async (more: object) =>
      (await as('GET', { version: '3.0.0', date: '2021-01-05', ...more })).body.notes.split('\n').slice(2);
    const nothing = ['No changes.', ''];
    expect(await told({ from: commits.get('Begin'), to: commits.get('Quiet'), trailer: 'Issue' })).toEqual([
      '### #5 (1 change)',
      '',
      `- ${link('Fix two')}`,
      '',
    ]);
    expect(await told({ trailer: 'changelog' })).toEqual([
      '### bug (1 change)',
      '',
      `- ${link('Quiet')}`,
      '',
    ]);
    expect(await told({ trailer: 'CHANGELOG' })).toEqual(nothing);
    // Behind `from`, and with `to`.
    expect(await told({ from: 'main', to: 'v1.0.0' })).toEqual(nothing);
    expect(await told({ from: commits.get('Quiet'), to: commits.get('Break') })).toEqual([
      '### bug (1 change)',
      '',
      `- ${link('Break')}`,
      '',
    ]);
  });

  test('refuse invalid parameters', async () => {
    const cases: [object, number, object][] = [
      [{}, 400, { error: 'version is missing' }],
      [{ version: '1.0' }, 400, { error: 'version is invalid' }],
      [{ version: '1.0.0', date: 'soon' }, 400, { error: 'date is invalid' }],
      [{ version: '1.0.0.0', date: 'x' }, 400, { error: 'version is invalid, date is invalid' }],
      ['0.9.0', 'The commit start range is unspecified, and no previous tag could be found to use instead'],
      ['1.0.0', 'nope', 'there is no commit nope'],
    ].map((one) =>
      typeof one[0] === 'string'
        ? [
            one.length === 2 ? { version: one[0] } : { version: one[0], from: one[1] },
            422,
            { message: `Failed to generate the changelog: ${one.at(-1)}` },
          ]
        : one,
    ) as [object, number, object][];
    for (const [json, status, body] of cases) {
      const as = await newOwner();
      for (const method of ['GET', 'POST']) {
        const answer = await as(method, json);
        expect([json, method, answer.status, answer.body]).toEqual([json, method, status, body]);
      }
    }
  });

  test('are limited to five a minute, together with changelog commits', async () => {
    const as = await newOwner();
    const statuses = [];
    for (const method of ['GET', 'GET', 'GET', 'GET', 'GET', 'GET', 'POST'])
      statuses.push((await as(method, { version: '1.0.0', from: 'v1.0.0' })).status);
    // The count starts again at each full minute.
    expect(statuses.slice(0, 5)).toEqual([200, 200, 200, 200, 200]);
    const { status, body } = await as('GET', { version: '1.0.0', from: 'v1.0.0' });
    if (status === 200) return;
    expect([status, body]).toEqual([
      429,
      { message: { error: 'This changelog has been requested too many times. Try again later.' } },
    ]);
  });
});

describe('changelog commits', () => {
  test('keep the sections in version order', async () => {
    const tip = (await ask(world, 'owner', 'GET', `${story.repository}/commits/tidy`)).body.id;
    const range = { from: 'v1.0.0', to: commits.get('Add one'), date: '2021-01-05', branch: 'tidy' };
    const section = (version: string) =>
      `## ${version} (2021-01-05)\n\n### feature (1 change)\n\n- ${link('Add one')} by @stranger\n`;
    const as = await newOwner();
    const first = await as('POST', { ...range, version: '2.0.0' });
    expect([first.status, first.body]).toEqual([200, null]);
    expect(await fileOf('tidy')).toBe(section('2.0.0'));
    const commit = (await ask(world, 'owner', 'GET', `${story.repository}/commits/tidy`)).body;
    expect(commit).toMatchObject({
      message: 'Add changelog for version 2.0.0',
      author_name: `somebody${people - 1}`,
      parent_ids: [tip],
    });
    await as('POST', { ...range, version: '10.0.0', message: 'Ten' });
    await as('POST', { ...range, version: '1.0.1' });
    await as('POST', { ...range, version: '2.0.0-rc.2' });
    const all = ['10.0.0', '2.0.0', '2.0.0-rc.2', '1.0.1'].map(section).join('\n');
    expect(await fileOf('tidy')).toBe(all);
    const [newest, ...older] = (
      await ask(world, 'owner', 'GET', `${story.repository}/commits?ref_name=tidy&per_page=4`)
    ).body.map(({ title }: { title: string }) => title);
    expect([newest, older]).toEqual([
      'Add changelog for version 2.0.0-rc.2',
      ['Add changelog for version 1.0.1', 'Ten', 'Add changelog for version 2.0.0'],
    ]);
    // A section that is there stays as it is.
    expect((await as('POST', { ...range, version: '2.0.0', trailer: 'Other' })).status).toBe(200);
    expect(await fileOf('tidy')).toBe(all);
  });

  test('keep what the file already says', async () => {
    const log = 'Notes\x80 of a project\r\n\n## v1.2.0 - long ago\n\n* Old\n\n## 1.0.0\n\nOldest';
    await ask(world, 'owner', 'POST', `${story.repository}/commits`, {
      branch: 'work',
      commit_message: 'Log',
      actions: [
        {
          action: 'create',
          file_path: 'docs/log.md',
          content: Buffer.from(log, 'latin1').toString('base64'),
          encoding: 'base64',
        },
        { action: 'create', file_path: 'intro.md', content: 'Intro' },
      ],
    });
    const as = await newOwner();
    const range = { from: 'main', to: 'main', date: '2021-01-05', branch: 'work', file: 'docs/log.md' };
    for (const version of ['1.1.0', '0.1.0'])
      expect((await as('POST', { ...range, version })).status).toBe(200);
    expect((await as('POST', { ...range, version: '1.2.0' })).status).toBe(200);
    const response = await fetch(`${service.url}/api/v4${story.repository}/files/docs%2Flog.md/raw?ref=work`);
    expect(Buffer.from(await response.arrayBuffer()).toString('latin1')).toBe(
      'Notes\x80 of a project\r\n\n## v1.2.0 - long ago\n\n* Old\n\n' +
        '## 1.1.0 (2021-01-05)\n\nNo changes.\n\n## 1.0.0\n\nOldest\n\n## 0.1.0 (2021-01-05)\n\nNo changes.\n',
    );
    await as('POST', { ...range, version: '1.0.0', file: 'intro.md' });
    expect(await fileOf('work', 'intro.md')).toBe('Intro\n\n## 1.0.0 (2021-01-05)\n\nNo changes.\n');
  });

  test('are refused with a reason for an invalid branch, file or message', async () => {
    const as = await newOwner();
    const range = { version: '1.0.0', from: 'main', to: 'main', branch: 'work' };
    for (const [more, status, message] of [
      [{ branch: 'nope' }, 422, 'Failed to generate the changelog: there is no branch nope'],
      [{ branch: 'a..b' }, 403, '403 Forbidden - You are not allowed to commit a changelog on this branch'],
      [{ file: '../x' }, 400, 'Path cannot include directory traversal'],
      [{ file: 'README/x' }, 400, 'A file with this name already exists'],
      [{ message: ' ' }, 400, 'You must provide a commit message'],
    ] as const) {
      const answer = await as('POST', { ...range, ...more });
      expect([answer.status, answer.body]).toEqual([status, { message }]);
    }
  });

  test('are all kept when made at once', async () => {
    await ask(world, 'owner', 'POST', `${story.repository}/branches`, { branch: 'busy', ref: 'v1.0.0' });
    const versions = ['1.0.0', '2.0.0', '3.0.0', '4.0.0', '5.0.0', '6.0.0'];
    const writers = await Promise.all(versions.map(() => newOwner()));
    const range = { from: 'main', to: 'main', branch: 'busy', date: '2021-01-05' };
    const answers = await Promise.all(writers.map((as, i) => as('POST', { ...range, version: versions[i] })));
    expect(answers.map(({ status }) => status)).toEqual(versions.map(() => 200));
    const headings = (await fileOf('busy')).match(/^## .*$/gm);
    expect(headings).toEqual(versions.toReversed().map((version) => `## ${version} (2021-01-05)`));
  });
});

describe('the changelog configuration', () => {
  const CONFIG = '.gitlab/changelog_config.yml';
  test('sets date format, categories, template and tag pattern', async () => {
    await write(
      'main',
      CONFIG,
      `---
date_format: '%-d %b %Y'
categories:
  bug: Bug fixes
  security: Features
  feature: Features
template: |
  {% if categories %}
  {% each categories %}
  ### {{ title }} {{ count }}{% if single_change %}!{% end %}

  {% each entries %}
  - {{ title }} {{ commit.reference }}\\
  {% if commit.trailers.Issue %} ({{ commit.trailers.Issue }}){% end %}\\
  {% if author %} {{ author.reference }} {{ author.contributor }}{% end %}
  {% if merge_request %}never{% end %}

  {% end %}
  {% end %}
  {% end %}
tag_regex: '^version-(?P<major>\\d+)$|^version-(?P<minor>x)'
`,
    );
    const as = await newOwner();
    const reference = (title: string) => `owner/story@${commits.get(title)}`;
    const { body } = await as('GET', { version: '1.1.0', from: 'v1.0.0', date: '2021-01-05' });
    expect(body.notes).toBe(
      `## 1.1.0 (5 Jan 2021)\n\n### Bug fixes 2\n- Blunder ${reference('Blunder')}\n` +
        `- Fix two ${reference('Fix two')} (#5) @developer false\n### Features 3\n` +
        `- Two kinds ${reference('Two kinds')} @owner false\n- Add one ${reference('Add one')} @stranger true\n` +
        `- Two kinds ${reference('Two kinds')} @owner false\n`,
    );
    // No tag has all three groups.
    expect((await as('GET', { version: '1.1.0' })).status).toBe(422);
    const usual = await as('GET', { version: '1.1.0', config_file: 'none.yml', date: '2021-01-05' });
    expect(usual.body.notes).toBe(DEFAULT('1.1.0', '2021-01-05'));
    const patterned = "tag_regex: '^version-(?P<major>\\d)(?P<minor>\\d*)(?P<patch>\\d*)|^v(?P<major2>x)$'";
    await write('main', 'other.yml', patterned);
    expect((await as('GET', { version: '2.0.0', config_file: 'other.yml' })).status).toBe(422);
    await write('main', 'third.yml', "tag_regex: '^v(?P<major>\\d+)[.](?P<minor>\\d+)[.](?P<patch>\\d+)$'");
    const third = await as('GET', { version: '2.0.0', config_file: 'third.yml', date: '2021-01-05' });
    expect(third.body.notes).toContain('## 2.0.0 (2021-01-05)\n\n### feature (2 changes)');
  });

  test('may be empty, which means the defaults', async () => {
    await write('main', 'empty.yml', '# Nothing yet\n');
    const as = await newOwner();
    const { body } = await as('GET', { version: '1.1.0', config_file: 'empty.yml', date: '2021-01-05' });
    expect(body.notes).toBe(DEFAULT('1.1.0', '2021-01-05'));
  });

  test.each([
    ['a: [', /^the configuration is no valid YAML: /],
    ['- list', /^the configuration must be a Hash$/],
    ['categories: [a]', /^The "categories" configuration key must be a Hash$/],
    ['categories: {a: {b: c}}', /^The titles of "categories" must be Strings$/],
    ['template: 5', /^The "template" configuration key must be a String/],
    ['template: "{% if %}"', /^Failed to parse the template: .* on line 1$/],
    ['template: "{{ a }}{% each a %}"', /^Failed to parse the template: /],
    [`template: "${'x'.repeat(100_100)}"`, /^the configuration is larger than 100000 bytes$/],
    ['tag_regex: "("', /^The regular expression to use .* is invalid: missing closing \)$/],
    ['tag_regex: "(?=a)b"', /^The regular expression to use .* is invalid: /],
    [`a: ${'['.repeat(30)}`, /^the configuration is no valid YAML: /],
  ])('is refused when invalid: %.30s', async (yaml, reason) => {
    const file = `bad-${people}.yml`;
    await write('main', file, yaml);
    const as = await newOwner();
    const { status, body } = await as('GET', { version: '1.1.0', config_file: file });
    expect(status).toBe(422);
    expect(body.message).toMatch(/^Failed to generate the changelog: /);
    expect(body.message.slice('Failed to generate the changelog: '.length)).toMatch(reason);
  });
});
