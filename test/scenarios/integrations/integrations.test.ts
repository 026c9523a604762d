/** How integrations are configured, listed, shown and deleted: every kind of them, at both paths. */
import { beforeAll, describe, expect, test } from 'vitest';
import {
  INTEGRATIONS,
  type IntegrationKind,
  isShown,
  SLUGS,
} from '../../../lib/domain/integrations/catalog.ts';
import { INTEGRATION_SWITCHES } from '../../../lib/records/integrations.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { request } from '../../harness/service.ts';

const { world, as, service } = ownWorld();
let project: string;
let group: string;
beforeAll(async () => {
  const made = await as('owner', 'POST', '/groups', { name: 'Team', path: 'team' });
  group = `/groups/${made.body.id}`;
  const json = { name: 'Code', namespace_id: made.body.id };
  project = `/projects/${(await as('owner', 'POST', '/projects', json)).body.id}`;
  for (const [name, access_level] of [
    ['maintainer', 40],
    ['developer', 30],
  ] as const)
    await as('owner', 'POST', `${project}/members`, { user_id: world.ids[name], access_level });
});

const SECRET = 'sesame-4711';
const kinds = Object.entries(INTEGRATIONS) as [string, IntegrationKind][];

/** A value for every parameter that is required. */
const valuesOf = ({ parameters }: IntegrationKind): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(parameters).flatMap(([name, { required, secret, type }]) =>
      required !== true
        ? []
        : [
            [
              name,
              secret === true
                ? SECRET
                : type === 'url' || type === 'link'
                  ? `https://example.com/${name}`
                  : type === 'recipients'
                    ? 'ann@example.com'
                    : `${name}-1`,
            ],
          ],
    ),
  );

describe.each(kinds)('%s', (slug, kind) => {
  const at = () => `${project}/integrations/${slug}`;
  const values = valuesOf(kind);

  test('is not found before it is configured', async () => {
    const { status, body } = await as('maintainer', 'GET', at());
    expect([status, body]).toEqual([404, { message: '404 Integration Not Found' }]);
    expect((await as('maintainer', 'DELETE', at())).status).toBe(204);
  });

  test('needs what it requires', async () => {
    for (const name of Object.keys(values)) {
      const { [name]: _, ...rest } = values;
      const { status, body } = await as('maintainer', 'PUT', at(), rest);
      expect([status, body]).toEqual([400, { error: `${name} is missing` }]);
      const blank = await as('maintainer', 'PUT', at(), { ...values, [name]: ' ' });
      expect([blank.status, blank.body]).toEqual([400, { message: '400 Bad Request' }]);
    }
    if (Object.keys(values).length === 0) return;
    const { body } = await as('maintainer', 'PUT', at(), {});
    expect(body).toEqual({
      error: Object.keys(values)
        .map((name) => `${name} is missing`)
        .join(', '),
    });
  });

  test('is configured, shown without secrets, listed, and deleted, at both paths', async () => {
    const put = await as('maintainer', 'PUT', `${project}/services/${slug}`, {
      ...values,
      push_events: false,
    });
    expect([put.status, put.body.message]).toEqual([200, undefined]);
    const shown = Object.entries(kind.parameters)
      .filter(([name, parameter]) => isShown(name, parameter))
      .map(([name]) => name);
    expect(Object.keys(put.body.properties).sort()).toEqual(shown.sort());
    for (const name of shown) if (name in values) expect(put.body.properties[name]).toBe(values[name]);
    const { properties: _, ...listed } = put.body;
    expect(listed).toEqual({
      id: expect.any(Number),
      title: kind.title,
      slug,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      active: true,
      ...Object.fromEntries(INTEGRATION_SWITCHES.map((name) => [name, name !== 'push_events'])),
      inherited: false,
    });
    expect((await as('maintainer', 'GET', at())).body).toEqual(put.body);
    for (const path of ['integrations', 'services'])
      expect((await as('maintainer', 'GET', `${project}/${path}`)).body).toEqual([listed]);
    expect(JSON.stringify(put.body)).not.toContain(SECRET);
    expect((await as('maintainer', 'DELETE', `${project}/services/${slug}`)).status).toBe(204);
    expect((await as('maintainer', 'GET', `${project}/integrations`)).body).toEqual([]);
    const { body } = await as('maintainer', 'GET', at());
    expect([body.active, Object.values(body.properties).filter((value) => value !== null)]).toEqual([
      false,
      [],
    ]);
  });
});

test('unknown kinds are told: of a read and a deletion 400, of a change 404', async () => {
  for (const method of ['GET', 'DELETE']) {
    const { status, body } = await as('owner', method, `${project}/integrations/nothing`);
    expect([status, body]).toEqual([400, { error: 'slug does not have a valid value' }]);
  }
  const { status, body } = await as('owner', 'PUT', `${project}/integrations/nothing`, {});
  expect([status, body]).toEqual([404, { error: '404 Not Found' }]);
});

test.each(SLUGS)('%s is for maintainers: developers 403, strangers 404', async (slug) => {
  const at = `${project}/integrations/${slug}`;
  for (const method of ['GET', 'PUT', 'DELETE']) {
    expect((await as('developer', method, at, method === 'PUT' ? {} : undefined)).status).toBe(403);
    expect((await as('stranger', method, at, method === 'PUT' ? {} : undefined)).status).toBe(404);
  }
});

test.each([
  ['a server inside', 'slack', { webhook: 'http://127.0.0.1/hook' }],
  ['a server of another scheme', 'slack', { webhook: 'ftp://example.com/hook' }],
  ['a link that is a script', 'confluence', { confluence_url: 'javascript:alert(1)' }],
  ['branches that there are not', 'slack', { webhook: 'https://example.com', branches_to_be_notified: 'x' }],
])('refuses %s', async (_what, slug, json) => {
  const { status, body } = await as('maintainer', 'PUT', `${project}/integrations/${slug}`, json);
  expect([status, body]).toEqual([400, { message: '400 Bad Request' }]);
});

test('what is not given stays, and a password does not follow to another server', async () => {
  const at = `${project}/integrations/jenkins`;
  const { store } = await import('../../../functions/deps.ts').then(({ deps }) => deps());
  const secrets = async () =>
    (await store.integrations.get({ kind: 'project', id: Number(project.split('/')[2]) }, 'jenkins'))!
      .secrets;
  const json = { jenkins_url: 'https://one.example.com', project_name: 'a', username: 'u', password: SECRET };
  await as('maintainer', 'PUT', at, json);
  expect(await secrets()).toEqual(['password']);
  const same = { jenkins_url: json.jenkins_url, project_name: 'b', merge_requests_events: false };
  const { body } = await as('maintainer', 'PUT', at, same);
  expect(body).toMatchObject({ merge_requests_events: false, properties: { username: 'u' } });
  expect(await secrets()).toEqual(['password']);
  await as('maintainer', 'PUT', at, { ...same, jenkins_url: 'https://two.example.com' });
  expect(await secrets()).toEqual([]);
  await as('maintainer', 'DELETE', at);
});

test('a title that is given is its name', async () => {
  const json = { new_issue_url: 'https://t.example.com/new', issues_url: 'https://t.example.com/:id' };
  const { body } = await as('maintainer', 'PUT', `${project}/integrations/custom-issue-tracker`, {
    ...json,
    project_url: 'https://t.example.com',
    title: 'Our tracker',
    description: 'Where issues are',
  });
  expect(body.title).toBe('Our tracker');
  expect(Object.keys(body.properties).sort()).toEqual(['issues_url', 'new_issue_url', 'project_url']);
  await as('maintainer', 'DELETE', `${project}/integrations/custom-issue-tracker`);
});

test('projects have those of their groups, unless they have their own or none', async () => {
  const json = { webhook: 'https://chat.example.com/group' };
  expect((await as('maintainer', 'PUT', `${group}/integrations/slack`, json)).status).toBe(403);
  expect((await as('stranger', 'PUT', `${group}/integrations/slack`, json)).status).toBe(404);
  const { body: made } = await as('owner', 'PUT', `${group}/integrations/slack`, json);
  expect(made).toMatchObject({ active: true, inherited: false, properties: json });
  const { body: heir } = await as('owner', 'POST', '/projects', {
    name: 'Heir',
    namespace_id: Number(group.split('/')[2]),
  });
  const at = `/projects/${heir.id}/integrations/slack`;
  const get = async () => (await as('owner', 'GET', at)).body;
  expect(await get()).toEqual({ ...made, inherited: true });
  expect((await as('owner', 'GET', `/projects/${heir.id}/integrations`)).body).toMatchObject([
    { slug: 'slack', inherited: true },
  ]);
  await as('owner', 'DELETE', at);
  expect(await get()).toMatchObject({ active: false, inherited: false });
  expect((await as('owner', 'GET', `/projects/${heir.id}/integrations`)).body).toEqual([]);
  await as('owner', 'PUT', at, { webhook: 'https://chat.example.com/own' });
  expect(await get()).toMatchObject({ active: true, inherited: false });
  await as('owner', 'PUT', at, { use_inherited_settings: true });
  expect(await get()).toMatchObject({ id: made.id, inherited: true, properties: json });
  await as('owner', 'DELETE', `${group}/integrations/slack`);
  expect(await get()).toMatchObject({ active: false });
});

test('all have those of the instance, unless they or a group above have their own or none', async () => {
  const slack = '/integrations/slack';
  const json = { webhook: 'https://chat.example.com/all' };
  expect((await as('owner', 'PUT', slack, json)).status).toBe(403);
  expect((await as('anonymous', 'GET', '/integrations')).status).toBe(401);
  expect((await as('administrator', 'GET', slack)).status).toBe(404);
  const { body: made } = await as('administrator', 'PUT', slack, json);
  expect(made).toMatchObject({ active: true, inherited: false, properties: json });
  const of = async (place: string) => (await as('owner', 'GET', `${place}/integrations/slack`)).body;
  const inside = { name: 'Below all', namespace_id: Number(group.split('/')[2]) };
  const heir = `/projects/${(await as('owner', 'POST', '/projects', inside)).body.id}`;
  const alone = `/projects/${(await as('owner', 'POST', '/projects', { name: 'Alone' })).body.id}`;
  expect(await of(alone)).toEqual({ ...made, inherited: true });
  // That of the group was deleted.
  expect(await of(heir)).toEqual({ message: '404 Integration Not Found' });
  await as('owner', 'PUT', `${group}/integrations/slack`, { use_inherited_settings: true });
  expect([await of(group), await of(heir)]).toMatchObject([
    { id: made.id, inherited: true },
    { id: made.id, inherited: true },
  ]);
  await as('owner', 'DELETE', `${alone}/integrations/slack`);
  expect(await of(alone)).toMatchObject({ active: false });
  await as('administrator', 'DELETE', slack);
  expect(await of(heir)).toEqual({ message: '404 Integration Not Found' });
  expect((await as('administrator', 'GET', '/integrations')).body).toEqual([]);
});

describe('names of issues in a tracker elsewhere', () => {
  const rendered = async (text: string) => {
    const json = { text, gfm: true, project: 'team/code' };
    const { body } = await as('owner', 'POST', '/markdown', json);
    return body.html as string;
  };
  const linked = (html: string) => [...html.matchAll(/href="([^"]+)"/g)].map(([, href]) => href);
  const tracker = {
    new_issue_url: 'https://bugs.example.com/new',
    issues_url: 'https://bugs.example.com/show/:id',
    project_url: 'https://bugs.example.com',
  };

  test('stay text where there is none', async () => {
    expect(linked(await rendered('see BUG-12'))).toEqual([]);
  });

  test('lead to Jira by their whole key, apart from code and other words', async () => {
    const jira = { url: 'https://jira.example.com/', username: 'ann', password: 'secret' };
    await as('maintainer', 'PUT', `${project}/integrations/jira`, jira);
    const html = await rendered('PROJ-7, `PROJ-8`, x-PROJ-9, PROJ-10/a and [PROJ-11](https://example.com)');
    expect(linked(html)).toEqual(['https://jira.example.com/browse/PROJ-7', 'https://example.com']);
    expect(html).toContain('data-reference-type="external_issue" data-external-issue="PROJ-7"');
    expect(html).toContain('title="Issue in Jira" class="gfm gfm-issue">PROJ-7</a>');
    await as('maintainer', 'DELETE', `${project}/integrations/jira`);
    expect(linked(await rendered('PROJ-7'))).toEqual([]);
  });

  test.each([
    ['custom-issue-tracker', 'BUG-12', '12'],
    ['bugzilla', 'BUG-12', '12'],
    ['redmine', 'RM-5', '5'],
    ['youtrack', 'YT-5', 'YT-5'],
    ['ewm', 'defect 34', '34'],
  ])('lead to %s', async (slug, name, id) => {
    await as('owner', 'PUT', `${project}/integrations/${slug}`, tracker);
    expect(linked(await rendered(`see ${name}.`))).toEqual([`https://bugs.example.com/show/${id}`]);
    await as('owner', 'DELETE', `${project}/integrations/${slug}`);
  });

  test('are numbers alone where the project has no issues of its own', async () => {
    await as('owner', 'PUT', `${group}/integrations/redmine`, tracker);
    const { body: issue } = await as('owner', 'POST', `${project}/issues`, { title: 'Own' });
    const text = `#${issue.iid} and #99`;
    await as('owner', 'PUT', `${project}/integrations/redmine`, { use_inherited_settings: true });
    expect(linked(await rendered(text))).toEqual([expect.stringContaining(`/-/issues/${issue.iid}`)]);
    await as('owner', 'PUT', project, { issues_access_level: 'disabled' });
    expect(linked(await rendered(text))).toEqual([
      `https://bugs.example.com/show/${issue.iid}`,
      'https://bugs.example.com/show/99',
    ]);
    await as('owner', 'PUT', project, { issues_access_level: 'enabled' });
    await as('owner', 'DELETE', `${group}/integrations/redmine`);
  });
});

describe('a command of a chat', () => {
  const send = (path: string, body: object | string) =>
    request(`${service.url}/api/v4${path}`, 'POST', {
      headers: {
        'Content-Type': typeof body === 'string' ? 'application/x-www-form-urlencoded' : 'application/json',
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });

  test.each(['slack', 'mattermost'])('of %s is answered to who has the token', async (chat) => {
    await as('owner', 'PUT', `${project}/integrations/${chat}-slash-commands`, { token: SECRET });
    for (const name of ['integrations', 'services']) {
      const path = `${project}/${name}/${chat}_slash_commands/trigger`;
      const form = `token=${SECRET}&team_id=T1&user_id=U1&command=%2Fcode&text=issue+show+1`;
      for (const body of [form, { token: SECRET }])
        expect(await send(path, body)).toMatchObject({
          status: 200,
          body: { response_type: 'ephemeral', text: "Couldn't identify you, nor can I authorize you!" },
        });
      expect((await send(path, {})).status).toBe(400);
    }
    const at = `${project}/services/${chat}_slash_commands/trigger`;
    const unknown = { status: 404, body: { message: '404 Integration Not Found' } };
    expect(await send(at, { token: 'wrong' })).toMatchObject(unknown);
    expect(await send(at.replace(/\d+/, '999999'), { token: SECRET })).toMatchObject(unknown);
    expect(await send(at.replace(/\d+/, 'no%2Fsuch'), { token: SECRET })).toMatchObject(unknown);
    await as('owner', 'DELETE', `${project}/integrations/${chat}-slash-commands`);
    expect(await send(at, { token: SECRET })).toMatchObject(unknown);
    expect((await send(`${project}/services/asana/trigger`, { token: SECRET })).status).toBe(404);
  });

  test('is answered with the token of a group above', async () => {
    await as('owner', 'PUT', `${group}/integrations/slack-slash-commands`, { token: SECRET });
    const json = { name: 'heard', namespace_id: Number(group.split('/')[2]) };
    const { body } = await as('owner', 'POST', '/projects', json);
    const path = `/projects/${body.id}/integrations/slack_slash_commands/trigger`;
    expect((await send(path, { token: SECRET })).status).toBe(200);
    await as('owner', 'DELETE', `${group}/integrations/slack-slash-commands`);
  });
});
