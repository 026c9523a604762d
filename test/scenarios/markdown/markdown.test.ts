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

test('issues, labels and milestones are links for those who see them, with their titles', async () => {
  const { body: group } = await as('owner', 'POST', '/groups', { name: 'Planning', path: 'planning' });
  const make = async (path: string, json: Record<string, unknown>) => {
    const { status, body } = await as('owner', 'POST', path, json);
    expect(status).toBe(201);
    return body;
  };
  const visible = { namespace_id: group.id, visibility: 'private' };
  const project = await make('/projects', { ...visible, name: 'Work' });
  const other = await make('/projects', { ...visible, name: 'Other' });
  const issue = await make(`/projects/${project.id}/issues`, { title: 'A <b> & "c"' });
  const elsewhere = await make(`/projects/${other.id}/issues`, { title: 'Elsewhere' });
  const label = await make(`/groups/${group.id}/labels`, { name: 'two words', color: '#ff0000' });
  const milestone = await make(`/groups/${group.id}/milestones`, { title: 'v1.0' });
  const own = await make(`/projects/${project.id}/milestones`, { title: 'sprint' });
  const text = [
    ...[`#${issue.iid}`, 'other#1', 'planning/other#1', `${issue.web_url}#note_7`, '#99', 'none/none#1'],
    ...['~"two words"', `~${label.id}`, '~none', '%v1.0', `%${own.iid}`, '%none'],
    ...[own.web_url, `${project.web_url}/-/milestones/99`],
  ].join(' ');
  const path = project.path_with_namespace;
  const shown = (html: string) =>
    [...html.matchAll(/<a href="([^"]*)"[^>]*title="([^"]*)" class="gfm gfm-(\w+)">([^<]*)</g)].map((m) =>
      m.slice(1),
    );
  const web = (end: string) => `${project.web_url}/-/${end}`;
  const labelled = `${web('issues')}?label_name=two+words`;
  expect(shown(await render(text, { gfm: true, project: path }))).toEqual([
    [web('issues/1'), 'A &lt;b&gt; &amp; &quot;c&quot;', 'issue', '#1'],
    [elsewhere.web_url, 'Elsewhere', 'issue', 'other#1'],
    [elsewhere.web_url, 'Elsewhere', 'issue', 'planning/other#1'],
    [`${web('issues/1')}#note_7`, 'A &lt;b&gt; &amp; &quot;c&quot;', 'issue', '#1 (comment 7)'],
    [labelled, '', 'label', 'two words'],
    [labelled, '', 'label', 'two words'],
    [`${group.web_url}/-/milestones/${milestone.iid}`, '', 'milestone', '%v1.0'],
    [web(`milestones/${own.iid}`), '', 'milestone', '%sprint'],
    [web(`milestones/${own.iid}`), '', 'milestone', '%sprint'],
  ]);
  const full = `planning/other#1 ${issue.web_url} planning/work~"two words" planning/work%v1.0`;
  expect(shown(await render(full, { gfm: true }))).toHaveLength(4);
  expect(shown(await render(full, { gfm: true }, 'stranger'))).toEqual([]);
});

test('a group has no issues, whatever project has the same id', async () => {
  const { body: above } = await as('owner', 'POST', '/groups', { name: 'Alike', path: 'alike' });
  let made = 0;
  const make = async (path: string, parent: object) => {
    const { status, body } = await as('owner', 'POST', path, { name: `n${++made}`, ...parent });
    expect(status).toBe(201);
    return body;
  };
  const nextGroup = () => make('/groups', { path: `n${made + 1}`, parent_id: above.id });
  const nextProject = () => make('/projects', { namespace_id: above.id });
  let [group, project] = [await nextGroup(), await nextProject()];
  while (group.id !== project.id)
    if (group.id < project.id) group = await nextGroup();
    else project = await nextProject();
  await as('owner', 'POST', `/projects/${project.id}/issues`, { title: 'Mine' });
  const [wrong, right] = [`${group.full_path}#1`, `${project.path_with_namespace}#1`];
  const html = await render(`${wrong} ${right}`, { gfm: true });
  expect([...html.matchAll(/data-original="([^"]*)"/g)].map(([, source]) => source)).toEqual([right]);
});

test('commits are links for those who may read the code, by full and abbreviated ids', async () => {
  const shown = { initialize_with_readme: true, visibility: 'public', repository_access_level: 'private' };
  const { body: project } = await as('owner', 'POST', '/projects', { name: 'Code', ...shown });
  const [{ id: sha }] = (await as('owner', 'GET', `/projects/${project.id}/repository/commits`)).body;
  const branch = { branch: sha.slice(1, 9), ref: 'main' };
  await as('owner', 'POST', `/projects/${project.id}/repository/branches`, branch);
  const path = project.path_with_namespace;
  const url = `${project.web_url}/-/commit/${sha}`;
  const text = `${sha} ${sha.slice(0, 7)} ${path}@${sha.slice(0, 9)} ${url} ${sha.slice(1, 9)} 0000000`;
  const links = (html: string) =>
    [...html.matchAll(/<a href="([^"]*)"[^>]*title="([^"]*)" class="gfm gfm-commit">([^<]*)</g)].map((m) =>
      m.slice(1),
    );
  const short = [url, 'Initial commit', sha.slice(0, 8)];
  const far = [url, 'Initial commit', `${path}@${sha.slice(0, 8)}`];
  expect(links(await render(text, { gfm: true, project: path }))).toEqual([short, short, short, short]);
  expect(links(await render(text, { gfm: true }))).toEqual([far, far]);
  expect(links(await render(text, { gfm: true, project: path }, 'stranger'))).toEqual([]);
});

test('epics are links for those who see them, from the group of the project and with its path', async () => {
  const { body: group } = await as('owner', 'POST', '/groups', { name: 'Goals', path: 'goals' });
  const make = async (json: object) => (await as('owner', 'POST', `/groups/${group.id}/epics`, json)).body;
  const epic = await make({ title: 'Far & away' });
  await make({ title: 'Secret', confidential: true });
  const { body: project } = await as('owner', 'POST', '/projects', { name: 'Near', namespace_id: group.id });
  const path = project.path_with_namespace;
  const text = `&1 goals&1 ${epic.web_url} &99 none&1 goals&2`;
  const links = (html: string) =>
    [...html.matchAll(/<a href="([^"]*)"[^>]*title="([^"]*)" class="gfm gfm-epic">([^<]*)</g)].map((m) =>
      m.slice(1),
    );
  const web = (iid: number) => `${group.web_url}/-/epics/${iid}`;
  const secret = [web(2), 'Secret', 'goals&amp;2'];
  expect(links(await render(text, { gfm: true, project: path }))).toEqual([
    [web(1), 'Far &amp; away', '&amp;1'],
    [web(1), 'Far &amp; away', 'goals&amp;1'],
    [web(1), 'Far &amp; away', '&amp;1'],
    secret,
  ]);
  expect(links(await render(text, { gfm: true }))).toEqual([
    [web(1), 'Far &amp; away', 'goals&amp;1'],
    [web(1), 'Far &amp; away', 'goals&amp;1'],
    secret,
  ]);
  expect(links(await render(text, { gfm: true }, 'stranger'))).toEqual([]);
});

test('merge requests are links for those who may read the code, by number, path and URL', async () => {
  const about = { initialize_with_readme: true, visibility: 'public', repository_access_level: 'private' };
  const { body: project } = await as('owner', 'POST', '/projects', { name: 'Proposals', ...about });
  const at = `/projects/${project.id}`;
  const actions = [{ action: 'create', file_path: 'a', content: 'a' }];
  const side = { branch: 'side', start_branch: 'main', commit_message: 'a', actions };
  expect((await as('owner', 'POST', `${at}/repository/commits`, side)).status).toBe(201);
  const merge = { title: 'Mend & paint', source_branch: 'side', target_branch: 'main' };
  expect((await as('owner', 'POST', `${at}/merge_requests`, merge)).status).toBe(201);
  const path = project.path_with_namespace;
  const url = `${project.web_url}/-/merge_requests/1`;
  const text = `!1 ${path}!1 ${url} ${url}#note_3 !2`;
  const links = (html: string) =>
    [...html.matchAll(/<a href="([^"]*)"[^>]*title="([^"]*)" class="gfm gfm-merge_request">([^<]*)</g)].map(
      (m) => m.slice(1),
    );
  const title = 'Mend &amp; paint';
  expect(links(await render(text, { gfm: true, project: path }))).toEqual([
    [url, title, '!1'],
    [url, title, `${path}!1`],
    [url, title, '!1'],
    [`${url}#note_3`, title, '!1 (comment 3)'],
  ]);
  expect(links(await render(text, { gfm: true }))).toHaveLength(3);
  expect(links(await render(text, { gfm: true, project: path }, 'stranger'))).toEqual([]);
});

test('a confidential issue is a link for its own people alone', async () => {
  const { body: project } = await as('owner', 'POST', '/projects', { name: 'Conf', visibility: 'public' });
  const secret = { title: 'Secret title', confidential: true };
  expect((await as('owner', 'POST', `/projects/${project.id}/issues`, secret)).status).toBe(201);
  const inProject = { gfm: true, project: project.path_with_namespace };
  expect(await render('#1', inProject)).toContain('Secret title');
  expect(await render('#1', inProject, 'stranger')).toBe('<p>#1</p>\n');
});
