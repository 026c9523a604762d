/**
 * How often a request waits for AWS, one time after another: what a caller far from a warm cache feels. Each limit is
 * what it takes now, so a trip more fails; whoever saves one lowers it. The first two of each decide access.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GitCli, withToken } from '../clients/git-cli.ts';
import { random } from '../git/history-fixture.ts';
import { forgetEverything } from '../harness/aws-calls.ts';
import { RoundTrips, type Trips } from '../harness/round-trips.ts';
import { type Service, startService } from '../harness/service.ts';
import { type Pushed, pushedProject } from './pushed-project.ts';

let service: Service;
let ada: { readonly id: number; readonly username: string; readonly token: string };
let project: Pushed;
let trips: RoundTrips;
let names = 0;
const git = new GitCli();
const printed: string[] = [];

beforeAll(async () => {
  service = await startService({ background: false });
  ada = await service.user('ada');
  project = await pushedProject(service, ada, 'counted', fill);
  trips = RoundTrips.of(service.host);
});
afterAll(async () => {
  process.stderr.write(`${printed.join('\n')}\n`);
  await service.stop();
  git[Symbol.dispose]();
});

interface Row {
  readonly what: string;
  work(): Promise<unknown>;
  /** With nothing in memory, and right after. */
  readonly cold: number;
  readonly warm: number;
  /** Kilobytes that S3 may send to a cold function. */
  readonly kilobytes: number;
}

const asked = (method: string, path: string, json?: unknown) => async () => {
  const options = { token: ada.token, ...(json === undefined ? {} : { json }) };
  const { status, body } = await service.call(method, `${project.repository}${path}`, options);
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
};
const get = (path: string) => asked('GET', path);
const remote = () => withToken(service.url, 'ada/counted', ada.token);
const fresh = () => `new-${++names}`;
const commitOf = (branch: string) => ({
  branch,
  commit_message: 'One file',
  actions: [{ action: 'create', file_path: fresh(), content: 'new\n' }],
});
const file = 'files/src%2Fpart1%2Ffile1.txt';

const rows: readonly Row[] = [
  { what: 'file at a tip', work: get(`/${file}?ref=main`), cold: 7, warm: 3, kilobytes: 870 },
  { what: 'file at a tip, raw', work: get(`/${file}/raw?ref=main`), cold: 7, warm: 3, kilobytes: 870 },
  {
    what: 'file at an old commit',
    work: () => get(`/${file}?ref=${project.git.oid('main~100')}`)(),
    cold: 7,
    warm: 3,
    kilobytes: 870,
  },
  { what: 'tree at a tip', work: get('/tree?ref=main&path=src'), cold: 6, warm: 3, kilobytes: 640 },
  {
    what: 'tree at a tip, recursive',
    work: get('/tree?ref=main&recursive=true&per_page=100'),
    cold: 7,
    warm: 3,
    kilobytes: 1150,
  },
  { what: 'page of commits', work: get('/commits?ref_name=main'), cold: 5, warm: 3, kilobytes: 360 },
  { what: 'page of commits of HEAD', work: get('/commits'), cold: 6, warm: 4, kilobytes: 360 },
  {
    what: 'one commit',
    work: () => get(`/commits/${project.git.oid('main~10')}`)(),
    cold: 8,
    warm: 4,
    kilobytes: 1150,
  },
  {
    what: 'log of a path',
    work: get('/commits?ref_name=main&path=src/part1'),
    cold: 7,
    warm: 3,
    kilobytes: 870,
  },
  { what: 'blame', work: get(`/${file}/blame?ref=main`), cold: 7, warm: 3, kilobytes: 870 },
  { what: 'compare', work: get('/compare?from=main~5&to=main'), cold: 9, warm: 3, kilobytes: 1430 },
  { what: 'merge base', work: get('/merge_base?refs[]=main&refs[]=side'), cold: 5, warm: 3, kilobytes: 360 },
  { what: 'branches', work: get('/branches'), cold: 7, warm: 5, kilobytes: 360 },
  { what: 'archive', work: get('/archive.tar?sha=side'), cold: 12, warm: 5, kilobytes: 1210 },
  {
    what: 'commit by the API',
    work: () => asked('POST', '/commits', commitOf('main'))(),
    cold: 11,
    warm: 9,
    kilobytes: 360,
  },
  {
    what: 'new branch by the API',
    work: () => asked('POST', '/branches', { branch: fresh(), ref: 'main' })(),
    cold: 13,
    warm: 11,
    kilobytes: 80,
  },
  {
    what: 'git clone, three requests',
    work: () => git.ok(git.home, 'clone', '--quiet', '--bare', remote(), fresh()),
    cold: 15,
    warm: 11,
    kilobytes: 1720,
  },
  { what: 'git push of a commit, three requests', work: pushed, cold: 27, warm: 23, kilobytes: 1720 },
];

test.each(rows)('$what', async ({ what, work, cold, warm, kilobytes }) => {
  forgetEverything();
  const first = await trips.of(work);
  const second = await trips.of(work);
  printed.push(`${what.padEnd(40)} cold ${shown(first)}   warm ${shown(second)}`);
  expect(first.trips.length, calls(first)).toBeLessThanOrEqual(cold);
  expect(second.trips.length, calls(second)).toBeLessThanOrEqual(warm);
  expect(first.bytes.S / 1024, calls(first)).toBeLessThanOrEqual(kilobytes);
});

const shown = ({ trips, bytes }: Trips) =>
  `${String(trips.length).padStart(2)}: ${trips.join(' ')}, ${Math.ceil(bytes.S / 1024)} KB`;
const calls = (of: Trips) =>
  of.calls
    .map((trip) => trip.map((call) => `${call.service} ${call.operation} ${call.subject}`).join('\n      + '))
    .join('\n');

/** 400 commits on `main` and 20 on `side`: a pack of several blocks. */
function fill(git: Pushed['git']): void {
  const next = random(7);
  const word = () => next(2 ** 30).toString(36);
  const text = () => Array.from({ length: 60 }, () => Array.from({ length: 12 }, word).join(' ')).join('\n');
  const commits: string[] = [];
  const commit = (branch: string, mark: number, from: number, path: string) => {
    const content = text();
    const parent = from === 0 ? '' : `from :${from}\n`;
    const who = `committer A <a@example.com> ${1_700_000_000 + mark * 60} +0000`;
    const change = `M 100644 inline ${path}\ndata ${content.length}\n${content}\n`;
    commits.push(`commit refs/heads/${branch}\nmark :${mark}\n${who}\ndata 2\nm\n${parent}${change}`);
  };
  for (let i = 1; i <= 400; i++) commit('main', i, i - 1, `src/part${i % 7}/file${i % 40}.txt`);
  for (let i = 401; i <= 420; i++) commit('side', i, i === 401 ? 200 : i - 1, `side/file${i % 5}.txt`);
  git.feed(commits.join(''), 'fast-import', '--quiet');
  git.git('tag', 'v1', 'main~50');
}

async function pushed(): Promise<void> {
  const { directory } = project.git;
  const tree = await git.ok(directory, 'rev-parse', 'main^{tree}');
  const commit = await git.ok(directory, 'commit-tree', tree, '-p', 'main', '-m', fresh());
  await git.ok(directory, 'push', '--quiet', remote(), `${commit}:refs/heads/${fresh()}`);
}
