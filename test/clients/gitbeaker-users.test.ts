/** The life of accounts through a client library. */
import { Gitlab } from '@gitbeaker/rest';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../harness/service.ts';

let service: Service;
const clientOf = (token: string) => new Gitlab({ host: service.url, token });
let root: ReturnType<typeof clientOf>;
beforeAll(async () => {
  service = await startService();
  root = clientOf(service.rootToken);
});
afterAll(() => service.stop());

test('@gitbeaker/rest: Users are changed, renamed and found', async () => {
  const { id, token } = await service.user('ada');
  await clientOf(token).Projects.create({ name: 'engine' });
  const changed = await root.Users.edit(id, {
    name: 'Ada L.',
    username: 'countess',
    bio: 'engines',
    provider: 'github',
    email: 'countess@example.com',
    // The library sends this as a form, and names in forms as they are.
    ...{ extern_uid: '1815', skip_reconfirmation: true },
  });
  expect(changed).toMatchObject({ name: 'Ada L.', username: 'countess', bio: 'engines' });
  expect((await root.Users.all({ search: 'countess@example.com' })).map((user) => user.id)).toEqual([id]);
  expect((await root.Users.all({ externUid: '1815', provider: 'github' })).map((user) => user.id)).toEqual([
    id,
  ]);
  expect((await clientOf(token).Projects.show('ada/engine')).path_with_namespace).toBe('countess/engine');
  await root.Users.removeAuthenticationIdentity(id, 'github');
  expect((await root.Users.show(id)).identities).toEqual([]);
});

test('@gitbeaker/rest: Users are blocked and unblocked', async () => {
  const { id, token } = await service.user('bob');
  const bob = clientOf(token);
  await root.Users.block(id);
  await expect(bob.Users.showCurrentUser()).rejects.toThrow(/blocked/);
  expect((await root.Users.all({ blocked: true })).map(({ username }) => username)).toEqual(['bob']);
  await root.Users.unblock(id);
  await root.Users.ban(id);
  await expect(bob.Users.showCurrentUser()).rejects.toThrow(/blocked/);
  await root.Users.unban(id);
  expect(await bob.Users.showCurrentUser()).toMatchObject({ username: 'bob', state: 'active' });
  await expect(root.Users.deactivate(id)).rejects.toThrow(/active in the past 90 days/);
  await expect(root.Users.approve(id)).rejects.toThrow(/not pending approval/);
});

test('@gitbeaker/rest: Users follow each other and set a status', async () => {
  const [cy, di] = [await service.user('cy'), await service.user('di')];
  const [cyrus, diana] = [clientOf(cy.token), clientOf(di.token)];
  expect(await cyrus.Users.follow(di.id)).toMatchObject({ username: 'di' });
  expect((await diana.Users.allFollowers(di.id)).map(({ username }) => username)).toEqual(['cy']);
  expect((await diana.Users.allFollowing(cy.id)).map(({ username }) => username)).toEqual(['di']);
  expect(await diana.Users.show(di.id)).toMatchObject({ followers: 1, following: 0 });
  await cyrus.Users.unfollow(di.id);
  expect(await diana.Users.allFollowers(di.id)).toEqual([]);

  const status = { emoji: 'coffee', message: 'break' };
  expect(await cyrus.Users.editStatus({ ...status, clearStatusAfter: '1_day' })).toMatchObject(status);
  expect(await diana.Users.showStatus({ iDOrUsername: cy.id })).toMatchObject(status);
  expect(await cyrus.Users.editCurrentUserPreferences(true, false)).toMatchObject({
    view_diffs_file_by_file: true,
    show_whitespace_in_diffs: false,
  });
  expect(await cyrus.Users.showCurrentUserPreferences()).toMatchObject({ view_diffs_file_by_file: true });
  expect(await cyrus.Users.showCount()).toMatchObject({ todos: 0 });
});

test('@gitbeaker/rest: Users are deleted, and their content belongs to the ghost', async () => {
  const [owner, leaver] = [await service.user('owner'), await service.user('leaver')];
  const theirs = clientOf(owner.token);
  const { id } = await theirs.Projects.create({ name: 'kept', initializeWithReadme: true });
  const { id: sha } = await theirs.Commits.create(id, 'main', 'First', [
    { action: 'create', filePath: 'a.txt', content: 'a' },
  ]);
  await theirs.ProjectMembers.add(id, 30, { userId: leaver.id });
  await clientOf(leaver.token).Commits.createComment(id, sha, 'was here');
  expect(await root.Users.allMemberships(leaver.id)).toMatchObject([
    { source_id: id, source_type: 'Project', access_level: 30 },
  ]);
  const active = await root.Users.allActivities({ from: '2020-01-01' });
  expect(active.map(({ username }) => username)).toContain('leaver');
  await root.Users.remove(leaver.id);
  await expect(clientOf(leaver.token).Users.showCurrentUser()).rejects.toThrow(/Unauthorized/);
  const authors = async () =>
    (await theirs.Commits.allComments(id, sha)).map(
      ({ author }) => (author as { username: string }).username,
    );
  await expect.poll(authors).toEqual(['ghost']);
});
