/** What settings cost requests, when other processes see them, and what becomes of changes at the same moment. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { makeDeps } from '../../../functions/deps.ts';
import { recordedBy } from '../../harness/audit.ts';
import { type AwsCall, interpose } from '../../harness/aws-calls.ts';
import { type Service, startService } from '../../harness/service.ts';

let service: Service;
let ada: { readonly id: number; readonly token: string };
let project: number;
const calls: AwsCall[] = [];

beforeAll(async () => {
  service = await startService({ background: false });
  ada = await service.user('ada');
  const made = await service.call('POST', '/projects', { token: ada.token, json: { name: 'one' } });
  project = made.body.id;
  interpose(service.host, (call, send) => {
    calls.push(call);
    return send();
  });
});
afterAll(() => service.stop());

const put = (json: unknown) =>
  service.call('PUT', '/application/settings', { token: service.rootToken, json });
const readsOfSettings = () => calls.filter(({ subject }) => subject.includes('SETTINGS#')).length;

test('settings are read at most once in five seconds, whatever the number of requests', async () => {
  calls.length = 0;
  const began = performance.now();
  for (let n = 0; n < 100; n++) {
    const { status } = await service.call('GET', `/projects/${project}`, { token: ada.token });
    expect(status).toBe(200);
  }
  const windows = Math.ceil((performance.now() - began) / 5_000);
  expect(readsOfSettings()).toBeGreaterThanOrEqual(1);
  expect(readsOfSettings()).toBeLessThanOrEqual(windows + 1);
});

test('a change of settings is seen at once by its own process, and within seconds by others', async () => {
  const other = makeDeps();
  const text = async () => (await other.settings.current()).rate_limiting_response_text;
  expect(await text()).toBe(null);
  const { body } = await put({ rate_limiting_response_text: 'Slowly' });
  expect(body.rate_limiting_response_text).toBe('Slowly');
  const here = await service.call('GET', '/application/settings', { token: service.rootToken });
  expect(here.body.rate_limiting_response_text).toBe('Slowly');
  await vi.waitUntil(async () => (await text()) === 'Slowly', { timeout: 60_000, interval: 50 });
});

test('simultaneous changes of different settings by several administrators are all kept', async () => {
  const values = {
    default_branch_name: 'trunk',
    help_text: 'Ask us',
    push_event_activities_limit: 9,
    sign_in_text: 'Hello',
    domain_allowlist: ['example.com'],
    after_sign_up_text: 'Welcome',
  };
  const answers = await Promise.all(Object.entries(values).map(([name, value]) => put({ [name]: value })));
  expect(answers.map(({ status }) => status)).toEqual(Object.keys(values).map(() => 200));
  const { body } = await service.call('GET', '/application/settings', { token: service.rootToken });
  expect(body).toMatchObject(values);
});

test('of two simultaneous changes that contradict each other one is refused', async () => {
  const outcomes: number[][] = [];
  for (let round = 0; round < 10; round++) {
    await put({ default_project_visibility: 'private', restricted_visibility_levels: [] });
    const both = await Promise.all([
      put({ default_project_visibility: 'public' }),
      put({ restricted_visibility_levels: ['public'] }),
    ]);
    outcomes.push(both.map(({ status }) => status).sort());
    const { body } = await service.call('GET', '/application/settings', { token: service.rootToken });
    const together =
      body.default_project_visibility === 'public' && body.restricted_visibility_levels.length > 0;
    expect(together).toBe(false);
  }
  expect(outcomes).toEqual(Array(10).fill([200, 400]));
});

test('a change of settings is audited in its own transaction, with the changed values only', async () => {
  await put({ default_project_visibility: 'private', restricted_visibility_levels: [] });
  const change = (name: string) => `application setting ${name}`;
  const told = await recordedBy(service, async () => {
    await put({ default_projects_limit: 7, restricted_visibility_levels: ['public'], help_text: 'Ask us' });
    await put({ default_projects_limit: 7 });
    await put({ default_projects_limit: -1 });
    await put({ slack_app_secret: 'nobody reads this' });
  });
  // Of one change in no order.
  told.sort((a, b) => String(a['change']).localeCompare(String(b['change'])));
  expect(told).toMatchObject([
    { change: change('default_projects_limit'), from: '100000', to: '7' },
    { change: change('restricted_visibility_levels'), from: '[]', to: '["public"]' },
    { change: change('slack_app_secret') },
  ]);
  expect(JSON.stringify(told)).not.toContain('nobody reads this');
  expect(told[2]).not.toHaveProperty('to');
});

test('a change of more settings than fit in a transaction is applied as one and audited', async () => {
  const { body } = await service.call('GET', '/application/settings', { token: service.rootToken });
  const numbers = Object.entries(body as Record<string, unknown>).filter(
    ([name, value]) =>
      typeof value === 'number' &&
      (value === 3600 || /^throttle_.*_(period|requests)/.test(name) || /_limit$/.test(name)),
  );
  const others = Object.keys(body).filter(
    (name) => body[name] === false && /^(throttle|elasticsearch|floc|usage|admin|disable)_/.test(name),
  );
  const json = Object.fromEntries([
    ...numbers.map(([name, value]) => [name, Number(value) + 1] as const),
    ...others.map((name) => [name, true] as const),
  ]);
  expect(Object.keys(json).length).toBeGreaterThan(60);
  const told = await recordedBy(service, async () => {
    const answer = await put({ ...json, elasticsearch_indexing: false });
    expect([answer.status, answer.body.message]).toEqual([200, undefined]);
    expect(answer.body).toMatchObject({ ...json, elasticsearch_indexing: false });
  });
  expect(told).toHaveLength(61);
});
