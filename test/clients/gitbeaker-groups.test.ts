/** Groups, their people and what is noted on them, and finding all of it, through a client library. */
import { Gitlab } from '@gitbeaker/rest';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Service, startService } from '../harness/service.ts';

let service: Service;
const clientOf = (token: string) => new Gitlab({ host: service.url, token });
type Client = ReturnType<typeof clientOf>;
let root: Client;
let ada: Client;
let bob: Client;
let ids: Record<'ada' | 'bob', number>;
beforeAll(async () => {
  vi.stubEnv('DELETION_DELAY_DAYS', '7');
  service = await startService();
  const [one, two] = [await service.user('ada'), await service.user('bob')];
  ids = { ada: one.id, bob: two.id };
  [root, ada, bob] = [clientOf(service.rootToken), clientOf(one.token), clientOf(two.token)];
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await service.stop();
});

/** A tree of three, the last of which is `top/mid/low`. */
async function tree(top: string) {
  const outer = await ada.Groups.create(top, top, { visibility: 'internal' });
  const middle = await ada.Groups.create('Mid', 'mid', { parentId: outer.id });
  const inner = await ada.Groups.create('Low', 'low', { parentId: middle.id });
  return { outer, middle, inner };
}
const paths = (listed: readonly { full_path?: unknown }[]) => listed.map(({ full_path }) => full_path);
const refusal = (description: string) => ({ cause: { description } });

test('@gitbeaker/rest: Groups are created, listed, shown and changed', async () => {
  const { outer, middle, inner } = await tree('tree');
  const searched = async () => paths(await ada.Groups.search('tree'));
  await expect.poll(searched).toEqual(['tree']);
  expect(paths(await ada.Groups.all({ owned: true, search: 'tree' }))).toEqual(['tree']);
  expect(paths(await ada.Groups.all({ topLevelOnly: true, skipGroups: [outer.id] }))).toEqual([]);
  expect(paths(await ada.Groups.allSubgroups(outer.id))).toEqual(['tree/mid']);
  expect(paths(await ada.Groups.allDescendantGroups('tree', { orderBy: 'id', sort: 'desc' }))).toEqual([
    'tree/mid/low',
    'tree/mid',
  ]);
  await ada.Projects.create({ name: 'Leaf', namespaceId: inner.id });
  const leaves = await ada.Groups.allProjects(outer.id, { includeSubgroups: true, simple: true });
  expect(leaves.map(({ path_with_namespace }) => path_with_namespace)).toEqual(['tree/mid/low/leaf']);
  expect(await ada.Groups.edit(middle.id, { name: 'Middle', description: 'between' })).toMatchObject({
    full_name: 'tree / Middle',
    description: 'between',
  });
  expect(await ada.Groups.show(inner.id, { withProjects: false })).toMatchObject({ parent_id: middle.id });
  await expect(bob.Groups.show(inner.id)).rejects.toMatchObject(refusal('404 Group Not Found'));
  await ada.Groups.transfer(inner.id, {});
  expect(await ada.Groups.show('low')).toMatchObject({ id: inner.id, parent_id: null });
  await ada.Groups.remove(inner.id);
  const waiting = await ada.Groups.show(inner.id);
  expect(waiting).toMatchObject({ marked_for_deletion_on: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) });
  expect(await ada.Groups.restore(inner.id)).toMatchObject({ path: 'low', marked_for_deletion_on: null });
});

test('@gitbeaker/rest: Groups are shared with groups and projects', async () => {
  const [guests, home] = [
    await ada.Groups.create('Guests', 'guests'),
    await ada.Groups.create('Home', 'home'),
  ];
  await ada.GroupMembers.add(guests.id, 30, { userId: ids.bob });
  const shared = await ada.Groups.share(home.id, guests.id, 20, { expiresAt: '2099-01-01' });
  expect(shared).toMatchObject({ shared_with_groups: [{ group_id: guests.id, group_access_level: 20 }] });
  expect(await bob.Groups.show(home.id)).toMatchObject({ path: 'home' });
  await ada.Groups.unshare(home.id, guests.id, {});
  await expect(bob.Groups.show(home.id)).rejects.toMatchObject(refusal('404 Group Not Found'));
  const { id } = await ada.Projects.create({ name: 'Lent' });
  await ada.Projects.share(id, guests.id, 30);
  expect((await bob.Groups.allSharedProjects(guests.id)).map(({ path }) => path)).toEqual(['lent']);
  expect(await bob.Groups.allProjects(guests.id, { withShared: false })).toEqual([]);
});

test('@gitbeaker/rest: GroupMembers, direct and inherited', async () => {
  const { outer, middle } = await tree('members');
  const added = await ada.GroupMembers.add(outer.id, 20, { userId: ids.bob, expiresAt: '2099-01-01' });
  expect(added).toMatchObject({ username: 'bob', access_level: 20, expires_at: '2099-01-01' });
  const names = (members: readonly { username: string }[]) => members.map(({ username }) => username).sort();
  expect(names(await ada.GroupMembers.all(outer.id, { query: 'bo' }))).toEqual(['bob']);
  expect(names(await ada.GroupMembers.all(middle.id))).toEqual(['ada']);
  expect(names(await ada.GroupMembers.all(middle.id, { includeInherited: true }))).toEqual(['ada', 'bob']);
  expect(await ada.GroupMembers.show(outer.id, ids.bob)).toMatchObject({ access_level: 20 });
  await expect(ada.GroupMembers.show(middle.id, ids.bob)).rejects.toMatchObject(refusal('404 Not found'));
  expect(await ada.GroupMembers.show(middle.id, ids.bob, { includeInherited: true })).toMatchObject({
    access_level: 20,
  });
  expect(await ada.GroupMembers.edit(outer.id, ids.bob, 50)).toMatchObject({ access_level: 50 });
  await bob.GroupMembers.remove(outer.id, ids.ada);
  await expect(bob.GroupMembers.remove(outer.id, ids.bob)).rejects.toThrow(/Forbidden/);
});

test('@gitbeaker/rest: Projects import members, and list groups and users', async () => {
  const [from, to] = [await ada.Projects.create({ name: 'From' }), await ada.Projects.create({ name: 'To' })];
  await ada.ProjectMembers.add(from.id, 30, { userId: ids.bob });
  expect(await ada.Projects.importProjectMembers(to.id, from.id)).toMatchObject({ status: 'success' });
  expect(await bob.ProjectMembers.all(to.id, { includeInherited: true })).toHaveLength(2);
  expect(await root.Projects.allStoragePaths(to.id)).toMatchObject({ project_id: to.id });
  const found = async () => (await bob.Projects.search('from')).map(({ id }) => id);
  await expect.poll(found).toEqual([from.id]);
});

test('@gitbeaker/rest: Users’ memberships are counted, and sign-ups rejected', async () => {
  const { id, token } = await service.user('dora');
  const dora = clientOf(token);
  await dora.Groups.create('Own', 'doras');
  expect(await dora.Users.showAssociationsCount(id)).toMatchObject({ groups_count: 1, projects_count: 0 });
  await expect(bob.Users.showAssociationsCount(id)).rejects.toThrow(/Forbidden/);
  await expect(root.Users.activate(id)).resolves.toBeDefined();
  await expect(root.Users.reject(id)).rejects.toThrow(/does not have a pending request/);
});

test('@gitbeaker/rest: CustomAttributes of groups, projects and users, and in list filters', async () => {
  const group = await ada.Groups.create('Noted', 'noted');
  const project = await ada.Projects.create({ name: 'Noted' });
  for (const [attributes, id] of [
    [root.GroupCustomAttributes, group.id],
    [root.ProjectCustomAttributes, project.id],
    [root.UserCustomAttributes, ids.ada],
  ] as const) {
    expect(await attributes.set(id, 'team', 'blue')).toEqual({ key: 'team', value: 'blue' });
    await attributes.set(id, 'gone', 'soon');
    expect(await attributes.show(id, 'team')).toEqual({ key: 'team', value: 'blue' });
    await attributes.remove(id, 'gone');
    expect(await attributes.all(id)).toEqual([{ key: 'team', value: 'blue' }]);
  }
  await expect(ada.GroupCustomAttributes.all(group.id)).rejects.toThrow(/Forbidden/);
  const noted = { customAttributes: { team: 'blue' }, withCustomAttributes: true };
  for (const [listed, id] of [
    [await root.Groups.all(noted as object), group.id],
    [await root.Projects.all(noted as object), project.id],
    [await root.Users.all(noted as object), ids.ada],
  ] as const) {
    expect(listed).toMatchObject([{ id, custom_attributes: [{ key: 'team', value: 'blue' }] }]);
  }
  expect(await root.Projects.show(project.id, { withCustomAttributes: true } as object)).toMatchObject({
    custom_attributes: [{ key: 'team', value: 'blue' }],
  });
});

test('@gitbeaker/rest: avatars are uploaded, downloaded and removed', async () => {
  const bytes = Buffer.from('GIF89a\x01\0\x01\0\0\0\0', 'latin1');
  const avatar = { content: new Blob([bytes]), filename: 'face.gif' };
  const fetched = async (url: unknown) => Buffer.from(await (await fetch(String(url))).arrayBuffer());
  const project = await ada.Projects.create({ name: 'Seen', visibility: 'public' });
  expect(await fetched((await ada.Projects.uploadAvatar(project.id, avatar)).avatar_url)).toEqual(bytes);
  await ada.Projects.removeAvatar(project.id);
  expect((await ada.Projects.show(project.id)).avatar_url).toBeNull();
  const group = await ada.Groups.create('Seen', 'seen', { visibility: 'public', avatar });
  expect(await fetched(group.avatar_url)).toEqual(bytes);
  const downloaded = (await ada.Groups.downloadAvatar(group.id)) as unknown as Blob;
  expect(Buffer.from(await downloaded.arrayBuffer())).toEqual(bytes);
  await ada.Groups.removeAvatar(group.id);
  expect((await ada.Groups.show(group.id)).avatar_url).toBeNull();
  const changed = await root.Users.edit(ids.bob, {
    avatar,
    // The library sends this as a form, and names in forms as they are.
    ...{ public_email: 'bob@example.com' },
  });
  expect(await fetched(changed.avatar_url)).toEqual(bytes);
  expect(await ada.Avatar.show('bob@example.com')).toEqual({ avatar_url: changed.avatar_url });
});

test('@gitbeaker/rest: Namespaces and Search', async () => {
  const group = await ada.Groups.create('Findable', 'findable');
  const project = await ada.Projects.create({ name: 'Findable thing', namespaceId: group.id });
  const search = async (by: Client, scope: 'projects' | 'users', term: string, options = {}) =>
    ((await by.Search.all(scope as 'users', term, options)) as { id: number }[]).map(({ id }) => id);
  await expect.poll(() => search(ada, 'projects', 'findable')).toEqual([project.id]);
  expect(await search(ada, 'projects', 'thing', { groupId: group.id })).toEqual([project.id]);
  expect(await search(bob, 'projects', 'findable')).toEqual([]);
  expect(await search(bob, 'users', 'ada')).toEqual([ids.ada]);
  expect(await search(ada, 'users', 'ada', { projectId: project.id })).toEqual([ids.ada]);
  expect((await ada.Namespaces.all({ search: 'findable' })).map(({ id }) => id)).toEqual([group.id]);
  expect(await ada.Namespaces.show('findable')).toMatchObject({ id: group.id, kind: 'group' });
  expect(await ada.Namespaces.exists('findable')).toMatchObject({ exists: true, suggests: ['findable1'] });
});
