/** What hostile or careless writers do to wikis: by uploads, and by pushes beside the API. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { GitCli, withToken } from '../../clients/git-cli.ts';
import { ownWorld } from '../../harness/own-world.ts';

const { service, world, as, root } = ownWorld();
const git = new GitCli();
afterAll(() => git[Symbol.dispose]());

let made = 0;
async function fresh() {
  const { body } = await as('owner', 'POST', '/projects', { name: `wiki ${++made}` });
  const url = withToken(service.url, `${body.path_with_namespace}.wiki`, world.tokens['owner']!);
  return { id: body.id as number, wiki: `/projects/${body.id}/wikis`, url };
}
const at = (wiki: string, slug: string) => `${wiki}/${encodeURIComponent(slug)}`;

describe('an attachment', () => {
  const upload = (wiki: string, name: string, bytes: string, type?: string) => {
    const body = new FormData();
    body.set('file', new File([bytes], name, type === undefined ? {} : { type }));
    return service.call('POST', `${wiki}/attachments`, { token: world.tokens['owner']!, raw: body });
  };

  test('is named by its name alone, whatever it says that it is', async () => {
    const { wiki } = await fresh();
    const { body } = await upload(wiki, 'page.html', '<script>alert(1)</script>', 'image/png');
    expect(body.link.markdown).toBe(`[page.html](${body.file_path})`);
    const picture = await upload(wiki, 'a.png', '<script>alert(1)</script>', 'text/html');
    expect(picture.body.link.markdown).toMatch(/^!\[a\]\(/);
  });

  test.each(['../../x', '..', '.git', 'a\\b', 'a](javascript:x)', '', 'x'.repeat(300), 'a\u0000b'])(
    'of the name %j stays in its directory',
    async (name) => {
      const { wiki } = await fresh();
      const { status, body } = await upload(wiki, name, 'x');
      if (status === 400) return;
      expect(status).toBe(201);
      expect(body.file_path).toMatch(/^uploads\/[0-9a-f]{32}\/[\p{L}\p{N}_.+-]+$/u);
      expect(body.file_name).not.toMatch(/^\.\.?$|^\.git$/);
    },
  );

  test('above `max_attachment_size` is refused, and leaves nothing', async () => {
    const { wiki } = await fresh();
    await root('PUT', '/application/settings', { max_attachment_size: 1 });
    const { status } = await upload(wiki, 'a.bin', 'x'.repeat(2 ** 20 + 1));
    await root('PUT', '/application/settings', { max_attachment_size: 10 });
    expect(status).toBe(413);
    expect((await as('owner', 'GET', wiki)).body).toEqual([]);
  });
});

test('an attachment that says it is of a gigabyte is refused before it is sent', async () => {
  const { wiki } = await fresh();
  const { request } = await import('node:http');
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const headers = {
      'PRIVATE-TOKEN': world.tokens['owner']!,
      'Content-Type': 'multipart/form-data; boundary=x',
      'Content-Length': 2 ** 30,
    };
    const sent = request(`${service.url}/api/v4${wiki}/attachments`, { method: 'POST', headers });
    sent.on('response', (answer) => {
      resolve(answer.statusCode);
      sent.destroy();
    });
    sent.on('error', reject);
    sent.flushHeaders();
  });
  expect(status).toBe(413);
  expect((await as('owner', 'GET', wiki)).body).toEqual([]);
});

test('pages that differ in case or form of characters only can be pushed, and each is found by its own slug', async () => {
  const { wiki, url } = await fresh();
  const work = git.path(`forms-${made}`);
  await git.ok(git.home, 'init', '--quiet', '-b', 'main', work);
  for (const [name, text] of [
    ['Caf\u00e9.md', 'composed'],
    ['Cafe\u0301.md', 'decomposed'],
    ['CAF\u00c9.md', 'large'],
  ] as const)
    writeFileSync(`${work}/${name}`, text);
  await git.ok(work, '-c', 'core.precomposeunicode=false', 'add', '.');
  await git.ok(work, 'commit', '--quiet', '-m', 'Forms');
  await git.ok(work, 'push', '--quiet', url, 'main');
  expect((await as('owner', 'GET', wiki)).body).toHaveLength(3);
  for (const [slug, content] of [
    ['Caf\u00e9', 'composed'],
    ['Cafe\u0301', 'decomposed'],
    ['CAF\u00c9', 'large'],
  ] as const)
    expect((await as('owner', 'GET', at(wiki, slug))).body).toMatchObject({ content });
  // No further one is made beside them.
  expect(await as('owner', 'POST', wiki, { title: 'caf\u00e9', content: 'x' })).toMatchObject({
    status: 400,
  });
});

test('a page that is a link, a directory or a submodule is none, and cannot be written through', async () => {
  const { wiki, url } = await fresh();
  await as('owner', 'POST', wiki, { title: 'home', content: 'text' });
  const work = await git.clone(url, `links-${made}`);
  symlinkSync('home.md', `${work}/alias.md`);
  symlinkSync('../../etc', `${work}/etc`);
  mkdirSync(`${work}/folder.md`);
  writeFileSync(`${work}/folder.md/keep.txt`, 'x');
  await git.ok(work, 'add', '.');
  const head = (await git.ok(work, 'rev-parse', 'HEAD')).trim();
  await git.ok(work, 'update-index', '--add', '--cacheinfo', `160000,${head},module.md`);
  await git.ok(work, 'commit', '--quiet', '-m', 'Links');
  await git.ok(work, 'push', '--quiet', 'origin', 'main');
  expect((await as('owner', 'GET', wiki)).body.map(({ slug }: { slug: string }) => slug)).toEqual(['home']);
  for (const slug of ['alias', 'folder', 'module', 'etc/passwd']) {
    expect(await as('owner', 'GET', at(wiki, slug))).toMatchObject({ status: 404 });
    expect(await as('owner', 'PUT', at(wiki, slug), { content: 'x' })).toMatchObject({ status: 404 });
    expect(await as('owner', 'DELETE', at(wiki, slug))).toMatchObject({ status: 404 });
  }
  for (const title of ['alias', 'folder', 'module', 'etc/passwd'])
    expect([title, (await as('owner', 'POST', wiki, { title, content: 'x' })).status]).toEqual([title, 400]);
  expect((await as('owner', 'GET', at(wiki, 'home'))).body).toMatchObject({ content: 'text' });
});

test('of a wiki of more files than are looked at, the list tells no total, and every page is read by its slug', async () => {
  const { wiki, url } = await fresh();
  const work = git.path(`many-${made}`);
  await git.ok(git.home, 'init', '--quiet', '-b', 'main', work);
  writeFileSync(`${work}/0.md`, 'text');
  await git.ok(work, 'add', '.');
  const blob = await git.ok(work, 'rev-parse', ':0.md');
  const names = [...Array.from({ length: 20_000 }, (_, n) => `file-${n}.txt`), 'last.md'];
  const input = names.map((name) => `100644 ${blob}\t${name}\n`).join('');
  const { code } = await git.run(['update-index', '--index-info'], { cwd: work, input });
  expect(code).toBe(0);
  await git.ok(work, 'commit', '--quiet', '-m', 'Many');
  await git.ok(work, 'push', '--quiet', url, 'main');
  const listed = async () => {
    const { headers, body } = await as('owner', 'GET', wiki);
    return [headers.get('x-total'), body.map(({ slug }: { slug: string }) => slug)];
  };
  expect(await listed()).toEqual([null, ['0']]);
  expect((await as('owner', 'GET', at(wiki, 'last'))).body).toMatchObject({ content: 'text' });
  await git.ok(work, 'rm', '--quiet', '--cached', 'file-1.txt', 'file-2.txt');
  await git.ok(work, 'commit', '--quiet', '-m', 'As many as are looked at');
  await git.ok(work, 'push', '--quiet', url, 'main');
  expect(await listed()).toEqual(['2', ['0', 'last']]);
});

test('of a push and a change of one page at once both are kept in order, or one is told', async () => {
  const { wiki, url } = await fresh();
  await as('owner', 'POST', wiki, { title: 'home', content: 'start' });
  const work = await git.clone(url, `race-${made}`);
  writeFileSync(`${work}/home.md`, 'pushed');
  await git.ok(work, 'commit', '--quiet', '-am', 'Push');
  const [pushed, changed] = await Promise.all([
    git.run(['-C', work, 'push', '--quiet', 'origin', 'main']),
    as('owner', 'PUT', at(wiki, 'home'), { content: 'changed' }),
  ]);
  expect([200, 409]).toContain(changed.status);
  expect(pushed.code === 0 || changed.status === 200).toBe(true);
  const { content } = (await as('owner', 'GET', at(wiki, 'home'))).body;
  expect(content).toBe(changed.status === 200 ? 'changed' : 'pushed');
});
