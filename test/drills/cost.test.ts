/**
 * docs/cost.md is counted here, and stays true: what an action asks of AWS, and the metrics that all of them tell, may not
 * drift from what is told by more than a fifth. `COST_TABLE=write npm run test:drills -- cost` writes the table anew.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { instance } from '../../cdk/app.ts';
import { type Template as IdleTemplate, idleCost } from '../../cdk/idle-cost.ts';
import { PRICE } from '../../cdk/prices.ts';
import cdkJson from '../../cdk.json' with { type: 'json' };
import { apiDocument } from '../../lib/api/all.ts';
import { GitCli } from '../clients/git-cli.ts';
import { LogLines } from '../harness/log-lines.ts';
import { MetricLines } from '../harness/metric-lines.ts';
import { request, type Service, startService } from '../harness/service.ts';
import { Waits } from '../harness/waits.ts';
import { type Action, counted } from './counted-units.ts';
import { DocumentedPart, rounded, tableHead, tableRow } from './documented-table.ts';

const DOCUMENTED = new DocumentedPart('counted');

let service: Service;
let lines: LogLines;
let waits: Waits;
let metrics: MetricLines;
let git: GitCli;
let owner: Awaited<ReturnType<Service['user']>>;
let project: { id: number; url: string };
let commits = 0;

beforeAll(async () => {
  lines = LogLines.watch();
  service = await startService({ background: false });
  waits = Waits.of(service.host);
  owner = await service.user('owner');
  git = new GitCli();
  for (let i = 0; i < 20; i++) await create(`project-${i}`);
  const made = await create('subject');
  const remote = new URL(`${service.url}/owner/subject.git`);
  remote.username = 'owner';
  remote.password = owner.token;
  project = { id: made.id, url: remote.href };
  await git.run(['init', '--quiet', '--initial-branch=main', 'work']);
  for (let i = 0; i < 20; i++) await commit();
  await push();
  const member = await service.user('member');
  await ask('POST', `/projects/${project.id}/members`, { user_id: member.id, access_level: 30 });
});
afterAll(async () => {
  metrics?.stop();
  git?.[Symbol.dispose]();
  await service?.stop();
});

async function ask(method: string, path: string, json?: object) {
  const { status, body } = await service.call(method, path, { token: owner.token, ...(json && { json }) });
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
  return body;
}
const create = (name: string) => ask('POST', '/projects', { name });

async function inWork(...args: string[]): Promise<string> {
  const { code, stderr, stdout } = await git.run(args, { cwd: git.path('work') });
  if (code !== 0) throw new Error(stderr);
  return stdout.toString().trim();
}
async function commit(): Promise<void> {
  const name = `file-${commits++}.txt`;
  writeFileSync(join(git.path('work'), name), `${name}\n`.repeat(100));
  await inWork('add', name);
  await inWork('commit', '--quiet', '-m', name);
}
const push = () => inWork('push', '--quiet', project.url, 'HEAD:refs/heads/main');

let integration: { url: string; authorization_key: string };
async function watch(): Promise<void> {
  integration = await ask('POST', `/projects/${project.id}/alert_integrations`, { name: 'Watcher' });
}
/** As a monitoring tool sends it, with as long a description as is kept. */
async function alert(more: object): Promise<void> {
  const { url, authorization_key: key } = integration;
  const sent = {
    ...{ title: 'Disk of build-7 is almost full', service: 'build-7', monitoring_tool: 'Watcher' },
    ...{ severity: 'high', hosts: ['build-7.example.com'], fingerprint: 'disk:build-7' },
    description: 'Less than two percent are left of the disk. '.repeat(22),
  };
  const headers = { Authorization: `Bearer ${key}` };
  const { status } = await request(url, 'POST', { headers, body: JSON.stringify({ ...sent, ...more }) });
  if (status !== 200) throw new Error(`an alert: ${status}`);
}

/** Their processor time is that of the kind of request of the mix that they are most like. */
const ACTIONS: readonly [
  string,
  like: string,
  prepare: (() => Promise<unknown>) | undefined,
  act: () => Promise<unknown>,
][] = [
  ['read a project', 'GET project', undefined, () => ask('GET', `/projects/${project.id}`)],
  [
    'list 20 projects',
    'GET /projects, of a member',
    undefined,
    () => ask('GET', '/projects?membership=true'),
  ],
  [
    'search projects, 21 found',
    'GET /projects?search',
    undefined,
    () => ask('GET', '/projects?search=project'),
  ],
  ['search users', 'GET /users?search', undefined, () => ask('GET', '/users?search=member')],
  [
    "list a project's events",
    'GET project/events',
    undefined,
    () => ask('GET', `/projects/${project.id}/events`),
  ],
  [
    "list a project's audit events",
    'GET project/events',
    undefined,
    () => ask('GET', `/projects/${project.id}/audit_events`),
  ],
  [
    'read a file',
    'GET file/raw',
    undefined,
    () => ask('GET', `/projects/${project.id}/repository/files/file-1.txt/raw?ref=main`),
  ],
  [
    'list 20 commits',
    'GET commits',
    undefined,
    () => ask('GET', `/projects/${project.id}/repository/commits`),
  ],
  ['create a project', 'POST issue', undefined, () => create('new-one')],
  [
    'comment on a commit',
    'POST merge_request/notes',
    undefined,
    () => ask('POST', `/projects/${project.id}/repository/commits/main/comments`, { note: 'Well done' }),
  ],
  [
    'create an issue with two labels and an assignee',
    'POST issue',
    async () => {
      for (const name of ['bug', 'urgent'])
        await ask('POST', `/projects/${project.id}/labels`, { name, color: 'red' });
    },
    () =>
      ask('POST', `/projects/${project.id}/issues`, {
        title: 'The door sticks',
        // A paragraph: as many words as searches find by.
        description:
          'It does not open in the morning, when the wood has swollen over night; later, in the afternoon sun, ' +
          'nothing holds it. Planing the lower edge would help, as would new hinges, but the caretaker keeps ' +
          'both tools and keys locked away until somebody from the office signs a written order.',
        labels: 'bug,urgent',
        assignee_ids: [owner.id],
      }),
  ],
  [
    'list 20 issues of a project',
    'GET issues',
    async () => {
      for (let i = 0; i < 20; i++)
        await ask('POST', `/projects/${project.id}/issues`, { title: `issue ${i}`, labels: 'bug' });
    },
    () => ask('GET', `/projects/${project.id}/issues?state=opened`),
  ],
  [
    'comment on an issue',
    'POST issue/notes',
    undefined,
    () =>
      ask('POST', `/projects/${project.id}/issues/1/notes`, {
        // As many words as searches find by.
        body:
          'Seen here too, on the second floor: the frame has moved since winter, and somebody painted over both ' +
          'hinges without cleaning them. Replacing screws alone will hardly hold until spring.',
      }),
  ],
  [
    'close an issue',
    'PUT issue',
    undefined,
    () => ask('PUT', `/projects/${project.id}/issues/1`, { state_event: 'close' }),
  ],
  [
    'commit a file through the API',
    'POST commits',
    undefined,
    () =>
      ask('POST', `/projects/${project.id}/repository/commits`, {
        branch: 'topic',
        start_branch: 'main',
        commit_message: 'Through the API',
        actions: [{ action: 'create', file_path: 'new.txt', content: 'new\n' }],
      }),
  ],
  ['git push a commit', 'git push', commit, push],
  [
    'git clone',
    'git clone --depth 1',
    undefined,
    () => git.run(['clone', '--quiet', project.url, `clone-${commits++}`]),
  ],
  [
    'git fetch with nothing new',
    'git pull, nothing new',
    undefined,
    () => inWork('fetch', '--quiet', project.url, 'main'),
  ],
  ['take a new alert', 'POST commit status', watch, () => alert({ start_time: '2026-11-20T10:00:00Z' })],
  [
    'take an alert that is open',
    'POST commit status',
    undefined,
    () => alert({ start_time: '2026-11-20T10:05:00Z' }),
  ],
  [
    'mail a link that confirms an address',
    'POST branch',
    undefined,
    () => ask('POST', '/user/emails', { email: 'another@example.com' }),
  ],
];

const COLUMNS = [
  ['requests', 'requests'],
  ['calls', 'function calls'],
  ['readUnits', 'read units'],
  ['writeUnits', 'write units'],
  ['objectReads', 'objects read'],
  ['objectWrites', 'objects written'],
  ['messages', 'messages'],
  ['mails', 'mails'],
] as const;

test('the documented cost table matches what actions use', async () => {
  const measured = new Map<string, Action>();
  metrics = MetricLines.watch('Lemnos');
  for (const [name, like, prepare, act] of ACTIONS) {
    await prepare?.();
    const counting = { lines, metrics, waits };
    measured.set(name, await counted(service, counting, { like }, async () => void (await act())));
  }
  const idle = idleDollars();
  const series = metrics.names.size;
  if (process.env['COST_TABLE'] === 'write') writeTable(measured, idle, series);
  const { rows, idle: toldIdle, series: toldSeries } = readTable();
  expect([...rows.keys()]).toEqual([...measured.keys()]);
  for (const [name, action] of measured) {
    const told = rows.get(name)!;
    for (const [index, [unit]] of COLUMNS.entries()) {
      const room = Math.max(1, told[index]! * 0.2);
      expect(Math.abs(action[unit] - told[index]!), `${name}: ${unit} ${action[unit]}`).toBeLessThanOrEqual(
        room,
      );
    }
    const dollars = told[COLUMNS.length]!;
    expect(Math.abs(action.million - dollars), `${name}: ${action.million} $`).toBeLessThan(0.25 * dollars);
  }
  expect(Math.abs(idle - toldIdle)).toBeLessThan(0.25);
  expect(Math.abs(series - toldSeries), `${series} metrics`).toBeLessThanOrEqual(0.2 * toldSeries);
}, 600_000);

test('a comment costs the same in a group of forty as in one of two', async () => {
  metrics ??= MetricLines.watch('Lemnos');
  const comment = async (size: number): Promise<Action> => {
    const name = `of-${size}`;
    const { id: groupId } = await ask('POST', '/groups', { name, path: name });
    for (let i = 1; i < size; i++) {
      const member = await service.user(`${name}-${i}`);
      await ask('POST', `/groups/${groupId}/members`, { user_id: member.id, access_level: 30 });
      if (i > 1) continue;
      const { status } = await service.call('PUT', '/notification_settings', {
        token: member.token,
        json: { level: 'watch' },
      });
      expect(status).toBe(200);
    }
    const { id } = await ask('POST', '/projects', { name: 'talk', namespace_id: groupId });
    await ask('POST', `/projects/${id}/issues`, { title: 'The door sticks' });
    const act = () => ask('POST', `/projects/${id}/issues/1/notes`, { body: 'Seen here too' });
    return counted(service, { lines, metrics, waits }, { like: 'POST issue/notes' }, act);
  };
  const [two, forty] = [await comment(2), await comment(40)];
  // One member of each watches everything, and is told.
  expect([two.mails, forty.mails]).toEqual([1, 1]);
  expect(forty.writeUnits).toBe(two.writeUnits);
  // Keys of members are a page of a few units.
  expect(forty.readUnits - two.readUnits, `${forty.readUnits} and ${two.readUnits}`).toBeLessThan(8);
});

function idleDollars(): number {
  const app = new App({ context: cdkJson.context, analyticsReporting: false });
  const { data, service: stack } = instance(app, () => Code.fromInline('exports.handler = async () => {};'));
  const templates = [data, stack].map((each) => Template.fromStack(each).toJSON() as IdleTemplate);
  return idleCost(templates).reduce((sum, { dollars }) => sum + dollars, 0);
}

/** Eight hours of 22 days, and all of a month: a metric is paid for by the hour in which it was told. */
const HOURS = { working: 176, all: 730 };

/** What metrics cost that are told in so many hours of a month. */
function metricDollars(series: number, hours: number): string {
  const dollars = series * PRICE.metric * (hours / HOURS.all);
  return dollars.toFixed(dollars < 10 ? 2 : 0);
}

function writeTable(measured: ReadonlyMap<string, Action>, idle: number, series: number): void {
  DOCUMENTED.write([
    ...tableHead(['action', ...COLUMNS.map(([, title]) => title), '$ per million']),
    ...[...measured].map(([name, action]) =>
      tableRow([name, ...COLUMNS.map(([unit]) => rounded(action[unit])), action.million.toFixed(0)]),
    ),
    '',
    `An idle month: ${idle.toFixed(2)} $.`,
    '',
    ...tableHead(['metrics of endpoints and jobs', 'metrics', '$ a month']),
    tableRow(['nothing is asked', '0', '0']),
    tableRow([
      'all of the above in each of 176 working hours',
      rounded(series),
      metricDollars(series, HOURS.working),
    ]),
    tableRow(['all of the above in every hour', rounded(series), metricDollars(series, HOURS.all)]),
    tableRow(['every endpoint in every hour', rounded(endpoints()), metricDollars(endpoints(), HOURS.all)]),
  ]);
}

/** Each tells the time that it took; others only what went wrong. */
const endpoints = () =>
  Object.values(apiDocument().paths).reduce((sum, methods) => sum + Object.keys(methods).length, 0);

function readTable(): { rows: ReadonlyMap<string, number[]>; idle: number; series: number } {
  const text = DOCUMENTED.read();
  const [, series] = /^\| all of the above in every hour \| (\d+) /m.exec(text)!;
  return {
    rows: DOCUMENTED.rows(),
    idle: Number(/An idle month: ([\d.]+)/.exec(text)![1]),
    series: Number(series),
  };
}
