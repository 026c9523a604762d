/** What becomes of snippets when their project or their author changes, and what a snippet cannot be. */
import { afterAll, describe, expect, test } from 'vitest';
import { GitCli, withToken } from '../../clients/git-cli.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { settled } from '../../harness/settled.ts';

const { service, world, as, root, someone } = ownWorld();
const git = new GitCli();
afterAll(() => git[Symbol.dispose]());

const files = [{ file_path: 'a.txt', content: 'one\n' }];
const made = async (path: string, json: object) => {
  const { status, body } = await as('owner', 'POST', path, json);
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
};
let count = 0;
/** A new project with a snippet. */
async function shelf() {
  const project = await made('/projects', { name: `shelf ${++count}` });
  const path = `/projects/${project.id}`;
  const snippet = await made(`${path}/snippets`, { title: 'x', visibility: 'private', files });
  return { id: project.id as number, path, snippet, one: `${path}/snippets/${snippet.id}` };
}
const url = (http: string) =>
  withToken(service.url, http.slice(service.url.length + 1).replace(/\.git$/, ''), world.tokens['owner']!);

describe('the snippets of a project', () => {
  test('move with it, and are cloned from its new path', async () => {
    const { path, one, snippet } = await shelf();
    const group = await made('/groups', { name: 'library', path: 'library' });
    expect((await as('owner', 'PUT', `${path}/transfer`, { namespace: group.id })).status).toBe(200);
    const { body } = await as('owner', 'GET', one);
    expect(body.http_url_to_repo).toContain('/library/');
    expect(body.web_url).toContain('/library/');
    expect(body.id).toBe(snippet.id);
    expect(await git.lines(git.home, 'ls-remote', '--heads', url(body.http_url_to_repo))).toHaveLength(1);
  });

  test('are read and not written while it is archived', async () => {
    const { path, one } = await shelf();
    await as('owner', 'POST', `${path}/archive`);
    expect((await as('owner', 'GET', `${one}/raw`)).body).toBe('one\n');
    expect(await as('owner', 'PUT', one, { title: 'y' })).toMatchObject({ status: 403 });
    expect(await as('owner', 'DELETE', one)).toMatchObject({ status: 403 });
    const late = { title: 'z', visibility: 'private', files };
    expect(await as('owner', 'POST', `${path}/snippets`, late)).toMatchObject({ status: 403 });
    expect(await as('owner', 'POST', `${one}/notes`, { body: 'x' })).toMatchObject({ status: 403 });
    await as('owner', 'POST', `${path}/unarchive`);
    expect(await as('owner', 'PUT', one, { title: 'y' })).toMatchObject({ status: 200 });
  });

  test('are deleted with it, and their repositories', async () => {
    const { path, one, snippet } = await shelf();
    await as('owner', 'DELETE', path);
    expect(await as('owner', 'GET', one)).toMatchObject({ status: 404 });
    await settled();
    expect(await world.store.snippets.get(snippet.id)).toBeUndefined();
    await expect(world.store.repositories.guard(`snippet-${snippet.id}`)).rejects.toThrow('repository');
  });

  test('and its wiki are not in its forks', async () => {
    const { id, path } = await shelf();
    const first = { branch: 'main', commit_message: 'x', actions: [{ action: 'create', ...files[0] }] };
    await made(`${path}/repository/commits`, first);
    await made(`${path}/wikis`, { title: 'home', content: 'text' });
    const group = await made('/groups', { name: `forks ${id}`, path: `forks-${id}` });
    const fork = await made(`${path}/fork`, { namespace_id: group.id });
    await settled();
    expect((await as('owner', 'GET', `/projects/${fork.id}/snippets`)).body).toEqual([]);
    expect((await as('owner', 'GET', `/projects/${fork.id}/wikis`)).body).toEqual([]);
  });
});

test('a removed author takes personal snippets along; those in projects stay, of the ghost user', async () => {
  const { path, id } = await shelf();
  const author = await someone();
  await as('owner', 'POST', `${path}/members`, { user_id: author.id, access_level: 30 });
  const write = async (at: string) =>
    (
      await service.call('POST', at, {
        token: author.token,
        json: { title: 't', visibility: 'public', files },
      })
    ).body.id;
  const [own, ofProject] = [await write('/snippets'), await write(`/projects/${id}/snippets`)];
  await root('DELETE', `/users/${author.id}`);
  await settled();
  expect(await as('owner', 'GET', `/snippets/${own}`)).toMatchObject({ status: 404 });
  expect((await as('owner', 'GET', '/snippets/public')).body).toEqual([]);
  expect((await as('owner', 'GET', `${path}/snippets/${ofProject}`)).body.author.username).toMatch(/^ghost/);
});

describe('files that a snippet cannot have', () => {
  const create = (...paths: string[]) =>
    as('owner', 'POST', '/snippets', {
      title: 'x',
      visibility: 'private',
      files: paths.map((file_path) => ({ file_path, content: 'x' })),
    });
  const bad = [
    ['../a'],
    ['a/../../b'],
    ['.git/config'],
    ['a/.GIT/b'],
    ['/'],
    ['a//b'],
    ['a\0b'],
    ['.'],
    ['..'],
  ];
  test.each([...bad, ['a', 'a/b'], ['a/b', 'a'], ['a', 'a']])('%j %j', async (...paths) => {
    const { status, body } = await create(...paths.filter((each) => each !== undefined));
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringMatching(/message|error/)]);
  });

  test('nothing of them is left', async () => {
    expect((await as('owner', 'GET', '/snippets')).body).toEqual([]);
  });

  test('names of the longest and strangest kind come back as they were', async () => {
    const names = ['ü '.repeat(84), '-rf', 'a?b=c#d%2F', '"<script>"', 'x.git', '名前'];
    const { status, body } = await create(...names);
    expect(status, JSON.stringify(body)).toBe(201);
    const paths = body.files.map(({ path }: { path: string }) => path);
    expect(paths.toSorted()).toEqual(names.toSorted());
    for (const name of names) {
      const at = `/snippets/${body.id}/files/main/${encodeURIComponent(name)}/raw`;
      expect([name, (await as('owner', 'GET', at)).status]).toEqual([name, 200]);
    }
    await as('owner', 'DELETE', `/snippets/${body.id}`);
  });

  test('ten thousand of them are not pushed', async () => {
    const { one, snippet } = await shelf();
    const work = await git.clone(url(snippet.http_url_to_repo), 'many');
    const blob = (await git.ok(work, 'hash-object', '-w', 'a.txt')).trim();
    await git.ok(work, 'rm', '-q', '--cached', 'a.txt');
    for (let n = 0; n < 10_000; n += 2000) {
      const some = Array.from({ length: 2000 }, (_, i) => `100644,${blob},f${n + i}`);
      await git.ok(work, 'update-index', '--add', ...some.flatMap((each) => ['--cacheinfo', each]));
    }
    await git.ok(work, 'commit', '--quiet', '-m', 'Many');
    expect(await git.fails(work, 'push', 'origin', 'main')).toContain(
      'files count must be less than or equal',
    );
    expect((await as('owner', 'GET', one)).body.files).toHaveLength(1);
  });
});
