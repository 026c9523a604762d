import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { DELETION_JOB } from '../../../lib/domain/deletion/mark-and-delete.ts';
import { runJob } from '../../../lib/domain/worker/dispatch.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { scenarios } from '../../harness/scenarios.ts';
import type { Who } from '../../harness/world.ts';

const DELAY_DAYS = 7;

beforeAll(() => {
  vi.stubEnv('DELETION_DELAY_DAYS', String(DELAY_DAYS));
});
const { as, service, world } = ownWorld();
beforeAll(async () => {
  const home = await group('home', { visibility: 'internal' });
  world.ids['home'] = home.id;
  world.ids['inside'] = (await made('owner', { namespace_id: home.id, description: 'secret of inside' })).id;
});
afterAll(() => {
  vi.unstubAllEnvs();
});

let count = 0;
const fresh = (prefix = 'fresh') => `${prefix}-${++count}`;
async function made(who: Who, more: Record<string, unknown> = {}) {
  const answer = await as(who, 'POST', '/projects', { name: fresh(), ...more });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
}
async function group(path: string, more: Record<string, unknown> = {}, who: Who = 'owner') {
  const answer = await as(who, 'POST', '/groups', { name: path, path, ...more });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
}
const project = (id: number | string) => `/projects/${typeof id === 'number' ? id : encodeURIComponent(id)}`;
const get = (id: number | string, who: Who = 'owner') => as(who, 'GET', project(id));
const transfer = (id: number, namespace: number | string, who: Who = 'owner') =>
  as(who, 'PUT', `${project(id)}/transfer`, { namespace });
const failed = (why: string) => ({
  message: `Failed to transfer project {:new_namespace=>["${why}"]}`,
});

// Who may: `test/matrix`.
describe('permission to archive, transfer, restore and maintain a project', () => {
  scenarios(
    () => world,
    [
      {
        request: 'PUT /projects/{private}/transfer',
        json: { namespace: 'owner' },
        as: { owner: { status: 400, holds: failed('Project is already in this namespace.') } },
      },
      {
        request: 'PUT /projects/{private}/transfer',
        json: {},
        as: { anonymous: 401, owner: { status: 400, holds: { error: 'namespace is missing' } } },
      },
      {
        request: 'PUT /projects/{private}/transfer',
        json: { namespace: 'stranger' },
        as: { owner: { status: 404, holds: { message: '404 Namespace Not Found' } } },
      },
      {
        request: 'POST /projects/{private}/restore',
        as: { owner: { status: 400, holds: { message: 'Project has not been marked for deletion' } } },
      },
      {
        request: 'POST /groups/{home}/projects/{private}',
        as: { anonymous: 401, owner: 403 },
        hides: ['secret of'],
      },
      {
        request: 'POST /groups/{home}/projects/999999',
        as: { administrator: { status: 404, holds: { message: '404 Project Not Found' } } },
      },
      {
        request: 'POST /groups/999999/projects/{private}',
        as: { owner: 403, administrator: { status: 404, holds: { message: '404 Group Not Found' } } },
      },
    ],
  );
});

test('an archived project is readable, refuses new content, and can be filtered in lists', async () => {
  const { id, path_with_namespace: path } = await made('owner', { initialize_with_readme: true });
  const archived = await as('owner', 'POST', `${project(id)}/archive`);
  expect((await as('owner', 'POST', `${project(id)}/archive`)).body).toEqual(archived.body);
  const commit = { branch: 'main', commit_message: 'm', content: 'c' };
  const writes = () =>
    Promise.all([
      as('owner', 'POST', `${project(id)}/repository/files/a.txt`, commit),
      as('owner', 'POST', `${project(id)}/repository/branches`, { branch: fresh(), ref: 'main' }),
      as('owner', 'POST', `${project(id)}/repository/commits/main/comments`, { note: 'n' }),
      as('owner', 'POST', `${project(id)}/statuses/main`, { state: 'success' }),
    ]);
  expect((await writes()).map(({ status }) => status)).toEqual([403, 403, 403, 403]);
  const listed = async (archivedOnly: boolean) =>
    (await as('owner', 'GET', `/projects?owned=true&per_page=100&archived=${archivedOnly}`)).body.map(
      (p: { id: number }) => p.id,
    );
  await expect.poll(() => listed(true)).toEqual([id]);
  expect(await listed(false)).not.toContain(id);
  expect((await as('owner', 'GET', `${project(id)}/repository/tree`)).status).toBe(200);
  // Its settings are still its Owner's.
  expect((await as('owner', 'PUT', project(id), { description: 'rest' })).body.archived).toBe(true);
  const fork = await as('owner', 'POST', `${project(id)}/fork`, { name: fresh(), path: fresh() });
  await expect
    .poll(async () => (await get(fork.body.id)).body)
    .toMatchObject({ import_status: 'finished', archived: false });
  expect((await as('owner', 'POST', `${project(path)}/unarchive`)).body.archived).toBe(false);
  expect((await writes()).map(({ status }) => status)).toEqual([201, 201, 201, 201]);
});

test('a transfer changes path, members and visibility, or is refused', async () => {
  const target = await group('target', { visibility: 'internal' });
  const inner = await group('inner', { parent_id: target.id, visibility: 'private' });
  const moving = await made('owner', { visibility: 'public', path: 'moving' });
  await as('owner', 'POST', `/groups/${target.id}/members`, {
    user_id: world.ids['guest'],
    access_level: 30,
  });

  const first = await transfer(moving.id, target.id);
  expect([first.status, first.body]).toMatchObject([
    200,
    {
      path_with_namespace: 'target/moving',
      visibility: 'internal',
      namespace: { id: target.id, kind: 'group' },
      permissions: { group_access: { access_level: 50 } },
    },
  ]);
  expect(first.body).not.toHaveProperty('owner');
  expect((await get('owner/moving', 'stranger')).body.id).toBe(moving.id);
  expect((await get(moving.id, 'anonymous')).status).toBe(404);
  // Members of the group are members of the project from now on.
  expect((await get(moving.id, 'guest')).body.permissions.group_access).toMatchObject({ access_level: 30 });

  const second = await transfer(moving.id, 'Target/Inner');
  expect(second.body).toMatchObject({ path_with_namespace: 'target/inner/moving', visibility: 'private' });
  expect((await get(moving.id, 'stranger')).status).toBe(404);
  expect((await get('target/moving', 'stranger')).status).toBe(404);
  expect((await get('target/moving', 'guest')).body.id).toBe(moving.id);
  expect(
    (await as('owner', 'GET', `/groups/${inner.id}/projects`)).body.map((p: { id: number }) => p.id),
  ).toEqual([moving.id]);

  const back = await transfer(moving.id, 'owner');
  expect(back.body).toMatchObject({ path_with_namespace: 'owner/moving', owner: { username: 'owner' } });
  expect((await get(moving.id, 'guest')).status).toBe(404);

  await made('owner', { namespace_id: target.id, path: 'moving' });
  expect((await transfer(moving.id, target.id)).body).toEqual(
    failed('Project with same name or path in target namespace already exists'),
  );
  const closed = await group('closed', { visibility: 'public' }, 'stranger');
  expect((await transfer(moving.id, closed.id)).body).toEqual(
    failed("You don't have permission to transfer projects into that namespace."),
  );
  const hidden = await group('hidden', {}, 'stranger');
  expect([(await transfer(moving.id, hidden.id)).status, (await transfer(moving.id, 99999)).status]).toEqual([
    404, 404,
  ]);
  // Administrators move what they like to whom they like.
  const given = await transfer(moving.id, 'stranger', 'administrator');
  expect([given.status, given.body.path_with_namespace]).toEqual([200, 'stranger/moving']);
  expect((await get(moving.id, 'stranger')).body.owner).toMatchObject({ username: 'stranger' });
  const poor = await service.user('poor', { projects_limit: 0 });
  expect((await transfer(moving.id, poor.username, 'administrator')).body.message).toContain(
    'Your project limit is 0 projects!',
  );
});

test('an administrator can move a project into a group', async () => {
  const target = await group('gathers', { visibility: 'internal' });
  const moving = await made('stranger', { path: 'gathered' });
  const answer = await as('administrator', 'POST', `/groups/gathers/projects/stranger%2Fgathered`);
  expect([answer.status, answer.body]).toMatchObject([
    201,
    { id: target.id, projects: [{ id: moving.id, path_with_namespace: 'gathers/gathered' }] },
  ]);
  const again = await as('administrator', 'POST', `/groups/${target.id}/projects/${moving.id}`);
  expect([again.status, again.body]).toEqual([400, failed('Project is already in this namespace.')]);
});

test('one of two simultaneous transfers succeeds, and of a transfer and a deletion', async () => {
  const [left, right] = [await group('left'), await group('right')];
  const torn = await made('owner');
  const both = await Promise.all([transfer(torn.id, left.id), transfer(torn.id, right.id)]);
  expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
  const at = (await get(torn.id)).body.namespace.id;
  expect(both[at === left.id ? 0 : 1]!.status).toBe(200);
  const doomed = await made('owner');
  const [moved, deleted] = await Promise.all([
    transfer(doomed.id, left.id),
    as('owner', 'DELETE', project(doomed.id)),
  ]);
  const gone = (await get(doomed.id)).status;
  expect([
    [200, 409, 200],
    [409, 202, 404],
    [404, 202, 404],
  ]).toContainEqual([moved.status, deleted.status, gone]);
});

describe('the delayed deletion of a project', () => {
  const day = (days: number) => new Date(Date.now() + days * 86_400_000);
  /** Runs the worker on that day with the scheduled message. */
  const due = (id: number, dueOn: string, now: Date) =>
    runJob(
      { ...deps(), now: () => now },
      {
        id: fresh(),
        type: DELETION_JOB,
        body: { kind: 'project', id, dueOn },
      },
    );
  const dueOn = day(DELAY_DAYS).toISOString().slice(0, 10);

  test('in a group archives and renames it; restoring brings both back', async () => {
    const { id } = await made('owner', { namespace_id: world.ids['home'], name: 'Doomed', path: 'doomed' });
    const accepted = await as('owner', 'DELETE', project(id));
    expect([accepted.status, accepted.body]).toEqual([202, { message: '202 Accepted' }]);
    const today = day(0).toISOString().slice(0, 10);
    expect((await get('home/doomed')).body).toMatchObject({
      id,
      archived: true,
      name: `Doomed-deleted-${id}`,
      path: `doomed-deleted-${id}`,
      marked_for_deletion_at: today,
      marked_for_deletion_on: today,
    });
    expect((await as('owner', 'DELETE', project(id))).status).toBe(202);
    const kept = await as('owner', 'POST', `${project(id)}/unarchive`);
    expect([kept.status, kept.body.message]).toEqual([400, expect.stringContaining('marked for deletion')]);

    const restored = await as('owner', 'POST', `${project(id)}/restore`);
    expect([restored.status, restored.body]).toMatchObject([
      201,
      { archived: false, name: 'Doomed', path: 'doomed', marked_for_deletion_on: null },
    ]);
    // The scheduled message still arrives, and does nothing.
    await due(id, dueOn, day(DELAY_DAYS));
    expect((await get(id)).status).toBe(200);
  });

  test('frees its name; if that is taken, the restored project gets another', async () => {
    const place = { namespace_id: world.ids['home'], name: 'Reused', path: 'reused' };
    const { id } = await made('owner', place);
    await as('owner', 'DELETE', project(id));
    const next = await made('owner', place);
    const restored = await as('owner', 'POST', `${project(id)}/restore`);
    const suffix = `-deleted-${id}`;
    expect(restored.body).toMatchObject({
      name: `Reused${suffix}`,
      path: `reused${suffix}`,
      archived: false,
    });
    expect((await get('home/reused')).body.id).toBe(next.id);
    // Only what is taken gets another.
    const named = await made('owner', { ...place, name: 'Of its own', path: 'again' });
    await as('owner', 'DELETE', project(named.id));
    await made('owner', { ...place, name: 'Another', path: 'again' });
    const own = await as('owner', 'POST', `${project(named.id)}/restore`);
    expect(own.body).toMatchObject({ name: 'Of its own', path: `again-deleted-${named.id}` });
  });

  test('happens on its day, not before', async () => {
    const { id } = await made('owner', { namespace_id: world.ids['home'] });
    await as('owner', 'DELETE', project(id));
    await due(id, dueOn, day(DELAY_DAYS - 1));
    expect((await get(id)).status).toBe(200);
    await due(
      id,
      day(DELAY_DAYS + 1)
        .toISOString()
        .slice(0, 10),
      day(DELAY_DAYS + 2),
    );
    expect((await get(id)).status).toBe(200);
    await due(id, dueOn, day(DELAY_DAYS));
    expect((await get(id)).status).toBe(404);
    await due(id, dueOn, day(DELAY_DAYS));
  });

  test('has a message in the outbox for that day', async () => {
    const { id } = await made('owner', { namespace_id: world.ids['home'] });
    await as('owner', 'DELETE', project(id));
    const { outbox } = world.store;
    await outbox.sweep(day(DELAY_DAYS - 0.1), 0);
    expect((await world.store.projects.get(id))?.deletion).toMatchObject({ dueOn });
    const rows = [];
    for (let shard = 0; shard < 8; shard++)
      for await (const row of world.store.table.queryAll({ partition: `OUTBOX#${shard}` })) rows.push(row);
    expect(rows).toContainEqual(
      expect.objectContaining({
        type: DELETION_JOB,
        body: { kind: 'project', id, dueOn, by: expect.objectContaining({ name: 'owner' }) },
      }),
    );
  });

  test('can be turned into an immediate one by naming the full path', async () => {
    const { id, path_with_namespace: path } = await made('owner', { namespace_id: world.ids['home'] });
    const now = (full: string) =>
      as('owner', 'DELETE', `${project(id)}?permanently_remove=true&full_path=${encodeURIComponent(full)}`);
    expect((await now(path)).body).toEqual({ message: 'Project must be marked for deletion first.' });
    await as('owner', 'DELETE', project(id));
    const wrong = await now(path);
    expect([wrong.status, wrong.body]).toEqual([
      400,
      { message: '`full_path` is incorrect. You must enter the complete path for the project.' },
    ]);
    expect((await now(`${path}-deleted-${id}`)).status).toBe(202);
    expect((await get(id)).status).toBe(404);
  });

  test('does not apply to personal projects, which are deleted at once', async () => {
    const { id } = await made('owner');
    expect((await as('owner', 'DELETE', project(id))).status).toBe(202);
    expect((await get(id)).status).toBe(404);
    expect((await as('owner', 'POST', `${project(id)}/restore`)).status).toBe(404);
  });
});

test('housekeeping runs on request, and only once at a time', async () => {
  const { id } = await made('owner', { initialize_with_readme: true });
  const { repositoryId } = (await world.store.projects.get(id))!;
  const noted = async () => (await world.store.maintenanceNotes.read(repositoryId)).garbage > 0;
  expect(await noted()).toBe(false);
  const asked = await as('owner', 'POST', `${project(id)}/housekeeping`);
  expect([asked.status, asked.body]).toEqual([201, null]);
  await expect.poll(noted).toBe(true);
  // The worker notes what it found before it lets go of the repository.
  const lease = await vi.waitFor(
    async () => {
      const taken = await world.store.leases.acquire(repositoryId, 60);
      expect(taken).toBeDefined();
      return taken!;
    },
    { timeout: 60_000, interval: 20 },
  );
  expect((await as('owner', 'POST', `${project(id)}/housekeeping`)).status).toBe(409);
  await world.store.leases.release(lease);
  expect((await as('owner', 'POST', `${project(id)}/housekeeping`)).status).toBe(201);
});
