import { beforeAll, describe, expect, test } from 'vitest';
import { freshWindow } from '../../harness/fresh-window.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { request } from '../../harness/service.ts';
import { settled } from '../../harness/settled.ts';
import { type Integration, monitoring } from './monitoring.ts';

const { as, root, service } = ownWorld();
const { project, integrated, send, alertsOf } = monitoring(as);

let shared: Integration;
beforeAll(async () => {
  shared = await integrated();
});

describe('the receiver', () => {
  test('takes the key as bearer token and as password, with any name', async () => {
    const { url, key } = shared;
    for (const authorization of [
      `Bearer ${key}`,
      `Basic ${Buffer.from(`:${key}`).toString('base64')}`,
      `Basic ${Buffer.from(`anybody:${key}`).toString('base64')}`,
    ])
      expect(
        await request(url, 'POST', { headers: { Authorization: authorization }, body: '{}' }),
      ).toMatchObject({ status: 200, body: null });
  });

  test('answers 401 without a good key, whatever the address is', async () => {
    const unknown = '0'.repeat(64);
    const addresses = [
      shared.url,
      `${service.url}/${shared.path}/alerts/notify.json`,
      `${service.url}/no/such/alerts/notify.json`,
      `${service.url}/${shared.path}/alerts/notify/x/0123456789abcdef.json`,
    ];
    for (const url of addresses)
      for (const key of [undefined, unknown])
        expect(await send(url, key, {})).toMatchObject({ status: 401, body: null });
    // Of another integration, to one whose address is known.
    expect((await send(shared.url, (await integrated()).key, {})).status).toBe(401);
  });

  test('answers 403 for an unknown endpoint and one that is switched off, 404 for another project', async () => {
    const made = await integrated();
    const wrong = made.url.replace(/[0-9a-f]{16}\.json$/, '0123456789abcdef.json');
    expect(await send(wrong, made.key, {})).toMatchObject({ status: 403, body: null });
    for (const path of [shared.path, 'no/such'])
      expect((await send(`${service.url}/${path}/alerts/notify.json`, made.key, {})).status).toBe(404);
    await as('owner', 'PUT', `${made.at}/alert_integrations/${made.id}`, { active: false });
    for (const url of [made.url, `${service.url}/${made.path}/alerts/notify.json`])
      expect((await send(url, made.key, {})).status).toBe(403);
  });

  test('tells several integrations apart by endpoint and key', async () => {
    const of = await project();
    const one = await integrated({ name: 'one' }, of);
    const two = await integrated({ name: 'two' }, of);
    await send(`${service.url}/${of.path}/alerts/notify.json`, two.key, { title: 'two' });
    await settled();
    await send(one.url, one.key, { title: 'one' });
    expect(await alertsOf(one)).toMatchObject([
      { title: 'one', integration_id: one.id },
      { title: 'two', integration_id: two.id },
    ]);
  });

  test.each([
    ['nothing', ''],
    ['no JSON', 'hello'],
    ['a list', '[{}]'],
    ['a text', '"{}"'],
    ['JSON that is cut', '{"title":"x'],
    ['a form', 'title=x'],
    ['more than a hundred levels', `{"a":${'['.repeat(100)}${']'.repeat(100)}}`],
    ['more than a megabyte', JSON.stringify({ a: 'x'.repeat(1024 * 1024) })],
    ['very many members', JSON.stringify({ a: Array(150_000).fill(0) })],
  ])('refuses %s', async (_what, body) => {
    expect(await send(shared.url, shared.key, body)).toMatchObject({ status: 400, body: null });
  });

  test('takes nothing but POST', async () => {
    expect((await request(shared.url, 'GET')).status).toBe(404);
    expect((await request(shared.url, 'PUT', { body: '{}' })).status).toBe(404);
  });

  test('takes many at once and loses none', async () => {
    const made = await integrated();
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, i) =>
        send(made.url, made.key, { fingerprint: i % 3 === 0 ? 'x' : 'y' }),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const all: { event_count: number }[] = await alertsOf(made);
    expect(all.map(({ event_count: n }) => n).sort()).toEqual([20, 40]);
  });

  test('obeys the limit of the settings', async () => {
    const made = await integrated();
    const setting = 'throttle_incident_management_notification';
    const limit = (enabled: boolean) =>
      root('PUT', '/application/settings', {
        [`${setting}_enabled`]: enabled,
        [`${setting}_per_period`]: 2,
        [`${setting}_period_in_seconds`]: 36_000,
      });
    await limit(true);
    await freshWindow(36_000);
    const statuses: number[] = [];
    for (let i = 0; i < 3; i++) statuses.push((await send(made.url, made.key, {})).status);
    const refused = await send(made.url, made.key, {});
    await limit(false);
    expect(statuses).toEqual([200, 200, 429]);
    expect(refused).toMatchObject({ status: 429, body: null });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await alertsOf(made)).toMatchObject([{ event_count: 2 }]);
  });

  test('refuses in maintenance mode', async () => {
    await root('PUT', '/application/settings', { maintenance_mode: true });
    const { status } = await send(shared.url, shared.key, {});
    await root('PUT', '/application/settings', { maintenance_mode: false });
    expect(status).toBe(503);
  });
});

/** As Prometheus' documentation of its webhook tells. */
const ofPrometheus = (alerts: object[]) => ({
  version: '4',
  groupKey: '{}:{alertname="Down"}',
  truncatedAlerts: 0,
  status: 'firing',
  receiver: 'lemnos',
  groupLabels: { alertname: 'Down' },
  commonLabels: {},
  commonAnnotations: {},
  externalURL: 'http://alertmanager:9093',
  alerts,
});
const firing = (instance: string, more: object = {}) => ({
  status: 'firing',
  labels: { alertname: 'Down', instance, severity: 'low', gitlab_environment_name: 'production' },
  annotations: { summary: `${instance} is down`, description: 'Nobody answers' },
  startsAt: '2026-09-21T14:13:20.500Z',
  endsAt: '0001-01-01T00:00:00Z',
  generatorURL: 'http://prometheus:9090/graph',
  fingerprint: `f-${instance}`,
  ...more,
});

describe('what Prometheus sends', () => {
  test.each(['http', 'prometheus'])('to an integration of the type %s is an alert each', async (type) => {
    const made = await integrated({ type });
    if (type === 'prometheus')
      expect(made.url).toBe(`${service.url}/${made.path}/prometheus/alerts/notify.json`);
    expect((await send(made.url, made.key, ofPrometheus([firing('a'), firing('b')]))).status).toBe(200);
    await settled();
    const ended = firing('a', { status: 'resolved', endsAt: '2026-09-21T15:00:00Z' });
    expect((await send(made.url, made.key, ofPrometheus([ended, firing('b')]))).status).toBe(200);
    const all = await alertsOf(made);
    expect(all).toMatchObject([
      { title: 'b is down', status: 'triggered', event_count: 2 },
      {
        ...{ title: 'a is down', description: 'Nobody answers', monitoring_tool: 'Prometheus' },
        ...{ hosts: ['a'], severity: 'low', environment: 'production', status: 'resolved' },
        ...{ started_at: '2026-09-21T14:13:20.500Z', ended_at: '2026-09-21T15:00:00.000Z' },
      },
    ]);
    const { body } = await as('owner', 'GET', `${made.at}/alerts/1`);
    expect(body.payload).toEqual(firing('a'));
  });

  test('is all that its integration takes', async () => {
    const made = await integrated({ type: 'prometheus' });
    for (const sent of [{ title: 'x' }, { ...ofPrometheus([]), version: '3' }])
      expect(await send(made.url, made.key, sent)).toMatchObject({ status: 422, body: null });
  });

  test('may hold what is no alert', async () => {
    const made = await integrated({ type: 'prometheus' });
    const sent = { ...ofPrometheus([]), alerts: [null, 5, {}, { labels: null, annotations: [] }] };
    expect((await send(made.url, made.key, sent)).status).toBe(200);
    expect(await alertsOf(made)).toMatchObject([{ title: 'New: Alert', event_count: 2 }]);
    expect((await send(made.url, made.key, { ...ofPrometheus([]), alerts: 'x' })).status).toBe(200);
  });
});
