/** Pages up to what `wiki_page_max_content_bytes` says, and longer ones that were pushed: they are read in pieces. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GitCli, withToken } from '../../clients/git-cli.ts';
import { ownWorld } from '../../harness/own-world.ts';

const { service, world, as } = ownWorld();
const git = new GitCli();
afterAll(() => git[Symbol.dispose]());

const MIB = 2 ** 20;
/** The default of the setting. */
const LIMIT = 50 * MIB;
/** Characters of one to four bytes, which pieces may divide, and those that JSON and HTML write otherwise. */
const LINE = '\ufeff<b> "é" \\ 名前 😀\u0001\u007f\u2028 &amp;\n';
const content = LINE.repeat(Math.ceil((5 * MIB) / Buffer.byteLength(LINE)));

let wiki: string;
let url: string;
beforeAll(async () => {
  const { body } = await as('owner', 'POST', '/projects', { name: 'large wiki' });
  wiki = `/projects/${body.id}/wikis`;
  url = withToken(service.url, `${body.path_with_namespace}.wiki`, world.tokens.owner!);
});
/** Not by `toEqual`, which would show both. */
const isAll = (shown: unknown) => shown === content;

test('a long page is written, moved and read, by the API and by Git', async () => {
  const created = await as('owner', 'POST', wiki, { title: 'long', content });
  const { content: told, ...facts } = created.body;
  expect([created.status, facts, isAll(told)]).toEqual([
    201,
    { format: 'markdown', slug: 'long', title: 'long', encoding: 'UTF-8' },
    true,
  ]);
  const moved = await as('owner', 'PUT', `${wiki}/long`, { title: 'longer' });
  expect([moved.status, moved.body.slug, isAll(moved.body.content)]).toEqual([200, 'longer', true]);
  const read = await as('owner', 'GET', `${wiki}/longer`);
  expect(read.headers.get('content-type')).toBe('application/json');
  expect([read.status, Object.keys(read.body), isAll(read.body.content)]).toEqual([
    200,
    ['format', 'slug', 'title', 'content', 'encoding'],
    true,
  ]);
  const clone = await git.clone(url, 'clone');
  const { stdout } = await git.run(['cat-file', '-p', 'HEAD:longer.md'], { cwd: clone });
  expect(stdout.equals(Buffer.from(content))).toBe(true);
});

test('a long page as HTML is shown as written', async () => {
  const { body } = await as('owner', 'GET', `${wiki}/longer?render_html=true`);
  const html = content
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
  expect(body.content === `<pre>${html}</pre>`).toBe(true);
});

test('who asks for the head of a long page, or stops reading it, leaves the wiki readable', async () => {
  const headers = { 'PRIVATE-TOKEN': world.tokens.owner! };
  const one = `${service.url}/api/v4${wiki}/longer`;
  const head = await fetch(one, { method: 'HEAD', headers });
  expect([head.status, await head.text()]).toEqual([200, '']);
  const begun = await fetch(one, { headers });
  await begun.body!.getReader().cancel();
  expect((await as('owner', 'GET', wiki)).status).toBe(200);
});

test('a page has as much as the setting allows, and not one byte more', async () => {
  const largest = 'x'.repeat(LIMIT);
  const created = await as('owner', 'POST', wiki, { title: 'largest', content: largest });
  expect([created.status, created.body.content === largest]).toEqual([201, true]);
  expect(await as('owner', 'POST', wiki, { title: 'more', content: `${largest}x` })).toMatchObject({
    status: 400,
    body: { message: { content: ['is too long (50 MB). The maximum size is 50 MB.'] } },
  });
  expect(await as('owner', 'GET', `${wiki}?with_content=true`)).toMatchObject({
    status: 413,
    body: { message: '413 Request Entity Too Large: ask for fewer pages, or without their content' },
  });
  const { body } = await as('owner', 'GET', `${wiki}?with_content=true&per_page=1&page=2`);
  expect([body.length, body[0].slug, isAll(body[0].content)]).toEqual([1, 'longer', true]);
});
