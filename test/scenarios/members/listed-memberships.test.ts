/** What a list of projects tells of its reader's memberships, which it looks up in an index that may be late. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../../harness/service.ts';

let service: Service;
let owner: Awaited<ReturnType<Service['user']>>;
let member: Awaited<ReturnType<Service['user']>>;

beforeAll(async () => {
  service = await startService();
  owner = await service.user('owner');
  member = await service.user('member');
});
afterEach(() => {
  service.host.dynamo.faults.indexDelayMs = 0;
});
afterAll(() => service.stop());

async function ask(who: { token: string }, method: string, path: string, json?: object) {
  const answer = await service.call(method, path, { token: who.token, ...(json && { json }) });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status}`);
  return answer.body;
}
const join = (path: string, level: number) =>
  ask(owner, 'POST', `${path}/members`, { user_id: member.id, access_level: level });
const listed = async (
  query = '',
): Promise<Map<string, { project_access: unknown; group_access: unknown }>> => {
  const rows = await ask(member, 'GET', `/projects?per_page=100${query}`);
  return new Map(rows.map(({ path, permissions }: Record<string, never>) => [path, permissions]));
};

test('levels and notification levels are those of the project and of its groups', async () => {
  const group = await ask(owner, 'POST', '/groups', { name: 'team', path: 'team' });
  for (const name of ['one', 'two', 'three'])
    await ask(owner, 'POST', '/projects', { name, namespace_id: group.id });
  await join(`/groups/${group.id}`, 20);
  await join('/projects/team%2Ftwo', 40);
  await ask(member, 'PUT', '/projects/team%2Fthree/notification_settings', { level: 'watch' });
  await ask(member, 'PUT', `/groups/${group.id}/notification_settings`, { level: 'disabled' });
  const permissions = await listed('&membership=true');
  const byGroup = { access_level: 20, notification_level: 0 };
  expect(permissions).toEqual(
    new Map([
      ['three', { project_access: null, group_access: byGroup }],
      ['two', { project_access: { access_level: 40, notification_level: 3 }, group_access: byGroup }],
      ['one', { project_access: null, group_access: byGroup }],
    ]),
  );
  for (const [path, told] of permissions)
    expect((await ask(member, 'GET', `/projects/team%2F${path}`)).permissions).toEqual(told);
});

test('a membership that has ended shows nothing, although the index still has it', async () => {
  const { id } = await ask(owner, 'POST', '/projects', { name: 'left', visibility: 'private' });
  await join(`/projects/${id}`, 30);
  const group = await ask(owner, 'POST', '/groups', { name: 'gone', path: 'gone' });
  await ask(owner, 'POST', '/projects', { name: 'below', namespace_id: group.id });
  await join(`/groups/${group.id}`, 30);
  expect([...(await listed()).keys()]).toEqual(expect.arrayContaining(['left', 'below']));
  service.host.dynamo.faults.indexDelayMs = 60_000;
  await ask(owner, 'DELETE', `/projects/${id}/members/${member.id}`);
  await ask(owner, 'DELETE', `/groups/${group.id}/members/${member.id}`);
  for (const query of ['', '&membership=true', '&search=left', '&search=below'])
    for (const path of ['left', 'below']) expect((await listed(query)).has(path)).toBe(false);
});

test('the former owner of a project sees it with what the group gives, although the index still has it as theirs', async () => {
  const { id } = await ask(member, 'POST', '/projects', { name: 'given', visibility: 'private' });
  const group = await ask(owner, 'POST', '/groups', { name: 'taker', path: 'taker' });
  await join(`/groups/${group.id}`, 40);
  service.host.dynamo.faults.indexDelayMs = 60_000;
  await ask(member, 'PUT', `/projects/${id}/transfer`, { namespace: 'taker' });
  expect((await listed('&owned=true')).has('given')).toBe(false);
  expect((await listed('&membership=true')).get('given')?.group_access).toMatchObject({
    access_level: 40,
  });
});

test('one who is in more projects than are looked up at once sees all of them with their levels', async () => {
  const busy = await service.user('busy');
  const paths = Array.from({ length: 201 }, (_, i) => `many-${i}`);
  const queue = [...paths];
  const make = async () => {
    for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
      const { id } = await ask(owner, 'POST', '/projects', { name: path, visibility: 'private' });
      await ask(owner, 'POST', `/projects/${id}/members`, { user_id: busy.id, access_level: 30 });
    }
  };
  await Promise.all([make(), make(), make(), make()]);
  const pages = await Promise.all(
    [1, 2, 3].map((page) => ask(busy, 'GET', `/projects?per_page=100&page=${page}`)),
  );
  const levels = pages.flat().map(({ permissions }) => permissions.project_access?.access_level);
  expect(levels).toEqual(paths.map(() => 30));
});
