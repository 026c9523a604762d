import { beforeAll, describe, expect, test } from 'vitest';
import { acts, auditOf } from '../../harness/audit-events.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { settled } from '../../harness/settled.ts';

const { as, world, service } = ownWorld();

let project: number;
let at: string;
beforeAll(async () => {
  project = world.ids['private']!;
  at = `/projects/${project}/error_tracking`;
});
const fresh = async (): Promise<number> =>
  (await as('owner', 'POST', '/projects', { name: `tracked ${Math.random()}`.replace('.', '') })).body.id;

describe('the settings of error tracking', () => {
  test('are absent until they are set, and changed afterwards', async () => {
    const path = `/projects/${await fresh()}/error_tracking/settings`;
    const absent = { status: 404, body: { message: '404 Error Tracking Setting Not Found' } };
    expect(await as('owner', 'GET', path)).toMatchObject(absent);
    expect(await as('owner', 'PATCH', path, { active: true })).toMatchObject(absent);
    const set = await as('owner', 'PUT', path, { active: true, integrated: true });
    const shown = {
      active: true,
      project_name: null,
      sentry_external_url: null,
      errtracker_external_url: null,
      api_url: null,
      integrated: true,
    };
    expect(set).toMatchObject({ status: 200, body: shown });
    expect((await as('owner', 'GET', path)).body).toEqual(shown);
    const off = await as('owner', 'PATCH', path, { active: false });
    expect(off).toMatchObject({ status: 200, body: { ...shown, active: false } });
    const elsewhere = await as('owner', 'PATCH', path, { active: true, integrated: false });
    expect(elsewhere).toMatchObject({ status: 200, body: { ...shown, integrated: false } });
    const again = await as('owner', 'PUT', path, { active: false, integrated: true });
    expect(again).toMatchObject({ status: 200, body: { ...shown, active: false } });
  });

  test.each([
    ['PATCH', {}, 'active is missing, active is empty'],
    ['PATCH', { active: '' }, 'active is empty'],
    ['PATCH', { active: null }, 'active is empty'],
    ['PATCH', { active: 'maybe' }, 'active is invalid'],
    ['PATCH', { active: true, integrated: 'maybe' }, 'integrated is invalid'],
    ['PUT', { active: true }, 'integrated is missing, integrated is empty'],
    ['PUT', { active: true, integrated: '' }, 'integrated is empty'],
  ])('%s with %j is refused', async (method, body, error) => {
    const answer = await as('owner', method, `${at}/settings`, body);
    expect(answer).toMatchObject({ status: 400, body: { error } });
  });

  test('are Maintainers’ alone', async () => {
    const path = `${at}/settings`;
    await as('owner', 'PUT', path, { active: true, integrated: true });
    const statuses = async (...whos: Parameters<typeof as>[0][]) =>
      Promise.all(whos.map(async (who) => (await as(who, 'GET', path)).status));
    expect(await statuses('maintainer', 'developer', 'reporter', 'stranger', 'anonymous')).toEqual([
      200, 403, 403, 404, 401,
    ]);
  });
});

describe('a client key', () => {
  test('is made, listed and deleted', async () => {
    const path = `/projects/${await fresh()}/error_tracking/client_keys`;
    expect((await as('owner', 'GET', path)).body).toEqual([]);
    const { status, body } = await as('owner', 'POST', path);
    expect(status).toBe(201);
    const { public_key: key } = body;
    const [, id] = /\/projects\/(\d+)\//.exec(path)!;
    const dsn = `${service.url.replace('://', `://${key}@`)}/api/v4/error_tracking/collector/${id}`;
    expect(key).toMatch(/^glet_[0-9a-f]{32}$/);
    expect(body).toEqual({
      id: body.id,
      active: true,
      public_key: key,
      sentry_dsn: dsn,
      errtracker_dsn: dsn,
    });
    const list = await as('owner', 'GET', path);
    expect(list.body).toEqual([body]);
    expect(list.headers.get('x-total')).toBe('1');
    const deleted = await as('owner', 'DELETE', `${path}/${body.id}`);
    expect(deleted).toMatchObject({ status: 200, body });
    expect((await as('owner', 'GET', path)).body).toEqual([]);
    const gone = await as('owner', 'DELETE', `${path}/${body.id}`);
    expect(gone).toMatchObject({ status: 404, body: { message: '404 Not found' } });
  });

  test('is one of a hundred', async () => {
    const id = await fresh();
    const { store } = await import('../../../functions/deps.ts').then(({ deps }) => deps());
    const { clientKeyCountKey } = await import('../../../lib/store/row-keys/error-tracking.ts');
    await store.table.put({ put: { ...clientKeyCountKey(id), total: 100 } });
    const answer = await as('owner', 'POST', `/projects/${id}/error_tracking/client_keys`);
    expect(answer).toMatchObject({ status: 400, body: { message: { base: [expect.any(String)] } } });
  });

  test('is in the audit events', async () => {
    const { id } = (await as('owner', 'POST', `${at}/client_keys`)).body;
    await as('owner', 'DELETE', `${at}/client_keys/${id}`);
    expect(acts(await auditOf(service, 'Project', project)).slice(0, 2)).toMatchObject([
      { custom_message: `Revoked error tracking client key with id ${id}` },
      { custom_message: `Created error tracking client key with id ${id}` },
    ]);
  });

  test('is gone with its project', async () => {
    const id = await fresh();
    await as('owner', 'POST', `/projects/${id}/error_tracking/client_keys`);
    await as('owner', 'PUT', `/projects/${id}/error_tracking/settings`, { active: true, integrated: true });
    await as('owner', 'DELETE', `/projects/${id}`);
    await settled();
    const { deps } = await import('../../../functions/deps.ts');
    const { errorTrackingPartition } = await import('../../../lib/store/row-keys/error-tracking.ts');
    const { items } = await deps().store.table.query({ partition: errorTrackingPartition(id) });
    expect(items).toEqual([]);
  });
});
