import { Gitlab } from '@gitbeaker/rest';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../harness/service.ts';

let service: Service;
const clientOf = (token: string) => new Gitlab({ host: service.url, token });
type Client = ReturnType<typeof clientOf>;
let root: Client;
let someone: Client;
let user: { id: number; token: string };
beforeAll(async () => {
  service = await startService();
  root = clientOf(service.rootToken);
  user = await service.user('someone');
  someone = clientOf(user.token);
});
afterAll(() => service.stop());

test('@gitbeaker/rest: Users', async () => {
  const made = await root.Users.create({
    username: 'made',
    name: 'Made',
    email: 'made@example.com',
    password: 'long enough',
    skipConfirmation: true,
    projectsLimit: 7,
  });
  expect(made).toMatchObject({ username: 'made', projects_limit: 7, confirmed_at: expect.any(String) });
  expect(await root.Users.show(made.id)).toMatchObject({ id: made.id, email: 'made@example.com' });
  expect(await someone.Users.show(made.id)).not.toHaveProperty('email');
  expect(await someone.Users.showCurrentUser()).toMatchObject({
    username: 'someone',
    email: 'someone@example.com',
  });
  expect((await root.Users.all({ username: 'made' })).map(({ id }) => id)).toEqual([made.id]);
  expect((await root.Users.all({ perPage: 1 })).length).toBe(3);
  await expect(
    someone.Users.create({ username: 'x', name: 'X', email: 'x@example.com', password: 'long enough' }),
  ).rejects.toThrow(/Forbidden/);
  await expect(root.Users.show(999_999)).rejects.toMatchObject({
    cause: { description: '404 User Not Found' },
  });
});

test('@gitbeaker/rest: an administrator uses sudo', async () => {
  const sudo = new Gitlab({ host: service.url, token: service.rootToken, sudo: 'someone' });
  expect(await sudo.Users.showCurrentUser()).toMatchObject({ username: 'someone' });
});

test('@gitbeaker/rest: PersonalAccessTokens', async () => {
  const made = await root.PersonalAccessTokens.create(user.id, 'by client', ['read_user'], {
    expiresAt: '2099-01-01',
  });
  expect(made).toMatchObject({
    name: 'by client',
    scopes: ['read_user'],
    expires_at: '2099-01-01',
    active: true,
  });
  const token = (made as unknown as { token: string }).token;
  expect(await clientOf(token).Users.showCurrentUser()).toMatchObject({ username: 'someone' });
  const oauth = new Gitlab({ host: service.url, oauthToken: token });
  expect(await oauth.Users.showCurrentUser()).toMatchObject({ username: 'someone' });
  expect((await someone.PersonalAccessTokens.all()).map(({ name }) => name)).toEqual(['test', 'by client']);
  expect((await root.PersonalAccessTokens.all({ userId: user.id })).length).toBe(2);
  expect(await someone.PersonalAccessTokens.show({ tokenId: made.id })).toMatchObject({ id: made.id });
  expect(await clientOf(token).PersonalAccessTokens.show()).toMatchObject({ id: made.id });
  await someone.PersonalAccessTokens.remove({ tokenId: made.id });
  await expect(clientOf(token).Users.showCurrentUser()).rejects.toThrow(/invalid_token/);
});

test('@gitbeaker/rest: Projects are created, shown by id and path, and removed', async () => {
  const made = await someone.Projects.create({
    name: 'By Client',
    visibility: 'internal',
    topics: ['a', 'b'],
    wikiAccessLevel: 'disabled',
  });
  expect(made).toMatchObject({
    path_with_namespace: 'someone/by-client',
    topics: ['a', 'b'],
    wiki_enabled: false,
  });
  expect((await someone.Projects.show(made.id)).id).toBe(made.id);
  expect((await someone.Projects.show('someone/by-client')).id).toBe(made.id);
  const forUser = await root.Projects.create({ name: 'given', userId: user.id });
  expect(forUser.path_with_namespace).toBe('someone/given');
  await expect(someone.Projects.create({ name: 'By Client' })).rejects.toMatchObject({
    cause: { response: { status: 400 } },
  });
  for (const { id } of [made, forUser]) {
    await someone.Projects.remove(id);
    await expect(someone.Projects.show(id)).rejects.toMatchObject({
      cause: { description: '404 Project Not Found' },
    });
  }
});

test('@gitbeaker/rest: ProjectMembers', async () => {
  const { id } = await someone.Projects.create({ name: 'shared' });
  const other = await service.user('other');
  const added = await someone.ProjectMembers.add(id, 20, { userId: other.id, expiresAt: '2099-01-01' });
  expect(added).toMatchObject({ id: other.id, access_level: 20, expires_at: '2099-01-01' });
  expect((await clientOf(other.token).Projects.show(id)).permissions.project_access).toMatchObject({
    access_level: 20,
  });
  expect((await someone.ProjectMembers.all(id)).map((member) => member.username)).toEqual([
    'someone',
    'other',
  ]);
  expect((await someone.ProjectMembers.all(id, { query: 'oth' })).length).toBe(1);
  expect(await someone.ProjectMembers.show(id, other.id)).toMatchObject({ access_level: 20 });
  expect(await someone.ProjectMembers.edit(id, other.id, 30)).toMatchObject({
    access_level: 30,
    expires_at: '2099-01-01',
  });
  await someone.ProjectMembers.remove(id, other.id);
  await expect(someone.ProjectMembers.show(id, other.id)).rejects.toMatchObject({
    cause: { description: '404 Not found' },
  });
  await someone.Projects.remove(id);
});

test('@gitbeaker/rest: its own pagination, by keyset and by offset, finds every project once', async () => {
  const made = await Promise.all(
    Array.from({ length: 25 }, (_, n) => someone.Projects.create({ name: `many ${n}` })),
  );
  const ids = made.map(({ id }) => id).sort((a, b) => a - b);
  const keyset = await someone.Projects.all({
    owned: true,
    pagination: 'keyset',
    orderBy: 'id',
    sort: 'asc',
    perPage: 10,
  });
  expect(keyset.map(({ id }) => id)).toEqual(ids);
  const offset = await someone.Projects.all({ owned: true, perPage: 10, orderBy: 'id', sort: 'desc' });
  expect(offset.map(({ id }) => id)).toEqual(ids.toReversed());
  const page = await someone.Projects.all({
    owned: true,
    pagination: 'offset',
    perPage: 10,
    page: 3,
    showExpanded: true,
  });
  expect(page.data.length).toBe(5);
  expect(page.paginationInfo).toMatchObject({
    total: 25,
    current: 3,
    perPage: 10,
    previous: 2,
    next: null,
    totalPages: 3,
  });
  const simple = await someone.Projects.all({ owned: true, simple: true, maxPages: 1 });
  expect(simple[0]).not.toHaveProperty('permissions');
});

test('@gitbeaker/rest: Metadata', async () => {
  expect(await someone.Metadata.show()).toMatchObject({ version: '14.4.0' });
});
