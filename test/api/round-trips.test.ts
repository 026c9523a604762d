/**
 * How often a request waits for AWS, one time after another: what a caller far from a warm cache feels. Each limit is
 * what it takes now, so a trip more fails; whoever saves one lowers it. The first two of each decide access.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deps } from '../../functions/deps.ts';
import { maintainRepository } from '../../lib/domain/maintenance.ts';
import { GitCli, withToken } from '../clients/git-cli.ts';
import { random } from '../git/history-fixture.ts';
import { forgetEverything } from '../harness/aws-calls.ts';
import { RoundTrips, type Trips } from '../harness/round-trips.ts';
import { type Service, startService } from '../harness/service.ts';
import { type Pushed, pushedProject } from './pushed-project.ts';

let service: Service;
let ada: { readonly id: number; readonly username: string; readonly token: string };
let project: Pushed;
let maintained: Pushed;
let trips: RoundTrips;
let names = 0;
const git = new GitCli();
const printed: string[] = [];

beforeAll(async () => {
  service = await startService({ background: false });
  ada = await service.user('ada');
  project = await pushedProject(service, ada, 'counted', (git) => fill(git, 400));
  maintained = await pushedProject(service, ada, 'maintained', (git) => fill(git, 900));
  await maintain(maintained);
  trips = RoundTrips.of(service.host);
});
afterAll(async () => {
  process.stderr.write(`${printed.join('\n')}\n`);
  await service.stop();
  git[Symbol.dispose]();
});

const asked = (of: () => Pushed) => (method: string, path: string, json?: unknown) => async () => {
  const options = { token: ada.token, ...(json === undefined ? {} : { json }) };
  const { status, body } = await service.call(method, `${of().repository}${path}`, options);
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
};
const fresh = () => `new-${++names}`;
const commitOf = (branch: string) => ({
  branch,
  commit_message: 'One file',
  actions: [{ action: 'create', file_path: fresh(), content: 'new\n' }],
});
const file = 'files/src%2Fpart1%2Ffile1.txt';

/** What is asked of a repository. */
function operations(of: () => Pushed, name: string): Readonly<Record<string, () => Promise<unknown>>> {
  const ask = asked(of);
  const get = (path: string) => ask('GET', path);
  const oid = (revision: string) => of().git.oid(revision);
  const remote = () => withToken(service.url, `ada/${name}`, ada.token);
  return {
    'file at a tip': get(`/${file}?ref=main`),
    'file at a tip, raw': get(`/${file}/raw?ref=main`),
    'file at an old commit': () => get(`/${file}?ref=${oid('main~100')}`)(),
    'tree at a tip': get('/tree?ref=main&path=src'),
    'tree at a tip, recursive': get('/tree?ref=main&recursive=true&per_page=100'),
    'page of commits': get('/commits?ref_name=main'),
    'page of commits of HEAD': get('/commits'),
    'one commit': () => get(`/commits/${oid('main~10')}`)(),
    'log of a path': get('/commits?ref_name=main&path=src/part1'),
    blame: get(`/${file}/blame?ref=main`),
    compare: get('/compare?from=main~5&to=main'),
    'merge base': get('/merge_base?refs[]=main&refs[]=side'),
    branches: get('/branches'),
    archive: get('/archive.tar?sha=side'),
    'git clone, three requests': () => git.ok(git.home, 'clone', '--quiet', '--bare', remote(), fresh()),
    'commit by the API': () => ask('POST', '/commits', commitOf('main'))(),
    'new branch by the API': () => ask('POST', '/branches', { branch: fresh(), ref: 'main' })(),
    'git push of a commit, three requests': () => pushed(of().git.directory, remote()),
  };
}

/** By operation: trips of a function with nothing in memory, of the next, and kilobytes that S3 may send to the first. */
type Limits = Readonly<Record<string, readonly [cold: number, warm: number, kilobytes: number]>>;

/** 420 commits that came by one push, 1.5 MB: such a repository comes as a whole. */
const NEW: Limits = {
  'file at a tip': [4, 3, 1710],
  'file at a tip, raw': [4, 3, 1710],
  'file at an old commit': [4, 3, 1710],
  'tree at a tip': [4, 3, 1710],
  'tree at a tip, recursive': [4, 3, 1710],
  'page of commits': [4, 3, 1710],
  'page of commits of HEAD': [4, 3, 1710],
  'one commit': [4, 3, 1710],
  'log of a path': [4, 3, 1710],
  blame: [4, 3, 1710],
  compare: [4, 3, 1710],
  'merge base': [4, 3, 1710],
  branches: [5, 4, 1710],
  archive: [6, 4, 1710],
  'git clone, three requests': [11, 10, 1710],
  'commit by the API': [8, 7, 1710],
  'new branch by the API': [6, 5, 1710],
  'git push of a commit, three requests': [15, 15, 1710],
};

/** 920 commits, 3.4 MB, after maintenance: commit-graph, merged index, listing of the tip and bitmap are there. */
const MAINTAINED: Limits = {
  'file at a tip': [5, 3, 2190],
  'file at a tip, raw': [5, 3, 2190],
  'file at an old commit': [8, 3, 3600],
  'tree at a tip': [4, 3, 500],
  'tree at a tip, recursive': [4, 3, 500],
  'page of commits': [4, 3, 500],
  'page of commits of HEAD': [4, 3, 500],
  'one commit': [6, 3, 2190],
  'log of a path': [6, 3, 2190],
  blame: [5, 3, 2190],
  compare: [7, 3, 2760],
  'merge base': [4, 3, 500],
  branches: [5, 4, 500],
  archive: [8, 4, 2480],
  'git clone, three requests': [13, 10, 3970],
  'commit by the API': [6, 5, 500],
  'new branch by the API': [6, 5, 510],
  'git push of a commit, three requests': [16, 13, 2760],
};

describe('a new repository', () =>
  limited(
    NEW,
    operations(() => project, 'counted'),
  ));

describe('a maintained repository', () =>
  limited(
    MAINTAINED,
    operations(() => maintained, 'maintained'),
  ));

function limited(limits: Limits, of: ReturnType<typeof operations>): void {
  test.each(Object.keys(of))('%s', async (what) => {
    const [cold, warm, kilobytes] = limits[what]!;
    const work = of[what]!;
    forgetEverything();
    const first = await trips.of(work);
    const second = await trips.of(work);
    printed.push(`${what.padEnd(40)} cold ${shown(first)}   warm ${shown(second)}`);
    expect(first.trips.length, calls(first)).toBeLessThanOrEqual(cold);
    expect(second.trips.length, calls(second)).toBeLessThanOrEqual(warm);
    expect(first.bytes.S / 1024, calls(first)).toBeLessThanOrEqual(kilobytes);
  });
}

const shown = ({ trips, bytes }: Trips) =>
  `${String(trips.length).padStart(2)}: ${trips.join(' ')}, ${Math.ceil(bytes.S / 1024)} KB`;
const calls = (of: Trips) =>
  of.calls
    .map((trip) => trip.map((call) => `${call.service} ${call.operation} ${call.subject}`).join('\n      + '))
    .join('\n');

/** So many commits on `main`, and 20 on `side`. */
function fill(git: Pushed['git'], size: number): void {
  const next = random(7);
  const word = () => next(2 ** 30).toString(36);
  const text = () => Array.from({ length: 60 }, () => Array.from({ length: 12 }, word).join(' ')).join('\n');
  // Else the pack is another each time.
  git.git('config', 'pack.threads', '1');
  const commits: string[] = [];
  const commit = (branch: string, mark: number, from: number, path: string) => {
    const content = text();
    const parent = from === 0 ? '' : `from :${from}\n`;
    const who = `committer A <a@example.com> ${1_700_000_000 + mark * 60} +0000`;
    const change = `M 100644 inline ${path}\ndata ${content.length}\n${content}\n`;
    commits.push(`commit refs/heads/${branch}\nmark :${mark}\n${who}\ndata 2\nm\n${parent}${change}`);
  };
  for (let i = 1; i <= size; i++) commit('main', i, i - 1, `src/part${i % 7}/file${i % 40}.txt`);
  for (let i = size + 1; i <= size + 20; i++)
    commit('side', i, i === size + 1 ? size / 2 : i - 1, `side/file${i % 5}.txt`);
  git.feed(commits.join(''), 'fast-import', '--quiet');
  git.git('tag', 'v1', 'main~50');
}

/** Until nothing is left to do, as the worker would behind the push. */
async function maintain({ id }: Pushed): Promise<void> {
  const { repositoryId } = (await deps().store.projects.get(id))!;
  await maintainRepository(deps(), { repositoryId, collect: true, refs: false }, Date.now() + 60_000);
  const { derived } = await deps().store.repositories.open(repositoryId).listing();
  const kinds = derived.map(({ kind }) => kind).sort();
  expect(kinds).toEqual(['bitmap', 'commit-graph', 'object-index', 'tip']);
}

async function pushed(directory: string, remote: string): Promise<void> {
  const tree = await git.ok(directory, 'rev-parse', 'main^{tree}');
  const commit = await git.ok(directory, 'commit-tree', tree, '-p', 'main', '-m', fresh());
  await git.ok(directory, 'push', '--quiet', remote, `${commit}:refs/heads/${fresh()}`);
}
