/** What the tokens of jobs and runners are good for, over every endpoint. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { allEndpoints } from '../../lib/api/all.ts';
import { type Service, startService } from '../harness/service.ts';
import { settled } from '../harness/settled.ts';
import { report, smallRunner } from '../harness/small-runner.ts';
import { type Column, done, type Fixtures, makeFixtures } from './fixtures.ts';
import { type Row, readRows } from './rows.ts';
import { answerOf, type Credential } from './run.ts';

let service: Service;
let fixtures: Fixtures;
/** Of a job of the private project, which runs for the column {@link USER}. */
let running: string;
let ended: string;
let runner: string;
const USER: Column = 'dev';

beforeAll(async () => {
  service = await startService();
  fixtures = await makeFixtures(service);
  const { id, branch } = fixtures.projects.private;
  const asked = async (column: Column, method: string, path: string, json?: object) =>
    done(
      await service.call(method, `/projects/${id}${path}`, { token: fixtures.tokens[column]!, json }),
      path,
    );
  await asked(USER, 'POST', '/repository/commits', {
    ...{ branch: 'jobs', start_branch: branch, commit_message: 'Configure' },
    actions: [
      {
        ...{ action: 'create', file_path: '.gitlab-ci.yml' },
        content: 'first: { script: [x] }\nsecond: { script: [x] }',
      },
    ],
  });
  await settled();
  const small = await smallRunner(service, (await asked('ownr', 'GET', '')).runners_token);
  runner = small.token;
  const [first, second] = [(await small.take()).body, (await small.take()).body];
  [ended, running] = [first.token, second.token];
  done(await report(service, first, 'success'), 'the end of a job');
  await settled();
});
afterAll(() => service.stop());

const rows = readRows();
const rowsOf = (has: (endpoint: (typeof allEndpoints)[number]) => boolean): Row[] => {
  const names = new Set(
    allEndpoints.filter(has).map(({ method, path }) => `${method} ${path.replaceAll('*', ':')}`),
  );
  return rows.filter(({ endpoint }) => names.has(endpoint));
};
/** What runners ask with the token of a job of theirs about another one: there is no job 0. */
const OF_RUNNERS = { 'GET /jobs/:id/artifacts': 404 } as const;
/** Where runners send a token of theirs as `PRIVATE-TOKEN` too. */
const unread = rowsOf(({ access }) => access.kind === 'anyone' && access.unread);
const taking = rowsOf(({ jobTokens }) => jobTokens === true);
const others = rowsOf(({ jobTokens, access }) => jobTokens !== true && access.kind !== 'other');

/**
 * Asks with a credential where a column's statuses are known.
 * @param most lines of a row: about what is private, if there is such a line
 * @returns answers that differ from the column's
 */
async function differing(
  asked: readonly Row[],
  column: Column,
  by: Credential,
  { most, expected }: { most?: 1; expected?: number } = {},
): Promise<string[]> {
  const wrong: string[] = [];
  const ask = async (row: Row) => {
    const hidden = row.lines.filter(({ subject }) => subject === 'private');
    const lines = most === undefined ? row.lines : [...hidden, ...row.lines].slice(0, most);
    for (const line of lines) {
      const wanted = expected ?? line.expected[column]?.status;
      if (wanted === undefined) continue;
      const { status, body } = await answerOf(fixtures, row, line, column, by);
      if (status !== wanted)
        wrong.push(`${row.endpoint}, ${line.subject}: ${status} ${JSON.stringify(body)} and not ${wanted}`);
    }
  };
  const reads = asked.filter(({ method }) => method === 'GET' || method === 'HEAD');
  for (let i = 0; i < reads.length; i += 10) await Promise.all(reads.slice(i, i + 10).map(ask));
  for (const row of asked) if (!reads.includes(row)) await ask(row);
  return wrong;
}

test('the token of a running job is its user’s, at endpoints that take one', async () => {
  const named = await service.call('GET', '/job', { headers: { 'JOB-TOKEN': running } });
  expect(named.body).toMatchObject({ name: 'second', user: { id: fixtures.names[USER] } });
  const rest = taking.filter(({ path }) => path !== '/job');
  expect(rest.length).toBeGreaterThan(20);
  expect(await differing(rest, USER, { jobToken: running })).toEqual([]);
});

test('the token of a running job is nobody’s, at all other endpoints', async () => {
  const rest = others.filter(({ endpoint }) => !(endpoint in OF_RUNNERS));
  expect(await differing(rest, 'anon', { jobToken: running }, { most: 1 })).toEqual([]);
  for (const [endpoint, expected] of Object.entries(OF_RUNNERS)) {
    const [row] = others.filter((each) => each.endpoint === endpoint);
    expect(await differing([row!], 'anon', { jobToken: running }, { expected })).toEqual([]);
  }
});

test('the token of a job that has ended and that of a runner are refused as job tokens', async () => {
  for (const jobToken of [ended, runner])
    expect(await differing(taking, 'anon', { jobToken }, { expected: 401 })).toEqual([]);
});

test('tokens of jobs and runners are no tokens of users, at any endpoint', async () => {
  const all = [...taking, ...others].filter((row) => !unread.includes(row));
  for (const token of [running, runner])
    expect(await differing(all, 'anon', { token }, { most: 1, expected: 401 })).toEqual([]);
});

test('tokens of users, jobs and runners count for nothing at endpoints of runners, which check their own', async () => {
  expect(unread.length).toBeGreaterThan(7);
  for (const token of [running, runner, 'of nobody'])
    expect(await differing(unread, 'anon', { token })).toEqual([]);
});
