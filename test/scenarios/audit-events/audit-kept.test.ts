/** What was recorded is there for good: nothing changes it, nothing takes it away, and nobody comes into it. */
import { beforeAll, expect, test } from 'vitest';
import { AUDITED_KINDS } from '../../../lib/store/audit-events/audit-events.ts';
import { auditListClass } from '../../../lib/store/row-keys/audit-events.ts';
import { listPartitions } from '../../../lib/store/row-keys/lists.ts';
import type { Item } from '../../../lib/store/table/write.ts';
import { auditOf } from '../../harness/audit-events.ts';
import { doneAs } from '../../harness/done.ts';
import { newSshKey } from '../../harness/keys.ts';
import { ownService } from '../../harness/own-service.ts';
import type { Service } from '../../harness/service.ts';
import { storeOf } from '../../harness/world.ts';

const service = ownService();
type Person = Awaited<ReturnType<Service['user']>>;
let ada: Person;
let eve: Person;
beforeAll(async () => {
  [ada, eve] = [await service.user('ada'), await service.user('eve')];
});

const done = (method: string, path: string, json?: unknown, token = ada.token) =>
  doneAs(service, token, method, path, json);

/** Every row of the audit, as the table holds it. */
async function rows(): Promise<Map<string, Item>> {
  const { table } = storeOf();
  const found = new Map<string, Item>();
  for (const partition of AUDITED_KINDS.flatMap((kind) => listPartitions(auditListClass(kind))))
    for await (const { pk, sk } of table.queryAll({ index: 'byUpdated', partition })) {
      const row = await table.get({ pk, sk } as { pk: string; sk: string });
      found.set(`${pk} ${sk}`, row!);
    }
  return found;
}

const gone = (what: () => Promise<unknown>) => expect.poll(what).toBeUndefined();

test('audit events stay unchanged when everything they mention is renamed and then deleted', async () => {
  const mallory = await service.user('mallory');
  const as = (method: string, path: string, json?: unknown) => done(method, path, json, mallory.token);
  const group = (await as('POST', '/groups', { name: 'Short', path: 'short' })).body.id;
  const project = (await as('POST', '/projects', { name: 'brief', namespace_id: group })).body.id;
  const own = (await as('POST', '/projects', { name: 'own', initialize_with_readme: true })).body.id;
  await as('POST', `/groups/${group}/members`, { user_id: ada.id, access_level: 50 });
  for (const path of [`/groups/${group}`, `/projects/${project}`]) {
    await as('POST', `${path}/members`, { user_id: eve.id, access_level: 20 });
    await as('POST', `${path}/deploy_tokens`, { name: 'Reader', scopes: ['read_repository'] });
    await as('POST', `${path}/access_tokens`, { name: 'Robot', scopes: ['api'] });
  }
  await as('POST', `/projects/${own}/protected_branches`, { name: 'release/*' });
  await as('POST', '/user/keys', { title: 'Laptop', key: newSshKey() });
  await as('POST', '/user/emails', { email: 'second@example.com' });
  await done(
    'POST',
    `/users/${mallory.id}/impersonation_tokens`,
    { name: 'As them', scopes: ['api'] },
    service.rootToken,
  );
  await done('PUT', '/application/settings', { default_projects_limit: 77 }, service.rootToken);
  const before = await rows();
  expect(before.size).toBeGreaterThan(20);
  for (const row of before.values()) expect(row).not.toHaveProperty('ttl');

  await done('PUT', `/users/${mallory.id}`, { name: 'Other', username: 'other' }, service.rootToken);
  await done('PUT', `/groups/${group}`, { name: 'Renamed', path: 'renamed', visibility: 'public' });
  await done('PUT', `/projects/${project}`, { name: 'Renamed', path: 'renamed' });
  await done('DELETE', `/groups/${group}/members/${eve.id}`);
  await done('DELETE', `/users/${mallory.id}?hard_delete=true`, undefined, service.rootToken);
  await done('DELETE', `/groups/${group}`);
  const { groups, projects, users } = storeOf();
  await gone(() => users.get(mallory.id));
  for (const id of [project, own]) await gone(() => projects.getEvenDeleted(id));
  await gone(() => groups.getEvenDeleted(group));

  const after = await rows();
  expect(after.size).toBeGreaterThan(before.size + 6);
  for (const [key, row] of before) expect(after.get(key)).toEqual(row);
});

test('the new owner of a deleted project’s path cannot read its audit events; administrators can, by id', async () => {
  const make = async ({ token }: Person) => {
    const group = (await done('POST', '/groups', { name: 'Taken', path: 'taken' }, token)).body.id;
    const json = { name: 'same', namespace_id: group };
    return { group, project: (await done('POST', '/projects', json, token)).body.id };
  };
  const old = await make(ada);
  await done('DELETE', `/groups/${old.group}`);
  await gone(() => storeOf().groups.getEvenDeleted(old.group));
  const mine = await make(eve);
  for (const [kind, place, path] of [
    ['Group', 'group', '/groups/taken'],
    ['Project', 'project', `/projects/${encodeURIComponent('taken/same')}`],
  ] as const) {
    const { body: events } = await done('GET', `${path}/audit_events`, undefined, eve.token);
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({ author_id: eve.id, entity_id: mine[place] });
    const kept = await auditOf(service, kind, old[place]);
    expect(kept).toMatchObject([{ details: { remove: place } }, { details: { add: place } }]);
    for (const { id } of kept)
      expect((await service.call('GET', `${path}/audit_events/${id}`, { token: eve.token })).status).toBe(
        404,
      );
    const byNumber = `/${place}s/${old[place]}/audit_events`;
    for (const token of [ada.token, eve.token, service.rootToken])
      expect((await service.call('GET', byNumber, { token })).status).toBe(404);
  }
});

test('the new owner of a deleted user’s username is not shown as the author of old audit events', async () => {
  const first = await service.user('heir');
  const { id } = (await done('POST', '/groups', { name: 'Left', path: 'left' })).body;
  const made = async (who: Person, name: string) => {
    await done('POST', `/groups/${id}/members`, { user_id: who.id, access_level: 30 });
    const own = (await done('POST', '/projects', { name }, who.token)).body.id;
    await done('POST', `/projects/${own}/share`, { group_id: id, group_access: 10 }, who.token);
  };
  await made(first, 'one');
  await done('DELETE', `/users/${first.id}`, undefined, service.rootToken);
  await gone(() => storeOf().users.get(first.id));
  const second = await service.user('heir', { email: 'heir-again@example.com' });
  await made(second, 'two');
  const { body } = await done('GET', `/groups/${id}/audit_events`, undefined, second.token);
  expect(body).toMatchObject([{ author_id: second.id, details: { target_details: 'heir/two' } }]);
  const all = await auditOf(service, 'Group', id);
  expect(all.find(({ details }) => details['target_details'] === 'heir/one')).toMatchObject({
    author_id: first.id,
    details: { author_name: 'heir' },
  });
});
