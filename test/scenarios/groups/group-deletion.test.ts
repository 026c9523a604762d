import { afterAll, beforeAll, expect, test } from 'vitest';
import { deps, makeDeps } from '../../../functions/deps.ts';
import { runJob } from '../../../lib/domain/worker/dispatch.ts';
import { type Answer, type Service, startService } from '../../harness/service.ts';

let service: Service;
let owner: { id: number; token: string };

/** The jobs of the day the deletion is due, some days from now. */
async function laterOn(days: number, group: number, dueOn: string): Promise<void> {
  const now = () => new Date(Date.now() + days * 86_400_000);
  await runJob(
    { ...makeDeps(), now },
    { id: 'x', type: 'deletion.due', body: { kind: 'group', id: group, dueOn } },
  );
}

beforeAll(async () => {
  process.env['DELETION_DELAY_DAYS'] = '7';
  service = await startService({ background: false });
  owner = await service.user('owner');
});
afterAll(async () => {
  await service.stop();
  delete process.env['DELETION_DELAY_DAYS'];
});

const call = (method: string, path: string, json?: object): Promise<Answer> =>
  service.call(method, path, { token: owner.token, ...(json === undefined ? {} : { json }) });
const make = async (path: string, parent?: number): Promise<number> =>
  (await call('POST', '/groups', { name: path, path, ...(parent ? { parent_id: parent } : {}) })).body.id;
const dueOn = async (id: number) => (await deps().store.groups.get(id))!.deletion!.dueOn;

test('a group scheduled for deletion accepts nothing new and can be restored', async () => {
  const id = await make('waiting');
  const inside = await make('inside', id);
  expect((await call('GET', `/groups/${id}`)).body.marked_for_deletion_on).toBeNull();
  expect((await call('DELETE', `/groups/${id}`)).status).toBe(202);
  const today = new Date().toISOString().slice(0, 10);
  expect((await call('GET', `/groups/${id}`)).body.marked_for_deletion_on).toBe(today);
  // Asking again neither hastens nor delays it.
  expect((await call('DELETE', `/groups/${id}`)).status).toBe(202);

  for (const parent of [id, inside]) {
    const sub = { name: 'n', path: 'n', parent_id: parent };
    expect((await call('POST', '/groups', sub)).status).toBe(403);
    const refused = await call('POST', '/projects', { name: 'n', namespace_id: parent });
    expect(refused).toMatchObject({ status: 400, body: { message: { namespace: ['is not valid'] } } });
  }
  const other = await make('other');
  expect((await call('POST', `/groups/${other}/transfer`, { group_id: id })).status).toBeGreaterThanOrEqual(
    400,
  );
  expect((await call('POST', '/groups', { name: 'x', path: 'waiting' })).status).toBe(400);

  expect(await call('POST', `/groups/${id}/restore`)).toMatchObject({
    status: 201,
    body: { id, marked_for_deletion_on: null },
  });
  expect((await call('POST', '/projects', { name: 'n', namespace_id: id })).status).toBe(201);
  expect(await call('POST', `/groups/${id}/restore`)).toMatchObject({ status: 400 });
});

test('a group scheduled for deletion is deleted on its day with everything in it, not before', async () => {
  const id = await make('going');
  const inside = await make('with-it', id);
  await call('DELETE', `/groups/${id}`);
  const due = await dueOn(id);
  await laterOn(6, id, due);
  expect((await call('GET', `/groups/${id}`)).status).toBe(200);
  await laterOn(7, id, due);
  for (const gone of [id, inside]) expect((await call('GET', `/groups/${gone}`)).status).toBe(404);
  await laterOn(7, id, due);
});

test('a cancelled group deletion does not happen', async () => {
  const id = await make('kept');
  await call('DELETE', `/groups/${id}`);
  const due = await dueOn(id);
  await call('POST', `/groups/${id}/restore`);
  await laterOn(8, id, due);
  expect((await call('GET', `/groups/${id}`)).status).toBe(200);
});

test('a subgroup scheduled for deletion can be deleted at once by naming its full path', async () => {
  const id = await make('outer');
  const inner = await make('inner', id);
  const now = (of: number, path: string) =>
    call('DELETE', `/groups/${of}?permanently_remove=true&full_path=${path}`);
  expect(await now(inner, 'outer/inner')).toMatchObject({ status: 400 });
  await call('DELETE', `/groups/${inner}`);
  expect(await now(inner, 'inner')).toMatchObject({ status: 400 });
  expect((await now(inner, 'outer/inner')).status).toBe(202);
  expect((await call('GET', `/groups/${inner}`)).status).toBe(404);
  await call('DELETE', `/groups/${id}`);
  expect(await now(id, 'outer')).toMatchObject({ status: 400 });
});

test('of a simultaneous restoration and deletion of a group exactly one takes effect', async () => {
  const id = await make('both');
  await call('DELETE', `/groups/${id}`);
  const due = await dueOn(id);
  const [restored] = await Promise.all([
    call('POST', `/groups/${id}/restore`),
    laterOn(7, id, due).catch(() => {}),
  ]);
  const found = await call('GET', `/groups/${id}`);
  if (found.status === 200) expect(found.body.marked_for_deletion_on).toBeNull();
  else expect([201, 404, 409]).toContain(restored.status);
});
