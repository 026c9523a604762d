/** Projects that a user has pushed to or commented in, as different callers see them. */
import { beforeAll, expect, test } from 'vitest';
import { doneAs } from '../../harness/done.ts';
import { ownWorld } from '../../harness/own-world.ts';
import type { Who } from '../../harness/world.ts';

const { service, world, as, someone } = ownWorld();

beforeAll(async () => {
  const commit = { branch: 'main', commit_message: 'Begin', content: 'one\n' };
  const done = (who: Who, path: string, json: object) =>
    doneAs(service, world.tokens[who]!, 'POST', path, json);
  for (const visibility of ['public', 'internal', 'private'])
    await done('owner', `/projects/${world.ids[visibility]}/repository/files/a.txt`, commit);
  const code = (visibility: string) => `/projects/${world.ids[visibility]}/repository`;
  await done('developer', `${code('private')}/branches`, { branch: 'mine', ref: 'main' });
  const [{ id }] = (await as('owner', 'GET', `${code('public')}/commits`)).body;
  await done('developer', `${code('public')}/commits/${id}/comments`, { note: 'Look' });
  const own = await done('developer', '/projects', { name: 'own', initialize_with_readme: true });
  await done('developer', `/projects/${own.body.id}/repository/branches`, { branch: 'x', ref: 'main' });
});

const names = async (who: Who, query = '') => {
  const { body } = await as(who, 'GET', `/users/developer/contributed_projects${query}`);
  return body.map(({ path }: { path: string }) => path).join(' ');
};

test.each<[Who, string, string]>([
  ['owner', '', 'private-thing public-thing'],
  ['developer', '?order_by=name&sort=desc', 'public-thing private-thing'],
  ['administrator', '?simple=true', 'private-thing public-thing'],
  ['stranger', '', 'public-thing'],
  ['anonymous', '', 'public-thing'],
  ['owner', '?search=publ', 'public-thing'],
  ['stranger', '?search=private', ''],
  ['guest', '?visibility=private&membership=true', 'private-thing'],
])('%s asking %s sees: %s', async (who, query, expected) => {
  await expect.poll(() => names(who, query)).toBe(expected);
});

test('users without contributions have none, unknown users are 404, private profiles tell nothing', async () => {
  expect((await as('owner', 'GET', '/users/guest/contributed_projects')).body).toEqual([]);
  expect(await as('owner', 'GET', '/users/nobody/contributed_projects')).toMatchObject({
    status: 404,
    body: { message: '404 User Not Found' },
  });
  const hidden = await someone({ private_profile: true });
  const made = await as('owner', 'POST', '/projects', {
    name: 'open to all',
    visibility: 'public',
    initialize_with_readme: true,
  });
  await as('owner', 'POST', `/projects/${made.body.id}/members`, { user_id: hidden.id, access_level: 30 });
  const branch = { branch: 'hers', ref: 'main' };
  await doneAs(service, hidden.token, 'POST', `/projects/${made.body.id}/repository/branches`, branch);
  const path = `/users/${hidden.username}/contributed_projects`;
  const own = async () => (await service.call('GET', path, { token: hidden.token })).body.length;
  await expect.poll(own).toBe(1);
  expect((await as('stranger', 'GET', path)).body).toEqual([]);
});
