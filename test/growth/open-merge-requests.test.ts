/**
 * Ten thousand open merge requests to one branch: a push to it does as much as with two hundred, each is exact when it is
 * looked at, and waiting costs nothing. docs/cost.md has the figures; `COST_TABLE=write` writes them again.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PRICE } from '../../cdk/prices.ts';
import { areas } from '../../functions/areas.ts';
import type { MergeRequestRecord } from '../../lib/records/merge-requests.ts';
import { awsClients } from '../../lib/store/clients.ts';
import { MERGE_REQUEST_KIND } from '../../lib/store/merge-requests/kind.ts';
import { mergeRequestKeys } from '../../lib/store/row-keys/merge-requests.ts';
import { TableClient } from '../../lib/store/table/table-client.ts';
import { recordItem } from '../../lib/store/tracked/records.ts';
import { type Action, counted, finish } from '../drills/counted-units.ts';
import { DocumentedPart, rounded, tableHead, tableRow } from '../drills/documented-table.ts';
import { BulkTable } from '../harness/bulk-table.ts';
import { LogLines } from '../harness/log-lines.ts';
import { MetricLines } from '../harness/metric-lines.ts';
import { type Service, startService } from '../harness/service.ts';
import { Waits } from '../harness/waits.ts';
import { storeOf } from '../harness/world.ts';

const [FEW, MANY] = [200, 10_000];
const DOCUMENTED = new DocumentedPart('open-merge-requests');

let service: Service;
let lines: LogLines;
let metrics: MetricLines;
let waits: Waits;
let token: string;
let project: number;
/** The oldest of all, by their source branches. */
const iids = new Map<string, number>();
const few = new Map<string, Action>();
const many = new Map<string, Action>();
/** Bytes of one in the table, its indexes not counted. */
let bytes = 0;

const ask = async (method: string, path: string, json?: object) => {
  const { status, body } = await service.call(method, `/projects${path}`, { token, ...(json && { json }) });
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
  return body;
};
const commit = (branch: string, file_path: string, content: string, start_branch?: string) => {
  const action = file_path === 'a.txt' && branch !== 'main' ? 'update' : 'create';
  const actions = [{ action, file_path, content }];
  const json = { branch, commit_message: branch, actions, ...(start_branch && { start_branch }) };
  return ask('POST', `/${project}/repository/commits`, json);
};
const propose = (source_branch: string) =>
  ask('POST', `/${project}/merge_requests`, { title: source_branch, source_branch, target_branch: 'main' });
const shown = (branch: string) => ask('GET', `/${project}/merge_requests/${iids.get(branch)}`);
const recordOf = async (branch: string) =>
  (await storeOf().mergeRequests.get({ projectId: project, iid: iids.get(branch)! }))!;

beforeAll(async () => {
  [lines, metrics] = [LogLines.watch(), MetricLines.watch('Lemnos')];
  service = await startService({ background: false });
  waits = Waits.of(service.host);
  token = (await service.user('owner')).token;
  project = (await ask('POST', '', { name: 'busy' })).id;
  await commit('main', 'a.txt', '1\n2\n3\n');
  await commit('clean', 'clean.txt', 'x', 'main');
  await commit('rival', 'a.txt', '1\nzwei\n3\n', 'main');
  await commit('stacked', 'stacked.txt', 'x', 'main');
  await commit('upon', 'upon.txt', 'x', 'stacked');
  for (const branch of ['clean', 'rival', 'stacked']) iids.set(branch, (await propose(branch)).iid);
  let open = iids.size;
  for (const [size, counts] of [
    [FEW, few],
    [MANY, many],
  ] as const) {
    await grow(open, size);
    open = size;
    await measure(counts);
  }
  if (process.env['COST_TABLE'] === 'write') writeTable();
}, 1_200_000);
afterAll(async () => {
  metrics?.stop();
  await service?.stop();
});

/** More that are as the oldest, from branches of their own. */
async function grow(from: number, to: number): Promise<void> {
  const client = new TableClient(awsClients().dynamodb);
  const bulk = new BulkTable(client, storeOf().table.name, service.host.dynamo);
  const like = await recordOf('clean');
  const around = { rootId: project, labelTitles: new Map(), milestoneTitle: undefined };
  for (let n = from + 1; n <= to; n++) {
    const at = new Date(Date.parse(like.createdAt) + n).toISOString();
    const record: MergeRequestRecord = {
      ...like,
      ...{ id: 1_000_000 + n, iid: 1_000_000 + n, title: `Change ${n}`, createdAt: at, updatedAt: at },
      source: { projectId: project, branch: `topic-${n}` },
      diff: { ...like.diff, id: 1_000_000 + n, commitShas: [n.toString(16).padStart(40, '0')] },
    };
    const rows = [recordItem(MERGE_REQUEST_KIND, record), ...MERGE_REQUEST_KIND.rows(record, around)];
    bytes = rows.reduce((sum, row) => sum + JSON.stringify(row).length, 0);
    for (const row of rows) await bulk.put({ put: row });
  }
  await bulk.put({ put: { ...mergeRequestKeys.count(project), opened: to } });
  await bulk.flush();
}

/** As a schedule calls them. */
async function scheduled(): Promise<void> {
  for (const { kind, name } of areas) if (kind === 'scheduled') await service.host.invoke(name, {});
}

let pushes = 0;
async function measure(counts: Map<string, Action>): Promise<void> {
  const measured = (work: () => Promise<unknown>, like?: string) =>
    counted(service, { lines, metrics, waits }, like === undefined ? {} : { like }, async () => {
      await work();
    });
  await finish(service, waits);
  // What earlier actions have promised for later: it tells how much they were, not how many are open.
  await scheduled();
  await finish(service, waits);
  counts.set('a run of all that is scheduled', await measured(scheduled));
  counts.set(
    'a push to the branch',
    await measured(() => commit('main', `pushed-${++pushes}.txt`, 'x'), 'POST commits'),
  );
  counts.set('a look at the oldest after it', await measured(() => shown('clean'), 'GET merge_request'));
  counts.set('another look at it', await measured(() => shown('clean'), 'GET merge_request'));
}

const COLUMNS = ['calls', 'readUnits', 'writeUnits', 'messages'] as const;

describe('with ten thousand open merge requests to a branch, as with two hundred,', () => {
  test.each(['a run of all that is scheduled', 'a push to the branch', 'a look at the oldest after it'])(
    '%s costs the same',
    (what) => {
      for (const unit of COLUMNS)
        expect(many.get(what)![unit], unit).toBeLessThanOrEqual(few.get(what)![unit] * 1.1 + 2);
    },
  );

  test('docs/cost.md tells what they cost', () => {
    const rows = DOCUMENTED.rows();
    for (const [what, action] of many) {
      const told = rows.get(what)!;
      // Workers that write the refs of one repository at the same time begin again as often as they meet.
      const room = what === 'a push to the branch' ? 0.4 : 0.2;
      for (const [i, unit] of COLUMNS.entries())
        expect(Math.abs(action[unit] - told[i]!), `${what}: ${unit}`).toBeLessThanOrEqual(
          Math.max(2, room * told[i]!),
        );
    }
    const [, told] = /Stored: (\d+) MB/.exec(DOCUMENTED.read())!;
    expect(Math.abs(megabytes() - Number(told))).toBeLessThanOrEqual(0.2 * Number(told));
  });
});

describe('the oldest of ten thousand', () => {
  const listed = async (branch: string) =>
    (await ask('GET', `/${project}/merge_requests?iids[]=${iids.get(branch)}`))[0].merge_status;

  test('is told as unchecked after a push to its target, and exactly when it is looked at', async () => {
    expect((await shown('rival')).merge_status).toBe('can_be_merged');
    // A worker has written the merge that was found, and checks no more.
    await finish(service, waits);
    const json = { branch: 'main', commit_message: 'x' };
    const actions = [{ action: 'update', file_path: 'a.txt', content: '1\ntwo\n3\n' }];
    await ask('POST', `/${project}/repository/commits`, { ...json, actions });
    await finish(service, waits);
    expect([await listed('rival'), await listed('clean')]).toEqual(['unchecked', 'unchecked']);
    expect(await shown('rival')).toMatchObject({ merge_status: 'cannot_be_merged', has_conflicts: true });
    expect(await shown('clean')).toMatchObject({ merge_status: 'can_be_merged', has_conflicts: false });
    expect([await listed('rival'), await listed('clean')]).toEqual(['cannot_be_merged', 'can_be_merged']);
  });

  test('is merged by a push that brings its commits, below more than a hundred others', async () => {
    for (let n = 0; n < 120; n++) await commit('upon', `upon-${n}.txt`, 'x');
    const { iid } = await propose('upon');
    await ask('PUT', `/${project}/merge_requests/${iid}/merge`);
    await finish(service, waits);
    expect((await recordOf('stacked')).state).toBe('merged');
    expect((await recordOf('clean')).state).toBe('opened');
  });
});

/** Rows of all of them, and what the indexes have of these: about as much again. */
const megabytes = () => (2 * bytes * MANY) / 1e6;

function writeTable(): void {
  const dollars = (megabytes() / 1000) * (PRICE.tablePerGb + PRICE.recoveryPerGb);
  DOCUMENTED.write([
    ...tableHead([`${MANY.toLocaleString('en')} are open`, ...TITLES, '$ per million']),
    ...[...many].map(([what, action]) =>
      tableRow([what, ...COLUMNS.map((unit) => rounded(action[unit])), action.million.toFixed(1)]),
    ),
    '',
    `Stored: ${megabytes().toFixed(0)} MB, ${dollars.toFixed(3)} $ a month.`,
  ]);
}

const TITLES = ['function calls', 'read units', 'write units', 'messages'];
