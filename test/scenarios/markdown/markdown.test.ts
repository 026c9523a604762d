/** `POST /markdown`: rendering, references as far as the caller may see what they name. */
import { expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';

const { as } = ownWorld();
const render = async (
  text: string,
  more: Record<string, unknown> = {},
  who: 'owner' | 'stranger' = 'owner',
) => {
  const { status, body } = await as(who, 'POST', '/markdown', { text, ...more });
  expect(status).toBe(201);
  return body.html as string;
};

test('a text is rendered, sanitized, and limited', async () => {
  expect(await render('**a** :tada: <script>alert(1)</script>')).toBe('<p><strong>a</strong> 🎉 </p>\n');
  expect(await render('')).toBe('');
  const long = '<x '.repeat(100_000);
  expect(await render(long)).toBe(`<pre>${long.replaceAll('<', '&lt;')}</pre>`);
  const middle = '*a*\n\n'.repeat(2000);
  expect(await render(middle)).toBe('<p><em>a</em></p>\n'.repeat(2000));
});

test.each([
  ['nothing', {}, 400, { error: 'text is missing' }],
  ['an unknown project', { text: 'a', project: 'no/where' }, 404, { message: '404 Project Not Found' }],
  ['no boolean', { text: 'a', gfm: 'x' }, 400, { error: 'gfm is invalid' }],
])('%s is refused', async (_, json, status, body) => {
  expect(await as('owner', 'POST', '/markdown', json)).toMatchObject({ status, body });
});

test('mentions are links with gfm: users, and groups that the caller sees', async () => {
  const { body: me } = await as('owner', 'GET', '/user');
  const { body: group } = await as('owner', 'POST', '/groups', {
    name: 'Hidden Crew',
    path: 'hidden-crew',
    visibility: 'private',
  });
  const text = `@${me.username} @hidden-crew @nobody-of-this-name \`@${me.username}\``;
  const user = `<a href="${me.web_url}" data-user="${me.id}" data-reference-type="user" data-original="@${me.username}" title="${me.name}" class="gfm gfm-project_member">@${me.username}</a>`;
  const crew = `<a href="${group.web_url}" data-group="${group.id}" data-reference-type="user" data-original="@hidden-crew" title="Hidden Crew" class="gfm gfm-project_member">@hidden-crew</a>`;
  const rest = `@nobody-of-this-name <code>@${me.username}</code></p>\n`;
  expect(await render(text, { gfm: true })).toBe(`<p>${user} ${crew} ${rest}`);
  expect(await render(text, { gfm: true }, 'stranger')).toBe(`<p>${user} @hidden-crew ${rest}`);
  expect(await render(text)).toBe(`<p>@${me.username} @hidden-crew ${rest}`);
});

test('a hidden project is no context, and a visible one is that of uploaded files', async () => {
  const { body: project } = await as('owner', 'POST', '/projects', { name: 'Md', visibility: 'private' });
  const path = project.path_with_namespace;
  const file = `/uploads/${'0'.repeat(32)}/a.png`;
  expect(await render(`![a](${file})`, { project: path })).toBe(
    `<p><img src="${project.web_url}${file}" alt="a" /></p>\n`,
  );
  expect(await render('@all', { project: path, gfm: true })).toContain(`data-project="${project.id}"`);
  const hidden = await as('stranger', 'POST', '/markdown', { text: 'a', project: path });
  expect([hidden.status, hidden.body]).toEqual([404, { message: '404 Project Not Found' }]);
});
