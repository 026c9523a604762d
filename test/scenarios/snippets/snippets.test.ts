import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectSchema } from '../../harness/schemas.ts';
import { type Answer, type Service, startService } from '../../harness/service.ts';
import { settled } from '../../harness/settled.ts';
import { ask, makeWorld, storeOf, type Who, type World } from '../../harness/world.ts';

let service: Service;
let world: World;

const as = (who: Who, method: string, path: string, json?: unknown) => ask(world, who, method, path, json);
const files = [
  { file_path: 'b.txt', content: 'second\n' },
  { file_path: 'a/first.txt', content: 'first\n' },
];

async function created(who: Who, json: object = {}, path = '/snippets'): Promise<Answer['body']> {
  const answer = await as(who, 'POST', path, { title: 'a title', files, ...json });
  expect(answer).toMatchObject({ status: 201 });
  return answer.body;
}
const rawOf = async (who: Who, path: string) => {
  const answer = await as(who, 'GET', path);
  return answer.status === 200 ? answer.body : answer.status;
};
const inProject = (name = 'public') => `/projects/${world.ids[name]}/snippets`;

beforeAll(async () => {
  service = await startService();
  world = await makeWorld(service);
});
afterAll(() => service.stop());

describe('a personal snippet', () => {
  test('is created with its files, and shows where they are', async () => {
    const snippet = await created('owner', { description: 'about', visibility: 'public' });
    const { id } = snippet;
    const url = `${service.url}/-/snippets/${id}`;
    expect(snippet).toMatchObject({
      title: 'a title',
      description: 'about',
      visibility: 'public',
      project_id: null,
      file_name: 'a/first.txt',
      web_url: url,
      raw_url: `${url}/raw`,
      http_url_to_repo: `${service.url}/snippets/${id}.git`,
      files: [
        { path: 'a/first.txt', raw_url: `${url}/raw/main/a/first.txt` },
        { path: 'b.txt', raw_url: `${url}/raw/main/b.txt` },
      ],
    });
    const { status, body } = await as('anonymous', 'GET', `/snippets/${id}`);
    expect({ status, body }).toEqual({ status: 200, body: snippet });
    expect(await rawOf('anonymous', `/snippets/${id}/raw`)).toBe('first\n');
    expect(await rawOf('anonymous', `/snippets/${id}/files/main/b.txt/raw`)).toBe('second\n');
    expect(await rawOf('anonymous', `/snippets/${id}/files/HEAD/a%2Ffirst.txt/raw`)).toBe('first\n');
  });

  test('is for its author where it is private, and for those who are not external where it is internal', async () => {
    const secret = (await created('owner')).id;
    const internal = (await created('owner', { visibility: 'internal' })).id;
    for (const who of ['anonymous', 'stranger', 'external'] as const)
      expect(await as(who, 'GET', `/snippets/${secret}`)).toMatchObject({
        status: 404,
        body: { message: '404 Snippet Not Found' },
      });
    expect(await rawOf('stranger', `/snippets/${secret}/raw`)).toBe(404);
    expect(await rawOf('stranger', `/snippets/${internal}/raw`)).toBe('first\n');
    expect(await rawOf('external', `/snippets/${internal}/raw`)).toBe(404);
    expect(await rawOf('anonymous', `/snippets/${internal}/raw`)).toBe(404);
    expect(await rawOf('administrator', `/snippets/${secret}/raw`)).toBe('first\n');
  });

  test('is listed to its author, and to everybody signed in where it is public', async () => {
    const shown = await created('guest', { visibility: 'public' });
    const hidden = await created('guest');
    const own = await as('guest', 'GET', '/snippets');
    expect(own.body.map(({ id }: { id: number }) => id)).toEqual([hidden.id, shown.id]);
    expect(own.headers.get('X-Total')).toBe('2');
    const all = (await as('stranger', 'GET', '/snippets/public?per_page=100')).body;
    expect(all).toContainEqual(shown);
    expect(all).not.toContainEqual(hidden);
    expect(await as('anonymous', 'GET', '/snippets/public')).toMatchObject({ status: 401 });
    expect(await as('anonymous', 'GET', '/snippets')).toMatchObject({ status: 401 });
  });

  test('cannot be changed or deleted by others, who do not find it', async () => {
    const { id } = await created('owner', { visibility: 'public' });
    const missing = { status: 404, body: { message: '404 Snippet Not Found' } };
    expect(await as('stranger', 'PUT', `/snippets/${id}`, { title: 'mine' })).toMatchObject(missing);
    expect(await as('stranger', 'DELETE', `/snippets/${id}`)).toMatchObject(missing);
    expect(await as('external', 'POST', '/snippets', { title: 'x', files })).toMatchObject({ status: 403 });
  });

  test('is deleted with its repository', async () => {
    const { id } = await created('owner');
    expect(await as('owner', 'DELETE', `/snippets/${id}`)).toMatchObject({ status: 204 });
    expect(await as('owner', 'GET', `/snippets/${id}`)).toMatchObject({ status: 404 });
    expect(await as('owner', 'DELETE', `/snippets/${id}`)).toMatchObject({ status: 404 });
    await settled();
    await expect(storeOf().repositories.guard(`snippet-${id}`)).rejects.toThrow('repository');
  });
});

describe('the files of a snippet', () => {
  test('are created, updated, moved and deleted by one request', async () => {
    const { id } = await created('owner');
    const changed = await as('owner', 'PUT', `/snippets/${id}`, {
      title: 'renamed',
      files: [
        { action: 'create', file_path: 'new.md', content: '# new\n' },
        { action: 'update', file_path: 'b.txt', content: 'changed\n' },
        { action: 'move', previous_path: 'a/first.txt', file_path: 'z.txt' },
      ],
    });
    expect(changed).toMatchObject({ status: 200, body: { title: 'renamed', file_name: 'b.txt' } });
    expect(changed.body.files.map(({ path }: { path: string }) => path)).toEqual([
      'b.txt',
      'new.md',
      'z.txt',
    ]);
    expect(await rawOf('owner', `/snippets/${id}/files/main/b.txt/raw`)).toBe('changed\n');
    expect(await rawOf('owner', `/snippets/${id}/files/main/z.txt/raw`)).toBe('first\n');
    const deletes = [{ action: 'delete', file_path: 'b.txt' }];
    const after = await as('owner', 'PUT', `/snippets/${id}`, { files: deletes });
    expect(after.body.files).toHaveLength(2);
    expect((await as('owner', 'GET', `/snippets/${id}`)).body).toEqual(after.body);
  });

  test('are one in the deprecated form, which several files refuse', async () => {
    const { id } = await created('owner', { files: undefined, file_name: 'one.rb', content: 'puts 1\n' });
    const changed = await as('owner', 'PUT', `/snippets/${id}`, { file_name: 'two.rb', content: 'puts 2\n' });
    expect(changed.body).toMatchObject({ file_name: 'two.rb' });
    expect(changed.body.files).toHaveLength(1);
    expect(await rawOf('owner', `/snippets/${id}/raw`)).toBe('puts 2\n');
    const several = (await created('owner')).id;
    expect(await as('owner', 'PUT', `/snippets/${several}`, { content: 'x' })).toMatchObject({
      status: 400,
      body: {
        message: { error: 'To update Snippets with multiple files, you must use the `files` parameter' },
      },
    });
  });

  test('that a snippet cannot have are refused, and nothing is left of them', async () => {
    const many = Array.from({ length: 11 }, (_, n) => ({ file_path: `${n}.txt`, content: 'x' }));
    const refused = (error: string) => ({ status: 400, body: { message: { error } } });
    const before = (await as('owner', 'GET', '/snippets')).headers.get('X-Total');
    const create = (json: object) => as('owner', 'POST', '/snippets', { title: 'x', ...json });
    expect(await create({ files: many })).toMatchObject(
      refused('Snippet files count must be less than or equal to 10'),
    );
    const same = [files[0], files[0]];
    expect(await create({ files: same })).toMatchObject(refused('A file with this name already exists'));
    const { id } = await created('owner');
    const absent = [{ action: 'update', file_path: 'none.txt', content: 'x' }];
    expect(await as('owner', 'PUT', `/snippets/${id}`, { title: 'lost', files: absent })).toMatchObject(
      refused("A file with this name doesn't exist"),
    );
    const more = many.slice(0, 9).map((file) => ({ action: 'create', ...file }));
    expect(await as('owner', 'PUT', `/snippets/${id}`, { files: more })).toMatchObject({ status: 400 });
    expect((await as('owner', 'GET', `/snippets/${id}`)).body).toMatchObject({ title: 'a title' });
    const total = (await as('owner', 'GET', '/snippets')).headers.get('X-Total');
    expect(Number(total)).toBe(Number(before) + 1);
  });

  test('are read at branches and commits; what is not there is named', async () => {
    const { id } = await created('owner');
    const missing = (name: string) => ({ status: 404, body: { message: `404 ${name} Not Found` } });
    const at = (ref: string, path: string) => `/snippets/${id}/files/${ref}/${path}/raw`;
    expect(await as('owner', 'GET', at('none', 'b.txt'))).toMatchObject(missing('Reference'));
    expect(await as('owner', 'GET', at('main', 'none.txt'))).toMatchObject(missing('File'));
    expect(await as('owner', 'GET', at('main', 'a'))).toMatchObject(missing('File'));
    expect(await as('owner', 'GET', `/snippets/${id}/raw`)).toMatchObject({ status: 200 });
  });
});

describe('parameters', () => {
  test.each([
    [{}, 'title is missing, title is empty'],
    [{ title: '', files }, 'title is empty'],
    [{ title: 'x' }, 'files, content are missing, exactly one parameter must be provided'],
    [{ title: 'x', files, content: 'x' }, 'files, content are mutually exclusive'],
    [{ title: 'x', content: 'x' }, 'file_name is missing'],
    [{ title: 'x', files: [{ file_path: 'a', content: '' }] }, 'files[0][content] is empty'],
    [{ title: 'x', files, visibility: 'secret' }, 'visibility does not have a valid value'],
  ])('of a creation: %j', async (json, error) => {
    const answer = await as('owner', 'POST', '/snippets', json);
    expect(answer.status).toBe(400);
    expect(answer.body.error.startsWith(error.split(', title')[0])).toBe(true);
  });

  test('of a change: at least one, and an action that exists', async () => {
    const { id } = await created('owner');
    const put = (json: object) => as('owner', 'PUT', `/snippets/${id}`, json);
    expect((await put({})).body.error).toContain('at least one parameter must be provided');
    expect((await put({ files: [{ action: 'chmod', file_path: 'b.txt' }] })).body).toEqual({
      error: 'files[0][action] does not have a valid value',
    });
    expect(await put({ title: 'x'.repeat(256) })).toMatchObject({
      status: 400,
      body: { message: { title: ['is too long (maximum is 255 characters)'] } },
    });
  });

  test('a visibility that is restricted is for administrators; sizes and defaults are settings', async () => {
    const set = (json: object) => as('administrator', 'PUT', '/application/settings', json);
    await set({ restricted_visibility_levels: ['public'], default_snippet_visibility: 'internal' });
    try {
      const restricted = await as('owner', 'POST', '/snippets', { title: 'x', files, visibility: 'public' });
      expect(restricted).toMatchObject({ status: 400 });
      expect(await created('owner')).toMatchObject({ visibility: 'internal' });
      await set({ snippet_size_limit: 12 });
      expect(await as('owner', 'POST', '/snippets', { title: 'x', files })).toMatchObject({
        status: 400,
        body: { message: { error: 'Content is too long (13 Bytes). The maximum size is 12 Bytes.' } },
      });
    } finally {
      await set({
        restricted_visibility_levels: [],
        default_snippet_visibility: 'private',
        snippet_size_limit: 52_428_800,
      });
    }
  });
});

describe('a snippet of a project', () => {
  test('is created by Reporters, changed by its author and by Maintainers', async () => {
    expect(await as('guest', 'POST', inProject(), { title: 'x', files })).toMatchObject({ status: 403 });
    expect(await as('stranger', 'POST', inProject('private'), { title: 'x', files })).toMatchObject({
      status: 404,
    });
    const { id, ...snippet } = await created('reporter', {}, inProject());
    expect(snippet).toMatchObject({ project_id: world.ids['public'], visibility: 'private' });
    expect(snippet.web_url).toMatch(new RegExp(`/-/snippets/${id}$`));
    const path = `${inProject()}/${id}`;
    expect(await as('developer', 'PUT', path, { title: 'y' })).toMatchObject({ status: 403 });
    expect(await as('reporter', 'PUT', path, { title: 'y' })).toMatchObject({ status: 200 });
    expect(await as('maintainer', 'PUT', path, { title: 'z' })).toMatchObject({ status: 200 });
    expect(await as('developer', 'DELETE', path)).toMatchObject({ status: 403 });
    expect(await as('reporter', 'DELETE', path)).toMatchObject({ status: 204 });
    expect(await as('reporter', 'GET', path)).toMatchObject({
      status: 404,
      body: { message: '404 Not found' },
    });
  });

  test('is for the members where it is private, whatever the project is', async () => {
    const secret = await created('owner', { visibility: 'private' }, inProject());
    const shown = await created('owner', { visibility: 'public' }, inProject());
    expect(await as('stranger', 'GET', `${inProject()}/${secret.id}`)).toMatchObject({ status: 404 });
    expect(await as('guest', 'GET', `${inProject()}/${secret.id}`)).toMatchObject({ status: 200 });
    expect(await rawOf('anonymous', `${inProject()}/${shown.id}/raw`)).toBe('first\n');
    const idsOf = async (who: Who) =>
      (await as(who, 'GET', inProject())).body.map(({ id }: { id: number }) => id);
    expect(await idsOf('guest')).toEqual(expect.arrayContaining([secret.id, shown.id]));
    expect(await idsOf('stranger')).not.toContain(secret.id);
    expect(await idsOf('anonymous')).toContain(shown.id);
  });

  test('is found in its project only, and not among personal ones', async () => {
    const { id } = await created('owner', { visibility: 'public' }, inProject());
    const personal = await created('owner', { visibility: 'public' });
    expect(await as('owner', 'GET', `/snippets/${id}`)).toMatchObject({ status: 404 });
    expect(await as('owner', 'GET', `${inProject('private')}/${id}`)).toMatchObject({ status: 404 });
    expect(await as('owner', 'GET', `${inProject()}/${personal.id}`)).toMatchObject({ status: 404 });
    const { body } = await as('owner', 'GET', inProject());
    // The schema is that of a list without what came with repositories.
    const listed = body.map((each: Record<string, unknown>) => {
      const { ssh_url_to_repo: _ssh, http_url_to_repo: _http, expires_at: _expires, ...rest } = each;
      return { ...rest, author: { ...(each['author'] as object), avatar_url: 'https://example.com/a.png' } };
    });
    expectSchema('snippets', listed);
  });

  test('is hidden where snippets are switched off', async () => {
    const { id } = await created('owner', {}, inProject('private'));
    const set = (level: string) =>
      as('owner', 'PUT', `/projects/${world.ids['private']}`, { snippets_access_level: level });
    await set('disabled');
    try {
      expect(await as('owner', 'GET', inProject('private'))).toMatchObject({ status: 403 });
      expect(await as('owner', 'GET', `${inProject('private')}/${id}`)).toMatchObject({ status: 403 });
    } finally {
      await set('enabled');
    }
  });
});

describe('notes and awards on a snippet of a project', () => {
  test('are written by those who see it, and go with it', async () => {
    const { id } = await created('owner', { visibility: 'internal' }, inProject());
    const path = `${inProject()}/${id}`;
    const note = await as('stranger', 'POST', `${path}/notes`, { body: 'nice' });
    expect(note).toMatchObject({
      status: 201,
      body: { body: 'nice', noteable_id: id, noteable_type: 'Snippet', noteable_iid: null },
    });
    expect(await as('external', 'POST', `${path}/notes`, { body: 'nice' })).toMatchObject({ status: 404 });
    const one = `${path}/notes/${note.body.id}`;
    expect(await as('guest', 'PUT', one, { body: 'not mine' })).toMatchObject({ status: 403 });
    expect(await as('stranger', 'PUT', one, { body: 'nicer' })).toMatchObject({ body: { body: 'nicer' } });
    expect(await as('stranger', 'PUT', one, {})).toMatchObject({ body: { error: 'body is missing' } });
    expect(await as('guest', 'POST', `${path}/award_emoji`, { name: 'tada' })).toMatchObject({
      status: 201,
      body: { awardable_id: id, awardable_type: 'Snippet' },
    });
    expect((await as('guest', 'GET', `${path}/discussions`)).body).toHaveLength(1);
    await as('owner', 'DELETE', path);
    expect(await as('guest', 'GET', `${path}/notes`)).toMatchObject({ status: 404 });
    await settled();
    const thread = { kind: 'snippet', id } as const;
    const left = await storeOf().notes.list(world.ids['public']!, thread, { page: 1, perPage: 10 });
    expect(left.items).toEqual([]);
  });

  test('are not found below a private snippet, nor below a personal one', async () => {
    const secret = await created('owner', { visibility: 'private' }, inProject());
    expect(await as('stranger', 'GET', `${inProject()}/${secret.id}/notes`)).toMatchObject({ status: 404 });
    const personal = await created('owner', { visibility: 'public' });
    expect(await as('owner', 'GET', `${inProject()}/${personal.id}/notes`)).toMatchObject({ status: 404 });
  });
});

test('what a snippet was created with is told to administrators', async () => {
  const answer = await service.call('POST', '/snippets', {
    token: world.tokens.owner!,
    json: { title: 'x', files },
    headers: { 'User-Agent': 'editor/2' },
  });
  const path = `/snippets/${answer.body.id}/user_agent_detail`;
  expect(await as('administrator', 'GET', path)).toMatchObject({
    status: 200,
    body: { user_agent: 'editor/2', akismet_submitted: false, spamcheck_submitted: false },
  });
  expect(await as('owner', 'GET', path)).toMatchObject({ status: 403 });
  expect(await as('anonymous', 'GET', path)).toMatchObject({ status: 401 });
  const silent = await service.call('POST', inProject(), {
    token: world.tokens.owner!,
    json: { title: 'x', files },
    headers: { 'User-Agent': '' },
  });
  const ofProject = `${inProject()}/${silent.body.id}/user_agent_detail`;
  expect(await as('administrator', 'GET', ofProject)).toMatchObject({
    status: 404,
    body: { message: '404 UserAgentDetail Not Found' },
  });
  expect(await as('owner', 'GET', ofProject)).toMatchObject({ status: 403 });
  const other = await created('owner', {}, inProject());
  expect(await as('administrator', 'GET', `${inProject()}/${other.id}/user_agent_detail`)).toMatchObject({
    status: 200,
    body: { ip_address: expect.stringMatching(/^(127\.0\.0\.1|::1)$/) },
  });
});

test.each([
  ['personal', '/snippets'],
  ['of a project', undefined],
])('a file of a snippet that is %s is sent as text, whatever is in it', async (_, path) => {
  const at = path ?? inProject();
  const page = [{ file_path: 'dir/page.html', content: '<script>alert(1)</script>' }];
  const { id } = await created('owner', { files: page, visibility: 'public' }, at);
  for (const raw of ['raw', 'files/main/dir%2Fpage.html/raw']) {
    const { status, headers, body } = await as('stranger', 'GET', `${at}/${id}/${raw}`);
    expect([status, body]).toEqual([200, '<script>alert(1)</script>']);
    expect(headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-disposition')).toContain('page.html');
  }
});

test.each([
  ['personal', '/snippets'],
  ['of a project', undefined],
])('a snippet that is %s and was changed since is not deleted', async (_, path) => {
  const at = path ?? inProject();
  const { id } = await created('owner', {}, at);
  const answer = await service.call('DELETE', `${at}/${id}`, {
    token: world.tokens.owner!,
    headers: { 'If-Unmodified-Since': 'Thu, 01 Jan 2015 00:00:00 GMT' },
  });
  expect(answer).toMatchObject({ status: 412 });
  expect(await as('owner', 'GET', `${at}/${id}`)).toMatchObject({ status: 200 });
});

test('of two changes at once both are made, or one is refused', async () => {
  const { id } = await created('owner');
  const change = (n: number) =>
    as('owner', 'PUT', `/snippets/${id}`, {
      files: [{ action: 'create', file_path: `${n}.md`, content: `${n}` }],
    });
  const answers = await Promise.all([1, 2, 3].map(change));
  const made = answers.filter(({ status }) => status === 200).length;
  const { body } = await as('owner', 'GET', `/snippets/${id}`);
  expect(body.files).toHaveLength(2 + made);
  expect(made).toBeGreaterThan(0);
});
