import { Gitlab } from '@gitbeaker/rest';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../harness/service.ts';

let service: Service;
const clientOf = (token: string) => new Gitlab({ host: service.url, token });
type Client = ReturnType<typeof clientOf>;
let ada: Client;
let bob: Client;
let users: Record<'ada' | 'bob', { id: number; token: string }>;
beforeAll(async () => {
  service = await startService();
  users = { ada: await service.user('ada'), bob: await service.user('bob') };
  [ada, bob] = [clientOf(users.ada.token), clientOf(users.bob.token)];
});
afterAll(() => service.stop());

test('@gitbeaker/rest: Projects are starred and listed by stars', async () => {
  const project = await ada.Projects.create({ name: 'Bright', visibility: 'public' });
  expect(await bob.Projects.star(project.id)).toMatchObject({ id: project.id, star_count: 1 });
  expect(await ada.Projects.allStarrers(project.id)).toMatchObject([{ user: { username: 'bob' } }]);
  expect(await ada.Projects.allStarrers(project.id, { search: 'ada' })).toEqual([]);
  expect((await bob.Projects.all({ starred: true })).map(({ path }) => path)).toEqual(['bright']);
  expect((await ada.Users.allStarredProjects(users.bob.id)).map(({ path }) => path)).toEqual(['bright']);
  expect((await bob.Users.allProjects(users.ada.id)).map(({ path }) => path)).toEqual(['bright']);
  expect(await bob.Projects.unstar(project.id)).toMatchObject({ star_count: 0 });
  expect(await bob.Projects.all({ starred: true })).toEqual([]);
});

test('@gitbeaker/rest: Projects shared with a group give access to its members', async () => {
  const group = await ada.Groups.create('Guests', 'guests');
  await ada.GroupMembers.add(group.id, 40, { userId: users.bob.id });
  const project = await ada.Projects.create({ name: 'Shared', visibility: 'private' });
  await expect(bob.Projects.show(project.id)).rejects.toMatchObject({
    cause: { description: '404 Project Not Found' },
  });
  await ada.Projects.share(project.id, group.id, 20, { expiresAt: '2099-01-01' });
  expect(await bob.Projects.show(project.id, { statistics: true })).toMatchObject({
    shared_with_groups: [{ group_id: group.id, group_access_level: 20, expires_at: '2099-01-01' }],
    statistics: { commit_count: 0, repository_size: 0 },
  });
  expect((await bob.Projects.all({ membership: true })).map(({ path }) => path)).toEqual(['shared']);
  expect((await bob.Groups.allProjects(group.id)).map(({ path }) => path)).toEqual(['shared']);
  expect((await ada.Projects.allUsers(project.id)).map(({ username }) => username)).toEqual(['ada', 'bob']);
  const groups = await ada.Projects.allGroups(project.id, { withShared: true });
  expect(groups.map(({ full_path }) => full_path)).toEqual(['guests']);
  expect(await ada.Projects.showLanguages(project.id)).toEqual({});
  await ada.Projects.unshare(project.id, group.id);
  await expect(bob.Projects.show(project.id)).rejects.toMatchObject({
    cause: { description: '404 Project Not Found' },
  });
});
