/** From an audit event to the lines of the log: every event leads to the request that brought it about. */
import { beforeAll, expect, test } from 'vitest';
import { EXPIRY_JOB } from '../../../lib/domain/members/expiry.ts';
import { MAINTENANCE, message } from '../../../lib/store/outbox/outbox.ts';
import { auditOf, type Event } from '../../harness/audit-events.ts';
import { LogLines } from '../../harness/log-lines.ts';
import { ownService } from '../../harness/own-service.ts';
import type { Answer, Service } from '../../harness/service.ts';
import { expiredMember, storeOf } from '../../harness/world.ts';

const service = ownService();
const lines = LogLines.watch();
let owner: Awaited<ReturnType<Service['user']>>;
let member: Awaited<ReturnType<Service['user']>>;
beforeAll(async () => {
  [owner, member] = [await service.user('owner'), await service.user('member')];
});

/** A request and its id. */
async function ask(method: string, path: string, json?: unknown, headers: Record<string, string> = {}) {
  const token = headers['Sudo'] === undefined ? owner.token : service.rootToken;
  const options = { token, headers, ...(json ? { json } : {}) };
  const answer: Answer = await service.call(method, path, options);
  return { id: answer.headers.get('x-request-id')!, ...answer };
}
const ids = (events: readonly Event[]) => events.map(({ details }) => details['correlation_id']);

test('the audit event and the log line of a request carry its correlation id', async () => {
  const made = await ask('POST', '/groups', { name: 'Told', path: 'told' });
  const changed = await ask('PUT', `/groups/${made.body.id}`, { name: 'Named', path: 'moved' });
  const inTheirName = await ask('PUT', `/groups/${made.body.id}`, { name: 'Again' }, { Sudo: 'owner' });
  const json = { user_id: member.id, access_level: 30 };
  const plain = await service.call('POST', `/groups/${made.body.id}/members`, { token: owner.token, json });
  const own = plain.headers.get('x-request-id')!;
  const events = await auditOf(service, 'Group', made.body.id);
  expect(ids(events)).toEqual([own, inTheirName.id, changed.id, changed.id, made.id]);
  for (const [id, route] of [
    [made.id, '/groups'],
    [changed.id, '/groups/:id'],
    [own, '/groups/:id/members'],
  ] as const)
    expect(lines.of(id)).toContainEqual(
      expect.objectContaining({ message: 'request', route, status: expect.any(Number) }),
    );
});

test('audit events and log lines of the workers a request triggers carry its correlation id', async () => {
  const group = (await ask('POST', '/groups', { name: 'Whole', path: 'whole' })).body;
  const inner = (await ask('POST', '/groups', { name: 'Inner', path: 'inner', parent_id: group.id })).body;
  const project = (await ask('POST', '/projects', { name: 'Deep', namespace_id: inner.id })).body;
  const { id } = await ask('DELETE', `/groups/${group.id}`);
  const ended = async (kind: 'Group' | 'Project', of: number) =>
    (await auditOf(service, kind, of)).filter(({ details }) => 'remove' in details);
  for (const [kind, of] of [
    ['Group', group.id],
    ['Group', inner.id],
    ['Project', project.id],
  ] as const) {
    await expect.poll(() => ended(kind, of)).toHaveLength(1);
    expect(ids(await ended(kind, of))).toEqual([id]);
  }
  const told = await lines.until(id, (found) => found.some(({ job }) => job === 'group.delete'));
  expect(told).toContainEqual(expect.objectContaining({ message: 'job', job: 'group.delete' }));
});

test('refused attempts and downloads are audited with the correlation id of their request', async () => {
  const project = (await ask('POST', '/projects', { name: 'Held', initialize_with_readme: true })).body;
  const tokens = `/projects/${project.id}/access_tokens`;
  const refused = await ask('POST', tokens, {
    name: 'no',
    scopes: ['api'],

    expires_at: '2001-01-01',
  });
  expect(refused.status).toBe(400);
  const sent = await ask('GET', `/projects/${project.id}/repository/archive`);
  expect(sent.status).toBe(200);
  const events = await auditOf(service, 'Project', project.id);
  const about = (text: string) =>
    events.filter(({ details }) => String(details['custom_message']).startsWith(text));
  expect(ids(about('Attempted to create'))).toEqual([refused.id]);
  expect(ids(about('Repository Download'))).toEqual([sent.id]);
});

test('the X-Request-Id that a caller sent is not the correlation id of an audit event', async () => {
  const made = await ask('POST', '/groups', { name: 'Odd', path: 'odd' }, { 'X-Request-Id': 'chosen' });
  expect(made.id).toMatch(/^[0-9A-Z]{26}$/);
  expect(ids(await auditOf(service, 'Group', made.body.id))).toEqual([made.id]);
});

test('a job that no request triggered is audited and logged under the id of its message', async () => {
  const project = (await ask('POST', '/projects', { name: 'Ending' })).body.id;
  const store = storeOf();
  await expiredMember(store, project, member.id, 30);
  const source = { kind: 'project', id: project } as const;
  const { expiresAt } = (await store.members.getEvenExpired(source, member.id))!;
  const promise = message(MAINTENANCE, EXPIRY_JOB, { ...source, userId: member.id, expiresAt });
  await store.outbox.commit([], [promise]);
  await service.host.invoke('outbox-sweep', { olderThan: 0 });
  await lines.until(promise.id, (found) => found.some((line) => line['job'] === EXPIRY_JOB));
  const [event] = await auditOf(service, 'Project', project);
  expect(event).toMatchObject({
    author_id: -1,
    details: { remove: 'user_access', ip_address: null, correlation_id: promise.id },
  });
});

test('an operator’s command is audited under the id of its invocation', async () => {
  const { body: root } = await service.call('GET', '/user', { token: service.rootToken });
  const events = await auditOf(service, 'User', root.id);
  expect(events.length).toBeGreaterThan(1);
  for (const id of ids(events)) expect(id).toMatch(/^[0-9a-f-]{36}$/);
});

test('only administrators see correlation ids of audit events, group owners do not', async () => {
  const group = await ask('POST', '/groups', { name: 'Run', path: 'run' });
  for (const path of [
    `/groups/${group.body.id}/audit_events`,
    `/groups/${group.body.id}/audit_events/${(await auditOf(service, 'Group', group.body.id))[0]!.id}`,
  ]) {
    const read = async (token: string) => JSON.stringify((await service.call('GET', path, { token })).body);
    expect(await read(service.rootToken)).toContain(`"correlation_id":"${group.id}"`);
    expect(await read(owner.token)).not.toContain('correlation_id');
    expect(await read(owner.token)).not.toContain(group.id);
  }
});
