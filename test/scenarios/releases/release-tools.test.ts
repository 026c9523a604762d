/** What release tools send, in their order, and what they read of the answers. */
import { beforeAll, describe, expect, test } from 'vitest';
import { GitCli, withToken } from '../../clients/git-cli.ts';
import { type JobProject, jobProject } from '../../harness/job-projects.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { settled } from '../../harness/settled.ts';
import type { Taken } from '../../harness/small-runner.ts';

const own = ownWorld();
const { service, world, as } = own;
const git = new GitCli();

/** Sends what a tool sends, as it stands. */
async function send(
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: RequestInit['body'],
) {
  const answer = await fetch(`${service.url}/api/v4${path}`, {
    method,
    headers,
    redirect: 'manual',
    ...(body === undefined ? {} : { body }),
  });
  const text = await answer.text();
  const isJson = answer.headers.get('content-type') === 'application/json';
  return { status: answer.status, headers: answer.headers, body: isJson ? JSON.parse(text) : text };
}
const json = (headers: Record<string, string>) => ({ ...headers, 'Content-Type': 'application/json' });

let project: JobProject;
let job: Taken;
let at: string;
let encoded: string;
beforeAll(async () => {
  project = await jobProject(own, 'shipped', 'wait: { script: [x] }', { visibility: 'private' });
  job = await project.take();
  at = `/projects/${project.id}`;
  encoded = `/projects/${encodeURIComponent(project.path)}`;
});

/** Every one of them pushes the tag first. */
async function tagged(tag: string, annotated = true): Promise<void> {
  const clone = await git.clone(
    withToken(service.url, project.path, world.tokens.owner!),
    `of ${tag.replace(/\W/g, '-')}`,
  );
  await git.ok(clone, 'tag', ...(annotated ? ['-a', '-m', tag] : []), tag);
  await git.ok(clone, 'push', '--quiet', 'origin', `refs/tags/${tag}`);
  await settled();
}

describe('release-cli, in a job', () => {
  const headers = () => json({ 'JOB-TOKEN': job.token, 'User-Agent': 'GitLab-release-cli/0.24.0' });

  test('creates a release with its tag, links and milestones, reads and changes it', async () => {
    await as('owner', 'POST', `${at}/milestones`, { title: 'm1' });
    const release = {
      ...{ id: String(project.id), name: 'Release v1', description: 'Notes', tag_name: 'v1', ref: 'main' },
      tag_message: 'The first',
      assets: {
        links: [
          { name: 'asset', url: 'https://example.com/asset', link_type: 'package', filepath: '/bin/asset' },
          { name: 'other', url: 'https://example.com/other', direct_asset_path: '/bin/other' },
        ],
      },
      milestones: ['m1'],
      released_at: '2020-03-15T08:00:00Z',
      legacy_catalog_publish: false,
    };
    const made = await send('POST', `${at}/releases`, headers(), JSON.stringify(release));
    expect(made).toMatchObject({
      status: 201,
      body: {
        ...{
          name: 'Release v1',
          description: 'Notes',
          tag_name: 'v1',
          released_at: '2020-03-15T08:00:00.000Z',
        },
        milestones: [{ title: 'm1' }],
        assets: { count: 6, links: [{ name: 'other' }, { name: 'asset', link_type: 'package' }] },
        _links: { self: `${service.url}/${project.path}/-/releases/v1` },
      },
    });
    for (const { direct_asset_url: url, url: target } of made.body.assets.links) {
      const found = await fetch(url, {
        redirect: 'manual',
        headers: { 'PRIVATE-TOKEN': world.tokens.owner! },
      });
      expect([found.status, found.headers.get('location')]).toEqual([302, target]);
    }
    const shown = await send('GET', `${at}/releases/v1?include_html_description=true`, headers());
    expect(shown).toMatchObject({
      status: 200,
      body: { description_html: expect.stringContaining('Notes') },
    });
    const change = { id: String(project.id), tag_name: 'v1', name: 'Changed', milestones: ['m1'] };
    const changed = await send('PUT', `${at}/releases/v1`, headers(), JSON.stringify(change));
    expect(changed).toMatchObject({ status: 200, body: { name: 'Changed', description: 'Notes' } });
  });

  test.each([
    ['that is there', { tag_name: 'v1', ref: 'main' }, 409, { message: 'Release already exists' }],
    ['without a tag and a ref', { tag_name: 'none' }, 422, { message: 'Ref is not specified' }],
    ['of no tag', { ref: 'main' }, 400, { error: 'tag_name is missing' }],
    [
      'at no time',
      { tag_name: 'none', ref: 'main', released_at: 'soon' },
      400,
      { error: 'released_at is invalid' },
    ],
    [
      'with links of an unknown type',
      {
        tag_name: 'none',
        ref: 'main',
        assets: { links: [{ name: 'a', url: 'https://a.b/', link_type: 'x' }] },
      },
      400,
      { error: 'assets[links][0][link_type] does not have a valid value' },
    ],
  ])('is told why there is no release %s', async (_what, body, status, told) => {
    expect(await send('POST', `${at}/releases`, headers(), JSON.stringify(body))).toMatchObject({
      status,
      body: told,
    });
  });
});

test('curl creates a release by a form, with milestones in one text', async () => {
  await as('owner', 'POST', `${at}/milestones`, { title: 'm2' });
  const form = new URLSearchParams([
    ['tag_name', 'v-form'],
    ['ref', 'main'],
    ['milestones', 'm1, m2'],
    ['assets[links][][name]', 'one'],
    ['assets[links][][url]', 'https://example.com/1'],
    ['assets[links][][name]', 'two'],
    ['assets[links][][url]', 'https://example.com/2'],
  ]);
  const token = { 'PRIVATE-TOKEN': world.tokens.owner! };
  const made = await send('POST', `${at}/releases`, token, form);
  expect(made).toMatchObject({
    status: 201,
    body: {
      milestones: [{ title: 'm1' }, { title: 'm2' }],
      assets: { links: [{ name: 'two' }, { name: 'one' }] },
    },
  });
  const none = await send('PUT', `${at}/releases/v-form`, token, new URLSearchParams({ 'milestones[]': '' }));
  expect([none.status, none.body.milestones]).toEqual([200, undefined]);
});

test('semantic-release checks, uploads, releases, and tells issues and merge requests', async () => {
  const token = { 'PRIVATE-TOKEN': world.tokens.owner! };
  const { body: shown } = await send('GET', encoded, token);
  const { project_access: mine, group_access: groups } = shown.permissions;
  expect(Math.max(mine?.access_level ?? 0, groups?.access_level ?? 0)).toBeGreaterThanOrEqual(30);
  await tagged('v2.0.0-beta.1+build', false);

  const form = new FormData();
  form.append('file', new Blob(['an attachment']), 'attached.txt');
  const attached = await send('POST', `${encoded}/uploads`, token, form);
  expect(attached).toMatchObject({
    status: 201,
    body: { alt: 'attached.txt', full_path: expect.any(String) },
  });
  const file = `${encoded}/packages/generic/release/${encodeURIComponent('2.0.0-beta.1+build')}/tool.zip`;
  const packed = await send(
    'PUT',
    `${file}?status=default&select=package_file`,
    token,
    Buffer.from('packed'),
  );
  expect(packed).toMatchObject({ status: 201, body: { file_name: 'tool.zip', size: 6 } });
  // It prints where the file is.
  const where = await fetch(packed.body.file.url, { headers: token });
  expect(await where.text()).toBe('packed');

  const links = [
    { name: 'attached.txt', url: `${service.url}${attached.body.full_path}` },
    { name: 'tool.zip', url: `${service.url}/api/v4${file}`, link_type: 'package', filepath: '/tool.zip' },
  ];
  const release = { tag_name: 'v2.0.0-beta.1+build', description: '# 2.0.0', assets: { links } };
  const made = await send('POST', `${encoded}/releases`, json(token), JSON.stringify(release));
  expect(made).toMatchObject({ status: 201, body: { name: 'v2.0.0-beta.1+build', assets: { count: 6 } } });
  expect(made.body.assets.links.map(({ external }: { external: boolean }) => external)).toEqual([
    true,
    false,
  ]);

  const { id: sha } = made.body.commit;
  const related = await send('GET', `${encoded}/repository/commits/${sha}/merge_requests`, token);
  expect(related).toMatchObject({ status: 200, body: [] });
  const issue = {
    id: encodeURIComponent(project.path),
    title: 'It fails',
    description: 'x',
    labels: 'semantic-release',
  };
  const told = await send('POST', `${encoded}/issues`, json(token), JSON.stringify(issue));
  expect(told).toMatchObject({ status: 201, body: { labels: ['semantic-release'] } });
  const search = `${encoded}/issues?state=opened&search=${encodeURIComponent('It fails')}`;
  expect((await send('GET', search, token)).body).toMatchObject([{ title: 'It fails' }]);
  const note = JSON.stringify({ body: 'again' });
  expect((await send('POST', `${at}/issues/${told.body.iid}/notes`, json(token), note)).status).toBe(201);
});

test.each([
  ['PRIVATE-TOKEN', () => world.tokens.owner!, 'v3.0.0'],
  ['JOB-TOKEN', () => job.token, 'v3.1.0'],
])('goreleaser releases with %s what it uploaded as packages', async (header, tokenOf, tag) => {
  await tagged(tag);
  const token = { [header]: tokenOf(), 'User-Agent': 'go-gitlab', Accept: 'application/json' };
  // Its library asks for limits first, and takes any answer.
  expect((await send('GET', '/', token)).status).toBeLessThan(500);
  const { status } = await send('GET', `${encoded}/releases/${tag}`, token);
  expect([403, 404]).toContain(status);
  const release = { name: tag, description: 'Changelog', ref: 'main', tag_name: tag };
  const made = await send('POST', `${encoded}/releases`, json(token), JSON.stringify(release));
  expect(made.status).toBe(201);
  const path = `/packages/generic/shipped/${tag.slice(1)}/tool_linux_amd64.tar.gz`;
  const put = await send('PUT', encoded + path, token, Buffer.from('binary'));
  expect(put).toMatchObject({ status: 201, body: { message: '201 Created' } });
  const name = 'tool_linux_amd64.tar.gz';
  const link = { name, url: `${service.url}/api/v4${encoded}${path}`, filepath: `/${name}` };
  const linked = await send(
    'POST',
    `${encoded}/releases/${tag}/assets/links`,
    json(token),
    JSON.stringify(link),
  );
  const address = `${service.url}/${project.path}/-/releases/${tag}/downloads/${name}`;
  expect(linked).toMatchObject({ status: 201, body: { id: expect.any(Number), direct_asset_url: address } });
  // What people then download: the address of the release leads to the package.
  const download = await fetch(address, { headers: { 'PRIVATE-TOKEN': world.tokens.owner! } });
  expect(await download.text()).toBe('binary');
  // The newest release has an address that does not change.
  const newest = address.replace(`/releases/${tag}/`, '/releases/permalink/latest/');
  const latest = await fetch(newest, { headers: { 'PRIVATE-TOKEN': world.tokens.owner! } });
  expect(latest.url).toContain(path.slice(1));
  // A second run updates the release, and its links are there already.
  expect((await send('GET', `${encoded}/releases/${tag}`, token)).status).toBe(200);
  const update = JSON.stringify({ name: tag, description: 'Changelog, again' });
  expect((await send('PUT', `${encoded}/releases/${tag}`, json(token), update)).status).toBe(200);
  const again = await send(
    'POST',
    `${encoded}/releases/${tag}/assets/links`,
    json(token),
    JSON.stringify(link),
  );
  expect(again).toMatchObject({ status: 400, body: { message: { name: ['has already been taken'] } } });
});

test('changesets release each package of a repository by its own tag', async () => {
  const tag = '@scope/tool@1.2.3';
  await tagged(tag);
  const token = json({ 'PRIVATE-TOKEN': world.tokens.owner! });
  const release = { name: tag, tag_name: tag, description: '### Patch Changes', pre_release: false };
  const made = await send('POST', `${at}/releases`, token, JSON.stringify(release));
  expect(made).toMatchObject({ status: 201, body: { tag_name: tag, name: tag } });
  const shown = await send('GET', `${at}/releases/${encodeURIComponent(tag)}`, token);
  expect(shown).toMatchObject({ status: 200, body: { description: '### Patch Changes' } });
  const open = `${at}/merge_requests?state=opened&source_branch=changeset-release%2Fmain&target_branch=main&per_page=1`;
  expect(await send('GET', open, token)).toMatchObject({ status: 200, body: [] });
});

test('release-it asks who it is and for the milestones, uploads a package and releases', async () => {
  await tagged('4.0.0');
  await as('owner', 'POST', `${at}/milestones`, { title: 'of 4.0.0' });
  const token = { 'PRIVATE-TOKEN': world.tokens.owner!, 'user-agent': 'webpro/release-it' };
  const asked = (path: string) => send('GET', path, { ...token, 'Content-Type': 'text/plain' });
  const { body: user } = await asked('/user');
  const { body: member } = await asked(`${encoded}/members/all/${user.id}`);
  expect(member.access_level).toBeGreaterThanOrEqual(30);
  const milestones = await asked(`${encoded}/milestones?title=of+4.0.0&include_parent_milestones=true`);
  expect(milestones.body).toMatchObject([{ title: 'of 4.0.0' }]);
  const file = `${encoded}/packages/generic/release-it/4.0.0/notes.txt`;
  const put = await send('PUT', file, { ...token, 'Content-Type': 'text/plain' }, 'of the file');
  expect(put).toMatchObject({ status: 201, body: { message: '201 Created' } });
  const release = {
    ...{
      name: 'Release 4.0.0',
      ref: 'main',
      tag_name: '4.0.0',
      tag_message: 'Release 4.0.0',
      description: '-',
    },
    assets: { links: [{ name: 'notes.txt', url: `${service.url}/api/v4${file}` }] },
    milestones: ['of 4.0.0'],
  };
  const made = await send('POST', `${encoded}/releases`, json(token), JSON.stringify(release));
  expect(made).toMatchObject({
    status: 201,
    body: { tag_name: '4.0.0', milestones: [{ title: 'of 4.0.0' }] },
  });
});
