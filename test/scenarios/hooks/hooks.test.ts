/** Hooks of projects, groups and the instance: who has them, what they say, what they refuse. */
import { beforeAll, describe, expect, test } from 'vitest';
import { readEnvironment } from '../../../lib/store/environment.ts';
import { MasterKey } from '../../../lib/store/secrets/master-key.ts';
import { Secrets } from '../../../lib/store/secrets/secrets.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { changeSettings } from '../../harness/settings.ts';

const { service, world, as, root } = ownWorld();
let project: string;
let group: string;
beforeAll(async () => {
  const made = await as('owner', 'POST', '/groups', { name: 'Hooked', path: 'hooked' });
  group = `/groups/${made.body.id}/hooks`;
  project = `/projects/${world.ids['private']}/hooks`;
});

const URL = 'https://receiver.example.com/hook?key=1';
const tokenOf = (id: number) =>
  new Secrets(world.store.table, new MasterKey(readEnvironment().masterKeyParameter)).read(
    `HOOK#${id}`,
    'token',
  );

describe('a hook', () => {
  test('of a project hears of pushes by default, and shows its switches', async () => {
    const { status, body } = await as('owner', 'POST', project, { url: URL });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(Number),
      url: URL,
      project_id: world.ids['private'],
      created_at: expect.any(String),
      enable_ssl_verification: true,
      alert_status: 'executable',
      disabled_until: null,
      push_events_branch_filter: null,
      push_events: true,
      tag_push_events: false,
      issues_events: false,
      confidential_issues_events: false,
      merge_requests_events: false,
      note_events: false,
      confidential_note_events: false,
      job_events: false,
      pipeline_events: false,
      wiki_page_events: false,
      deployment_events: false,
      releases_events: false,
    });
    expect((await as('owner', 'GET', `${project}/${body.id}`)).body).toEqual(body);
    expect((await as('owner', 'GET', project)).body).toContainEqual(body);
    expect((await as('owner', 'DELETE', `${project}/${body.id}`)).status).toBe(204);
    const gone = await as('owner', 'GET', `${project}/${body.id}`);
    expect([gone.status, gone.body]).toEqual([404, { message: '404 Not found' }]);
  });

  test('of a group hears of members and subgroups too, if that is wanted', async () => {
    const json = { url: URL, subgroup_events: true, member_events: true, push_events: false };
    const { status, body } = await as('owner', 'POST', group, json);
    expect([status, body.subgroup_events, body.member_events, body.push_events]).toEqual([
      201,
      true,
      true,
      false,
    ]);
    expect(body.group_id).toBe(Number(group.split('/')[2]));
  });

  test('of the instance hears of updates of repositories by default', async () => {
    const { body } = await root('POST', '/hooks', { url: URL });
    expect(body).toMatchObject({
      push_events: false,
      tag_push_events: false,
      merge_requests_events: false,
      repository_update_events: true,
    });
    expect(Object.keys(body)).not.toContain('issues_events');
    expect((await root('PUT', `/hooks/${body.id}`, { push_events: true })).body.push_events).toBe(true);
    expect((await root('DELETE', `/hooks/${body.id}`)).status).toBe(204);
  });

  test('keeps what a change does not name', async () => {
    const json = { url: URL, issues_events: true, push_events_branch_filter: 'feature/*' };
    const { id } = (await as('owner', 'POST', project, json)).body;
    const path = `${project}/${id}`;
    const changed = await as('owner', 'PUT', path, { push_events: false, enable_ssl_verification: false });
    expect([changed.status, changed.body]).toMatchObject([
      200,
      { issues_events: true, push_events: false, push_events_branch_filter: 'feature/*', url: URL },
    ]);
    expect((await as('owner', 'PUT', path, { push_events_branch_filter: '' })).body).toMatchObject({
      push_events_branch_filter: null,
      enable_ssl_verification: false,
    });
  });
});

describe('the token of a hook', () => {
  test('is sealed, and in no answer', async () => {
    const secret = 'Jp3tokenOfTheHook';
    const made = await as('owner', 'POST', project, { url: URL, token: secret });
    const path = `${project}/${made.body.id}`;
    const answers = [made, await as('owner', 'GET', path), await as('owner', 'GET', project)];
    for (const answer of answers) {
      expect(JSON.stringify(answer.body)).not.toContain(secret);
      expect(JSON.stringify(answer.body)).not.toContain('token');
    }
    expect(await tokenOf(made.body.id)).toBe(secret);
    await as('owner', 'PUT', path, { issues_events: true });
    expect(await tokenOf(made.body.id)).toBe(secret);
    await as('owner', 'PUT', path, { token: '' });
    expect(await tokenOf(made.body.id)).toBeUndefined();
  });

  test('does not follow to another URL, and is gone with the hook', async () => {
    const { id } = (await as('owner', 'POST', project, { url: URL, token: 'one' })).body;
    await as('owner', 'PUT', `${project}/${id}`, { url: 'https://elsewhere.example.com/' });
    expect(await tokenOf(id)).toBeUndefined();
    await as('owner', 'PUT', `${project}/${id}`, { url: URL, token: 'two' });
    expect(await tokenOf(id)).toBe('two');
    await as('owner', 'DELETE', `${project}/${id}`);
    expect(await tokenOf(id)).toBeUndefined();
  });
});

describe('refused is', () => {
  test.each([
    'ftp://example.com/',
    'javascript:alert(1)',
    'not a url',
    '',
    '   ',
    'http://127.0.0.1/',
    'http://localhost:3000/',
    'http://[::1]/',
    'http://0x7f.1/',
    'http://169.254.169.254/latest/meta-data',
    'http://10.1.2.3/',
    'http://example.com:25/',
    `https://example.com/${'x'.repeat(2048)}`,
  ])('the URL %s', async (url) => {
    const answer = await as('owner', 'POST', project, { url });
    expect([answer.status, answer.body]).toEqual([422, { message: 'Invalid url given' }]);
  });

  test('a hook without a URL', async () => {
    const answer = await as('owner', 'POST', project, {});
    expect([answer.status, answer.body]).toEqual([400, { error: 'url is missing' }]);
  });

  test.each(['a b', 'x..y', '/x', 'x/', 'a:b', 'x.lock', 'é'.repeat(256)])(
    'the filter %s',
    async (filter) => {
      const answer = await as('owner', 'POST', project, { url: URL, push_events_branch_filter: filter });
      expect([answer.status, answer.body]).toEqual([422, { message: 'Invalid branch filter given' }]);
    },
  );

  test('one hook more than a group may have', async () => {
    const { body } = await as('owner', 'POST', '/groups', { name: 'Full', path: 'full' });
    const path = `/groups/${body.id}/hooks`;
    for (let i = 0; i < 50; i++) expect((await as('owner', 'POST', path, { url: URL })).status).toBe(201);
    expect((await as('owner', 'POST', path, { url: URL })).body).toEqual({
      message: 'Maximum number of hooks exceeded',
    });
  });
});

test('settings open local addresses to hooks of projects, and close them to those of the instance', async () => {
  const url = 'http://10.1.2.3:8000/';
  expect((await root('POST', '/hooks', { url })).status).toBe(201);
  await changeSettings(service, {
    allow_local_requests_from_web_hooks_and_services: true,
    allow_local_requests_from_system_hooks: false,
  });
  expect((await as('owner', 'POST', project, { url })).status).toBe(201);
  expect((await root('POST', '/hooks', { url })).status).toBe(422);
  const metadata = await as('owner', 'POST', project, { url: 'http://169.254.169.254/' });
  expect(metadata.status).toBe(422);
  await changeSettings(service, {
    allow_local_requests_from_web_hooks_and_services: false,
    allow_local_requests_from_system_hooks: true,
  });
});

test('hooks are deleted with their group, and no longer counted', async () => {
  const { body } = await as('owner', 'POST', '/groups', { name: 'Brief', path: 'brief' });
  const before = await world.store.settings.effective();
  const made = await as('owner', 'POST', `/groups/${body.id}/hooks`, { url: URL, token: 'x' });
  expect((await world.store.settings.effective()).hooks?.group).toBe(before.hooks!.group + 1);
  await as('owner', 'DELETE', `/groups/${body.id}`);
  await expect.poll(async () => (await world.store.settings.effective()).hooks).toEqual(before.hooks);
  expect(await tokenOf(made.body.id)).toBeUndefined();
});
