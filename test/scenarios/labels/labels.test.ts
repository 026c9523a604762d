import { beforeAll, describe, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { BAD } from '../../harness/refusals.ts';
import { scenarios } from '../../harness/scenarios.ts';
import { expectSchema } from '../../harness/schemas.ts';
import type { Answer } from '../../harness/service.ts';
import { settled } from '../../harness/settled.ts';

const { as, service, world } = ownWorld();
/** `top` is above `sub`, which has the project `inside`. */
let top: number;
let sub: number;
let inside: number;

const owner = async (method: string, path: string, json?: unknown): Promise<Answer> =>
  as('owner', method, path, json);
const made = async (path: string, json: unknown): Promise<Answer['body']> => {
  const answer = await owner('POST', path, json);
  expect(answer).toMatchObject({ status: 201 });
  return answer.body;
};
const namesOf = (answer: Answer): string[] => answer.body.map(({ name }: { name: string }) => name);
const NO_LABEL = { status: 404, body: { message: '404 Label Not Found' } };
const own = () => `/projects/${world.ids['private']}/labels`;

beforeAll(async () => {
  top = (await made('/groups', { name: 'top', path: 'top' })).id;
  sub = (await made('/groups', { name: 'sub', path: 'sub', parent_id: top })).id;
  inside = (await made('/projects', { name: 'inside', namespace_id: sub })).id;
});

describe('who may see and change labels of a project', () => {
  const label = () => ({ name: `bug ${Math.random()}`, color: '#ff0000' });
  scenarios(
    () => world,
    [
      {
        request: 'GET /projects/{public}/labels',
        as: {
          anonymous: 401,
          stranger: 200,
          external: 200,
          guest: 200,
          read_api: 200,
          read_user: 403,
          ...BAD,
        },
      },
      { request: 'GET /projects/{private}/labels', as: { anonymous: 401, stranger: 404, guest: 200 } },
      {
        request: 'POST /projects/{public}/labels',
        json: label,
        as: { anonymous: 401, stranger: 403, guest: 403, reporter: 201, developer: 201, read_api: 403 },
      },
      {
        request: 'POST /projects/{private}/labels',
        json: label,
        as: { anonymous: 401, stranger: 404, guest: 403, reporter: 201, administrator: 201 },
      },
    ],
  );

  test('there are none where issues and merge requests are switched off', async () => {
    const project = await made('/projects', { name: 'without' });
    await owner('PUT', `/projects/${project.id}`, { issues_access_level: 'disabled' });
    expect(await owner('GET', `/projects/${project.id}/labels`)).toMatchObject({ status: 200 });
    await owner('PUT', `/projects/${project.id}`, { merge_requests_access_level: 'disabled' });
    expect(await owner('GET', `/projects/${project.id}/labels`)).toMatchObject({ status: 403 });
  });
});

describe('a label', () => {
  test('is shown as it was created', async () => {
    const given = { name: ' To do: 50% & more? ', color: '#FFAABB', description: 'a < b & c', priority: 2 };
    const label = await made(own(), given);
    expectSchema('labels/project_label', label);
    expect(label).toEqual({
      id: expect.any(Number),
      name: 'To do: 50% & more?',
      description: 'a < b & c',
      description_html: 'a &lt; b &amp; c',
      color: '#FFAABB',
      text_color: '#333333',
      subscribed: false,
      priority: 2,
      is_project_label: true,
    });
    for (const name of [label.id, encodeURIComponent(label.name)])
      expect((await owner('GET', `${own()}/${name}`)).body).toEqual(label);
  });

  test('shows its description as HTML of one line, wherever labels are shown, and as it is now', async () => {
    const given = { name: 'told', color: 'red', description: '**now**, see https://example.com :tada:' };
    const { id, description_html: html } = await made(own(), given);
    expect(html).toContain('<strong>now</strong>');
    expect(html).toContain('<a href="https://example.com"');
    expect(html).not.toContain('<p');
    const path = own().replace('/labels', '/issues');
    const { iid } = await made(path, { title: 'Labelled', labels: 'told' });
    const shown = await owner('GET', `${path}?with_labels_details=true&iids[]=${iid}`);
    expect(shown.body[0].labels[0].description_html).toBe(html);
    const change = async (description: string) =>
      (await owner('PUT', `${own()}/${id}`, { description })).body.description_html;
    expect(await change('<script>alert(1)</script><img src=x onerror=alert(1)> *it*')).not.toMatch(
      /script|onerror/,
    );
    expect(await change('plainly')).toBe('plainly');
    expect(await change('# <b')).toBe('# &lt;b');
    expect(await change('')).toBeNull();
  });

  test.each([
    ['#f00', '#f00', '#FFFFFF'],
    ['ReBeccaPurple', '#663399', '#FFFFFF'],
    ['white', '#ffffff', '#333333'],
    ['#aaaaaa', '#aaaaaa', '#333333'],
  ])('of the color %s is %s with %s text', async (color, shown, text) => {
    expect(await made(own(), { name: `in ${color}`, color })).toMatchObject({
      color: shown,
      text_color: text,
    });
  });

  test.each([
    [{ color: 'red' }, { error: 'name is missing' }],
    [{ name: 'x' }, { error: 'color is missing' }],
    [{ name: 'x', color: 'reddish' }, { message: { color: ['must be a valid color code'] } }],
    [{ name: 'x', color: '#12345' }, { message: { color: ['must be a valid color code'] } }],
    [{ name: 'a,b', color: 'red' }, { message: { title: ['is invalid'] } }],
    [{ name: ' ', color: 'red' }, { message: { title: ["can't be blank", 'is invalid'] } }],
    [
      { name: 'x'.repeat(256), color: 'red' },
      { message: { title: ['is too long (maximum is 255 characters)'] } },
    ],
    [{ name: 'x', color: 'red', priority: 'high' }, { error: 'priority is invalid' }],
    [{ name: 'x', color: 'red', priority: -1 }, { error: 'priority does not have a valid value' }],
  ])('is refused as %j', async (json, body) => {
    expect(await owner('POST', own(), json)).toMatchObject({ status: 400, body });
  });

  test('is found by a name with slashes, dots and characters of other scripts', async () => {
    for (const name of ['a/b', 'v1.json', 'a..b', 'größe', '要望 🎉', '100%', '12x']) {
      const { id } = await made(own(), { name, color: 'red' });
      expect((await owner('GET', `${own()}/${encodeURIComponent(name)}`)).body).toMatchObject({ id, name });
    }
    const numbered = await made(own(), { name: '999999', color: 'red' });
    expect((await owner('GET', `${own()}/999999`)).body.id).toBe(numbered.id);
  });

  test('cannot have a name that is taken, but one in another case', async () => {
    const json = { name: 'Taken', color: 'red' };
    await made(own(), json);
    const again = await owner('POST', own(), json);
    expect(again).toMatchObject({ status: 409, body: { message: 'Label already exists' } });
    await made(own(), { ...json, name: 'taken' });
  });

  test('is created once by two requests at the same time', async () => {
    const answers = await Promise.all(
      [1, 2, 3].map(() => owner('POST', own(), { name: 'raced', color: 'red' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
  });

  test('changes by its name in the path, or by name or id in the body', async () => {
    const { id } = await made(own(), { name: 'first', color: 'red', description: 'd', priority: 1 });
    const renamed = await owner('PUT', `${own()}/first`, { new_name: 'second', priority: null });
    expect(renamed).toMatchObject({
      status: 200,
      body: { id, name: 'second', priority: null, color: '#ff0000' },
    });
    expect(await owner('GET', `${own()}/first`)).toMatchObject(NO_LABEL);
    const byName = await owner('PUT', own(), { name: 'second', color: '#00f', description: '' });
    expect(byName).toMatchObject({ status: 200, body: { id, color: '#00f', description: null } });
    const byId = await owner('PUT', own(), { label_id: id, new_name: 'first' });
    expect(byId).toMatchObject({ status: 200, body: { id, name: 'first' } });
    const query = await owner('PUT', `${own()}/first?description=from+the+query`);
    expect(query).toMatchObject({ status: 200, body: { description: 'from the query' } });
  });

  test('is not changed into an invalid one', async () => {
    await made(own(), { name: 'stays', color: 'red' });
    await made(own(), { name: 'other', color: 'red' });
    const refusals: readonly (readonly [object, object])[] = [
      [{}, { error: expect.stringContaining('at least one parameter must be provided') }],
      [{ new_name: 'other' }, { message: { title: ['has already been taken'] } }],
      [{ new_name: 'a,b' }, { message: { title: ['is invalid'] } }],
      [{ color: 'reddish' }, { message: { color: ['must be a valid color code'] } }],
    ];
    for (const [json, body] of refusals)
      expect(await owner('PUT', `${own()}/stays`, json)).toMatchObject({ status: 400, body });
    expect(await owner('PUT', `${own()}/nothing`, { color: 'red' })).toMatchObject(NO_LABEL);
    const both = await owner('PUT', own(), { name: 'stays', label_id: 1, color: 'red' });
    expect(both).toMatchObject({ status: 400, body: { error: 'label_id, name are mutually exclusive' } });
  });

  test('is deleted by path or by parameter, unless it was changed since', async () => {
    await made(own(), { name: 'gone/1', color: 'red' });
    const old = { headers: { 'If-Unmodified-Since': 'Thu, 01 Jan 2015 00:00:00 GMT' } };
    const path = `${own()}/gone%2F1`;
    expect(await service.call('DELETE', path, { token: world.tokens.owner!, ...old })).toMatchObject({
      status: 412,
    });
    expect(await owner('DELETE', path)).toMatchObject({ status: 204 });
    expect(await owner('DELETE', path)).toMatchObject(NO_LABEL);
    await made(own(), { name: 'gone/1', color: 'red' });
    expect(await owner('DELETE', `${own()}?name=gone/1`)).toMatchObject({ status: 204 });
    expect(await owner('DELETE', own())).toMatchObject({
      status: 400,
      body: { error: 'label_id, name are missing, exactly one parameter must be provided' },
    });
  });
});

describe('labels below a group', () => {
  let root = 0;
  const names = async (who: string, query: string) =>
    namesOf(await service.call('GET', `/groups/${root}/labels?${query}`, { token: tokensOf[who]! }));
  const tokensOf: Record<string, string> = {};
  beforeAll(async () => {
    const group = async (name: string, json: object) =>
      (await made('/groups', { name, path: name, ...json })).id;
    root = await group('above-all', { visibility: 'public' });
    const shown = await group('shown', { parent_id: root, visibility: 'public' });
    const hidden = await group('hidden', { parent_id: root, visibility: 'private' });
    const project = async (name: string, namespace_id: number, visibility: string) =>
      (await made('/projects', { name, namespace_id, visibility })).id;
    const direct = await project('direct', root, 'public');
    const deep = await project('deep', shown, 'public');
    const secret = await project('secret', root, 'private');
    for (const [path, name] of [
      [`/groups/${root}`, 'a root'],
      [`/groups/${shown}`, 'b shown'],
      [`/groups/${hidden}`, 'c hidden'],
      [`/projects/${direct}`, 'd direct'],
      [`/projects/${deep}`, 'e deep'],
      [`/projects/${secret}`, 'f secret'],
    ])
      await made(`${path}/labels`, { name, color: 'red' });
    tokensOf['root'] = service.rootToken;
    tokensOf['passer'] = (await service.user('passer')).token;
  });

  test.each([
    ['', 'a', 'a'],
    ['include_descendant_groups=true', 'abc', 'ab'],
    ['only_group_labels=false', 'adf', 'ad'],
    ['include_descendant_groups=true&only_group_labels=false', 'abcdef', 'abde'],
    ['include_descendant_groups=true&search=hidden', 'c', ''],
  ])('with %s are those that the caller may see', async (query, all, seen) => {
    const letters = async (who: string) => (await names(who, query)).map((name: string) => name[0]).join('');
    expect([await letters('root'), await letters('passer')]).toEqual([all, seen]);
  });

  test('are counted in the total', async () => {
    const path = `/groups/${root}/labels?include_descendant_groups=true&per_page=1`;
    const answer = await service.call('GET', path, { token: tokensOf['passer']! });
    expect([answer.body.length, answer.headers.get('x-total')]).toEqual([1, '2']);
  });
});

describe('labels of groups', () => {
  test('are had by all projects and subgroups below', async () => {
    await made(`/groups/${top}/labels`, { name: 'm from the top', color: 'red' });
    await made(`/groups/${sub}/labels`, { name: 'z from the middle', color: 'red' });
    await made(`/projects/${inside}/labels`, { name: 'a of its own', color: 'red' });
    const listed = await owner('GET', `/projects/${inside}/labels`);
    expect(namesOf(listed)).toEqual(['a of its own', 'm from the top', 'z from the middle']);
    expect(listed.headers.get('X-Total')).toBe('3');
    expect(listed.body.map((label: { is_project_label: boolean }) => label.is_project_label)).toEqual([
      true,
      false,
      false,
    ]);
    const alone = await owner('GET', `/projects/${inside}/labels?include_ancestor_groups=false`);
    expect(namesOf(alone)).toEqual(['a of its own']);
    const middle = await owner('GET', `/groups/${sub}/labels`);
    expect(namesOf(middle)).toEqual(['m from the top', 'z from the middle']);
    for (const label of middle.body) expectSchema('labels/label', label);
    const second = await owner('GET', `/projects/${inside}/labels?per_page=1&page=2`);
    expect(namesOf(second)).toEqual(['m from the top']);
    const found = await owner('GET', `/projects/${inside}/labels?search=FROM%20THE`);
    expect(namesOf(found)).toEqual(['m from the top', 'z from the middle']);
    const one = await owner('GET', `/projects/${inside}/labels/m%20from%20the%20top`);
    expect(one).toMatchObject({ status: 200, body: { is_project_label: false } });
    const without = `/projects/${inside}/labels/m%20from%20the%20top?include_ancestor_groups=false`;
    expect(await owner('GET', without)).toMatchObject(NO_LABEL);
  });

  test('cannot be changed through a project, nor repeated in one', async () => {
    await made(`/groups/${top}/labels`, { name: 'above', color: 'red' });
    const path = `/projects/${inside}/labels/above`;
    expect(await owner('PUT', path, { color: 'blue' })).toMatchObject(NO_LABEL);
    expect(await owner('DELETE', path)).toMatchObject(NO_LABEL);
    for (const place of [`/projects/${inside}`, `/groups/${sub}`]) {
      const again = await owner('POST', `${place}/labels`, { name: 'above', color: 'red' });
      expect(again).toMatchObject({ status: 409, body: { message: 'Label already exists' } });
    }
  });

  test('of another place are not found', async () => {
    const { id } = await made(own(), { name: 'elsewhere', color: 'red' });
    expect(await owner('GET', `/groups/${top}/labels/${id}`)).toMatchObject(NO_LABEL);
  });
});

describe('promoting a label', () => {
  test('makes it one of the group, in the other projects of the group too', async () => {
    const second = await made('/projects', { name: 'second', namespace_id: sub });
    const { id } = await made(`/projects/${inside}/labels`, { name: 'wide', color: 'red', priority: 1 });
    await made(`/projects/${second.id}/labels`, { name: 'wide', color: 'blue' });
    for (const project of [inside, second.id])
      await owner('POST', `/projects/${project}/labels/wide/subscribe`);
    const promoted = await owner('PUT', `/projects/${inside}/labels/wide/promote`);
    expect(promoted).toMatchObject({ status: 200, body: { id, name: 'wide', color: '#ff0000' } });
    expect(promoted.body).not.toHaveProperty('is_project_label');
    await settled();
    for (const place of [`/projects/${inside}`, `/projects/${second.id}`, `/groups/${sub}`]) {
      const found = await owner('GET', `${place}/labels?search=wide`);
      expect(found.body.map((label: { id: number }) => label.id)).toEqual([id]);
    }
    for (const project of [inside, second.id])
      expect((await owner('GET', `/projects/${project}/labels/wide`)).body.subscribed).toBe(true);
    expect(await owner('PUT', `/projects/${inside}/labels/wide/promote`)).toMatchObject(NO_LABEL);
  });

  test('takes the label that the group has', async () => {
    await made(`/projects/${inside}/labels`, { name: 'late', color: 'red' });
    const { id } = await made(`/groups/${sub}/labels`, { name: 'late', color: 'blue' });
    const promoted = await owner('PUT', `/projects/${inside}/labels/late/promote`);
    expect(promoted).toMatchObject({ status: 200, body: { id, color: '#0000ff' } });
    const found = await owner('GET', `/projects/${inside}/labels?search=late`);
    expect(found.body.map((label: { id: number }) => label.id)).toEqual([id]);
  });

  test('is refused outside of groups', async () => {
    await made(own(), { name: 'personal', color: 'red' });
    expect(await owner('PUT', `${own()}/personal/promote`)).toMatchObject({
      status: 400,
      body: { message: 'Failed to promote project label to group label' },
    });
  });

  test('needs the right to change labels of the group', async () => {
    const user = { user_id: world.ids['reporter'], access_level: 20 };
    await owner('POST', `/projects/${inside}/members`, user);
    await made(`/projects/${inside}/labels`, { name: 'mine', color: 'red' });
    const refused = await as('reporter', 'PUT', `/projects/${inside}/labels/mine/promote`);
    expect(refused.status).toBe(403);
  });
});

describe('subscribing to a label', () => {
  test('is for the caller alone, and answers 304 when nothing changes', async () => {
    await made(own(), { name: 'followed', color: 'red' });
    const path = `${own()}/followed`;
    expect(await as('guest', 'POST', `${path}/subscribe`)).toMatchObject({
      status: 201,
      body: { name: 'followed', subscribed: true },
    });
    expect(await as('guest', 'POST', `${path}/subscribe`)).toMatchObject({ status: 304 });
    expect((await as('guest', 'GET', path)).body.subscribed).toBe(true);
    expect((await owner('GET', path)).body.subscribed).toBe(false);
    expect(await as('guest', 'POST', `${path}/unsubscribe`)).toMatchObject({
      status: 201,
      body: { subscribed: false },
    });
    expect(await as('guest', 'POST', `${path}/unsubscribe`)).toMatchObject({ status: 304 });
    expect(await as('guest', 'POST', `${own()}/nothing/subscribe`)).toMatchObject(NO_LABEL);
  });
});

describe('counts of labels', () => {
  test('are of the issues in the project or group that the caller may see', async () => {
    await made(`/groups/${sub}/labels`, { name: 'counted', color: 'red' });
    const issues = `/projects/${inside}/issues`;
    await made(issues, { title: 'a', labels: 'counted' });
    await made(issues, { title: 'b', labels: 'counted', confidential: true });
    const { iid } = await made(issues, { title: 'c', labels: 'counted' });
    await owner('PUT', `${issues}/${iid}`, { state_event: 'close' });
    const counts = { open_issues_count: 2, closed_issues_count: 1, open_merge_requests_count: 0 };
    for (const place of [`/projects/${inside}`, `/groups/${sub}`]) {
      const { body } = await owner('GET', `${place}/labels?with_counts=true&search=counted`);
      expect(body).toMatchObject([counts]);
      expectSchema(
        place.startsWith('/p') ? 'labels/project_label_with_counts' : 'labels/label_with_counts',
        body[0],
      );
    }
    await owner('POST', `/projects/${inside}/members`, { user_id: world.ids['guest'], access_level: 10 });
    const seen = await as('guest', 'GET', `/projects/${inside}/labels?with_counts=true&search=counted`);
    expect(seen.body).toMatchObject([{ ...counts, open_issues_count: 1 }]);
    expect((await owner('GET', `/projects/${inside}/labels?search=counted`)).body[0]).not.toHaveProperty(
      'open_issues_count',
    );
  });
});
