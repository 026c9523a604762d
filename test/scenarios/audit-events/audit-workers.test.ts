/** Audit events of jobs, of impersonated actions and of simultaneous requests. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeDeps } from '../../../functions/deps.ts';
import { runJob } from '../../../lib/domain/worker/dispatch.ts';
import { OUTBOX_SHARDS, outboxPartition } from '../../../lib/store/row-keys/outbox.ts';
import type { Item } from '../../../lib/store/table/write.ts';
import { acts, auditOf, type Event } from '../../harness/audit-events.ts';
import { doneAs } from '../../harness/done.ts';
import { ownService } from '../../harness/own-service.ts';
import type { Answer, Service } from '../../harness/service.ts';
import { changeSettings } from '../../harness/settings.ts';
import { settled } from '../../harness/settled.ts';
import { storeOf } from '../../harness/world.ts';

const service = ownService();
let root: string;
type Person = Awaited<ReturnType<Service['user']>>;
let ada: Person;
let bob: Person;
let eve: Person;
beforeAll(async () => {
  root = service.rootToken;
  [ada, bob, eve] = [await service.user('ada'), await service.user('bob'), await service.user('eve')];
});

const call = (method: string, path: string, json?: unknown, token = ada.token): Promise<Answer> =>
  service.call(method, path, { token, ...(json === undefined ? {} : { json }) });
const done = (method: string, path: string, json?: unknown, token = ada.token) =>
  doneAs(service, token, method, path, json);

let names = 0;
async function group(parent?: number): Promise<number> {
  const path = `group-${++names}`;
  const json = { name: path, path, ...(parent === undefined ? {} : { parent_id: parent }) };
  return (await done('POST', '/groups', json)).body.id;
}
const project = async (parent?: number): Promise<number> =>
  (
    await done('POST', '/projects', {
      name: `project-${++names}`,
      ...(parent === undefined ? {} : { namespace_id: parent }),
    })
  ).body.id;

const ofGroup = (id: number) => auditOf(service, 'Group', id);
const ofProject = (id: number) => auditOf(service, 'Project', id);
const byAda = {
  author_name: 'ada',
  author_class: 'User',
  author_email: 'ada@example.com',
  ip_address: '127.0.0.1',
};

/** The outbox message of a scheduled deletion, as stored until its day. */
async function promised(kind: string, id: number): Promise<Item> {
  for (let shard = 0; shard < OUTBOX_SHARDS; shard++) {
    for await (const item of storeOf().table.queryAll({ partition: outboxPartition(shard) })) {
      const body = item['body'] as Item;
      if (item['type'] === 'deletion.due' && body['kind'] === kind && body['id'] === id) return item;
    }
  }
  throw new Error(`no deletion of ${kind} ${id} is promised`);
}

/** Its day has come. */
const due = ({ sk, type, body }: Item) =>
  runJob(
    { ...makeDeps(), now: () => new Date(Date.now() + 8 * 86_400_000) },
    { id: sk as string, type: type as string, body: body as Item },
  );

describe('audit events of scheduled deletions', () => {
  beforeAll(() => changeSettings(service, { delayed_project_deletion: true, delayed_group_deletion: true }));
  afterAll(() => changeSettings(service, { delayed_project_deletion: false, delayed_group_deletion: false }));

  test('record the request, restoration and final deletion of a project in the requester’s name', async () => {
    const id = await project(await group());
    await done('DELETE', `/projects/${id}`);
    await done('POST', `/projects/${id}/restore`);
    await done('DELETE', `/projects/${id}`);
    await done('DELETE', `/projects/${id}`);
    const job = await promised('project', id);
    await due(job);
    await due(job);
    const events = await ofProject(id);
    expect(acts(events)).toMatchObject([
      { remove: 'project', author_name: 'ada' },
      { custom_message: 'Project marked for deletion' },
      { custom_message: 'Project restored' },
      { custom_message: 'Project marked for deletion' },
      { add: 'project' },
    ]);
    expect(events[0]).toMatchObject({ author_id: ada.id, details: byAda });
  });

  test('record the deletion of a group with everything in it', async () => {
    const top = await group();
    const [inner, within] = [await group(top), await project(top)];
    const deep = await project(inner);
    await done('DELETE', `/groups/${top}`);
    await due(await promised('group', top));
    for (const id of [deep, within]) await expect.poll(async () => (await ofProject(id)).length).toBe(2);
    await expect.poll(async () => (await ofGroup(inner)).length).toBe(2);
    expect(acts(await ofGroup(top))).toMatchObject([
      { remove: 'group' },
      { custom_message: 'Group marked for deletion' },
      { add: 'group' },
    ]);
    for (const events of [await ofProject(deep), await ofProject(within)]) {
      expect(events).toMatchObject([
        { details: { remove: 'project', ...byAda } },
        { details: { add: 'project' } },
      ]);
    }
    expect(await ofGroup(inner)).toMatchObject([
      { author_id: ada.id, details: { remove: 'group', ...byAda } },
      { details: { add: 'group' } },
    ]);
  });

  test('record nothing more for a group that was restored', async () => {
    const id = await group();
    await done('DELETE', `/groups/${id}`);
    const job = await promised('group', id);
    await done('POST', `/groups/${id}/restore`);
    await due(job);
    expect(acts(await ofGroup(id))).toMatchObject([
      { custom_message: 'Group restored' },
      { custom_message: 'Group marked for deletion' },
      { add: 'group' },
    ]);
  });
});

test('deleting a group at once audits everything in it once, however often the job runs', async () => {
  const top = await group();
  const inner = await group(top);
  const deep = await project(inner);
  await done('DELETE', `/groups/${top}`);
  const job = { id: 'x', type: 'group.delete', body: { groupId: top } };
  await Promise.all([1, 2, 3].map(() => runJob(makeDeps(), job).catch(() => {})));
  // The host's own worker runs it too, and may be the one that does it.
  await settled();
  expect(acts(await ofGroup(inner))).toMatchObject([
    { remove: 'group', author_name: 'ada' },
    { add: 'group' },
  ]);
  expect(acts(await ofProject(deep))).toMatchObject([
    { remove: 'project', author_name: 'ada' },
    { add: 'project' },
  ]);
});

test('the owner added to a group that became top-level is audited as its new member', async () => {
  const top = await group();
  await done('POST', `/groups/${top}/members`, { user_id: bob.id, access_level: 50 });
  const path = `group-${++names}`;
  const json = { name: path, path, parent_id: top };
  const inner = (await done('POST', '/groups', json, bob.token)).body.id;
  await done('DELETE', `/groups/${inner}/members/${bob.id}`, undefined, bob.token);
  const before = await ofGroup(inner);
  await done('POST', `/groups/${inner}/transfer`, {});
  const left = acts(await ofGroup(inner)).slice(0, -before.length);
  expect(left).toHaveLength(2);
  expect(left).toContainEqual(
    expect.objectContaining({ add: 'user_access', as: 'Owner', target_id: ada.id, author_name: 'ada' }),
  );
  expect(left).toContainEqual(expect.objectContaining({ change: 'namespace', to: path }));
});

test('removal from a group is audited for every descendant, with the same author', async () => {
  const top = await group();
  const [inner, deep] = [await group(top), await project(top)];
  const bobs = { user_id: bob.id, access_level: 30 };
  for (const path of [`/groups/${top}`, `/groups/${inner}`, `/projects/${deep}`])
    await done('POST', `${path}/members`, bobs);
  await done('DELETE', `/groups/${top}/members/${bob.id}`);
  await expect.poll(async () => (await ofProject(deep)).length).toBe(3);
  for (const events of [await ofGroup(top), await ofGroup(inner), await ofProject(deep)]) {
    expect(events[0]).toMatchObject({
      author_id: ada.id,
      details: { remove: 'user_access', target_id: bob.id, target_details: 'bob', ...byAda },
    });
    expect(events).toHaveLength(3);
  }
});

test('an invitation is audited when it is accepted, with the accepting user as author', async () => {
  const id = await group();
  await done('POST', `/groups/${id}/invitations`, { email: 'late@example.com', access_level: 30 });
  expect(await ofGroup(id)).toHaveLength(1);
  const late = await service.user('late');
  await expect.poll(async () => (await ofGroup(id)).length).toBe(2);
  expect((await ofGroup(id))[0]).toMatchObject({
    author_id: late.id,
    details: {
      add: 'user_access',
      as: 'Developer',
      target_id: late.id,
      author_name: 'late',
      ip_address: null,
    },
  });
});

test('an access request is audited only when it is approved', async () => {
  const id = await project();
  await done('PUT', `/projects/${id}`, { visibility: 'public' });
  const before = await ofProject(id);
  await done('POST', `/projects/${id}/access_requests`, undefined, bob.token);
  await done('DELETE', `/projects/${id}/access_requests/${bob.id}`);
  await done('POST', `/projects/${id}/access_requests`, undefined, bob.token);
  expect(await ofProject(id)).toEqual(before);
  await Promise.all(
    [1, 2].map(() => call('PUT', `/projects/${id}/access_requests/${bob.id}/approve`, { access_level: 20 })),
  );
  const events = await ofProject(id);
  expect(events).toHaveLength(before.length + 1);
  expect(events[0]).toMatchObject({
    author_id: ada.id,
    details: { add: 'user_access', as: 'Reporter', target_id: bob.id },
  });
});

test('members imported from another project are audited one by one', async () => {
  const [from, to] = [await project(), await project()];
  for (const { id } of [bob, eve])
    await done('POST', `/projects/${from}/members`, { user_id: id, access_level: 30 });
  await done('POST', `/projects/${to}/import_project_members/${from}`);
  const added = (await ofProject(to)).filter(({ details }) => details['add'] === 'user_access');
  expect(added.map(({ details }) => details['target_id']).sort()).toEqual([bob.id, eve.id].sort());
});

test('forks and imported projects are audited as created projects, imports also in their group', async () => {
  const source = await project();
  await done('PUT', `/projects/${source}`, { visibility: 'public' });
  const fork = (await done('POST', `/projects/${source}/fork`, undefined, bob.token)).body;
  expect(await ofProject(fork.id)).toMatchObject([
    {
      author_id: bob.id,
      details: { add: 'project', target_details: fork.path_with_namespace, author_name: 'bob' },
    },
  ]);
  const into = await group();
  const json = { name: 'brought', namespace_id: into, import_url: 'https://example.com/brought.git' };
  const brought = (await done('POST', '/projects', json)).body;
  expect(acts(await ofProject(brought.id))).toMatchObject([{ add: 'project' }]);
  expect((await ofGroup(into))[0]!.details).toMatchObject({
    custom_message: 'Project imported',
    target_id: brought.id,
    target_type: 'Project',
    target_details: brought.path_with_namespace,
  });
});

test('audit events of sudo requests name the user and the administrator', async () => {
  const made = await service.call('POST', '/groups', {
    token: root,
    headers: { Sudo: 'ada' },
    json: { name: 'in her name', path: 'in-her-name' },
  });
  const [event] = await ofGroup(made.body.id);
  expect(event).toMatchObject({ author_id: ada.id, details: { ...byAda, impersonated_by: 'root' } });
});

describe('simultaneous requests are audited', () => {
  const twice = <T>(act: () => Promise<T>): Promise<T[]> => Promise.all([act(), act()]);
  const found = (events: readonly Event[], key: string) => events.filter(({ details }) => key in details);

  test('with one event when a membership is removed', async () => {
    for (const [path, of] of [
      [`/groups/${await group()}`, ofGroup],
      [`/projects/${await project()}`, ofProject],
    ] as const) {
      await done('POST', `${path}/members`, { user_id: bob.id, access_level: 30 });
      const answers = await twice(() => call('DELETE', `${path}/members/${bob.id}`));
      expect(answers.map(({ status }) => status).sort()).toEqual([204, 404]);
      expect(found(await of(Number(path.split('/')[2])), 'remove')).toHaveLength(1);
    }
  });

  test('with one event when two set the same level', async () => {
    for (const [path, of] of [
      [`/groups/${await group()}`, ofGroup],
      [`/projects/${await project()}`, ofProject],
    ] as const) {
      await done('POST', `${path}/members`, { user_id: bob.id, access_level: 20 });
      const answers = await twice(() => call('PUT', `${path}/members/${bob.id}`, { access_level: 40 }));
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      expect(acts(found(await of(Number(path.split('/')[2])), 'change'))).toMatchObject([
        { from: 'Reporter', to: 'Maintainer' },
      ]);
    }
  });

  test('with the previous level in each event when many set levels', async () => {
    const id = await project();
    await done('POST', `/projects/${id}/members`, { user_id: bob.id, access_level: 10 });
    const levels = [20, 30, 40];
    const answers = await Promise.all(
      levels.map((access_level) => call('PUT', `/projects/${id}/members/${bob.id}`, { access_level })),
    );
    const changed = answers.filter(({ status }) => status === 200).length;
    const changes = acts(found(await ofProject(id), 'change'));
    expect(changes).toHaveLength(changed);
    // One leads to the next, whatever their times are within a millisecond.
    const steps = new Map(changes.map(({ from, to }) => [from, to]));
    let level: unknown = 'Guest';
    for (let n = 0; n < changed; n++) level = steps.get(level);
    const now = (await call('GET', `/projects/${id}/members/${bob.id}`)).body.access_level;
    expect(level).toBe({ 20: 'Reporter', 30: 'Developer', 40: 'Maintainer' }[now as 20]);
  });

  test('with one event each for archiving a project and deleting a group', async () => {
    const id = await project();
    await twice(() => call('POST', `/projects/${id}/archive`));
    expect(found(await ofProject(id), 'custom_message')).toHaveLength(1);
    const gone = await group();
    await twice(() => call('DELETE', `/groups/${gone}`));
    expect(found(await ofGroup(gone), 'remove')).toHaveLength(1);
  });

  test('with consistent old and new names when two rename', async () => {
    const id = await project();
    const was = (await call('GET', `/projects/${id}`)).body.name;
    await Promise.all(['One', 'Other'].map((name) => call('PUT', `/projects/${id}`, { name })));
    const changes = acts(found(await ofProject(id), 'change'));
    const now = (await call('GET', `/projects/${id}`)).body.name;
    expect(changes).toHaveLength(2);
    const [first, second] = changes[0]!['from'] === was ? changes : changes.toReversed();
    expect([first!['from'], first!['to'], second!['to']]).toEqual([was, second!['from'], now]);
  });
});

test('audit events outlive everything they mention and keep the names of that time', async () => {
  const mallory = await service.user('mallory');
  const token = mallory.token;
  const made = (await done('POST', '/groups', { name: 'Short', path: 'short' }, token)).body;
  const inside = (await done('POST', '/projects', { name: 'brief', namespace_id: made.id }, token)).body;
  await done('POST', `/groups/${made.id}/members`, { user_id: ada.id, access_level: 50 }, token);
  const before = { group: await ofGroup(made.id), project: await ofProject(inside.id) };
  await done('PUT', `/users/${mallory.id}`, { name: 'Somebody else', username: 'else' }, root);
  await done('DELETE', `/users/${mallory.id}`, undefined, root);
  await done('DELETE', `/groups/${made.id}`);
  await expect.poll(() => storeOf().groups.getEvenDeleted(made.id)).toBeUndefined();
  await expect.poll(() => storeOf().users.get(mallory.id)).toBeUndefined();
  const [gone, ...rest] = await ofGroup(made.id);
  expect(gone!.details).toMatchObject({ remove: 'group', author_name: 'ada' });
  expect(rest).toEqual(before.group);
  expect((await ofProject(inside.id)).slice(1)).toEqual(before.project);
  expect(before.group.at(-1)).toMatchObject({
    author_id: mallory.id,
    details: { add: 'group', author_name: 'mallory', entity_path: 'short' },
  });
});
