import { beforeAll, describe, expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { tokenHash } from '../../../lib/domain/access/token-check.ts';
import { acts, auditOf } from '../../harness/audit-events.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { expectSchema } from '../../harness/schemas.ts';
import type { Answer } from '../../harness/service.ts';
import { settled } from '../../harness/settled.ts';
import type { Who } from '../../harness/world.ts';

const { as, world, service } = ownWorld();

const done = async (who: Who, method: string, path: string, json?: unknown): Promise<Answer['body']> => {
  const answer = await as(who, method, path, json);
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer.body;
};
let project: number;
let at: string;
let start: string;
beforeAll(async () => {
  project = world.ids['private']!;
  at = `/projects/${project}/triggers`;
  start = `/projects/${project}/trigger/pipeline`;
  await done('owner', 'POST', `/projects/${project}/repository/commits`, {
    branch: 'main',
    commit_message: 'Add a configuration',
    actions: [{ action: 'create', file_path: '.gitlab-ci.yml', content: 'hello:\n  script: echo\n' }],
  });
  await settled();
});

describe('a trigger', () => {
  test('tells its whole token to its owner, and four characters to others', async () => {
    const made = await done('maintainer', 'POST', at, { description: 'from elsewhere' });
    expect(made).toMatchObject({
      description: 'from elsewhere',
      last_used: null,
      owner: { username: 'maintainer' },
      token: expect.stringMatching(/^[0-9a-f]{40}$/),
    });
    expect((await as('maintainer', 'GET', `${at}/${made.id}`)).body).toEqual(made);
    const shown = { ...made, token: made.token.slice(0, 4) };
    expect((await as('owner', 'GET', `${at}/${made.id}`)).body).toEqual(shown);
    expect((await as('owner', 'GET', at)).body).toContainEqual(shown);
    expect((await as('administrator', 'GET', at)).body).toContainEqual(shown);
  });

  test('is described anew by its owner alone, and deleted by any Maintainer', async () => {
    const { id } = await done('maintainer', 'POST', at, { description: 'one' });
    expect((await as('owner', 'PUT', `${at}/${id}`, { description: 'x' })).status).toBe(403);
    const changed = await as('maintainer', 'PUT', `${at}/${id}`, { description: 'two' });
    expect(changed).toMatchObject({ status: 200, body: { description: 'two' } });
    const long = await as('maintainer', 'PUT', `${at}/${id}`, { description: 'x'.repeat(256) });
    expect(long.status).toBe(400);
    expect((await as('owner', 'DELETE', `${at}/${id}`)).status).toBe(204);
    const { status, body } = await as('owner', 'GET', `${at}/${id}`);
    expect({ status, body }).toEqual({ status: 404, body: { message: '404 Trigger Not Found' } });
  });

  test('is in the audit events, without its token', async () => {
    const { id, token } = await done('maintainer', 'POST', at, { description: 'watched' });
    await as('owner', 'DELETE', `${at}/${id}`);
    const told = acts(await auditOf(service, 'Project', project)).slice(0, 2);
    expect(told).toMatchObject([
      { custom_message: `Revoked pipeline trigger token with id ${id}` },
      { custom_message: `Created pipeline trigger token with id ${id}` },
    ]);
    expect(JSON.stringify(told)).not.toContain(token);
  });

  test('is stored without a token that can be read, and gone with its project', async () => {
    const { id } = await done('owner', 'POST', '/projects', { name: 'triggered' });
    const { token } = await done('owner', 'POST', `/projects/${id}/triggers`, { description: 'x' });
    const { store } = deps();
    expect(await store.triggers.withToken(tokenHash(token))).toMatchObject({ projectId: id });
    const { triggersPartition } = await import('../../../lib/store/row-keys/triggers.ts');
    const { items } = await store.table.query({ partition: triggersPartition(id) });
    expect(JSON.stringify(items)).not.toContain(token);
    await as('owner', 'DELETE', `/projects/${id}`);
    await settled();
    expect(await store.triggers.withToken(tokenHash(token))).toBeUndefined();
  });
});

describe('a token of a trigger', () => {
  const post = (path: string, json: object) => as('anonymous', 'POST', path, json);

  test('starts a pipeline with the rights of its owner, and remembers that', async () => {
    const { id, token } = await done('maintainer', 'POST', at, { description: 'x' });
    const variables = { GIVEN: 'by the trigger' };
    const { status, body } = await post(start, { token, ref: 'main', variables });
    expect({ status, body }).toMatchObject({ status: 201, body: { ref: 'main', source: 'trigger' } });
    expectSchema('pipeline', body);
    expect(await deps().store.jobs.variables(body.id)).toEqual([
      { key: 'GIVEN', value: 'by the trigger', type: 'env_var' },
      { key: 'TRIGGER_PAYLOAD', value: expect.any(String), type: 'file' },
    ]);
    const ofRef = await post(`/projects/${project}/ref/main/trigger/pipeline`, { token });
    expect(ofRef).toMatchObject({ status: 201, body: { ref: 'main', source: 'trigger' } });
    expect((await as('maintainer', 'GET', `${at}/${id}`)).body.last_used).toMatch(/Z$/);
  });

  test('gives jobs a file with what was sent, but for credentials', async () => {
    const { token } = await done('maintainer', 'POST', at, { description: 'x' });
    const payloadOf = async (id: number) => {
      const given = await deps().store.jobs.variables(id);
      return JSON.parse(given.find(({ key }) => key === 'TRIGGER_PAYLOAD')!.value);
    };
    const sent = { object_kind: 'push', commits: [{ id: 'a', added: ['x'] }], variables: { A: 'b' } };
    const secrets = `token=${token}&job_token=x`;
    const path = `/projects/${project}/ref/main/trigger/pipeline`;
    const { body } = await post(`${path}?${secrets}`, sent);
    expect(await payloadOf(body.id)).toEqual({ ...sent, ref: 'main', id: String(project) });
    const form = new FormData();
    for (const [key, value] of Object.entries({ token, ref: 'main', 'variables[A]': 'b' }))
      form.append(key, value);
    form.append('more', new Blob(['content']), 'file.txt');
    const answer = await fetch(`${service.url}/api/v4${start}`, { method: 'POST', body: form });
    expect(answer.status).toBe(201);
    expect(await payloadOf((await answer.json()).id)).toEqual({
      id: String(project),
      ref: 'main',
      variables: { A: 'b' },
      more: 'file.txt',
    });
    const long = { token, ref: 'main', more: 'x'.repeat(1 << 20) };
    expect((await post(start, long)).status).toBe(413);
  });

  test('passes variables as its owner may', async () => {
    const { token } = await done('maintainer', 'POST', at, { description: 'x' });
    await done('owner', 'PUT', `/projects/${project}`, { restrict_user_defined_variables: true });
    const asked = { token, ref: 'main', variables: { A: 'b' } };
    expect((await post(start, asked)).status).toBe(201);
    const members = `/projects/${project}/members/${world.ids['maintainer']}`;
    await done('owner', 'PUT', members, { access_level: 30 });
    await done('owner', 'POST', `/projects/${project}/repository/branches?branch=open&ref=main`, {});
    expect(await post(start, { ...asked, ref: 'open' })).toMatchObject({
      status: 400,
      body: { message: { base: ['Insufficient permissions to set pipeline variables'] } },
    });
    // What was sent is no variable that somebody chose.
    expect((await post(start, { token, ref: 'open' })).status).toBe(201);
    await done('owner', 'PUT', members, { access_level: 40 });
    await done('owner', 'PUT', `/projects/${project}`, { restrict_user_defined_variables: false });
  });

  test('is none of another project, and nothing without its owner', async () => {
    const { id, token } = await done('maintainer', 'POST', at, { description: 'x' });
    const unknown = { status: 404, body: { message: '404 Not Found' } };
    const public_ = `/projects/${world.ids['public']}/trigger/pipeline`;
    expect(await post(public_, { token, ref: 'main' })).toMatchObject(unknown);
    expect(await post(start, { token: 'wrong', ref: 'main' })).toMatchObject(unknown);
    expect(await post('/projects/999999/trigger/pipeline', { token, ref: 'main' })).toMatchObject(unknown);
    expect(await post('/projects/no%2Fsuch/trigger/pipeline', { token, ref: 'main' })).toMatchObject(unknown);
    await as('owner', 'DELETE', `${at}/${id}`);
    expect(await post(start, { token, ref: 'main' })).toMatchObject(unknown);
  });

  test.each([
    [{}, { error: 'ref is missing, ref is empty, token is missing, token is empty' }],
    [{ ref: 'absent' }, { message: { base: ['Reference not found'] } }],
    [
      { ref: 'main', variables: { A: { B: 'c' } } },
      { message: 'variables needs to be a map of key-valued strings' },
    ],
    [
      { ref: 'main', variables: { 'A-B': 'c' } },
      { message: { base: ["variables.A-B can contain only letters, digits and '_'."] } },
    ],
  ])('is told what is wrong with %j', async (json, body) => {
    const { token } = await done('maintainer', 'POST', at, { description: 'x' });
    const sent = 'ref' in json ? { ...json, token } : json;
    expect(await post(start, sent)).toMatchObject({ status: 400, body });
  });
});
