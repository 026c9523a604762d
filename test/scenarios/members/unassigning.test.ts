import { afterAll, beforeAll, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { propose } from '../../harness/proposals.ts';
import { settled } from '../../harness/settled.ts';
import { type Pushed, pushedProject } from '../repository/pushed-project.ts';

const { service, world, as } = ownWorld();
let inside: Pushed;
let outside: number;
let group: number;

beforeAll(async () => {
  group = await made('/groups', { name: 'Team', path: 'team' });
  const sub = await made('/groups', { name: 'Sub', path: 'sub', parent_id: group });
  const owner = { username: 'owner', token: world.tokens.owner! };
  inside = await pushedProject(
    service,
    owner,
    'inside',
    (git) => {
      const commit = (branch: string, n: number, from = '') =>
        `commit refs/heads/${branch}\ncommitter C <c@example.com> 160000000${n} +0000\ndata 1\n${n}\n${from}M 100644 inline ${n}\ndata 2\na\n`;
      git.feed(
        `${commit('main', 1)}\n${commit('side', 2, 'from refs/heads/main\n')}`,
        'fast-import',
        '--quiet',
      );
    },
    { namespace_id: sub },
  );
  outside = await made('/projects', { name: 'outside' });
  await made(`/projects/${outside}/members`, { user_id: world.ids.developer, access_level: 30 });
});
afterAll(() => inside.git[Symbol.dispose]());

async function made(path: string, json: object): Promise<number> {
  const { status, body } = await as('owner', 'POST', path, json);
  expect(status, JSON.stringify(body)).toBe(201);
  return body.iid ?? body.id;
}

const join = (source: string) =>
  made(`${source}/members`, { user_id: world.ids.developer, access_level: 30 });
const assigneesAt = async (path: string) => {
  const { body } = await as('owner', 'GET', path);
  return body.assignees.map(({ username }: { username: string }) => username);
};
/** Removes the member, and has the workers do what that promises. */
async function leave(path: string): Promise<void> {
  expect((await as('owner', 'DELETE', path)).status).toBe(204);
  await service.host.invoke('outbox-sweep', { olderThan: 0 });
  await settled();
}

test('a member who is removed from a group is taken off what is below it, where that is asked for', async () => {
  await join(`/groups/${group}`);
  const issues = `/projects/${inside.id}/issues`;
  const fields = { title: 'Work', assignee_ids: [world.ids.developer, world.ids.owner] };
  const open = `${issues}/${await made(issues, fields)}`;
  const closed = `${issues}/${await made(issues, { ...fields, confidential: true })}`;
  expect((await as('owner', 'PUT', closed, { state_event: 'close' })).status).toBe(200);
  const elsewhere = `/projects/${outside}/issues/${await made(`/projects/${outside}/issues`, fields)}`;
  const branches = { sourceBranch: 'side', targetBranch: 'main' };
  const iid = await propose(world.ids.owner!, inside.id, branches);
  const mergeRequest = `/projects/${inside.id}/merge_requests/${iid}`;
  expect((await as('owner', 'PUT', mergeRequest, { assignee_ids: fields.assignee_ids })).status).toBe(200);
  const all = () => Promise.all([open, closed, mergeRequest, elsewhere].map(assigneesAt));
  const both = expect.arrayContaining(['developer', 'owner']);
  expect(await all()).toEqual([both, both, both, both]);
  const { updated_at: before } = (await as('owner', 'GET', open)).body;

  const member = `/groups/${group}/members/${world.ids.developer}`;
  await leave(member);
  expect(await all()).toEqual([both, both, both, both]);

  await join(`/groups/${group}`);
  await leave(`${member}?unassign_issuables=true`);
  expect(await all()).toEqual([['owner'], ['owner'], ['owner'], both]);
  expect((await as('owner', 'GET', open)).body.updated_at).toBe(before);
  const mine = await as('developer', 'GET', '/issues?scope=assigned_to_me');
  expect(mine.body.map(({ project_id }: { project_id: number }) => project_id)).toEqual([outside]);
});

test('one who is removed from a project is taken off what is in it alone', async () => {
  const here = await made('/projects', { name: 'here' });
  await join(`/projects/${here}`);
  const fields = { title: 'Work', assignee_ids: [world.ids.developer] };
  const paths = await Promise.all(
    [here, outside].map(
      async (id) => `/projects/${id}/issues/${await made(`/projects/${id}/issues`, fields)}`,
    ),
  );
  await leave(`/projects/${here}/members/${world.ids.developer}?unassign_issuables=true`);
  expect(await Promise.all(paths.map(assigneesAt))).toEqual([[], ['developer']]);
});
