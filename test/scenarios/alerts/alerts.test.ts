import { describe, expect, test } from 'vitest';
import { acts, auditOf } from '../../harness/audit-events.ts';
import { ownWorld } from '../../harness/own-world.ts';
import type { Answer } from '../../harness/service.ts';
import { settled } from '../../harness/settled.ts';
import { monitoring } from './monitoring.ts';

const { as, world, service } = ownWorld();
const { project, integrated, send, alertsOf } = monitoring(as);

describe('an alert integration', () => {
  test('is made, shown, changed and deleted; its key is shown once', async () => {
    const { id, path } = await project();
    const list = `/projects/${id}/alert_integrations`;
    const mapping = { title: { path: ['event', 'name'] } };
    const made = await as('owner', 'POST', list, { name: 'My Monitor', payload_attribute_mappings: mapping });
    const { authorization_key: key, ...shown } = made.body;
    expect(key).toMatch(/^[0-9a-f]{64}$/);
    expect(shown).toEqual({
      id: shown.id,
      project_id: id,
      name: 'My Monitor',
      type: 'http',
      active: true,
      endpoint_identifier: expect.stringMatching(/^[0-9a-f]{16}$/),
      url: `${service.url}/${path}/alerts/notify/my-monitor/${shown.endpoint_identifier}.json`,
      payload_attribute_mappings: mapping,
      ...{ create_issue: false, auto_close_incident: true, send_email: false },
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    const at = `${list}/${shown.id}`;
    expect((await as('owner', 'GET', at)).body).toEqual(shown);
    expect((await as('owner', 'GET', list)).body).toEqual([shown]);
    const changed = await as('owner', 'PUT', at, { active: false, name: 'Other' });
    expect(changed).toMatchObject({ status: 200, body: { active: false, name: 'Other' } });
    expect(changed.body.payload_attribute_mappings).toEqual(mapping);
    const { deps } = await import('../../../functions/deps.ts');
    const { alertIntegrationsPartition } = await import('../../../lib/store/row-keys/alerts.ts');
    const { items } = await deps().store.table.query({ partition: alertIntegrationsPartition(id) });
    expect(items).toHaveLength(2);
    expect(JSON.stringify(items)).not.toContain(key);
    expect((await as('owner', 'DELETE', at)).status).toBe(204);
    const absent = { status: 404, body: { message: '404 Not found' } };
    expect(await as('owner', 'GET', at)).toMatchObject(absent);
    expect((await send(shown.url, key, {})).status).toBe(401);
  });

  test.each([
    [{}, { error: 'name is missing, name is empty' }],
    [{ name: ' ' }, { error: 'name is empty' }],
    [{ name: 'x'.repeat(256) }, { message: { name: ['is too long (maximum is 255 characters)'] } }],
    [{ name: 'x', type: 'nagios' }, { error: 'type does not have a valid value' }],
    [
      { name: 'x', payload_attribute_mappings: { nothing: { path: ['a'] } } },
      { message: 'payload_attribute_mappings: nothing is not a field of alerts' },
    ],
    [
      { name: 'x', payload_attribute_mappings: { title: { path: [] } } },
      { message: 'payload_attribute_mappings: title needs a path: a list of names' },
    ],
  ])('of %j is refused', async (json, body) => {
    const at = `/projects/${world.ids['public']}/alert_integrations`;
    expect(await as('owner', 'POST', at, json)).toMatchObject({ status: 400, body });
  });

  test('gets another key, and the former one is no longer good', async () => {
    const made = await integrated();
    const rotated = await as('owner', 'POST', `${made.at}/alert_integrations/${made.id}/rotate_key`);
    expect(rotated).toMatchObject({ status: 201, body: { id: made.id, url: made.url } });
    const { authorization_key: key } = rotated.body;
    expect((await send(made.url, made.key, {})).status).toBe(401);
    expect((await send(made.url, key, {})).status).toBe(200);
    expect((await send(`${service.url}/${made.path}/alerts/notify.json`, key, {})).status).toBe(200);
  });

  test('is in the audit events, without its key', async () => {
    const made = await integrated();
    await as('owner', 'DELETE', `${made.at}/alert_integrations/${made.id}`);
    const told = acts(await auditOf(service, 'Project', made.project)).slice(0, 2);
    expect(told).toMatchObject([
      { custom_message: `Removed alert integration with id ${made.id}` },
      { custom_message: `Created alert integration with id ${made.id}` },
    ]);
    expect(JSON.stringify(told)).not.toContain(made.key);
  });

  test('is tried by Developers', async () => {
    const at = `/projects/${world.ids['private']}`;
    const { body } = await as('owner', 'POST', `${at}/alert_integrations`, { name: 'x' });
    const path = `${at}/alert_integrations/${body.id}/test`;
    const tried = await as('developer', 'POST', path, { payload: { title: 'A test', hosts: ['a'] } });
    expect(tried).toMatchObject({ status: 202, body: { message: '202 Accepted' } });
    expect(await alertsOf({ at })).toMatchObject([{ title: 'A test', integration_id: body.id }]);
    expect((await as('reporter', 'POST', path, { payload: {} })).status).toBe(403);
    expect((await as('developer', 'POST', path, {})).status).toBe(400);
    await as('owner', 'PUT', `${at}/alert_integrations/${body.id}`, { active: false });
    expect((await as('developer', 'POST', path, { payload: {} })).status).toBe(403);
  });

  test('and alerts are gone with their project', async () => {
    const made = await integrated();
    await send(made.url, made.key, {});
    await settled();
    await as('owner', 'DELETE', `/projects/${made.project}`);
    await settled();
    const { deps } = await import('../../../functions/deps.ts');
    const keys = await import('../../../lib/store/row-keys/alerts.ts');
    const { table, alertIntegrations } = deps().store;
    for (const partition of [
      keys.alertsPartition(made.project),
      keys.alertIntegrationsPartition(made.project),
    ])
      expect((await table.query({ partition })).items).toEqual([]);
    const { tokenHash } = await import('../../../lib/domain/access/token-check.ts');
    const endpoint = /([0-9a-f]{16})\.json$/.exec(made.url)![1];
    const left = await alertIntegrations.receiving(endpoint, tokenHash(made.key));
    expect(left).toEqual({ named: undefined, keyed: undefined });
  });
});

describe('an alert', () => {
  test('has all that was sent, and defaults for the rest', async () => {
    const made = await integrated();
    const sent = {
      title: 'Disk full',
      description: 'sda1 has no room',
      start_time: '2026-09-21T14:13:20.500Z',
      service: 'files',
      monitoring_tool: 'watcher',
      hosts: ['a.example.com', 'b.example.com'],
      severity: 'HIGH',
      fingerprint: ['disk', 'full'],
      gitlab_environment_name: 'production',
      extra: { deep: [{ er: 1 }] },
    };
    expect(await send(made.url, made.key, sent)).toMatchObject({ status: 200 });
    await settled();
    expect(await send(made.url, made.key, {})).toMatchObject({ status: 200 });
    const [bare, full] = await alertsOf(made);
    expect(full).toEqual({
      iid: 1,
      project_id: made.project,
      integration_id: made.id,
      title: 'Disk full',
      description: 'sda1 has no room',
      service: 'files',
      monitoring_tool: 'watcher',
      hosts: ['a.example.com', 'b.example.com'],
      severity: 'high',
      environment: 'production',
      fingerprint: expect.stringMatching(/^[0-9a-f]{40}$/),
      status: 'triggered',
      issue_iid: null,
      assignees: [],
      event_count: 1,
      started_at: '2026-09-21T14:13:20.500Z',
      ended_at: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    expect(bare).toMatchObject({
      ...{ iid: 2, title: 'New: Alert', description: null, service: null, monitoring_tool: null },
      ...{ hosts: [], severity: 'critical', environment: null, started_at: bare.created_at },
    });
    const { body } = await as('owner', 'GET', `${made.at}/alerts/1`);
    expect(body).toEqual({ ...full, payload: sent });
  });

  test('is counted when it comes again, however its members are ordered and wherever it is from', async () => {
    const made = await integrated();
    await send(made.url, made.key, { title: 'a', x: { b: 1, c: 2 }, hosts: 'one', start_time: '2026-01-01' });
    await settled();
    await send(made.url, made.key, { x: { c: 2, b: 1 }, title: 'a', hosts: ['two'] });
    await send(made.url, made.key, { title: 'a', x: { b: 1, c: 3 } });
    await settled();
    await send(made.url, made.key, { title: 'other', fingerprint: 'same' });
    await settled();
    await send(made.url, made.key, { title: 'another', fingerprint: 'same' });
    expect(await alertsOf(made)).toMatchObject([
      { title: 'other', event_count: 2 },
      { title: 'a', event_count: 1 },
      { title: 'a', event_count: 2, hosts: ['one'] },
    ]);
  });

  test('ends with its end time, and is a new one afterwards', async () => {
    const made = await integrated();
    const fingerprint = 'f';
    await send(made.url, made.key, { title: 'first', fingerprint });
    await settled();
    await send(made.url, made.key, { fingerprint, end_time: '2026-09-21T14:13:20Z' });
    expect(await alertsOf(made)).toMatchObject([
      { title: 'first', status: 'resolved', event_count: 1, ended_at: '2026-09-21T14:13:20.000Z' },
    ]);
    await send(made.url, made.key, { title: 'second', fingerprint });
    await settled();
    await send(made.url, made.key, { title: 'unknown', fingerprint: 'x', end_time: '2026-09-21T14:13:20Z' });
    expect(await alertsOf(made)).toMatchObject([
      { title: 'unknown', status: 'resolved', ended_at: '2026-09-21T14:13:20.000Z' },
      { title: 'second', status: 'triggered', event_count: 1, ended_at: null },
      { title: 'first', status: 'resolved' },
    ]);
  });

  test('takes its fields from where the integration says', async () => {
    const made = await integrated({
      payload_attribute_mappings: {
        title: { path: ['events', 0, 'name'] },
        severity: { path: ['level'] },
        fingerprint: { path: ['constructor'] },
      },
    });
    await send(made.url, made.key, { events: [{ name: 'Mapped' }], level: 'low', title: 'not this' });
    await settled();
    await send(made.url, made.key, { events: 5, title: 'This' });
    expect(await alertsOf(made)).toMatchObject([
      { title: 'This', severity: 'critical' },
      { title: 'Mapped', severity: 'low' },
    ]);
  });

  test.each([
    [
      { title: null, severity: null, hosts: null },
      { title: 'New: Alert', severity: 'critical', hosts: [] },
    ],
    [
      { title: 5, service: true, severity: 3 },
      { title: '5', service: 'true', severity: 'critical' },
    ],
    [
      { title: ['a', null, 'b'], hosts: { a: 1 } },
      { title: 'a, b', hosts: ['{"a":1}'] },
    ],
    [
      { title: {}, severity: ['low'], description: [] },
      { title: '{}', severity: 'low', description: null },
    ],
    [
      { start_time: 'never', end_time: {}, fingerprint: [null] },
      { status: 'triggered', ended_at: null },
    ],
    [{ start_time: 9e15, end_time: '' }, { ended_at: null }],
    [
      { title: 't'.repeat(300), description: 'd'.repeat(2_000) },
      { title: 't'.repeat(200), description: 'd'.repeat(1_000) },
    ],
    [
      { service: 's'.repeat(200), monitoring_tool: 'm'.repeat(200) },
      { service: 's'.repeat(100), monitoring_tool: 'm'.repeat(100) },
    ],
    [{ hosts: ['a'.repeat(200), 'b'.repeat(200), 'c'] }, { hosts: ['a'.repeat(200), 'b'.repeat(54)] }],
    [{ title: 'a\u0000b\ud800', ['__proto__']: 1 }, { severity: 'critical' }],
    [
      { service_environment_name: 'staging', severity: 'Unknown' },
      { environment: 'staging', severity: 'unknown' },
    ],
  ])('of %j is noted', async (sent, shown) => {
    const made = await integrated();
    expect((await send(made.url, made.key, sent)).status).toBe(200);
    expect(await alertsOf(made)).toMatchObject([shown]);
  });

  test('that is long, or a hundred levels deep, is kept whole', async () => {
    const made = await integrated();
    const long = { title: 'long', text: 'x'.repeat(900_000) };
    expect((await send(made.url, made.key, long)).status).toBe(200);
    const deep = `{"title":"deep","a":${'['.repeat(99)}${']'.repeat(99)}}`;
    expect((await send(made.url, made.key, deep)).status).toBe(200);
    await settled();
    // Counted: what it says is not kept twice.
    expect((await send(made.url, made.key, long)).status).toBe(200);
    const all: { iid: number; title: string; event_count: number }[] = await alertsOf(made);
    const found = all.find(({ title }) => title === 'long')!;
    expect(found.event_count).toBe(2);
    expect((await as('owner', 'GET', `${made.at}/alerts/${found.iid}`)).body.payload).toEqual(long);
    const { deps } = await import('../../../functions/deps.ts');
    const { TEXTS } = await import('../../../lib/store/texts/texts.ts');
    const { keys } = await deps().store.blobs.list(`${TEXTS}project/`);
    expect(keys.filter((key) => Number(key.split('/')[2]) === made.project)).toHaveLength(1);
  });

  test('that is noted twice counts once', async () => {
    const made = await integrated();
    await send(made.url, made.key, { fingerprint: 'x' });
    await settled();
    const { deps } = await import('../../../functions/deps.ts');
    const { noteAlert } = await import('../../../lib/domain/alerts/note.ts');
    const taken = {
      ...{ projectId: made.project, integrationId: made.id, at: new Date().toISOString() },
      payload: '{"fingerprint":"x"}',
    };
    for (let i = 0; i < 2; i++) await noteAlert(deps(), taken, 'the same');
    expect(await alertsOf(made)).toMatchObject([{ event_count: 2 }]);
    const text = JSON.stringify({ fingerprint: 'x', text: 'x'.repeat(100_000) });
    const long = { ...taken, payload: await deps().store.texts.keep(made.project, text) };
    for (let i = 0; i < 2; i++) await noteAlert(deps(), long, 'a long one');
    expect(await alertsOf(made)).toMatchObject([{ event_count: 3 }]);
  });

  test('changes its status; one of a cause is open', async () => {
    const made = await integrated();
    await send(made.url, made.key, { title: 'first', fingerprint: 'x' });
    await settled();
    const path = `${made.at}/alerts/1`;
    for (const status of ['acknowledged', 'ignored', 'triggered', 'resolved']) {
      const changed = await as('owner', 'PUT', path, { status });
      expect(changed).toMatchObject({ status: 200, body: { status } });
      expect(changed.body.ended_at === null).toBe(status !== 'resolved');
    }
    await send(made.url, made.key, { title: 'second', fingerprint: 'x' });
    await settled();
    const refused = await as('owner', 'PUT', path, { status: 'triggered' });
    expect(refused).toMatchObject({ status: 409 });
    await as('owner', 'PUT', `${made.at}/alerts/2`, { status: 'resolved' });
    expect((await as('owner', 'PUT', path, { status: 'triggered' })).status).toBe(200);
    await send(made.url, made.key, { fingerprint: 'x' });
    expect(await alertsOf(made)).toMatchObject([{ event_count: 1 }, { title: 'first', event_count: 2 }]);
    expect((await as('owner', 'PUT', path, { status: 'gone' })).status).toBe(400);
    const absent = { status: 404, body: { message: '404 Not found' } };
    expect(await as('owner', 'PUT', `${made.at}/alerts/99`, { status: 'ignored' })).toMatchObject(absent);
    expect(await as('owner', 'GET', `${made.at}/alerts/99`)).toMatchObject(absent);
  });

  test('is found by what it says, page by page', async () => {
    const made = await integrated();
    for (let i = 1; i <= 5; i++) {
      const severity = i % 2 === 0 ? 'low' : 'high';
      await send(made.url, made.key, { title: `number ${i}`, severity, gitlab_environment_name: `e${i}` });
      await settled();
    }
    const titles = async (query: string) =>
      (await alertsOf(made, query)).map(({ title }: { title: string }) => title);
    expect(await titles('?severity=low')).toEqual(['number 4', 'number 2']);
    expect(await titles('?search=BER%203')).toEqual(['number 3']);
    expect(await titles('?environment=e1')).toEqual(['number 1']);
    expect(await titles('?status=resolved')).toEqual([]);
    expect(await titles(`?integration_id=${made.id + 1}`)).toEqual([]);
    let next: string | undefined = `/api/v4${made.at}/alerts?per_page=2`;
    const pages: string[][] = [];
    while (next !== undefined) {
      const answer: Answer = await as('owner', 'GET', next);
      pages.push(answer.body.map(({ title }: { title: string }) => title));
      next = /<[^>]*?(\/api\/[^>]+)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1];
    }
    expect(pages).toEqual([['number 5', 'number 4'], ['number 3', 'number 2'], ['number 1']]);
  });
});
