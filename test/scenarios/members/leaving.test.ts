/**
 * A member removed from a group has lost everything in it when the answer comes: here no worker runs by itself.
 * The workers do what a request had no time for.
 */
import { DeleteMessageCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { LEAVE_JOB } from '../../../lib/domain/members/cascade-removal.ts';
import type { MemberSource } from '../../../lib/records/members.ts';
import { awsClients } from '../../../lib/store/clients.ts';
import { memberKey } from '../../../lib/store/row-keys/members.ts';
import { OUTBOX_SHARDS, outboxPartition } from '../../../lib/store/row-keys/outbox.ts';
import { GitCli, withToken } from '../../clients/git-cli.ts';
import { type Interposed, interpose } from '../../harness/aws-calls.ts';
import { patchOf, person, type ScimGroup, scimGroup } from '../../harness/scim.ts';
import { type Service, startService } from '../../harness/service.ts';
import { storeOf } from '../../harness/world.ts';

let service: Service;
let owner: Awaited<ReturnType<Service['user']>>;
let elsewhere: { readonly id: number };
let befalls: Interposed = (_, send) => send();
const git = new GitCli();

beforeAll(async () => {
  service = await startService({ background: false });
  owner = await service.user('owner');
  elsewhere = await made('/projects', { name: 'elsewhere', visibility: 'private' });
  interpose(service.host, (call, send) => befalls(call, send));
});
afterEach(() => {
  befalls = (_, send) => send();
});
afterAll(async () => {
  await service.stop();
  git[Symbol.dispose]();
});

async function made(path: string, json: object) {
  const answer = await service.call('POST', path, { token: owner.token, json });
  if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

interface Person {
  readonly id: number;
  readonly uid: string;
  readonly token: string;
}

/** A group with a user who has every kind of membership in it, which also gives access to a project elsewhere. */
interface Ground {
  readonly group: ScimGroup;
  readonly who: Person;
  readonly sub: number;
  readonly projects: readonly { readonly id: number; readonly path: string }[];
  /** What the group, and a group in it, were invited to. */
  readonly invited: readonly number[];
}

let grounds = 0;
async function ground(): Promise<Ground> {
  const name = `ground-${++grounds}`;
  const group = await scimGroup(service, owner.token, name, { trusted_email_domains: ['corp.example'] });
  const who = await provisioned(group, `person-${grounds}`);
  const within = (namespace_id: number, path: string) =>
    made('/projects', {
      name: path,
      path,
      namespace_id,
      visibility: 'private',
      initialize_with_readme: true,
    });
  const private_ = { visibility: 'private' };
  const sub = await made('/groups', { name: 'sub', path: 'sub', parent_id: group.id, ...private_ });
  const deep = await made('/groups', { name: 'deep', path: 'deep', parent_id: sub.id, ...private_ });
  const projects = [await within(group.id, 'top'), await within(sub.id, 'mid'), await within(deep.id, 'low')];
  for (const path of [
    `/groups/${sub.id}`,
    `/groups/${deep.id}`,
    ...projects.map(({ id }) => `/projects/${id}`),
  ])
    await made(`${path}/members`, { user_id: who.id, access_level: 30 });
  const invited: number[] = [];
  for (const group_id of [group.id, sub.id]) {
    const { id } = await made('/projects', { name: `${name}-sees-${group_id}`, ...private_ });
    await made(`/projects/${id}/share`, { group_id, group_access: 30 });
    invited.push(id);
  }
  const named = projects.map(({ id, path_with_namespace }) => ({ id, path: path_with_namespace as string }));
  return { group, who, sub: sub.id, projects: named, invited };
}

async function provisioned(group: ScimGroup, name: string): Promise<Person> {
  const { status } = await group.agent('POST', '/Users', person(name));
  expect(status).toBe(201);
  const root = { token: service.rootToken };
  const [{ id }] = (await service.call('GET', `/users?username=${name}`, root)).body;
  const json = { name: 'own', scopes: ['api'] };
  const { token } = (await service.call('POST', `/users/${id}/personal_access_tokens`, { ...root, json }))
    .body;
  return { id, uid: `ext-${name}`, token };
}

/** The statuses that a user gets for all of these. */
async function statuses({ group, sub, projects, invited, who: { token } }: Ground): Promise<number[]> {
  const inside = projects.flatMap(({ id }) => [`/projects/${id}`, `/projects/${id}/repository/tree`]);
  const paths = [
    `/groups/${group.id}`,
    `/groups/${sub}`,
    ...inside,
    ...invited.map((id) => `/projects/${id}`),
  ];
  const answers = await Promise.all(paths.map((path) => service.call('GET', path, { token })));
  return answers.map(({ status }) => status);
}

const clones = ({ projects, who: { token } }: Ground, into: string): Promise<boolean[]> =>
  Promise.all(
    projects.map(async ({ path }, i) => {
      const url = withToken(service.url, path, token);
      const { code } = await git.run(['clone', '--quiet', url, `${into}-${i}`]);
      return code === 0;
    }),
  );

const levelIn = async (source: MemberSource, userId: number) =>
  (await storeOf().members.get(source, userId))?.accessLevel;

/** Runs the worker on the whole outbox. */
async function workersRun(): Promise<void> {
  await service.host.invoke('outbox-sweep', { olderThan: 0 });
  await workerRuns();
}

/** Outbox messages of a membership cascade. */
async function promised(userId: number): Promise<number> {
  let count = 0;
  for (let shard = 0; shard < OUTBOX_SHARDS; shard++) {
    for await (const { type, body } of storeOf().table.queryAll({ partition: outboxPartition(shard) }))
      if (type === LEAVE_JOB && (body as { userId: number }).userId === userId) count++;
  }
  return count;
}

/** The worker with all that was sent to it. */
async function workerRuns(): Promise<void> {
  const { sqs } = awsClients();
  const QueueUrl = process.env['QUEUE_URL_MAINTENANCE']!;
  for (;;) {
    const asked = new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 });
    const { Messages = [] } = await sqs.send(asked);
    if (Messages.length === 0) return;
    const Records = Messages.map(({ MessageId, Body }) => ({
      messageId: MessageId,
      body: Body,
      attributes: { ApproximateReceiveCount: '1' },
    }));
    expect(await service.host.invoke('maintenance', { Records })).toEqual({ batchItemFailures: [] });
    for (const { ReceiptHandle } of Messages)
      await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
  }
}

const INSIDE = 5;

describe('a user removed from a group', () => {
  test.each<[string, (ground: Ground) => ReturnType<Service['call']>]>([
    ['PATCH of the provider', ({ group, who }) => group.agent('PATCH', `/Users/${who.uid}`, inactive)],
    ['PUT of the provider', ({ group, who }) => group.agent('PUT', `/Users/${who.uid}`, { active: false })],
    ['DELETE of the provider', ({ group, who }) => group.agent('DELETE', `/Users/${who.uid}`)],
    [
      'DELETE /groups/:id/scim/:uid',
      ({ group, who }) => asOwner('DELETE', `/groups/${group.id}/scim/${who.uid}`),
    ],
    [
      'DELETE /groups/:id/members/:user_id',
      ({ group, who }) => asOwner('DELETE', `/groups/${group.id}/members/${who.id}`),
    ],
    [
      'DELETE /groups/:id/billable_members/:user_id',
      ({ group, who }) => asOwner('DELETE', `/groups/${group.id}/billable_members/${who.id}`),
    ],
    [
      'leaving of their own',
      ({ group, who }) =>
        service.call('DELETE', `/groups/${group.id}/members/${who.id}`, { token: who.token }),
    ],
  ])('by %s has no access to its descendants from the answer on', async (name, letGo) => {
    const there = await ground();
    const into = name.replaceAll(/\W/g, '');
    expect(new Set(await statuses(there))).toEqual(new Set([200]));
    expect(await clones(there, `${into}-before`)).toEqual([true, true, true]);
    expect((await letGo(there)).status).toBeLessThan(300);
    expect(new Set(await statuses(there))).toEqual(new Set([404]));
    expect(await clones(there, `${into}-after`)).toEqual([false, false, false]);
    expect(await service.call('GET', '/projects?membership=true', there.who)).toMatchObject({ body: [] });
    expect(await told(there)).toEqual({ audited: 1 + INSIDE, left: 3 });
    // The scheduled worker finds nothing to do.
    await workersRun();
    expect(await told(there)).toEqual({ audited: 1 + INSIDE, left: 3 });
  });

  test('who is a member of a descendant only loses that membership too', async () => {
    const there = await ground();
    await storeOf().members.remove({ kind: 'group', id: there.group.id }, there.who.id);
    expect((await there.group.agent('PATCH', `/Users/${there.who.uid}`, inactive)).status).toBe(204);
    expect(new Set(await statuses(there))).toEqual(new Set([404]));
    const billed = await ground();
    await storeOf().members.remove({ kind: 'group', id: billed.group.id }, billed.who.id);
    const path = `/groups/${billed.group.id}/billable_members/${billed.who.id}`;
    expect((await asOwner('DELETE', path)).status).toBe(204);
    expect(new Set(await statuses(billed))).toEqual(new Set([404]));
  });

  test('keeps memberships elsewhere, and those of descendants with skip_subresources', async () => {
    const there = await ground();
    await made(`/projects/${elsewhere.id}/members`, { user_id: there.who.id, access_level: 20 });
    const path = `/groups/${there.group.id}/members/${there.who.id}?skip_subresources=true`;
    expect((await asOwner('DELETE', path)).status).toBe(204);
    expect(await levelIn({ kind: 'group', id: there.sub }, there.who.id)).toBe(30);
    await there.group.agent('DELETE', `/Users/${there.who.uid}`);
    expect(await levelIn({ kind: 'group', id: there.sub }, there.who.id)).toBe(undefined);
    expect(await levelIn({ kind: 'project', id: elsewhere.id }, there.who.id)).toBe(20);
  });

  test('loses within half a minute a membership that the index showed late', async () => {
    const there = await ground();
    const source = { kind: 'group', id: there.sub } as const;
    const { members } = storeOf();
    const late = (await members.get(source, there.who.id))!;
    await members.remove(source, there.who.id);
    await there.group.agent('PATCH', `/Users/${there.who.uid}`, inactive);
    await members.add(late);
    await workersRun();
    expect(await levelIn(source, there.who.id)).toBe(undefined);
  });

  test('who was added again stays, however often the worker runs', async () => {
    const there = await ground();
    await there.group.agent('PATCH', `/Users/${there.who.uid}`, inactive);
    await there.group.agent(
      'PATCH',
      `/Users/${there.who.uid}`,
      patchOf({ op: 'Replace', path: 'active', value: true }),
    );
    await made(`/groups/${there.sub}/members`, { user_id: there.who.id, access_level: 30 });
    await workersRun();
    expect(await levelIn({ kind: 'group', id: there.sub }, there.who.id)).toBe(30);
    expect(await levelIn({ kind: 'group', id: there.group.id }, there.who.id)).toBe(10);
  });
});

test('memberships whose removal fails are removed by a worker, with the same answer and one event each', async () => {
  const there = await ground();
  let failed = 0;
  befalls = (call, send) => {
    const [taken] = /MEMBER#\S+/.exec(call.subject) ?? [];
    if (call.operation !== 'TransactWriteItems' || !call.subject.includes('PROJECT#') || taken === undefined)
      return send();
    failed++;
    return Promise.reject(
      Object.assign(new Error('down'), { name: 'InternalServerError', $fault: 'server' }),
    );
  };
  expect((await there.group.agent('PATCH', `/Users/${there.who.uid}`, inactive)).status).toBe(204);
  expect(failed).toBeGreaterThan(0);
  befalls = (_, send) => send();
  // Out of the groups, and so of the projects as far as they gave them.
  expect(await levelIn({ kind: 'group', id: there.sub }, there.who.id)).toBe(undefined);
  expect(await levelIn({ kind: 'project', id: there.projects[0]!.id }, there.who.id)).toBe(30);
  await workersRun();
  expect(new Set(await statuses(there))).toEqual(new Set([404]));
  expect(await told(there)).toEqual({ audited: 1 + INSIDE, left: 3 });
});

test('a member changed or added again during the removal ends up consistently in or out, with matching events', async () => {
  const there = await ground();
  const source = { kind: 'project', id: there.projects[0]!.id } as const;
  const { members } = storeOf();
  let met = 0;
  befalls = async (call, send) => {
    if (call.operation !== 'TransactWriteItems' || !call.subject.includes(`PROJECT#`) || met++ > 0)
      return send();
    // Between what was read and what is written.
    befalls = (_, next) => next();
    const was = (await members.get(source, there.who.id))!;
    await members.remove(source, there.who.id);
    await members.add({ ...was, createdAt: new Date(Date.now() + 1000).toISOString() });
    await members.change({ kind: 'project', id: there.projects[1]!.id }, there.who.id, { accessLevel: 40 });
    return send();
  };
  expect((await there.group.agent('DELETE', `/Users/${there.who.uid}`)).status).toBe(204);
  expect(met).toBe(1);
  expect(await levelIn(source, there.who.id)).toBe(30);
  expect(await levelIn({ kind: 'project', id: there.projects[1]!.id }, there.who.id)).toBe(undefined);
  expect(await levelIn({ kind: 'project', id: there.projects[2]!.id }, there.who.id)).toBe(undefined);
  expect(await told(there)).toEqual({ audited: INSIDE, left: 2 });
});

test('a group moved away during the removal keeps its owner, who is removed from the rest', async () => {
  const there = await ground();
  const source = { kind: 'group', id: there.sub } as const;
  await storeOf().members.change(source, there.who.id, { accessLevel: 50 });
  await storeOf().members.remove(source, owner.id);
  let met = 0;
  befalls = async (call, send) => {
    const ends = call.operation === 'TransactWriteItems' && call.subject.includes('MEMBER#');
    if (!ends || !call.subject.includes(memberKey(source, there.who.id).pk) || met++ > 0) return send();
    befalls = (_, next) => next();
    // Outside of all others it relies on the owner it has.
    const moved = await asOwner('POST', `/groups/${there.sub}/transfer`);
    expect([moved.status, moved.body.parent_id]).toEqual([201, null]);
    return send();
  };
  expect((await there.group.agent('DELETE', `/Users/${there.who.uid}`)).status).toBe(204);
  expect(met).toBe(1);
  await workersRun();
  expect(await levelIn(source, there.who.id)).toBe(50);
  expect(await levelIn({ kind: 'group', id: there.group.id }, there.who.id)).toBe(undefined);
  expect(await levelIn({ kind: 'project', id: there.projects[0]!.id }, there.who.id)).toBe(undefined);
});

test('the last owner of a descendant keeps the membership', async () => {
  const there = await ground();
  await storeOf().members.change({ kind: 'group', id: there.group.id }, there.who.id, { accessLevel: 50 });
  await storeOf().members.remove({ kind: 'group', id: there.group.id }, owner.id);
  expect((await there.group.agent('PATCH', `/Users/${there.who.uid}`, inactive)).status).toBe(409);
  expect(new Set(await statuses(there))).toEqual(new Set([200]));
  await workersRun();
  expect(new Set(await statuses(there))).toEqual(new Set([200]));
});

test('memberships that a hook of the instance hears of are removed together', async () => {
  const { group, who } = await ground();
  const root = { token: service.rootToken };
  const hook = await service.call('POST', '/hooks', { ...root, json: { url: 'https://hooks.example.com/' } });
  expect(hook.status).toBe(201);
  const { members, groups } = storeOf();
  const { id: _, createdAt: _c, ...model } = (await groups.get(group.id))!;
  const parent = (await groups.get(group.id))!;
  await Promise.all(
    Array.from({ length: 30 }, (_, i) =>
      groups.create({ ...model, name: `heard ${i}`, path: `heard-${i}` }, { ownerId: who.id, parent }),
    ),
  );
  expect((await group.agent('PATCH', `/Users/${who.uid}`, inactive)).status).toBe(204);
  const left: unknown[] = [];
  for await (const member of members.ofUser(who.id)) left.push(member);
  expect(left).toEqual([]);
  expect((await service.call('DELETE', `/hooks/${hook.body.id}`, root)).status).toBe(204);
});

test('a removal with many memberships removes five hundred in the request and the rest in the worker', async () => {
  const { group, who } = await ground();
  const { members, groups } = storeOf();
  const { id: _, createdAt: _c, ...model } = (await groups.get(group.id))!;
  const parent = (await groups.get(group.id))!;
  for (let i = 0; i < 600; i += 50)
    await Promise.all(
      Array.from({ length: 50 }, (_, k) =>
        groups.create(
          { ...model, name: `many ${i + k}`, path: `many-${i + k}` },
          { ownerId: who.id, parent },
        ),
      ),
    );
  const left = async () => {
    let count = 0;
    for await (const _ of members.ofUser(who.id)) count++;
    return count;
  };
  expect(await left()).toBe(1 + INSIDE + 600);
  expect((await group.agent('PATCH', `/Users/${who.uid}`, inactive)).status).toBe(204);
  expect(await left()).toBe(INSIDE + 600 - 500);
  await workerRuns();
  expect(await left()).toBe(0);
  // What the index shows late is still looked for.
  expect(await promised(who.id)).toBe(1);
  await workersRun();
  expect(await promised(who.id)).toBe(0);
});

const inactive = patchOf({ op: 'Replace', path: 'active', value: 'False' });

const asOwner = (method: string, path: string) => service.call(method, path, { token: owner.token });

/** How often their departures are told: in the audit of groups and projects, and in the feeds of projects. */
async function told({ group, sub, projects, who }: Ground): Promise<{ audited: number; left: number }> {
  const root = { token: service.rootToken };
  const events = async (path: string) =>
    (await service.call('GET', path, root)).body as { author_id: number }[];
  const { body: deep } = await service.call('GET', `/groups/${sub}/subgroups`, root);
  const places = [group.id, sub, deep[0].id]
    .map((id) => `/groups/${id}`)
    .concat(projects.map(({ id }) => `/projects/${id}`));
  const audited = await Promise.all(places.map((place) => events(`${place}/audit_events?per_page=100`)));
  const left = await Promise.all(projects.map(({ id }) => events(`/projects/${id}/events?action=left`)));
  type Event = { details: { remove?: string; target_id: number } };
  return {
    audited: (audited.flat() as unknown as Event[]).filter(
      ({ details }) => details.remove === 'user_access' && details.target_id === who.id,
    ).length,
    left: left.flat().filter(({ author_id }) => author_id === who.id).length,
  };
}
