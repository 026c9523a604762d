/** In maintenance mode nothing is changed, everything is readable, and outbox messages are still processed. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { allEndpoints } from '../../../lib/api/all.ts';
import { GitCli, withToken } from '../../clients/git-cli.ts';
import { LogLines } from '../../harness/log-lines.ts';
import { scimGroup } from '../../harness/scim.ts';
import { type Service, startService } from '../../harness/service.ts';
import { changeSettings } from '../../harness/settings.ts';

let service: Service;
let lines: LogLines;
let ada: { readonly id: number; readonly username: string; readonly token: string };
const git = new GitCli();
/** What is there before the instance is kept as it is. */
let project: { readonly id: number; readonly path_with_namespace: string };
let clone: string;
let group: Awaited<ReturnType<typeof scimGroup>>;

const TEXT = 'Back at 18:00 — the disks are “changed” 🛠';
const PUSH =
  'Git push is not allowed because this GitLab instance is currently in (read-only) maintenance mode.';

beforeAll(async () => {
  lines = LogLines.watch();
  service = await startService();
  ada = await service.user('ada');
  const made = await service.call('POST', '/projects', {
    token: ada.token,
    json: { name: 'Paper', initialize_with_readme: true },
  });
  project = made.body;
  group = await scimGroup(service, ada.token, 'staff');
  clone = await git.clone(withToken(service.url, project.path_with_namespace, ada.token), 'paper');
  await git.ok(clone, 'commit', '-q', '--allow-empty', '-m', 'More');
});
afterAll(async () => {
  await service.stop();
  git[Symbol.dispose]();
});

const as = (token: string | undefined, method: string, path: string, json?: unknown) =>
  service.call(method, path, {
    ...(token === undefined ? {} : { token }),
    ...(json === undefined ? {} : { json }),
  });
const counted = async () => {
  const root = service.rootToken;
  const [users, projects, events] = await Promise.all(
    ['/users', '/projects', '/audit_events'].map((path) => as(root, 'GET', path)),
  );
  return [users, projects, events].map((list) => list!.headers.get('x-total'));
};

test('in maintenance mode the settings are the only thing that endpoints may change', () => {
  const going = allEndpoints.filter(({ inMaintenance }) => inMaintenance === true);
  const names = going.map(({ method, path }) => `${method} ${path}`);
  // Searches say in a body what others say in a query, Markdown is rendered from one, and a runner shows its token.
  const changing = names.filter(
    (name) => !/\/\.search$|^POST (\/markdown|.*\/ci\/lint|\/runners\/verify)$/.test(name),
  );
  expect(changing).toEqual(['PUT /application/settings']);
});

test('in maintenance mode writes are refused, to administrators too, and reads work', async () => {
  await changeSettings(service, { maintenance_mode: true, maintenance_mode_message: TEXT });
  const before = await counted();
  const at = `/projects/${project.id}`;
  const file = { branch: 'main', content: 'x', commit_message: 'm' };
  for (const [token, method, path, json] of [
    [ada.token, 'PUT', at, { description: 'other' }],
    [ada.token, 'DELETE', at],
    [ada.token, 'POST', '/projects', { name: 'Another' }],
    [ada.token, 'POST', `${at}/star`],
    [ada.token, 'POST', `${at}/repository/files/a`, file],
    [ada.token, 'POST', `${at}/repository/branches?branch=b&ref=main`],
    [ada.token, 'PUT', '/notification_settings', { level: 'watch' }],
    [
      service.rootToken,
      'POST',
      '/users',
      { username: 'b', name: 'b', email: 'b@x.example', reset_password: true },
    ],
    [service.rootToken, 'POST', `/users/${ada.id}/block`],
    [service.rootToken, 'DELETE', `/users/${ada.id}`],
  ] as const) {
    const { status, body } = await as(token, method, path, json);
    expect([status, body], `${method} ${path}`).toEqual([503, { message: TEXT }]);
  }
  expect(await counted()).toEqual(before);
  for (const path of [
    '/user',
    at,
    `${at}/repository/commits`,
    '/projects',
    '/events',
    '/search?scope=projects&search=p',
  ])
    expect((await as(ada.token, 'GET', path)).status, path).toBe(200);
  expect((await as(ada.token, 'GET', at)).body).toMatchObject({ star_count: 0, description: null });
});

test('in maintenance mode a request that is refused anyway gets its usual error', async () => {
  const bob = { description: 'mine' };
  expect((await as(undefined, 'PUT', `/projects/${project.id}`, bob)).status).toBe(401);
  expect((await as(ada.token, 'PUT', '/application/settings', { signup_enabled: true })).status).toBe(403);
  expect((await as(ada.token, 'PUT', '/projects/999999', bob)).status).toBe(404);
  expect((await as(ada.token, 'POST', '/projects', {})).status).toBe(400);
});

test('a request refused by maintenance mode is logged as such and is no server error', async () => {
  const { headers } = await as(ada.token, 'POST', `/projects/${project.id}/star`);
  const [line, ...others] = lines.of(headers.get('x-request-id')!);
  expect(others).toEqual([]);
  expect(line).toMatchObject({ level: 'INFO', status: 503, maintenanceMode: true });
  expect(line).not.toHaveProperty('ServerErrors');
});

test('in maintenance mode identity providers get a SCIM error', async () => {
  const user = { schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], userName: 'cleo', externalId: 'c' };
  const { status, body } = await group.agent('POST', '/Users', user);
  expect([status, body.detail]).toEqual([503, TEXT]);
  expect((await group.agent('GET', '/Users')).body.totalResults).toBe(0);
  expect((await group.agent('POST', '/.search', {})).status).toBe(200);
});

test('in maintenance mode forms behind mailed links are refused', async () => {
  for (const path of ['/users/confirmation', '/users/unsubscribe', '/users/invitation', '/users/password']) {
    const answer = await fetch(`${service.url}${path}?token=x`, {
      method: 'POST',
      body: new URLSearchParams(),
    });
    expect([answer.status, await answer.json()], path).toEqual([503, { message: TEXT }]);
  }
});

test('in maintenance mode Git fetches work and pushes fail with a reason', async () => {
  await git.ok(clone, 'fetch', '-q', 'origin');
  const said = await git.fails(clone, 'push', '-q', 'origin', 'HEAD:refs/heads/main');
  expect(said).toContain(`remote: ${PUSH}`);
  expect(said).toContain(`remote: ${TEXT}`);
  const [, head] = (await git.ok(clone, 'rev-parse', 'HEAD', 'origin/main')).split('\n');
  const listed = await git.ok(clone, 'ls-remote', 'origin', 'refs/heads/main');
  expect(listed.split('\t')[0]).toBe(head);
  const upload = (method: string, path: string) =>
    fetch(`${service.url}/${project.path_with_namespace}.git/lemnos/uploads${path}`, {
      method,
      headers: { Authorization: `Basic ${btoa(`ada:${ada.token}`)}` },
    });
  expect((await upload('POST', '?size=10')).status).toBe(503);
  expect((await upload('GET', '/01AAAAAAAAAAAAAAAAAAAAAAAA')).status).toBe(404);
});

test('an administrator ends maintenance mode, and writes work again', async () => {
  await changeSettings(service, { maintenance_mode_message: null });
  const star = () => as(ada.token, 'POST', `/projects/${project.id}/star`);
  expect((await star()).body).toEqual({ message: 'GitLab is undergoing maintenance' });
  await changeSettings(service, { maintenance_mode: false });
  expect((await star()).status).toBe(201);
  await git.ok(clone, 'push', '-q', 'origin', 'HEAD:refs/heads/main');
});
