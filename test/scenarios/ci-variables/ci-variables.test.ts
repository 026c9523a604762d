import { beforeAll, describe, expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { depsWithSecrets } from '../../../functions/deps-with-secrets.ts';
import { variablesOf } from '../../../lib/domain/ci-variables/variables-of.ts';
import { acts, auditOf } from '../../harness/audit-events.ts';
import { ownWorld } from '../../harness/own-world.ts';
import type { Answer } from '../../harness/service.ts';
import { changeSettings } from '../../harness/settings.ts';
import { settled } from '../../harness/settled.ts';

const { as, root, service } = ownWorld();

const owner = (method: string, path: string, json?: unknown): Promise<Answer> =>
  as('owner', method, path, json);
const made = async (path: string, json: unknown): Promise<Answer['body']> => {
  const answer = await owner('POST', path, json);
  expect(answer).toMatchObject({ status: 201 });
  return answer.body;
};
let names = 0;
const newProject = async (): Promise<{ id: number; at: string }> => {
  const { id } = await made('/projects', { name: `project ${++names}` });
  return { id, at: `/projects/${id}/variables` };
};
const newGroup = async (): Promise<{ id: number; at: string }> => {
  const name = `group-${++names}`;
  const { id } = await made('/groups', { name, path: name });
  return { id, at: `/groups/${id}/variables` };
};
const keysOf = ({ body }: Answer): string[] => body.map(({ key }: { key: string }) => key);

let at: string;
beforeAll(async () => {
  ({ at } = await newProject());
});

describe('a variable', () => {
  test('is told as it was created', async () => {
    const created = await made(at, { key: 'PLAIN', value: 'a value' });
    expect(created).toEqual({
      variable_type: 'env_var',
      key: 'PLAIN',
      value: 'a value',
      protected: false,
      masked: false,
      raw: false,
      environment_scope: '*',
    });
    expect((await owner('GET', `${at}/PLAIN`)).body).toEqual(created);
    const json = {
      variable_type: 'file',
      key: 'Full_1',
      value: 'abcd:/1234',
      protected: true,
      masked: true,
      raw: true,
      environment_scope: 'review/*',
    };
    expect(await made(at, json)).toEqual(json);
    expect(keysOf(await owner('GET', at))).toEqual(['PLAIN', 'Full_1']);
  });

  test('may be empty, and hold anything but too much', async () => {
    expect(await made(at, { key: 'EMPTY', value: '' })).toMatchObject({ value: '' });
    const value = 'é'.repeat(10_000);
    expect(await made(at, { key: 'LONG', value })).toMatchObject({ value });
    const { status, body } = await owner('POST', at, { key: 'LONGER', value: `${value}x` });
    expect({ status, body }).toEqual({
      status: 400,
      body: {
        message: { value: ['The value of the provided variable exceeds the 10000 character limit'] },
      },
    });
  });

  test.each([
    [{ value: 'x' }, { error: 'key is missing' }],
    [{ key: 'X' }, { error: 'value is missing' }],
    [
      { key: 'X', value: 'x', variable_type: 'secret' },
      { error: 'variable_type does not have a valid value' },
    ],
    [{ key: 'A-B', value: 'x' }, { message: { key: ["can contain only letters, digits and '_'."] } }],
    [{ key: '', value: 'x' }, { message: { key: ["can't be blank"] } }],
    [{ key: 'K'.repeat(256), value: 'x' }, { message: { key: ['is too long (maximum is 255 characters)'] } }],
    [
      { key: 'X', value: 'x', environment_scope: 'a?' },
      {
        message: {
          environment_scope: [
            "can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', '*' and spaces",
          ],
        },
      },
    ],
    [
      { key: 'X', value: 'x', environment_scope: ' ' },
      { message: { environment_scope: ["can't be blank"] } },
    ],
  ])('is refused where it is wrong: %j', async (json, body) => {
    expect(await owner('POST', at, json)).toMatchObject({ status: 400, body });
  });

  test.each(['short', 'two words here', 'line\nline\nline', 'money$money', 'crème-brûlée', ''])(
    'is masked only where a runner can hide it: not %j',
    async (value) => {
      const { status, body } = await owner('POST', at, { key: 'MASKED', value, masked: true });
      expect({ status, body }).toEqual({ status: 400, body: { message: { value: ['is invalid'] } } });
    },
  );

  test('that is not maskable becomes no masked one, and a masked one keeps a maskable value', async () => {
    await made(at, { key: 'LATER', value: 'short' });
    expect((await owner('PUT', `${at}/LATER`, { masked: true })).status).toBe(400);
    expect((await owner('PUT', `${at}/LATER`, { masked: true, value: 'long.enough~' })).status).toBe(200);
    expect((await owner('PUT', `${at}/LATER`, { value: 'short' })).status).toBe(400);
  });

  test('is changed in what the request says, and nothing else', async () => {
    await made(at, { key: 'CHANGED', value: 'one', variable_type: 'file', protected: true });
    const { body } = await owner('PUT', `${at}/CHANGED`, { value: 'two', environment_scope: 'prod' });
    expect(body).toMatchObject({
      value: 'two',
      variable_type: 'file',
      protected: true,
      environment_scope: 'prod',
    });
    expect((await owner('GET', `${at}/CHANGED`)).body).toEqual(body);
    expect((await owner('PUT', `${at}/CHANGED`, {})).body).toEqual(body);
  });

  test('is deleted, and then unknown', async () => {
    await made(at, { key: 'GONE', value: 'x' });
    expect((await owner('DELETE', `${at}/GONE`)).status).toBe(204);
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const { status, body } = await owner(method, `${at}/GONE`, method === 'PUT' ? {} : undefined);
      expect({ status, body }).toEqual({ status: 404, body: { message: '404 Variable Not Found' } });
    }
    await made(at, { key: 'GONE', value: 'again' });
  });

  test('of another key is not found by the beginning of its key, or by a pattern', async () => {
    await made(at, { key: 'WHOLE_KEY', value: 'x' });
    for (const key of ['WHOLE', 'whole_key', '%23', 'WHOLE_KEY%23', '*'])
      expect((await owner('GET', `${at}/${key}`)).status).toBe(404);
  });
});

describe('a key', () => {
  test('is there once in a scope; a filter chooses among scopes', async () => {
    const { at } = await newProject();
    await made(at, { key: 'KEY', value: 'any' });
    const taken = await owner('POST', at, { key: 'KEY', value: 'again' });
    expect(taken).toMatchObject({
      status: 400,
      body: { message: { key: ['(KEY) has already been taken'] } },
    });
    await made(at, { key: 'KEY', value: 'of prod', environment_scope: 'prod' });
    const several = {
      status: 409,
      body: {
        message:
          "There are multiple variables with provided parameters. Please use 'filter[environment_scope]'",
      },
    };
    expect(await owner('GET', `${at}/KEY`)).toMatchObject(several);
    expect(await owner('PUT', `${at}/KEY`, { value: 'x' })).toMatchObject(several);
    expect(await owner('DELETE', `${at}/KEY`)).toMatchObject(several);
    const prod = `${at}/KEY?filter[environment_scope]=prod`;
    expect((await owner('GET', prod)).body).toMatchObject({ value: 'of prod' });
    const filter = { environment_scope: '*' };
    const changed = await owner('PUT', `${at}/KEY`, { value: 'changed', filter });
    expect(changed.body).toMatchObject({ value: 'changed', environment_scope: '*' });
    const moved = await owner('PUT', `${at}/KEY`, { environment_scope: 'prod', filter });
    expect(moved).toMatchObject({ status: 400, body: taken.body });
    expect((await owner('DELETE', prod)).status).toBe(204);
    expect((await owner('GET', `${at}/KEY`)).body).toMatchObject({ value: 'changed' });
    expect((await owner('GET', prod)).status).toBe(404);
  });

  test('is a different one in other letters, and in another place', async () => {
    const [one, other, group] = [await newProject(), await newProject(), await newGroup()];
    for (const { at } of [one, other, group]) await made(at, { key: 'SAME', value: at });
    await made(one.at, { key: 'same', value: 'x' });
    for (const { at } of [one, other, group])
      expect((await owner('GET', `${at}/SAME`)).body).toMatchObject({ value: at });
  });
});

describe('there are at most', () => {
  test('200 variables of a project', async () => {
    const { id, at } = await newProject();
    const { store } = deps();
    await made(at, { key: 'FIRST', value: 'x' });
    const { variableCountKey } = await import('../../../lib/store/row-keys/ci-variables.ts');
    // As after 199 more.
    const count = variableCountKey({ kind: 'project', id });
    await store.table.update({ update: count, add: { total: 199 } });
    const { status, body } = await owner('POST', at, { key: 'MORE', value: 'x' });
    expect({ status, body }).toEqual({
      status: 400,
      body: { message: { base: ['Maximum number of project ci variables (200) exceeded'] } },
    });
  });

  test('400 KB of values in one place', async () => {
    const { at } = await newProject();
    const value = '漢'.repeat(10_000);
    for (let i = 0; i < 13; i++) await made(at, { key: `BIG_${i}`, value });
    await made(at, { key: 'SMALL', value: 'x' });
    const more = { message: { value: ['all values together may have 409600 bytes'] } };
    expect(await owner('POST', at, { key: 'MORE', value })).toMatchObject({ status: 400, body: more });
    expect(await owner('PUT', `${at}/SMALL`, { value })).toMatchObject({ status: 400, body: more });
    expect((await owner('DELETE', `${at}/BIG_1`)).status).toBe(204);
    expect((await owner('PUT', `${at}/SMALL`, { value })).status).toBe(200);
  });
});

test('a variable of the instance is for administrators, and has no scope', async () => {
  const path = '/admin/ci/variables';
  const created = await root('POST', path, { key: 'EVERYWHERE', value: 'x', environment_scope: 'prod' });
  expect(created.status).toBe(201);
  expect(created.body).toEqual({
    variable_type: 'env_var',
    key: 'EVERYWHERE',
    value: 'x',
    protected: false,
    masked: false,
    raw: false,
  });
  expect(keysOf(await root('GET', path))).toEqual(['EVERYWHERE']);
  const changed = await root('PUT', `${path}/EVERYWHERE`, { value: 'y', protected: true });
  expect(changed.body).toMatchObject({ value: 'y', protected: true });
  expect((await root('DELETE', `${path}/EVERYWHERE`)).status).toBe(204);
  expect((await root('GET', `${path}/EVERYWHERE`)).status).toBe(404);
});

test('a list of variables comes in pages', async () => {
  const { at } = await newGroup();
  for (const key of ['C', 'A', 'B']) await made(at, { key, value: key });
  const page = await owner('GET', `${at}?per_page=2&page=2`);
  expect(keysOf(page)).toEqual(['B']);
  expect(page.headers.get('x-total')).toBe('3');
});

test('new variables are protected where the setting says so and the request says nothing', async () => {
  const { at } = await newProject();
  await changeSettings(service, { protected_ci_variables: true });
  expect(await made(at, { key: 'DEFAULT', value: 'x' })).toMatchObject({ protected: true });
  expect(await made(at, { key: 'CHOSEN', value: 'x', protected: false })).toMatchObject({ protected: false });
  await changeSettings(service, { protected_ci_variables: false });
  expect(await made(at, { key: 'PLAIN', value: 'x' })).toMatchObject({ protected: false });
});

test('no row holds a value that can be read', async () => {
  const { id, at } = await newProject();
  await made(at, { key: 'SECRET', value: 'open-sesame' });
  const { variablesPartition } = await import('../../../lib/store/row-keys/ci-variables.ts');
  const partition = variablesPartition({ kind: 'project', id });
  const { items } = await deps().store.table.query({ partition });
  const [row] = items.filter((item) => (item['variable'] as { key: string }).key === 'SECRET');
  expect(Buffer.from(row!['sealed'] as Uint8Array).toString('latin1')).not.toContain('sesame');
  expect(JSON.stringify(row)).not.toContain('sesame');
});

test('audit events tell which variable was changed, and never its value', async () => {
  const { id, at } = await newProject();
  await made(at, { key: 'WATCHED', value: 'first-secret' });
  await owner('PUT', `${at}/WATCHED`, { value: 'second-secret', protected: true });
  await owner('DELETE', `${at}/WATCHED`);
  const told = acts(await auditOf(service, 'Project', id)).slice(0, 4);
  const target = { target_type: 'Ci::Variable', target_details: 'WATCHED' };
  expect(told).toMatchObject([
    { remove: 'ci_variable', ...target },
    { change: 'variable value', ...target },
    { change: 'variable protection', from: 'false', to: 'true', ...target },
    { add: 'ci_variable', ...target },
  ]);
  expect(JSON.stringify(told)).not.toContain('secret');
});

test('variables are deleted with their project and their group', async () => {
  const { at: groupAt, id: groupId } = await newGroup();
  const { id } = await made('/projects', { name: 'inside', namespace_id: groupId });
  await made(groupAt, { key: 'OF_GROUP', value: 'x' });
  await made(`/projects/${id}/variables`, { key: 'OF_PROJECT', value: 'x' });
  expect((await owner('DELETE', `/groups/${groupId}`)).status).toBe(202);
  await settled();
  const { variablesPartition, variablesPrefix } = await import('../../../lib/store/row-keys/ci-variables.ts');
  for (const owner of [{ kind: 'group', id: groupId } as const, { kind: 'project', id } as const]) {
    const rows = { partition: variablesPartition(owner), prefix: variablesPrefix(owner) };
    expect((await deps().store.table.query(rows)).items).toEqual([]);
  }
});

test('a job gets those of the instance, of each group from the top on, and of its project', async () => {
  const { id: top, at: topAt } = await newGroup();
  const path = `group-${++names}`;
  const { id: below } = await made('/groups', { name: path, path, parent_id: top });
  const { id } = await made('/projects', { name: 'deep', namespace_id: below });
  await root('POST', '/admin/ci/variables', { key: 'WHERE', value: 'instance' });
  await made(topAt, { key: 'WHERE', value: 'top' });
  await made(`/groups/${below}/variables`, { key: 'WHERE', value: 'below', variable_type: 'file' });
  await made(`/projects/${id}/variables`, { key: 'WHERE', value: 'project' });
  await made(`/projects/${id}/variables`, { key: 'WHERE', value: 'of prod', environment_scope: 'prod' });
  await made(`/projects/${id}/variables`, {
    key: 'GUARDED',
    value: 'long-enough',
    masked: true,
    protected: true,
  });
  const project = (await deps().store.projects.get(id))!;
  const of = (reader: Parameters<typeof variablesOf>[2]) => variablesOf(depsWithSecrets(), project, reader);
  const values = async (reader: Parameters<typeof variablesOf>[2]) =>
    (await of(reader)).map(({ value }) => value);
  expect(await values({ protected: false })).toEqual(['instance', 'top', 'below', 'project']);
  expect(await values({ protected: false, environment: 'prod' })).toEqual([
    'instance',
    'top',
    'below',
    'of prod',
  ]);
  const all = await of({ protected: true });
  expect(all.at(-1)).toEqual({
    key: 'GUARDED',
    value: 'long-enough',
    public: false,
    masked: true,
    file: false,
    raw: false,
  });
  expect(all.map(({ file }) => file)).toEqual([false, false, true, false, false]);
  await root('DELETE', '/admin/ci/variables/WHERE');
});
