/** What only administrators delete, while a group with projects comes into another: no worker runs here by itself. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../../harness/service.ts';
import { changeSettings } from '../../harness/settings.ts';
import { storeOf } from '../../harness/world.ts';

let service: Service;
let ada: Awaited<ReturnType<Service['user']>>;
beforeAll(async () => {
  service = await startService({ background: false });
  ada = await service.user('ada');
  await changeSettings(service, { default_project_deletion_protection: true, delayed_group_deletion: false });
});
afterAll(() => service.stop());

const mine = (method: string, path: string, json?: object) =>
  service.call(method, path, { token: ada.token, ...(json === undefined ? {} : { json }) });
const group = async (path: string, more: object = {}) =>
  (await mine('POST', '/groups', { name: path, path, ...more })).body.id as number;
/** As a request puts it there, before anything inside follows. */
async function putInto(id: number, parentId: number): Promise<void> {
  const { groups } = storeOf();
  const [one, parent] = [(await groups.get(id))!, (await groups.get(parentId))!];
  await groups.update(one, {}, { parents: [parent] });
}

test('a group counts as holding the projects of groups just moved into it, at any depth', async () => {
  const [outer, middle, full] = [await group('outer'), await group('middle'), await group('full')];
  const inner = await group('inner', { parent_id: full });
  const made = await mine('POST', '/projects', { name: 'kept', namespace_id: inner });
  await putInto(full, middle);
  await putInto(middle, outer);
  for (const id of [full, middle, outer]) {
    const { status, body } = await mine('DELETE', `/groups/${id}`);
    expect([status, body.message], `group ${id}`).toEqual([
      403,
      '403 Forbidden - Only administrators can delete projects',
    ]);
  }
  expect((await mine('GET', `/projects/${made.body.id}`)).status).toBe(200);
});

test('a group that holds no projects can be deleted, whatever was moved into it', async () => {
  const [outer, empty] = [await group('other'), await group('empty')];
  await group('within', { parent_id: empty });
  await putInto(empty, outer);
  expect((await mine('DELETE', `/groups/${outer}`)).status).toBe(202);
});
