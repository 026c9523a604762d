/** From a change to the services: which integrations hear of it, whose they are, and what becomes of calls that fail. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { runJob } from '../../../lib/domain/worker/dispatch.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { changeSettings } from '../../harness/settings.ts';
import { settled } from '../../harness/settled.ts';
import { startReceiver } from './receiver.ts';

process.env['MAIL_FROM'] = 'Lemnos <lemnos@example.com>';
const { service, world, as } = ownWorld();
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let outer: string;
let inner: string;
let project: string;
beforeAll(async () => {
  receiver = await startReceiver();
  await changeSettings(service, { allow_local_requests_from_web_hooks_and_services: true });
  const top = await as('owner', 'POST', '/groups', { name: 'Team', path: 'team' });
  outer = `/groups/${top.body.id}`;
  const below = { name: 'Inner', path: 'inner', parent_id: top.body.id };
  const group = await as('owner', 'POST', '/groups', below);
  inner = `/groups/${group.body.id}`;
  const json = { name: 'Code', namespace_id: group.body.id, initialize_with_readme: true };
  const made = await as('owner', 'POST', '/projects', json);
  project = `/projects/${made.body.id}`;
});
afterAll(() => receiver.stop());

const PATIENCE = { timeout: 60_000, interval: 50 };

let paths = 0;
/** An integration of its own path; all switches are off but those that are given. */
async function configured(
  slug: string,
  on: readonly string[],
  json: (url: string) => object = (webhook) => ({ webhook }),
  at = project,
) {
  const path = `/${slug}/${++paths}`;
  const off = Object.fromEntries(
    ['push', 'issues', 'merge_requests', 'note', 'tag_push', 'pipeline', 'wiki_page', 'job'].map((name) => [
      `${name}_events`,
      on.includes(`${name}_events`),
    ]),
  );
  const self = `${at}/integrations/${slug}`;
  const { status, body } = await as('owner', 'PUT', self, { ...off, ...json(`${receiver.url}${path}`) });
  expect([status, body.message]).toEqual([200, undefined]);
  return {
    path,
    id: body.id as number,
    async calls(count = 1, called = path) {
      await expect.poll(() => receiver.at(called).length, PATIENCE).toBeGreaterThanOrEqual(count);
      return receiver.at(called);
    },
    drop: () => as('owner', 'DELETE', self),
  };
}

let files = 0;
async function commit(branch = 'main', start?: string, message = 'Add a file') {
  const { status, body } = await as('owner', 'POST', `${project}/repository/commits`, {
    branch,
    ...(start === undefined ? {} : { start_branch: start }),
    commit_message: message,
    actions: [{ action: 'create', file_path: `file-${++files}.txt`, content: 'x\n' }],
  });
  expect(status).toBe(201);
  return body.id as string;
}

test('a push to the default branch is told in a chat, others are where the chat wants them', async () => {
  const chat = await configured('slack', ['push_events']);
  const all = await configured('mattermost', ['push_events'], (webhook) => ({
    webhook,
    branches_to_be_notified: 'all',
  }));
  const guarded = await configured('discord', ['push_events'], (webhook) => ({
    webhook,
    branches_to_be_notified: 'protected',
  }));
  await as('owner', 'POST', `${project}/protected_branches`, { name: 'stable-*' });
  await commit('stable-1', 'main');
  await commit('topic', 'main');
  const sha = await commit();
  const said = async (each: typeof chat, count: number) => (await each.calls(count)).map(({ text }) => text);
  const [first, ...more] = await said(chat, 1);
  expect(more).toEqual([]);
  expect(JSON.parse(first!)).toMatchObject({
    text: expect.stringContaining('pushed to branch'),
    attachments: [{ text: expect.stringContaining(sha.slice(0, 8)) }],
  });
  expect(await said(all, 3)).toHaveLength(3);
  const told = await said(guarded, 2);
  expect(told.map((text) => /\[(stable-1|main|topic)\]/.exec(text)?.[1])).toEqual(['stable-1', 'main']);
  for (const each of [chat, all, guarded]) await each.drop();
});

test('a server that builds is sent the payload, with its password, which nobody is shown', async () => {
  const jenkins = await configured('jenkins', ['push_events'], (jenkins_url) => ({
    jenkins_url,
    project_name: 'code',
    username: 'ann',
    password: 'open sesame',
  }));
  const sha = await commit();
  const [call] = await jenkins.calls(1, `${jenkins.path}/project/code`);
  expect([call!.method, call!.headers.authorization]).toEqual([
    'POST',
    `Basic ${Buffer.from('ann:open sesame').toString('base64')}`,
  ]);
  expect(JSON.parse(call!.text)).toMatchObject({ object_kind: 'push', after: sha });
  await jenkins.drop();
});

test('issues, merge requests, notes and pages are told to those who want them', async () => {
  const chat = await configured('slack', [
    'issues_events',
    'note_events',
    'wiki_page_events',
    'tag_push_events',
  ]);
  const { body: issue } = await as('owner', 'POST', `${project}/issues`, { title: 'Broken' });
  await chat.calls(1);
  await as('owner', 'PUT', `${project}/issues/${issue.iid}`, { title: 'Very broken' });
  await as('owner', 'POST', `${project}/issues/${issue.iid}/notes`, { body: 'I see it' });
  await chat.calls(2);
  await as('owner', 'POST', `${project}/wikis`, { title: 'home', content: 'welcome' });
  await chat.calls(3);
  await as('owner', 'POST', `${project}/repository/tags`, { tag_name: 'v1', ref: 'main' });
  const calls = await chat.calls(4);
  expect(calls.map(({ text }) => JSON.parse(text).text)).toEqual([
    expect.stringContaining(`#${issue.iid} Broken> opened by`),
    expect.stringContaining(`commented on issue #${issue.iid}>`),
    expect.stringContaining('created <'),
    expect.stringContaining('pushed new tag'),
  ]);
  await chat.drop();
});

test('pipelines are told as chats want them', async () => {
  const broken = await configured('slack', ['pipeline_events']);
  const all = await configured('mattermost', ['pipeline_events'], (webhook) => ({
    webhook,
    notify_only_broken_pipelines: false,
  }));
  const told = (status: string, ref: string) => ({
    id: `01JD000000000000000000${status}${ref}`,
    type: 'hook.tell',
    body: {
      actorId: world.ids['owner'],
      baseUrl: service.url,
      at: new Date().toISOString(),
      scene: { kind: 'project', id: Number(project.split('/')[2]), groupIds: [] },
      events: [
        {
          kind: 'made',
          hook: 'pipeline_events',
          payload: { object_kind: 'pipeline', object_attributes: { id: 5, ref, tag: false, status } },
        },
      ],
    },
  });
  for (const [status, ref] of [
    ['running', 'main'],
    ['success', 'main'],
    ['failed', 'topic'],
    ['failed', 'main'],
  ] as const)
    await runJob(deps(), told(status, ref));
  const said = async (each: typeof broken, count: number) =>
    (await each.calls(count)).map(({ text }) => /has (passed|failed)/.exec(text)?.[1]);
  expect(await said(all, 2)).toEqual(['passed', 'failed']);
  expect(await said(broken, 1)).toEqual(['failed']);
  for (const each of [broken, all]) await each.drop();
});

test('the nearest group that has an integration has it for its projects; its secrets stay its own', async () => {
  const far = await configured('webex-teams', ['push_events'], undefined, outer);
  await commit();
  await far.calls(1);
  const near = await configured('webex-teams', ['push_events'], undefined, inner);
  await commit();
  await near.calls(1);
  const own = await configured('webex-teams', ['push_events']);
  await commit();
  await own.calls(1);
  await own.drop();
  await commit();
  const last = await configured('discord', ['push_events']);
  await commit();
  await last.calls(1);
  expect([far, near, own].map(({ path }) => receiver.at(path).length)).toEqual([1, 1, 1]);
  await as('owner', 'PUT', `${project}/integrations/webex-teams`, { use_inherited_settings: true });
  await commit();
  await near.calls(2);
  for (const each of [near, far, last]) await each.drop();
});

test('an integration of the instance hears of every project that has none of its own', async () => {
  const path = '/of-all';
  const at = '/integrations/microsoft-teams';
  const { status } = await as('administrator', 'PUT', at, {
    ...{ webhook: `${receiver.url}${path}`, push_events: true, branches_to_be_notified: 'all' },
  });
  expect(status).toBe(200);
  const told = (count: number) => expect.poll(() => receiver.at(path).length, PATIENCE).toBe(count);
  await commit();
  await told(1);
  const own = await configured('microsoft-teams', ['push_events']);
  await commit();
  await own.calls(1);
  expect(receiver.at(path)).toHaveLength(1);
  await as('owner', 'PUT', `${project}/integrations/microsoft-teams`, { use_inherited_settings: true });
  await commit();
  await told(2);
  await as('administrator', 'DELETE', at);
  await commit();
  expect(receiver.at(path)).toHaveLength(2);
});

test('a call that fails waits for another attempt, and holds nobody but its own', async () => {
  const lame = await configured('slack', ['push_events']);
  const sound = await configured('discord', ['push_events']);
  receiver.broken.add(lame.path);
  await commit();
  await commit();
  await sound.calls(2);
  await lame.calls(1);
  const { store } = deps();
  const states = async () =>
    // Before them are those of other tests.
    (await store.hookDeliveries.page(lame.id, { page: 1, perPage: 2, count: true })).items.map(
      ({ state, attempts }) => `${state} ${attempts}`,
    );
  await expect.poll(states, PATIENCE).toEqual(['waiting 0', 'waiting 1']);
  receiver.broken.delete(lame.path);
  await store.hookDeliveries.resume(lame.id);
  const owner = { kind: 'project', id: Number(project.split('/')[2]) };
  const body = { owner, hookId: lame.id, slug: 'slack' };
  await runJob(deps(), { id: '01JD0000000000000000000009', type: 'hook.next', body });
  await expect.poll(states, PATIENCE).toEqual(['delivered 1', 'delivered 2']);
  for (const each of [lame, sound]) await each.drop();
});

test('what waits for an integration that is deleted is not sent', async () => {
  const chat = await configured('slack', ['push_events']);
  receiver.broken.add(chat.path);
  await commit();
  await chat.calls(1);
  await chat.drop();
  const { store } = deps();
  await store.hookDeliveries.resume(chat.id);
  const owner = { kind: 'project', id: Number(project.split('/')[2]) };
  const job = {
    id: '01JD000000000000000000000A',
    type: 'hook.next',
    body: { owner, hookId: chat.id, slug: 'slack' },
  };
  await runJob(deps(), job);
  expect(receiver.at(chat.path)).toHaveLength(1);
});

test('what an answer leads to is told next, and is one call each', async () => {
  await receiver.stop();
  const issue = '/rest/api/2/issue/PROJ-9';
  receiver = await startReceiver({
    [`/jira${issue}?fields=resolution&expand=transitions`]: {
      fields: { resolution: null },
      transitions: [{ id: '31', to: { statusCategory: { key: 'done' } } }],
    },
  });
  await as('owner', 'PUT', `${project}/integrations/jira`, {
    url: `${receiver.url}/jira`,
    username: 'ann',
    password: 'secret',
    jira_issue_transition_automatic: true,
  });
  await commit('main', undefined, 'Closes PROJ-9');
  await expect.poll(() => receiver.calls.length, PATIENCE).toBe(6);
  expect(
    receiver.calls.map(({ method, path }) => `${method} ${path.slice('/jira'.length + issue.length)}`),
  ).toEqual([
    'POST /comment',
    'POST /remotelink',
    'GET ?fields=resolution&expand=transitions',
    'POST /transitions',
    'POST /comment',
    'POST /remotelink',
  ]);
  await as('owner', 'DELETE', `${project}/integrations/jira`);
});

test('a deleted project has no integrations any more', async () => {
  const { body } = await as('owner', 'POST', '/projects', { name: 'Fleeting' });
  await as('owner', 'PUT', `/projects/${body.id}/integrations/asana`, { api_key: 'secret' });
  const { store } = deps();
  const { id } = (await store.integrations.of({ kind: 'project', id: body.id }))[0]!;
  await as('owner', 'DELETE', `/projects/${body.id}`);
  const left = () => store.integrations.of({ kind: 'project', id: body.id });
  await expect.poll(left, PATIENCE).toEqual([]);
  const { Secrets } = await import('../../../lib/store/secrets/secrets.ts');
  const { MasterKey } = await import('../../../lib/store/secrets/master-key.ts');
  const secrets = new Secrets(store.table, new MasterKey(store.environment.masterKeyParameter));
  expect(await secrets.read(`INTEGRATION#${id}`, 'api_key')).toBeUndefined();
});

describe('mail', () => {
  const recipients = 'ann@outside.example.com, ben@outside.example.com nobody';

  test('of pushes has commits and what they changed, once for each address', async () => {
    const at = `${project}/integrations/emails-on-push`;
    await as('owner', 'PUT', at, { recipients, push_events: true, tag_push_events: false });
    const sha = await commit('main', undefined, 'Explain it\n\nAt length');
    const [mail] = await service.mailTo('ann@outside.example.com');
    expect(mail!.subject).toBe('[Git][team/inner/code][main] Explain it');
    expect(mail!.text).toContain(`${sha.slice(0, 8)} by `);
    expect(mail!.text).toContain('At length');
    expect(mail!.text).toContain(`  added file-${files}.txt`);
    expect(mail!.text).toContain('+x');
    await service.mailTo('ben@outside.example.com');
    await as('owner', 'PUT', at, { recipients, disable_diffs: true });
    await commit();
    const [, second] = await service.mailTo('ann@outside.example.com', 2);
    expect(second!.text).not.toContain('+x');
    expect(second!.from).toEqual({ name: 'owner (@owner)', address: 'lemnos@example.com' });
    await as('owner', 'PUT', at, { recipients, send_from_committer_email: true });
    await commit();
    const [, , third] = await service.mailTo('ann@outside.example.com', 3);
    expect(third!.from).toEqual({ name: 'owner (@owner)', address: 'owner@example.com' });
    const owner = (await world.store.users.get(world.ids['owner']!))!;
    await world.store.users.update(owner, { confirmedAt: null });
    await commit();
    const [, , , fourth] = await service.mailTo('ann@outside.example.com', 4);
    expect(fourth!.from!.address).toBe('lemnos@example.com');
    const unconfirmed = (await world.store.users.get(owner.id))!;
    await world.store.users.update(unconfirmed, { confirmedAt: owner.confirmedAt });
    await as('owner', 'DELETE', at);
  });

  test('of pipelines tells of those that failed; a message that comes twice sends one', async () => {
    const at = `${project}/integrations/pipelines-email`;
    await as('owner', 'PUT', at, { recipients: 'eve@outside.example.com', branches_to_be_notified: 'all' });
    const job = (id: string, status: string) => ({
      id,
      type: 'hook.tell',
      body: {
        actorId: world.ids['owner'],
        baseUrl: service.url,
        at: new Date().toISOString(),
        scene: { kind: 'project', id: Number(project.split('/')[2]), groupIds: [] },
        events: [
          {
            kind: 'made',
            hook: 'pipeline_events',
            payload: {
              object_kind: 'pipeline',
              object_attributes: { id: 8, ref: 'topic', sha: 'c'.repeat(40), status },
              builds: [{ name: 'lint', stage: 'test', status: 'failed' }],
            },
          },
        ],
      },
    });
    await runJob(deps(), job('01JD000000000000000000000B', 'success'));
    await runJob(deps(), job('01JD000000000000000000000C', 'failed'));
    await runJob(deps(), job('01JD000000000000000000000C', 'failed'));
    await runJob(deps(), job('01JD000000000000000000000D', 'failed'));
    const mails = await service.mailTo('eve@outside.example.com', 2);
    await settled();
    expect(await service.mailTo('eve@outside.example.com', 2)).toHaveLength(2);
    expect(mails[0]!.subject).toBe('team/inner/code | Pipeline #8 has failed for topic | cccccccc');
    expect(mails[0]!.text).toContain('test/lint');
    await as('owner', 'DELETE', at);
  });
});
