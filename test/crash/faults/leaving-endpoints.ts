import { patchOf, person, scimGroup } from '../../harness/scim.ts';
import type { Operation } from './driver.ts';
import type { Fixtures } from './fixtures.ts';
import { endpoint, type Sent } from './sent.ts';

/** A member is removed from a group with a group and a project in it: whatever happens to the request, from all or from none. */
export const leavings: readonly Operation[] = [
  leaving('DELETE /groups/:id/members/:user_id', async (fixtures) => {
    const { token } = await fixtures.owner();
    const path = fixtures.fresh('left');
    const group = await fixtures.done('POST', '/groups', { token, json: { name: path, path } });
    const user = await fixtures.service.user(fixtures.fresh('leaver'));
    const json = { user_id: user.id, access_level: 20 };
    await fixtures.done('POST', `/groups/${group.id}/members`, { token, json });
    const state = await inside(fixtures, group.id, user.id);
    return { path: `/groups/${group.id}/members/${user.id}`, token, state };
  }),
  leaving('PATCH /api/scim/v2/groups/:group_path/Users/:uid', async (fixtures) => {
    const { token: owner } = await fixtures.owner();
    const { id, path, token, agent } = await scimGroup(fixtures.service, owner, fixtures.fresh('left'));
    const name = fixtures.fresh('leaver');
    await agent('POST', '/Users', person(name));
    const { userId } = (await fixtures.store.scimIdentities.get(id, `ext-${name}`))!;
    const state = await inside(fixtures, id, userId);
    const json = patchOf({ op: 'Replace', path: 'active', value: 'False' });
    return { path: `/api/scim/v2/groups/${path}/Users/ext-${name}`, token, bearer: true, json, state };
  }),
];

/** What is inside is recorded when it ends, which may be later. */
function leaving(name: string, subject: (fixtures: Fixtures) => Promise<Sent>): Operation {
  const { records: _, ...operation } = endpoint(name, subject);
  return operation;
}

/** @returns whether they are out of the group and all in it, as soon as no worker has anything to do */
async function inside(fixtures: Fixtures, groupId: number, userId: number): Promise<() => Promise<string>> {
  const { token } = await fixtures.owner();
  const made = (path: string, json: object) => fixtures.done('POST', path, { token, json });
  const sub = await made('/groups', { name: 'sub', path: 'sub', parent_id: groupId });
  const project = await made('/projects', { name: 'deep', namespace_id: sub.id });
  const json = { user_id: userId, access_level: 30 };
  for (const path of [`/groups/${sub.id}`, `/projects/${project.id}`]) await made(`${path}/members`, json);
  return async () => {
    await fixtures.settle();
    const members = await fixtures.store.members.ofUserIn(userId, [
      { kind: 'group', id: groupId },
      { kind: 'group', id: sub.id },
      { kind: 'project', id: project.id },
    ]);
    const path = `/projects/${project.id}/events?action=left`;
    const { length: told } = await fixtures.done('GET', path, { token });
    const is = members.map((member) => (member === undefined ? 'out' : 'in'));
    const found = `${is.join(', ')}, told ${told} times`;
    return { 'in, in, in, told 0 times': 'before', 'out, out, out, told 1 times': 'after' }[found] ?? found;
  };
}
