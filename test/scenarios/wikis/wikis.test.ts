import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GitCli, withToken } from '../../clients/git-cli.ts';
import { BAD } from '../../harness/refusals.ts';
import { scenarios } from '../../harness/scenarios.ts';
import { type Answer, type Service, startService } from '../../harness/service.ts';
import { ask, makeWorld, type Who, type World } from '../../harness/world.ts';

let service: Service;
let world: World;
const git = new GitCli();

const as = (who: Who, method: string, path: string, json?: unknown) => ask(world, who, method, path, json);
const owner = async (method: string, path: string, json?: unknown): Promise<Answer> =>
  as('owner', method, path, json);
let made = 0;
/** The wiki of a new project. */
const fresh = async (json: object = {}) => {
  const project = (await owner('POST', '/projects', { name: `wiki ${++made}`, ...json })).body;
  return {
    id: project.id as number,
    path: project.path_with_namespace as string,
    wiki: `/projects/${project.id}/wikis`,
  };
};
const page = (title: string, content = 'Text', more: object = {}) => ({ title, content, ...more });
const slugsOf = ({ body }: Answer) => body.map(({ slug }: { slug: string }) => slug);
const at = (wiki: string, slug: string) => `${wiki}/${encodeURIComponent(slug)}`;
const MISSING = { status: 404, body: { message: '404 Wiki Page Not Found' } };
const tokenOfOwner = () => world.tokens['owner']!;

beforeAll(async () => {
  service = await startService();
  world = await makeWorld(service);
});
afterAll(async () => {
  await service.stop();
  git[Symbol.dispose]();
});

describe('who may read and write pages', () => {
  const json = () => page(`page ${Math.random()}`);
  scenarios(
    () => world,
    [
      {
        request: 'GET /projects/{public}/wikis',
        as: { anonymous: 200, stranger: 200, external: 200, guest: 200, read_api: 200, ...BAD },
      },
      { request: 'GET /projects/{private}/wikis', as: { anonymous: 404, stranger: 404, guest: 200 } },
      {
        request: 'POST /projects/{public}/wikis',
        json,
        as: { anonymous: 401, stranger: 403, guest: 403, reporter: 403, developer: 201, read_api: 403 },
      },
      {
        request: 'POST /projects/{private}/wikis',
        json,
        as: { stranger: 404, reporter: 403, developer: 201, administrator: 201 },
      },
      {
        request: 'DELETE /projects/{private}/wikis/none',
        as: { stranger: 404, developer: 403 },
      },
    ],
  );
});

describe('a page', () => {
  test('is shown as it was created, by its slug and in the list', async () => {
    const { wiki } = await fresh();
    expect(await owner('GET', wiki)).toMatchObject({ status: 200, body: [] });
    expect(await owner('GET', at(wiki, 'home'))).toMatchObject(MISSING);
    const created = await owner('POST', wiki, page('My  first page ', '# Hello\n'));
    const expected = {
      format: 'markdown',
      slug: 'My-first-page',
      title: 'My first page',
      content: '# Hello\n',
      encoding: 'UTF-8',
    };
    expect(created).toMatchObject({ status: 201, body: expected });
    expect(Object.keys(created.body)).toEqual(Object.keys(expected));
    expect((await owner('GET', at(wiki, 'My-first-page'))).body).toEqual(expected);
    expect((await owner('GET', at(wiki, 'My first page'))).body).toEqual(expected);
    const { content: _c, encoding: _e, ...listed } = expected;
    expect((await owner('GET', wiki)).body).toEqual([listed]);
    expect((await owner('GET', `${wiki}?with_content=true`)).body).toEqual([expected]);
  });

  test('is in directories by its title, and pages are listed by their slugs', async () => {
    const { wiki } = await fresh();
    for (const title of ['zoo', 'Guide/Set up/Linux', 'guide', 'a.b'])
      expect(await owner('POST', wiki, page(title))).toMatchObject({ status: 201 });
    const listed = await owner('GET', wiki);
    expect(slugsOf(listed)).toEqual(['a.b', 'guide', 'Guide/Set-up/Linux', 'zoo']);
    expect((await owner('GET', at(wiki, 'Guide/Set-up/Linux'))).body).toMatchObject({ title: 'Linux' });
    expect(slugsOf(await owner('GET', `${wiki}?per_page=2&page=2`))).toEqual(['Guide/Set-up/Linux', 'zoo']);
  });

  test('has a file of its format', async () => {
    const { wiki, path } = await fresh();
    for (const format of ['markdown', 'rdoc', 'asciidoc', 'org'])
      expect(await owner('POST', wiki, page(`in ${format}`, 'x', { format }))).toMatchObject({
        status: 201,
        body: { format, slug: `in-${format}` },
      });
    const clone = await git.clone(withToken(service.url, `${path}.wiki`, tokenOfOwner()), `formats-${made}`);
    expect(await git.lines(clone, 'ls-files')).toEqual([
      'in-asciidoc.asciidoc',
      'in-markdown.md',
      'in-org.org',
      'in-rdoc.rdoc',
    ]);
    expect(await git.lines(clone, 'log', '-1', '--format=%s')).toEqual(['owner created page: in org']);
    expect(await owner('POST', wiki, page('x', 'x', { format: 'textile' }))).toMatchObject({
      status: 400,
      body: { error: 'format does not have a valid value' },
    });
  });

  test('needs a title and content', async () => {
    const { wiki } = await fresh();
    const errors: [object, object][] = [
      [{ content: 'x' }, { error: 'title is missing' }],
      [{ title: 'x' }, { error: 'content is missing' }],
      [page(''), { error: 'title is empty' }],
      [page('x', ''), { message: { content: ["can't be blank"] } }],
      [page('x', ' \n'), { message: { content: ["can't be blank"] } }],
    ];
    for (const [json, body] of errors)
      expect(await owner('POST', wiki, json)).toMatchObject({ status: 400, body });
    expect((await owner('GET', wiki)).body).toEqual([]);
  });

  test('cannot climb out of the wiki, be nothing, or have a name that is no file', async () => {
    const { wiki } = await fresh();
    const titles = ['../x', 'a/../b', './x', 'a//b', 'a/', '/', ' ', '.git/x', 'a/.GIT', 'a\u0000b', 'a\\b'];
    for (const title of [...titles, 'x'.repeat(246), `${'d'.repeat(256)}/x`, `uploads/${'0'.repeat(32)}/x`]) {
      const answer = await owner('POST', wiki, page(title));
      expect([title, answer.status]).toEqual([title, 400]);
    }
    for (const title of ['x.git', 'x.md', 'é'.repeat(122), '#1 & <b>', 'a'.repeat(245)])
      expect(await owner('POST', wiki, page(title))).toMatchObject({ status: 201 });
    expect(await owner('GET', at(wiki, '../x'))).toMatchObject({ status: 404 });
    expect(await owner('GET', at(wiki, 'x'.repeat(5000)))).toMatchObject({ status: 404 });
    expect((await owner('GET', at(wiki, 'x.md'))).body).toMatchObject({ slug: 'x.md' });
  });

  test('is refused where there is one of that title, in whatever format, case and form of characters', async () => {
    const { wiki } = await fresh();
    await owner('POST', wiki, page('Café'));
    const duplicate = {
      status: 400,
      body: { message: { base: ['Duplicate page: A page with that title already exists'] } },
    };
    for (const json of [page('Café'), page('Café', 'x', { format: 'org' }), page('café'), page('Cafe\u0301')])
      expect(await owner('POST', wiki, json)).toMatchObject(duplicate);
    expect((await owner('GET', at(wiki, 'Cafe\u0301'))).body).toMatchObject({ slug: 'Café' });
    await owner('POST', wiki, page('other'));
    expect(await owner('PUT', at(wiki, 'other'), { title: 'CAFÉ' })).toMatchObject(duplicate);
  });

  test('has as much content as the setting allows', async () => {
    const { wiki } = await fresh();
    const limit = (bytes: number) =>
      as('administrator', 'PUT', '/application/settings', { wiki_page_max_content_bytes: bytes });
    await limit(1024);
    try {
      expect(await owner('POST', wiki, page('long', 'é'.repeat(768)))).toMatchObject({
        status: 400,
        body: { message: { content: ['is too long (1.5 KB). The maximum size is 1 KB.'] } },
      });
      expect(await owner('POST', wiki, page('long', 'x'.repeat(1024)))).toMatchObject({ status: 201 });
      expect(await owner('PUT', at(wiki, 'long'), { content: 'x'.repeat(1025) })).toMatchObject({
        status: 400,
      });
    } finally {
      await limit(52_428_800);
    }
  });

  test('of any name is a page as the others: templates and sidebars too', async () => {
    const { wiki } = await fresh();
    for (const title of ['templates/Report', '_sidebar', 'uploads/notes'])
      expect(await owner('POST', wiki, page(title, title))).toMatchObject({
        status: 201,
        body: { slug: title },
      });
    expect(slugsOf(await owner('GET', wiki))).toEqual(['_sidebar', 'templates/Report', 'uploads/notes']);
    expect((await owner('GET', at(wiki, 'templates/Report'))).body.content).toBe('templates/Report');
  });
});

describe('a change of a page', () => {
  test('needs one of its parameters', async () => {
    const { wiki } = await fresh();
    await owner('POST', wiki, page('home'));
    expect(await owner('PUT', at(wiki, 'home'), {})).toMatchObject({
      status: 400,
      body: { error: 'content, title, format are missing, at least one parameter must be provided' },
    });
    expect(await owner('PUT', at(wiki, 'none'), { content: 'x' })).toMatchObject(MISSING);
  });

  test('of the title moves its file, with its history', async () => {
    const { wiki, path } = await fresh();
    await owner('POST', wiki, page('docs/old', 'one\n'));
    expect((await owner('PUT', at(wiki, 'docs/old'), { title: 'New name' })).body).toMatchObject({
      slug: 'docs/New-name',
      title: 'New name',
      content: 'one\n',
    });
    expect((await owner('PUT', at(wiki, 'docs/New-name'), { title: '/top' })).body).toMatchObject({
      slug: 'top',
    });
    expect(await owner('GET', at(wiki, 'docs/old'))).toMatchObject(MISSING);
    expect((await owner('PUT', at(wiki, 'top'), { title: 'a/b', content: 'two\n' })).body).toMatchObject({
      slug: 'a/b',
      content: 'two\n',
    });
    const clone = await git.clone(withToken(service.url, `${path}.wiki`, tokenOfOwner()), `moved-${made}`);
    expect(await git.lines(clone, 'ls-files')).toEqual(['a/b.md']);
    expect(await git.lines(clone, 'log', '--format=%s')).toHaveLength(4);
  });

  test('of the content or format keeps the slug, and nothing changed is no error', async () => {
    const { wiki } = await fresh();
    await owner('POST', wiki, page('home', 'one'));
    const home = at(wiki, 'home');
    expect((await owner('PUT', home, { content: 'two' })).body).toMatchObject({
      slug: 'home',
      content: 'two',
    });
    expect((await owner('PUT', home, { format: 'org' })).body).toMatchObject({
      format: 'org',
      content: 'two',
    });
    expect((await owner('PUT', home, { content: 'two' })).body).toMatchObject({
      format: 'org',
      content: 'two',
    });
    expect(slugsOf(await owner('GET', wiki))).toEqual(['home']);
  });

  test('can be seen as it was before', async () => {
    const { wiki, path } = await fresh();
    await owner('POST', wiki, page('home', 'one'));
    const [first] = (
      await git.ok(git.home, 'ls-remote', withToken(service.url, `${path}.wiki`, tokenOfOwner()), 'HEAD')
    ).split('\t');
    await owner('PUT', at(wiki, 'home'), { content: 'two' });
    expect((await owner('GET', `${at(wiki, 'home')}?version=${first}`)).body).toMatchObject({
      content: 'one',
    });
    expect(await owner('GET', `${at(wiki, 'home')}?version=${'0'.repeat(40)}`)).toMatchObject(MISSING);
  });

  test('of two at once one is kept, and the other is told', async () => {
    const { wiki } = await fresh();
    await owner('POST', wiki, page('home', 'start'));
    for (let round = 0; round < 5; round++) {
      const answers = await Promise.all(
        [1, 2, 3].map((n) => owner('PUT', at(wiki, 'home'), { content: `${round} ${n}` })),
      );
      const statuses = answers.map(({ status }) => status);
      expect(statuses.every((status) => status === 200 || status === 409)).toBe(true);
      const { content } = (await owner('GET', at(wiki, 'home'))).body;
      const shown = answers.findIndex(({ status, body }) => status === 200 && body.content === content);
      expect(shown).toBeGreaterThanOrEqual(0);
    }
    const created = await Promise.all([1, 2, 3, 4].map((n) => owner('POST', wiki, page(`page ${n}`))));
    expect(created.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    const same = await Promise.all([1, 2, 3].map((n) => owner('POST', wiki, page('same', `${n}`))));
    expect(same.map(({ status }) => status).filter((status) => status === 201)).toHaveLength(1);
  });
});

test('a deleted page is gone, and cannot be deleted again', async () => {
  const { wiki, path } = await fresh();
  await owner('POST', wiki, page('dir/home'));
  expect(await owner('DELETE', at(wiki, 'dir/home'))).toMatchObject({ status: 204 });
  expect(await owner('GET', at(wiki, 'dir/home'))).toMatchObject(MISSING);
  expect(await owner('DELETE', at(wiki, 'dir/home'))).toMatchObject(MISSING);
  // Nothing is left in it, and git finds it sound.
  await git.clone(withToken(service.url, `${path}.wiki`, tokenOfOwner()), `emptied-${made}`);
  expect((await owner('GET', wiki)).body).toEqual([]);
});

describe('a page as HTML', () => {
  test('is Markdown that is rendered and sanitized, without what stands before its text', async () => {
    const { wiki } = await fresh();
    const content = '---\ntitle: Not shown\n---\n# Hi\n\n<script>alert(1)</script>[x](javascript:alert(1))\n';
    await owner('POST', wiki, page('home', content));
    const { body } = await owner('GET', `${at(wiki, 'home')}?render_html=true`);
    expect(body).toMatchObject({ slug: 'home', encoding: 'UTF-8' });
    expect(body.content).toContain('<h1>Hi</h1>');
    expect(body.content).not.toMatch(/<script|href="javascript|Not shown/);
    expect((await owner('GET', at(wiki, 'home'))).body.content).toBe(content);
  });

  test('is AsciiDoc that is rendered and sanitized', async () => {
    const { wiki } = await fresh();
    const content = '= Hi\n\n* *one* link:javascript:alert(1)[x]\n\ninclude::/etc/passwd[]\n';
    await owner('POST', wiki, page('home', content, { format: 'asciidoc' }));
    const { body } = await owner('GET', `${at(wiki, 'home')}?render_html=true`);
    expect(body).toMatchObject({ slug: 'home', format: 'asciidoc' });
    expect(body.content).toContain('<h1>Hi</h1>');
    expect(body.content).toContain('<strong>one</strong>');
    expect(body.content).not.toMatch(/javascript|root:/);
  });

  test('of another format is shown as written', async () => {
    const { wiki } = await fresh();
    await owner('POST', wiki, page('home', '* <b>one</b>', { format: 'org' }));
    const { body } = await owner('GET', `${at(wiki, 'home')}?render_html=true`);
    expect(body.content).toBe('<pre>* &lt;b&gt;one&lt;/b&gt;</pre>');
  });
});

describe('an attachment', () => {
  const upload = (wiki: string, name: string, branch?: string, bytes = 'bytes') => {
    const body = new FormData();
    body.set('file', new File([bytes], name));
    if (branch !== undefined) body.set('branch', branch);
    return service.call('POST', `${wiki}/attachments`, { token: tokenOfOwner(), raw: body });
  };

  test('is a file of the repository, on the branch that is asked for', async () => {
    const { wiki, path } = await fresh();
    const { status, body } = await upload(wiki, 'My picture.png');
    expect(status).toBe(201);
    expect(body).toEqual({
      file_name: 'My_picture.png',
      file_path: expect.stringMatching(/^uploads\/[0-9a-f]{32}\/My_picture\.png$/),
      branch: 'main',
      link: { url: body.file_path, markdown: `![My_picture](${body.file_path})` },
    });
    const notes = await upload(wiki, 'notes.md');
    expect(notes.body.link.markdown).toBe(`[notes.md](${notes.body.file_path})`);
    // Attached pages are no pages of the wiki.
    expect((await owner('GET', wiki)).body).toEqual([]);
    const clone = await git.clone(withToken(service.url, `${path}.wiki`, tokenOfOwner()), `files-${made}`);
    expect(await git.lines(clone, 'ls-files')).toEqual([body.file_path, notes.body.file_path].sort());
    await git.ok(clone, 'push', '--quiet', 'origin', 'main:draft');
    expect((await upload(wiki, 'a.txt', 'draft')).body).toMatchObject({ branch: 'draft' });
    expect(await upload(wiki, 'a.txt', 'none')).toMatchObject({ status: 400 });
  });

  test('must be a file', async () => {
    const { wiki } = await fresh();
    expect(await owner('POST', `${wiki}/attachments`, {})).toMatchObject({
      status: 400,
      body: { error: 'file is missing' },
    });
    expect(await owner('POST', `${wiki}/attachments`, { file: 'text' })).toMatchObject({
      status: 400,
      body: { error: 'file is invalid' },
    });
  });
});

test('what is pushed and is no page is not listed, and text that is none is shown', async () => {
  const { wiki, path } = await fresh();
  const work = git.path(`odd-${made}`);
  await git.ok(git.home, 'init', '--quiet', '-b', 'main', work);
  const { mkdirSync, symlinkSync, writeFileSync } = await import('node:fs');
  mkdirSync(`${work}/dir.md`);
  writeFileSync(`${work}/dir.md/inside.md`, 'inside');
  writeFileSync(`${work}/binary.md`, Buffer.from([0x41, 0xff, 0x00, 0x42]));
  writeFileSync(`${work}/plain.txt`, 'x');
  writeFileSync(`${work}/.md`, 'x');
  writeFileSync(`${work}/Read Me.MD`, 'with a space');
  writeFileSync(`${work}/old.markdown`, 'old');
  symlinkSync('/etc/passwd', `${work}/link.md`);
  await git.ok(work, 'add', '.');
  await git.ok(work, 'commit', '--quiet', '-m', 'Odd');
  await git.ok(work, 'push', '--quiet', withToken(service.url, `${path}.wiki`, tokenOfOwner()), 'main');
  expect(slugsOf(await owner('GET', wiki))).toEqual(['binary', 'dir.md/inside', 'old', 'Read Me']);
  expect((await owner('GET', at(wiki, 'binary'))).body.content).toBe('A\ufffd\0B');
  expect((await owner('GET', at(wiki, 'old'))).body).toMatchObject({ format: 'markdown', content: 'old' });
  expect(await owner('GET', at(wiki, 'link'))).toMatchObject(MISSING);
  expect(await owner('PUT', at(wiki, 'old'), { content: 'new' })).toMatchObject({ status: 200 });
});

describe('a wiki', () => {
  test('that is switched off is closed, and one for members is for members', async () => {
    const { wiki, id } = await fresh({ visibility: 'public' });
    await owner('POST', wiki, page('home'));
    expect(await as('stranger', 'GET', wiki)).toMatchObject({ status: 200 });
    await owner('PUT', `/projects/${id}`, { wiki_access_level: 'private' });
    expect(await as('stranger', 'GET', wiki)).toMatchObject({ status: 403 });
    expect(await as('anonymous', 'GET', wiki)).toMatchObject({ status: 401 });
    expect(await owner('GET', wiki)).toMatchObject({ status: 200 });
    await owner('PUT', `/projects/${id}`, { wiki_enabled: false });
    expect(await owner('GET', wiki)).toMatchObject({ status: 403 });
    expect(await owner('POST', wiki, page('x'))).toMatchObject({ status: 403 });
    await owner('PUT', `/projects/${id}`, { visibility: 'private' });
    for (const who of ['stranger', 'anonymous'] as const)
      expect(await as(who, 'GET', wiki)).toMatchObject({
        status: 404,
        body: { message: '404 Project Not Found' },
      });
  });

  test('of an archived project is read only', async () => {
    const { wiki, id } = await fresh();
    await owner('POST', wiki, page('home'));
    await owner('POST', `/projects/${id}/archive`);
    expect(await owner('GET', at(wiki, 'home'))).toMatchObject({ status: 200 });
    expect(await owner('PUT', at(wiki, 'home'), { content: 'x' })).toMatchObject({ status: 403 });
  });

  test('of a group obeys every parameter that one of a project does', async () => {
    const group = (await owner('POST', '/groups', { name: 'all of it', path: 'all-of-it' })).body;
    const wiki = `/groups/${group.id}/wikis`;
    expect(await owner('POST', wiki, {})).toMatchObject({ status: 400 });
    expect(await owner('GET', at(wiki, 'none'))).toMatchObject(MISSING);
    for (const format of ['markdown', 'rdoc', 'asciidoc', 'org'])
      expect(await owner('POST', wiki, page(format, 'one', { format }))).toMatchObject({
        status: 201,
        body: { format, slug: format },
      });
    expect(await owner('POST', wiki, page('org'))).toMatchObject({ status: 400 });
    const url = withToken(service.url, 'all-of-it.wiki', tokenOfOwner());
    const [first] = (await git.ok(git.home, 'ls-remote', url, 'HEAD')).split('\t');
    expect(await owner('PUT', at(wiki, 'markdown'), {})).toMatchObject({ status: 400 });
    expect(
      (await owner('PUT', at(wiki, 'markdown'), { title: 'Start', content: '# two' })).body,
    ).toMatchObject({ slug: 'Start', content: '# two' });
    const old = `${at(wiki, 'markdown')}?version=${first}`;
    expect((await owner('GET', old)).body).toMatchObject({ content: 'one' });
    expect((await owner('GET', `${at(wiki, 'Start')}?render_html=true`)).body.content).toContain(
      '<h1>two</h1>',
    );
    const listed = (await owner('GET', `${wiki}?with_content=true&per_page=2&page=2`)).body;
    expect(listed).toMatchObject([
      { slug: 'rdoc', content: 'one' },
      { slug: 'Start', content: '# two' },
    ]);
    await git.ok(git.home, 'clone', '--quiet', url, git.path('all-of-it'));
    await git.ok(git.path('all-of-it'), 'push', '--quiet', 'origin', 'main:draft');
    const form = new FormData();
    form.set('file', new File(['bytes'], 'a.png'));
    form.set('branch', 'draft');
    const upload = { token: tokenOfOwner(), raw: form };
    expect(await service.call('POST', `${wiki}/attachments`, upload)).toMatchObject({
      status: 201,
      body: { file_name: 'a.png', branch: 'draft', link: { markdown: expect.stringMatching(/^!\[a\]/) } },
    });
    expect(await owner('DELETE', at(wiki, 'Start'))).toMatchObject({ status: 204 });
  });

  test('of a group is for its members, and goes with it', async () => {
    const group = (await owner('POST', '/groups', { name: 'wikis', path: 'wikis-of' })).body;
    const wiki = `/groups/${group.id}/wikis`;
    expect(await owner('POST', wiki, page('plans/next', 'soon'))).toMatchObject({
      status: 201,
      body: { slug: 'plans/next' },
    });
    expect(await as('stranger', 'GET', wiki)).toMatchObject({ status: 404 });
    expect(slugsOf(await owner('GET', wiki))).toEqual(['plans/next']);
    expect(await owner('PUT', at(wiki, 'plans/next'), { content: 'now' })).toMatchObject({ status: 200 });
    expect(await owner('DELETE', at(wiki, 'plans/next'))).toMatchObject({ status: 204 });
    await owner('DELETE', `/groups/${group.id}`);
    expect(await owner('GET', wiki)).toMatchObject({ status: 404 });
  });
});

describe('the feed', () => {
  const feed = async (id: number, query = '') => (await owner('GET', `/projects/${id}/events${query}`)).body;
  const told = (events: { action_name: string; wiki_page?: { slug: string } }[]) =>
    events
      .flatMap(({ action_name, wiki_page }) => (wiki_page ? [`${action_name} ${wiki_page.slug}`] : []))
      .reverse();

  test('tells of pages that are created, changed, moved and deleted', async () => {
    const { wiki, id } = await fresh();
    await owner('POST', wiki, page('home', 'one'));
    await owner('PUT', at(wiki, 'home'), { content: 'two' });
    await owner('PUT', at(wiki, 'home'), { title: 'start', content: 'three' });
    await owner('DELETE', at(wiki, 'start'));
    const events = await feed(id);
    expect(told(events)).toEqual(['created home', 'updated home', 'updated start', 'destroyed start']);
    expect(events[0]).toMatchObject({
      target_type: 'WikiPage::Meta',
      target_id: expect.any(Number),
      target_title: 'start',
      wiki_page: { format: 'markdown', slug: 'start', title: 'start' },
    });
    expect(told(await feed(id, '?action=updated'))).toEqual(['updated home', 'updated start']);
  });

  test('tells of pages that are pushed, of a bounded number of them, and of no other branch', async () => {
    const { wiki, path, id } = await fresh();
    await owner('POST', wiki, page('home', 'one'));
    const clone = await git.clone(withToken(service.url, `${path}.wiki`, tokenOfOwner()), `feed-${made}`);
    const { writeFileSync } = await import('node:fs');
    await git.ok(clone, 'mv', 'home.md', 'start.md');
    writeFileSync(`${clone}/plain.txt`, 'no page');
    await git.ok(clone, 'add', '.');
    await git.ok(clone, 'commit', '--quiet', '-m', 'Move');
    await git.ok(clone, 'push', '--quiet', 'origin', 'HEAD:draft');
    expect(told(await feed(id))).toEqual(['created home']);
    await git.ok(clone, 'push', '--quiet', 'origin', 'HEAD:main');
    expect(told(await feed(id))).toEqual(['created home', 'updated start']);
    for (let n = 100; n < 130; n++) writeFileSync(`${clone}/page-${n}.md`, `${n}`);
    await git.ok(clone, 'add', '.');
    await git.ok(clone, 'commit', '--quiet', '-m', 'Many');
    await git.ok(clone, 'push', '--quiet', 'origin', 'HEAD:main');
    expect(told(await feed(id, '?per_page=100'))).toHaveLength(22);
  });

  test('of a project or a person has no pages of a group', async () => {
    const group = (await owner('POST', '/groups', { name: 'told', path: 'told' })).body;
    const { id, wiki: ofProject } = await fresh({ namespace_id: group.id });
    const wiki = `/groups/${group.id}/wikis`;
    await owner('POST', wiki, page('group-home', 'one'));
    await owner('PUT', at(wiki, 'group-home'), { title: 'group-start', content: 'two' });
    await owner('DELETE', at(wiki, 'group-start'));
    const clone = await git.clone(withToken(service.url, 'told.wiki', tokenOfOwner()), 'group-feed');
    const { writeFileSync } = await import('node:fs');
    writeFileSync(`${clone}/group-pushed.md`, 'three');
    await git.ok(clone, 'add', '.');
    await git.ok(clone, 'commit', '--quiet', '-m', 'Push');
    await git.ok(clone, 'push', '--quiet', 'origin', 'HEAD:main');
    expect(slugsOf(await owner('GET', wiki))).toEqual(['group-pushed']);
    await owner('POST', ofProject, page('of-the-project'));
    const feeds = [`/projects/${id}/events`, '/events?scope=all', '/users/owner/events'];
    for (const path of feeds) {
      const { body } = await owner('GET', path);
      expect([path, told(body).includes('created of-the-project')]).toEqual([path, true]);
      expect([path, JSON.stringify(body)]).not.toEqual([path, expect.stringContaining('group-')]);
    }
  });

  test('is silent to those who may not read the wiki', async () => {
    const { wiki, id } = await fresh({ visibility: 'public', wiki_access_level: 'private' });
    await owner('POST', wiki, page('secret plans'));
    expect(told(await feed(id))).toEqual(['created secret-plans']);
    const seen = await as('stranger', 'GET', `/projects/${id}/events`);
    expect(JSON.stringify(seen.body)).not.toContain('secret');
  });
});
