/** Tokens of every kind as the client library makes them, and git with each of them. */
import { Gitlab } from '@gitbeaker/rest';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../harness/service.ts';
import { GitCli } from './git-cli.ts';

let service: Service;
const git = new GitCli();
const clientOf = (token: string) => new Gitlab({ host: service.url, token });
type Client = ReturnType<typeof clientOf>;
let root: Client;
let someone: Client;
let user: { id: number; token: string };
let group: { id: number };
let project: { id: number; path: string };
beforeAll(async () => {
  service = await startService();
  root = clientOf(service.rootToken);
  user = await service.user('someone');
  someone = clientOf(user.token);
  group = await someone.Groups.create('Team', 'team');
  const made = await someone.Projects.create({
    name: 'Code',
    namespaceId: group.id,
    initializeWithReadme: true,
  });
  project = { id: made.id, path: String(made.path_with_namespace) };
});
afterAll(async () => {
  git[Symbol.dispose]();
  await service.stop();
});

const textOf = (made: unknown): string => (made as { token: string }).token;

/** What git says to a clone, and to a push of a branch from it. */
async function gitWith(username: string, token: string): Promise<{ clone: number; push: number }> {
  const { host } = new URL(service.url);
  const url = `http://${encodeURIComponent(username)}:${token}@${host}/${project.path}.git`;
  const folder = git.path(`clone-${Math.random().toString(36).slice(2)}`);
  const clone = await git.run(['clone', '-q', url, folder]);
  if (clone.code !== 0) return { clone: clone.code, push: -1 };
  const branch = `by-${Math.random().toString(36).slice(2)}`;
  const push = await git.run(['push', '-q', url, `HEAD:refs/heads/${branch}`], { cwd: folder });
  return { clone: clone.code, push: push.code };
}

test('@gitbeaker/rest: PersonalAccessTokens are rotated', async () => {
  const made = await root.PersonalAccessTokens.create(user.id, 'turning', ['api']);
  const turned = await someone.PersonalAccessTokens.rotate(made.id, { expiresAt: '2099-01-01' });
  expect(turned).toMatchObject({ name: 'turning', expires_at: '2099-01-01', active: true });
  const self = await clientOf(textOf(turned)).PersonalAccessTokens.rotate('self');
  expect(await clientOf(textOf(self)).PersonalAccessTokens.show()).toMatchObject({ id: self.id });
  await expect(clientOf(textOf(turned)).Users.showCurrentUser()).rejects.toThrow(/invalid_token/);
  const active = await someone.PersonalAccessTokens.all({ state: 'active', search: 'turning' });
  expect(active.map(({ id }) => id)).toEqual([self.id]);
});

test('@gitbeaker/rest: UserImpersonationTokens', async () => {
  const tokens = root.UserImpersonationTokens;
  const made = await tokens.create(user.id, 'as them', ['api'], { expiresAt: '2099-01-01' });
  expect(made).toMatchObject({ name: 'as them', impersonation: true, active: true });
  expect(await clientOf(textOf(made)).Users.showCurrentUser()).toMatchObject({ username: 'someone' });
  expect((await tokens.all(user.id, { state: 'active' })).map(({ id }) => id)).toEqual([made.id]);
  expect(await tokens.show(user.id, made.id)).toMatchObject({ id: made.id });
  await tokens.revoke(user.id, made.id);
  expect(await tokens.all(user.id, { state: 'active' })).toEqual([]);
  await expect(clientOf(textOf(made)).Users.showCurrentUser()).rejects.toThrow(/invalid_token/);
  await expect(someone.UserImpersonationTokens.all(user.id)).rejects.toThrow(/Forbidden/);
});

test.each(['ProjectAccessTokens', 'GroupAccessTokens'] as const)('@gitbeaker/rest: %s', async (resource) => {
  const tokens = someone[resource];
  const id = resource === 'ProjectAccessTokens' ? project.id : group.id;
  const made = await tokens.create(id, 'robot', ['api', 'write_repository'], '2099-01-01', {
    accessLevel: 30,
  });
  expect(made).toMatchObject({ name: 'robot', access_level: 30, expires_at: '2099-01-01', active: true });
  const robot = clientOf(textOf(made));
  expect(await robot.Projects.show(project.id)).toMatchObject({ id: project.id });
  expect(await tokens.show(id, made.id)).toMatchObject({ id: made.id, user_id: made.user_id });
  expect((await tokens.all(id)).map((one) => one.id)).toEqual([made.id]);
  expect(await gitWith('robot', textOf(made))).toEqual({ clone: 0, push: 0 });
  const turned = await tokens.rotate(id, made.id);
  expect(turned).toMatchObject({ name: 'robot', user_id: made.user_id });
  await expect(robot.Projects.show(project.id)).rejects.toThrow(/invalid_token/);
  await tokens.revoke(id, turned.id);
  expect(await tokens.all(id)).toEqual([]);
  await expect(tokens.show(id, turned.id)).rejects.toThrow(/Not Found/);
  expect((await gitWith('robot', textOf(turned))).clone).not.toBe(0);
});

test.each(['projectId', 'groupId'] as const)('@gitbeaker/rest: DeployTokens by %s', async (kind) => {
  const tokens = someone.DeployTokens;
  const place = (kind === 'projectId' ? { projectId: project.id } : { groupId: group.id }) as {
    projectId: number;
  };
  const made = await tokens.create('ci', ['read_repository'], { ...place, username: 'ci' });
  expect(made).toMatchObject({ name: 'ci', username: 'ci', scopes: ['read_repository'] });
  expect((await tokens.all(place)).map(({ id }) => id)).toEqual([made.id]);
  expect(await tokens.show(made.id, place)).toMatchObject({ id: made.id });
  expect((await root.DeployTokens.all()).map(({ id }) => id)).toContain(made.id);
  expect(await gitWith('ci', textOf(made))).toEqual({ clone: 0, push: 128 });
  expect((await gitWith('other', textOf(made))).clone).not.toBe(0);
  await tokens.remove(made.id, place);
  expect((await gitWith('ci', textOf(made))).clone).not.toBe(0);
  expect(await tokens.all(place)).toEqual([]);
});

test('git accepts personal tokens according to their scopes', async () => {
  for (const [scope, expected] of [
    ['api', { clone: 0, push: 0 }],
    ['write_repository', { clone: 0, push: 0 }],
    ['read_repository', { clone: 0, push: 128 }],
    ['read_api', { clone: 128, push: -1 }],
  ] as const) {
    const made = await root.PersonalAccessTokens.create(user.id, scope, [scope]);
    expect([scope, await gitWith('anything', textOf(made))]).toEqual([scope, expected]);
  }
});
