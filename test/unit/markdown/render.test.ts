import { describe, expect, test } from 'vitest';
import { type ReferenceLink, toHtml } from '../../../lib/domain/markdown/html.ts';
import { MAX_RENDERED, RenderThread, rendered } from '../../../lib/domain/markdown/render.ts';

const baseUrl = 'https://git.example.com';
const link = (path: string, more: Partial<ReferenceLink> = {}): ReferenceLink => ({
  href: `${baseUrl}/${path}`,
  title: 'T',
  class: 'issue',
  data: {},
  ...more,
});
const url = `${baseUrl}/a/b/-/issues/1`;
const links = new Map([
  ['#1', link('1', { title: 'A "title"', data: { 'reference-type': 'issue', project: 7 } })],
  [url, link('1', { text: 'a/b#1' })],
  ['~"x y"', link('l', { text: 'x y', class: 'label' })],
  ['@ada', link('ada', { class: 'project_member' })],
]);
const html = (text: string) => toHtml(text, { baseUrl, links }).replace(/<a href[^>]*gfm-(\w+)"/g, '<$1');

test('a reference is a link with the classes and attributes of the product', () => {
  expect(toHtml('#1', { baseUrl, links })).toBe(
    '<p><a href="https://git.example.com/1" data-reference-type="issue" data-project="7" data-original="#1" title="A &quot;title&quot;" class="gfm gfm-issue">#1</a></p>\n',
  );
});

test.each([
  [
    '(#1), **#1** _#1_ ~~#1~~.',
    '(<issue>#1</a>), <strong><issue>#1</a></strong> <em><issue>#1</a></em> <del><issue>#1</a></del>.',
  ],
  [`see ${url} and <${url}>`, 'see <issue>a/b#1</a> and <issue>a/b#1</a>'],
  [`[here](${url}) [#1](/x)`, `<a href="${url}">here</a> <a href="/x">#1</a>`],
  ['~"x y" @ada: @bob #2 a@ada', '<label>x y</a> <project_member>@ada</a>: @bob #2 a@ada'],
  ['`#1` \\#1 &#35;1', '<code>#1</code> #1 #1'],
  ['<a href="/x">#1</a> <code>@ada</code>', '<a href="/x">#1</a> <code>@ada</code>'],
  [
    ':tada: :nothing: `:tada:` https://a.example/:tada:/',
    '🎉 :nothing: <code>:tada:</code> <a href="https://a.example/:tada:/" rel="nofollow noreferrer noopener" target="_blank">https://a.example/:tada:/</a>',
  ],
  ['\x000\x00', '\uFFFD0\uFFFD'],
])('%j', (text, expected) => {
  expect(html(text)).toBe(`<p>${expected}</p>\n`);
});

test('task lists have check boxes', () => {
  expect(html('- [ ] #1\n- [x] b\n- [y] c')).toBe(
    '<ul class="task-list">\n<li class="task-list-item"><input type="checkbox" class="task-list-item-checkbox" disabled /> <issue>#1</a></li>\n<li class="task-list-item"><input type="checkbox" class="task-list-item-checkbox" checked disabled /> b</li>\n<li>[y] c</li>\n</ul>\n',
  );
});

test('a title is one line without blocks', () => {
  expect(toHtml('# *a* #1', { baseUrl, inline: true })).toBe('# <em>a</em> #1');
});

test('an uploaded file belongs to the project of the text', () => {
  const file = `/uploads/${'0'.repeat(32)}/a.png`;
  const given = { baseUrl, projectUrl: `${baseUrl}/a/b` };
  expect(toHtml(`![x](${file}) [y](${file})`, given)).toBe(
    `<p><img src="${baseUrl}/a/b${file}" alt="x" /> <a href="${baseUrl}/a/b${file}">y</a></p>\n`,
  );
});

describe('long texts', () => {
  const thread = new RenderThread();

  test('are rendered as short ones are', async () => {
    const text = 'A *long* text about #1, on and on.\n\n'.repeat(500);
    expect(await rendered(text, { baseUrl, links })).toBe(toHtml(text, { baseUrl, links }));
  });

  test.each([
    ['emphasis', '*a **a '],
    ['images', '!['],
    ['links', '[a]('],
    ['brackets', '['],
    ['quotes', `${'> '.repeat(90)}a\nb\n`],
    ['lists', '* a\n'],
    ['definitions', '[a]: /b\n'],
    ['footnotes', '[^1]'],
    ['references', '#1 '],
    ['HTML', '<div>'],
    ['empty lines', 'a\n\n'],
  ])('texts full of %s are rendered in the thread, or shown as written', async (_, piece) => {
    const text = piece.repeat(MAX_RENDERED / piece.length - 1);
    const asked: string[] = [];
    const on: Pick<RenderThread, 'run'> = {
      run: (task) => {
        asked.push(task.text);
        return thread.run(task);
      },
    };
    expect(await rendered(text, { baseUrl, links }, on)).toMatch(/^(<(pre|p|ul|blockquote|div)>|$)/);
    expect(asked).toEqual([text]);
  });

  test('a text that takes too long is shown as it was written', async () => {
    const slow = 'a '.repeat(100_000);
    const hurried = new RenderThread(1, 1);
    expect(await rendered(slow, { baseUrl }, hurried)).toBe(`<pre>${slow}</pre>`);
    expect(await hurried.run({ text: '*a*', options: { baseUrl } })).toBeUndefined();
    expect(await rendered(slow, { baseUrl })).toBe(`<p>${slow.trim()}</p>\n`);
  });

  test('a table of more cells than memory may hold is shown as written', async () => {
    const table = `${'|a'.repeat(400)}|\n${'|-'.repeat(400)}|\n${'|\n'.repeat(400)}`;
    expect(await rendered(table, { baseUrl })).toBe(`<pre>${table}</pre>`);
    const many = `${'|a'.repeat(200)}|\n${'|-'.repeat(200)}|\n${'|\n'.repeat(200)}`;
    expect((await rendered(many, { baseUrl })).match(/<td/g)).toHaveLength(200 * 200);
  });

  test('a text above the limit is shown as written', async () => {
    expect(await rendered('<'.repeat(MAX_RENDERED + 1), { baseUrl })).toBe(
      `<pre>${'&lt;'.repeat(MAX_RENDERED + 1)}</pre>`,
    );
  });
});
