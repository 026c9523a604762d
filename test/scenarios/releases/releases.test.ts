import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { collectEvidence } from '../../../lib/domain/releases/evidence.ts';
import { GitCli, withToken } from '../../clients/git-cli.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { expectSchema } from '../../harness/schemas.ts';
import type { Answer } from '../../harness/service.ts';
import { settled } from '../../harness/settled.ts';

const { as, service, world } = ownWorld();
const git = new GitCli();

const owner = (method: string, path: string, json?: unknown): Promise<Answer> =>
  as('owner', method, path, json);
const made = async (path: string, json: unknown): Promise<Answer['body']> => {
  const answer = await owner('POST', path, json);
  expect(answer).toMatchObject({ status: 201 });
  return answer.body;
};
/** A new project with one commit. */
async function coded(name: string, more: object = {}): Promise<{ at: string; path: string; sha: string }> {
  const project = await made('/projects', { name, ...more });
  const at = `/projects/${project.id}`;
  const { id } = await made(`${at}/repository/commits`, {
    branch: 'main',
    commit_message: 'first',
    actions: [{ action: 'create', file_path: 'a.txt', content: 'a' }],
  });
  return { at, path: project.path_with_namespace, sha: id };
}

let at: string;
let path: string;
let sha: string;
beforeAll(async () => {
  ({ at, path, sha } = await coded('released'));
});
const of = (tag: string, rest = '') => `${at}/releases/${encodeURIComponent(tag)}${rest}`;
const namesOf = ({ body }: Answer): string[] => body.map(({ name }: { name: string }) => name);

describe('a release', () => {
  test('is shown as it was created, and makes its tag from the ref', async () => {
    const v1 = await made(`${at}/milestones`, { title: 'v1' });
    const release = await made(`${at}/releases`, {
      tag_name: 'v1.0/a',
      ref: 'main',
      tag_message: 'The first\n',
      name: 'First',
      description: 'All **new**',
      milestones: ['v1'],
      assets: {
        links: [
          { name: 'tool', url: 'https://example.com/tool', filepath: '/bin/tool', link_type: 'package' },
          { name: 'docs', url: `${service.url}/${path}/docs` },
        ],
      },
    });
    expectSchema('release', release);
    const page = `${service.url}/${path}`;
    expect(release).toMatchObject({
      tag_name: 'v1.0/a',
      name: 'First',
      description: 'All **new**',
      upcoming_release: false,
      author: { username: 'owner' },
      commit: { id: sha },
      milestones: [{ id: v1.id, title: 'v1' }],
      commit_path: `/${path}/-/commit/${sha}`,
      tag_path: `/${path}/-/tags/v1.0%2Fa`,
      evidences: [],
      assets: {
        count: 6,
        sources: [
          { format: 'zip', url: `${page}/-/archive/v1.0%2Fa/released-v1.0-a.zip` },
          { format: 'tar.gz' },
          { format: 'tar.bz2' },
          { format: 'tar' },
        ],
        links: [
          { name: 'docs', external: false, link_type: 'other', direct_asset_url: `${page}/docs` },
          {
            name: 'tool',
            external: true,
            link_type: 'package',
            direct_asset_url: `${page}/-/releases/v1.0%2Fa/downloads/bin/tool`,
          },
        ],
      },
      _links: { self: `${page}/-/releases/v1.0%2Fa`, edit_url: `${page}/-/releases/v1.0%2Fa/edit` },
    });
    expect(release.released_at).toBe(release.created_at);
    expect({ ...(await owner('GET', of('v1.0/a'))).body, evidences: [] }).toEqual(release);
    const tag = await owner('GET', `${at}/repository/tags/v1.0%2Fa`);
    expect(tag.body).toMatchObject({
      message: 'The first',
      commit: { id: sha },
      release: { tag_name: 'v1.0/a', description: 'All **new**' },
    });
    const listed = await owner('GET', `${at}/repository/tags`);
    expect(listed.body[0].release).toEqual({ tag_name: 'v1.0/a', description: 'All **new**' });
  });

  test('takes a tag that there is, whatever the ref says', async () => {
    await made(`${at}/repository/tags`, { tag_name: 'there', ref: 'main' });
    const release = await made(`${at}/releases`, { tag_name: 'there', ref: 'absent' });
    expect(release).toMatchObject({ name: 'there', description: '', commit: { id: sha } });
    expect(release).not.toHaveProperty('milestones');
  });

  test('is refused where it is there, has no revision, or names what is not there', async () => {
    const told = async (json: object) => {
      const { status, body } = await owner('POST', `${at}/releases`, json);
      return [status, body.message ?? body.error];
    };
    await made(`${at}/releases`, { tag_name: 'twice', ref: 'main' });
    expect(await told({ tag_name: 'twice' })).toEqual([409, 'Release already exists']);
    expect(await told({ tag_name: 'none' })).toEqual([422, 'Ref is not specified']);
    expect(await told({ tag_name: 'none', ref: 'absent' })).toEqual([400, 'Target absent is invalid']);
    expect(await told({ tag_name: 'a..b', ref: 'main' })).toEqual([400, 'Tag name invalid']);
    expect(await told({ tag_name: 'none', ref: 'main', milestones: ['v1', 'x'] })).toEqual([
      400,
      expect.stringMatching(/^Milestone\(s\) not found: .*x$/),
    ]);
    expect(await told({ ref: 'main' })).toEqual([400, 'tag_name is missing']);
    const long = await told({ tag_name: 'none', ref: 'main', name: 'x'.repeat(256) });
    expect(long).toEqual([400, { name: ['is too long (maximum is 255 characters)'] }]);
    const links = [{ name: 'x', url: 'javascript:alert(1)' }];
    expect(await told({ tag_name: 'none', ref: 'main', assets: { links } })).toEqual([
      400,
      { url: ['is blocked: Only allowed schemes are http, https, ftp'] },
    ]);
    expect((await owner('GET', `${at}/repository/tags/none`)).status).toBe(404);
  });

  test('of two that are created at once one is told', async () => {
    const answers = await Promise.all(
      [1, 2, 3].map(() => owner('POST', `${at}/releases`, { tag_name: 'raced', ref: 'main' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, expect.any(Number), expect.any(Number)]);
    expect(answers.filter(({ status }) => status === 409 || status === 400)).toHaveLength(2);
  });

  test('is changed: name, notes, time, milestones', async () => {
    await made(`${at}/milestones`, { title: 'm1' });
    await made(`${at}/releases`, { tag_name: 'changed', ref: 'main', milestones: ['m1'] });
    const released_at = '2030-01-02T03:04:05.000Z';
    const json = { name: 'Second', description: '# Notes', released_at, milestones: [] };
    const { status, body } = await owner('PUT', of('changed'), json);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      name: 'Second',
      description: '# Notes',
      released_at,
      upcoming_release: true,
    });
    expect(body).not.toHaveProperty('milestones');
    const html = await owner('GET', of('changed', '?include_html_description=true'));
    expect(html.body.description_html).toMatch(/<h1.*Notes/);
  });

  test('is not changed by nothing', async () => {
    await made(`${at}/releases`, { tag_name: 'same', ref: 'main' });
    expect(await owner('PUT', of('same'), {})).toMatchObject({
      status: 400,
      body: { message: 'params is empty' },
    });
  });

  test('a deleted milestone is not shown any more', async () => {
    const { id } = await made(`${at}/milestones`, { title: 'gone' });
    await made(`${at}/releases`, { tag_name: 'planned', ref: 'main', milestones: ['gone'] });
    await owner('DELETE', `${at}/milestones/${id}`);
    expect((await owner('GET', of('planned'))).body).not.toHaveProperty('milestones');
  });

  test('counts the issues of its milestones that the reader may see', async () => {
    const { at } = await coded('counted');
    const { id: milestone_id } = await made(`${at}/milestones`, { title: 'm' });
    const issue = async (more: object, close: boolean) => {
      const { iid } = await made(`${at}/issues`, { title: 'i', milestone_id, ...more });
      if (close) await owner('PUT', `${at}/issues/${iid}`, { state_event: 'close' });
    };
    await issue({}, false);
    await issue({}, true);
    await issue({ confidential: true }, true);
    await made(`${at}/issues`, { title: 'of no milestone' });
    await made(`${at}/releases`, { tag_name: 'v', ref: 'main', milestones: ['m'] });
    await made(`${at}/members`, { user_id: world.ids['guest'], access_level: 10 });
    const stats = async (who: 'owner' | 'guest') =>
      (await as(who, 'GET', `${at}/releases`)).body[0].milestones[0].issue_stats;
    expect(await stats('owner')).toEqual({ total: 3, closed: 2 });
    expect(await stats('guest')).toEqual({ total: 2, closed: 1 });
  });

  test('is deleted, and its tag stays', async () => {
    await made(`${at}/releases`, { tag_name: 'kept', ref: 'main' });
    const { status, body } = await owner('DELETE', of('kept'));
    expect([status, body.tag_name]).toEqual([200, 'kept']);
    expect((await owner('GET', of('kept'))).status).toBe(404);
    expect((await owner('GET', `${at}/repository/tags/kept`)).body.release).toBeNull();
  });
});

describe('the list of releases', () => {
  test('is by time of release or of creation, in pages with totals', async () => {
    const { at } = await coded('listed');
    for (const [tag_name, year] of [
      ['a', 2022],
      ['b', 2020],
      ['c', 2021],
    ])
      await made(`${at}/releases`, { tag_name, ref: 'main', released_at: `${year}-01-01T00:00:00Z` });
    const list = (query: string) => owner('GET', `${at}/releases?${query}`);
    expect(namesOf(await list(''))).toEqual(['a', 'c', 'b']);
    expect(namesOf(await list('sort=asc'))).toEqual(['b', 'c', 'a']);
    expect(namesOf(await list('order_by=created_at'))).toEqual(['c', 'b', 'a']);
    const page = await list('per_page=2&page=2');
    expect(namesOf(page)).toEqual(['b']);
    expect(page.headers.get('x-total')).toBe('3');
    expect((await list('order_by=name')).status).toBe(400);
    const latest = await owner('GET', `${at}/releases/permalink/latest`);
    expect(latest.headers.get('location')).toBe(`${service.url}/api/v4${at}/releases/a`);
    const links = await owner('GET', `${at}/releases/permalink/latest/assets/links`);
    expect(links.headers.get('location')).toBe(`${service.url}/api/v4${at}/releases/a/assets/links`);
  });
});

describe('links', () => {
  const link = (id: number | '' = '') => of('linked', `/assets/links${id === '' ? '' : `/${id}`}`);
  beforeAll(async () => {
    await made(`${at}/releases`, { tag_name: 'linked', ref: 'main' });
  });

  test('are created, changed, listed with the newest first, and deleted', async () => {
    const first = await made(link(), { name: 'one', url: 'https://example.com/1' });
    expectSchema('release/link', first);
    const second = await made(link(), {
      name: 'two',
      url: 'https://example.com/2',
      direct_asset_path: '/two.zip',
    });
    expect(namesOf(await owner('GET', link()))).toEqual(['two', 'one']);
    const changed = await owner('PUT', link(first.id), { filepath: '/bin/one', link_type: 'runbook' });
    expect(changed).toMatchObject({ status: 200, body: { name: 'one', link_type: 'runbook' } });
    expect(changed.body.direct_asset_url).toBe(`${service.url}/${path}/-/releases/linked/downloads/bin/one`);
    expect((await owner('DELETE', link(second.id))).body).toEqual(second);
    expect((await owner('GET', link(second.id))).status).toBe(404);
    const download = (tag: string, who: 'owner' | 'stranger' | 'anonymous' = 'owner') =>
      fetch(`${service.url}/${path}/-/releases/${tag}/downloads/bin/one`, {
        redirect: 'manual',
        headers: who === 'anonymous' ? {} : { 'PRIVATE-TOKEN': world.tokens[who]! },
      });
    const found = await download('linked');
    expect([found.status, found.headers.get('location')]).toEqual([302, 'https://example.com/1']);
    expect((await download('absent')).status).toBe(404);
    for (const [who, status] of [
      ['stranger', 404],
      ['anonymous', 401],
    ] as const)
      expect((await download('linked', who)).status).toBe(status);
  });

  test('lead to addresses with any characters by their permanent paths', async () => {
    for (const [i, [url, location]] of [
      ['https://example.com/💣 ü', 'https://example.com/%F0%9F%92%A3%20%C3%BC'],
      ['https://dë.example/a\nb', 'https://xn--d-fga.example/ab'],
      ['ftp://example.com/x', 'ftp://example.com/x'],
    ].entries()) {
      await made(link(), { name: `odd ${i}`, url, filepath: `/odd/${i}` });
      const found = await fetch(`${service.url}/${path}/-/releases/linked/downloads/odd/${i}`, {
        redirect: 'manual',
        headers: { 'PRIVATE-TOKEN': world.tokens.owner! },
      });
      expect([found.status, found.headers.get('location')]).toEqual([302, location]);
    }
  });

  test('are refused where a name, an address or a path is taken or invalid', async () => {
    const url = 'https://example.com/taken';
    await made(link(), { name: 'taken', url, filepath: '/taken' });
    const taken = ['has already been taken'];
    expect((await owner('POST', link(), { name: 'taken', url, filepath: '/taken' })).body.message).toEqual({
      name: taken,
      url: taken,
      filepath: taken,
    });
    for (const filepath of ['no-slash', '/a//b', '/a/', '/a b', `/${'a'.repeat(128)}`])
      expect((await owner('POST', link(), { name: 'x', url: `${url}/x`, filepath })).status).toBe(400);
    expect((await owner('PUT', link(1e9), { name: 'x' })).status).toBe(404);
    expect((await owner('PUT', link(1e9), {})).status).toBe(400);
  });

  test('that are created at once are all there', async () => {
    await made(`${at}/releases`, { tag_name: 'busy', ref: 'main' });
    const names = ['a', 'b', 'c', 'd'];
    await Promise.all(
      names.map((name) =>
        made(of('busy', '/assets/links'), { name, url: `https://example.com/busy/${name}` }),
      ),
    );
    expect(namesOf(await owner('GET', of('busy', '/assets/links'))).sort()).toEqual(names);
  });
});

describe('evidence', () => {
  const evidencesOf = async (at: string, tag: string) => {
    await settled();
    return (await owner('GET', `${at}/releases/${tag}`)).body.evidences;
  };
  const read = async (who: 'owner' | 'guest' | 'stranger', { filepath }: { filepath: string }) => {
    const answer = await fetch(filepath, { headers: { 'PRIVATE-TOKEN': world.tokens[who]! } });
    return { status: answer.status, text: await answer.text() };
  };

  test('is collected with the release, and stays what the release was then', async () => {
    const { at, path } = await coded('proven');
    const { id: milestone_id } = await made(`${at}/milestones`, { title: 'm' });
    await made(`${at}/issues`, { title: 'i', milestone_id });
    await made(`${at}/issues`, { title: 'hidden', milestone_id, confidential: true });
    const json = { tag_name: 'v1', ref: 'main', name: 'First', milestones: ['m'] };
    const { released_at } = await made(`${at}/releases`, json);
    const [evidence, ...more] = await evidencesOf(at, 'v1');
    expect(more).toEqual([]);
    const release = (await owner('GET', `${at}/releases/v1`)).body;
    expectSchema('release', release);
    expect(evidence.filepath).toMatch(
      new RegExp(`^${service.url}/${path}/-/releases/v1/evidences/\\d+\\.json$`),
    );
    await owner('PUT', `${at}/releases/v1`, { name: 'Second' });
    const { status, text } = await read('owner', evidence);
    expect([status, createHash('sha256').update(text).digest('hex')]).toEqual([200, evidence.sha]);
    expect(JSON.parse(text)).toMatchObject({
      release: {
        tag_name: 'v1',
        name: 'First',
        released_at,
        project: { id: Number(at.split('/')[2]), name: 'proven' },
        milestones: [{ id: milestone_id, title: 'm', issue_stats: { total: 1, closed: 0 } }],
      },
    });
  });

  test('is collected again when somebody asks for it, 20 times in all, and goes with its release', async () => {
    const { at, path } = await coded('proven again');
    const tags = ['v1', 'a', 'b', 'c', 'd', 'e'];
    for (const tag_name of tags) await made(`${at}/releases`, { tag_name, ref: 'main' });
    const ask = () => owner('POST', `${at}/releases/v1/evidence`);
    await settled();
    await owner('PUT', `${at}/releases/v1`, { name: 'Second' });
    expect(await ask()).toMatchObject({ status: 202, body: { message: '202 Accepted' } });
    const [first, second] = await evidencesOf(at, 'v1');
    expect(first.sha).not.toBe(second.sha);
    for (let n = 2; n < 20; n++) expect((await ask()).status).toBe(202);
    const all = await evidencesOf(at, 'v1');
    expect(new Set(all.map(({ filepath }: { filepath: string }) => filepath)).size).toBe(20);
    expect(await ask()).toMatchObject({
      status: 422,
      body: { message: 'there are 20 evidences already' },
    });
    const project = Number(at.split('/')[2]);
    const { releases } = deps().store;
    const release = (await releases.get(project, 'v1'))!;
    const remote = withToken(service.url, path, world.tokens.owner!);
    const clone = await git.clone(remote, 'proven');
    await git.ok(clone, 'push', '--quiet', 'origin', ...tags.map((name) => `:refs/tags/${name}`));
    await settled();
    expect((await owner('GET', `${at}/releases`)).body).toEqual([]);
    for (const each of release.evidences!) expect(await releases.document(release, each)).toBeUndefined();
  });

  test('of the longest notes is collected, however they are escaped', async () => {
    const { at } = await coded('proven at length');
    const description = '\u0001'.repeat(56 * 1024);
    await made(`${at}/releases`, { tag_name: 'v1', ref: 'main', description });
    const [evidence] = await evidencesOf(at, 'v1');
    expect(JSON.parse((await read('owner', evidence)).text).release.description).toBe(description);
  });

  test('of a release to come is collected when it comes, and of one that had come never', async () => {
    const { at } = await coded('proven later');
    const projectId = Number(at.split('/')[2]);
    const json = { tag_name: 'past', ref: 'main', released_at: '2020-01-01T00:00:00Z' };
    await made(`${at}/releases`, json);
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);
    await made(`${at}/releases`, { tag_name: 'next', ref: 'main', released_at: inDays(1).toISOString() });
    await owner('PUT', `${at}/releases/next`, { released_at: inDays(2).toISOString() });
    const { id: releaseId } = (await deps().store.releases.get(projectId, 'next'))!;
    const collect = async (days: number) => {
      const later = { ...deps(), now: () => inDays(days) };
      await collectEvidence(later, { projectId, tag: 'next', releaseId, first: true }, `day ${days}`);
      return (await evidencesOf(at, 'next')).length;
    };
    expect([await collect(1.1), await collect(2.1), await collect(2.2)]).toEqual([0, 1, 1]);
    await owner('PUT', `${at}/releases/next`, { released_at: inDays(0).toISOString() });
    expect(await evidencesOf(at, 'next')).toHaveLength(1);
    expect(await evidencesOf(at, 'past')).toEqual([]);
    await owner('PUT', `${at}/releases/past`, { released_at: inDays(0).toISOString() });
    expect(await evidencesOf(at, 'past')).toHaveLength(1);
  });

  test('is for who may read the code, and the issues that it tells of', async () => {
    const { at } = await coded('proven in private');
    await made(`${at}/members`, { user_id: world.ids['guest'], access_level: 10 });
    await made(`${at}/milestones`, { title: 'm' });
    await made(`${at}/releases`, { tag_name: 'plain', ref: 'main' });
    await made(`${at}/releases`, { tag_name: 'planned', ref: 'main', milestones: ['m'] });
    const [[plain], [planned]] = [await evidencesOf(at, 'plain'), await evidencesOf(at, 'planned')];
    expect((await as('guest', 'GET', `${at}/releases`)).body[0]).not.toHaveProperty('evidences');
    for (const who of ['guest', 'stranger'] as const) {
      expect((await read(who, plain)).status).toBeGreaterThanOrEqual(403);
      expect((await as(who, 'POST', `${at}/releases/plain/evidence`)).status).toBe(
        who === 'guest' ? 403 : 404,
      );
    }
    await owner('PUT', at, { visibility: 'public', issues_access_level: 'private' });
    const { body } = await as('stranger', 'GET', `${at}/releases/planned`);
    expect(body.evidences).toEqual([]);
    const statuses = [await read('stranger', planned), await read('stranger', plain)];
    expect(statuses.map(({ status }) => status)).toEqual([404, 200]);
    const absent = { filepath: plain.filepath.replace(/\d+\.json$/, '999999999.json') };
    expect((await read('owner', absent)).status).toBe(404);
  });
});

describe('a deleted tag', () => {
  test('takes its release with it', async () => {
    await made(`${at}/releases`, { tag_name: 'dropped', ref: 'main' });
    expect((await owner('DELETE', `${at}/repository/tags/dropped`)).status).toBe(204);
    expect((await owner('GET', of('dropped'))).status).toBe(404);
    const again = await made(`${at}/releases`, { tag_name: 'dropped', ref: 'main' });
    expect(again.tag_name).toBe('dropped');
  });

  test('takes its release with it, also among many of one push', async () => {
    const { at, path } = await coded('many tags');
    const names = Array.from({ length: 10 }, (_, i) => `t${i}`);
    for (const tag_name of names) await made(`${at}/releases`, { tag_name, ref: 'main' });
    await made(`${at}/releases`, { tag_name: 'kept', ref: 'main' });
    const remote = withToken(service.url, path, world.tokens.owner!);
    const clone = await git.clone(remote, 'many-tags');
    await git.ok(clone, 'push', '--quiet', 'origin', ...names.map((name) => `:refs/tags/${name}`));
    await settled();
    expect(namesOf(await owner('GET', `${at}/releases`))).toEqual(['kept']);
  });
});

describe('who sees what of releases', () => {
  test('guests of a private project see notes and files, and no tag', async () => {
    const { at } = await coded('guarded');
    await made(`${at}/members`, { user_id: world.ids['guest'], access_level: 10 });
    await made(`${at}/releases`, {
      tag_name: 'hidden-tag',
      ref: 'main',
      assets: { links: [{ name: 'x', url: 'https://example.com/x', filepath: '/x' }] },
    });
    const { status, body } = await as('guest', 'GET', `${at}/releases`);
    expect(status).toBe(200);
    expectSchema('public_api/v4/release/release_for_guest', body[0]);
    expect(body[0]).toMatchObject({ assets: { count: 1 }, name: expect.stringMatching(/^Release-\d+$/) });
    expect(JSON.stringify(body)).not.toContain('hidden-tag');
    expect((await as('guest', 'GET', `${at}/releases/hidden-tag`)).status).toBe(403);
    expect((await as('stranger', 'GET', `${at}/releases`)).status).toBe(404);
  });

  test('who may not create a protected tag may not release it', async () => {
    const { at } = await coded('protected tags');
    await made(`${at}/members`, { user_id: world.ids['developer'], access_level: 30 });
    await made(`${at}/protected_tags`, { name: 'v*' });
    const json = { tag_name: 'v1', ref: 'main' };
    expect((await as('developer', 'POST', `${at}/releases`, json)).status).toBe(403);
    await made(`${at}/releases`, json);
    expect((await as('developer', 'PUT', `${at}/releases/v1`, { name: 'x' })).status).toBe(403);
    expect((await as('developer', 'DELETE', `${at}/releases/v1`)).status).toBe(403);
    const link = { name: 'x', url: 'https://example.com/x' };
    expect((await as('developer', 'POST', `${at}/releases/v1/assets/links`, link)).status).toBe(403);
    const free = { tag_name: 'w1', ref: 'main' };
    expect((await as('developer', 'POST', `${at}/releases`, free)).status).toBe(201);
  });
});

test('the notes of a tag are its release, as tools of earlier releases write it', async () => {
  const { at } = await coded('noted-tags');
  await made(`${at}/repository/tags`, { tag_name: 'v1', ref: 'main' });
  const notes = `${at}/repository/tags/v1/release`;
  const told = async (method: string, path: string, json: object = { description: 'First' }) => {
    const { status, body } = await owner(method, path, json);
    return [status, body];
  };
  expect(await told('PUT', notes)).toEqual([404, { message: '404 Not Found' }]);
  expect(await told('POST', notes, {})).toEqual([400, { error: 'description is missing' }]);
  expect(await told('POST', notes)).toEqual([201, { tag_name: 'v1', description: 'First' }]);
  expect(await told('POST', notes)).toEqual([409, { message: 'Release already exists' }]);
  expect(await told('PUT', notes, { description: 'Second' })).toEqual([
    200,
    { tag_name: 'v1', description: 'Second' },
  ]);
  const { body } = await owner('GET', `${at}/releases/v1`);
  expect(body).toMatchObject({ tag_name: 'v1', name: 'v1', description: 'Second' });
  const absent = `${at}/repository/tags/v2/release`;
  expect(await told('POST', absent)).toEqual([404, { message: '404 Tag Not Found' }]);
});
