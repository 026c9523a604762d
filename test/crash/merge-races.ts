import { setTimeout as sleep } from 'node:timers/promises';
import { readEnvironment } from '../../lib/store/environment.ts';
import { createStore } from '../../lib/store/store.ts';
import { GitCli, withToken } from '../clients/git-cli.ts';
import type { Tally } from '../deploy/tally.ts';
import { Replica } from '../drills/replica.ts';
import { serveData } from '../drills/served-data.ts';
import { check } from './checker.ts';
import { call, done, type Outcome, WorkTree } from './client.ts';
import { ExpectedState } from './expected-state.ts';
import { ROOT_TOKEN } from './host.ts';
import { type Person, type Project, person, startedProject } from './people.ts';
import { expect, report } from './races.ts';

/** As functions of a region: what one process does in order, others do at the same time. */
const PROCESSES = 3;
const MERGERS = 50;
const PAIRS = 10;

interface Fixtures {
  readonly replicas: readonly Replica[];
  readonly folder: string;
  readonly expectedState: ExpectedState;
  readonly ada: Person;
}

interface Proposal {
  readonly branch: string;
  /** Below the project. */
  readonly path: string;
}

type Answer = Outcome<Record<string, unknown>>;

/** Merges that meet each other, and other changes, in several processes over the same data. */
export async function mergeRaces(tally: Tally, folder: string): Promise<void> {
  await using data = await serveData();
  const replicas: Replica[] = [];
  try {
    const start = () => Replica.start({ ...data.environment, ROOT_TOKEN });
    // The first makes the administrator.
    replicas.push(await start());
    replicas.push(...(await Promise.all(Array.from({ length: PROCESSES - 1 }, start))));
    const expectedState = new ExpectedState();
    const ada = await person(replicas[0]!.url, 'ada', expectedState);
    const fixtures: Fixtures = { replicas, folder, expectedState, ada };
    await tally.step('fifty mergers of one merge request', () => mergersOfOne(fixtures));
    await tally.step('fifty merge requests merged into one branch', () => mergersOfMany(fixtures));
    await tally.step('of two that conflict one is merged', () => conflictingPairs(fixtures));
    await tally.step('merged, closed and pushed to at once', () => mergedAndClosed(fixtures));
    await tally.step('after the merges everything is in order', async () => {
      await replicas[0]!.work();
      const store = createStore(readEnvironment(data.environment), data.clients);
      const read = {
        store,
        clients: data.clients,
        dynamo: data.dynamo,
        [Symbol.asyncDispose]: async () => {},
      };
      const { problems } = await check(read, expectedState, false);
      expect(problems.length === 0, `${problems.length} problems\n${problems.slice(0, 10).join('\n')}`);
    });
  } finally {
    for (const replica of replicas) replica.kill();
  }
}

/** The same call, in turns to each process. */
function everywhere<T>(
  { replicas, ada }: Fixtures,
  times: readonly T[],
  ask: (url: string, token: string, each: T) => Promise<Answer>,
): Promise<Answer[]> {
  return Promise.all(times.map((each, i) => ask(replicas[i % replicas.length]!.url, ada.token, each)));
}

/** Branches that each add or change a file, proposed to `main`. */
async function proposed(
  { replicas, ada }: Fixtures,
  { id, fullPath }: Project,
  files: readonly { readonly branch: string; readonly path: string }[],
): Promise<Proposal[]> {
  const { url } = replicas[0]!;
  // This process serves the data: git must not be waited for synchronously.
  using git = new GitCli();
  const remote = withToken(url, fullPath, ada.token);
  await git.ok(git.home, 'clone', '--quiet', '--bare', remote, 'work');
  const cwd = git.path('work');
  const streams = files.map(({ branch, path }, i) => {
    const by = `Ada <ada@example.com> ${1_600_000_000 + i} +0000`;
    const text = `data ${branch.length + 1}\n${branch}\n\n`;
    const change = `from refs/heads/main\nM 100644 inline ${path}\n${text}`;
    return `commit refs/heads/${branch}\ncommitter ${by}\n${text}${change}`;
  });
  const imported = await git.run(['fast-import', '--quiet'], { cwd, input: streams.join('') });
  expect(imported.code === 0, imported.stderr);
  await git.ok(cwd, 'push', '--quiet', remote, ...files.map(({ branch }) => `refs/heads/${branch}`));
  const proposals: Proposal[] = [];
  for (const { branch } of files) {
    const json = { title: branch, source_branch: branch, target_branch: 'main', remove_source_branch: false };
    const { iid } = done(await call(url, ada.token, 'POST', `/projects/${id}/merge_requests`, json));
    proposals.push({ branch, path: `/projects/${id}/merge_requests/${iid}` });
  }
  return proposals;
}

/** A clone of what `main` is now. */
async function cloned({ replicas, folder, ada }: Fixtures, { fullPath }: Project): Promise<WorkTree> {
  const remote = { url: replicas[0]!.url, token: ada.token, fullPath };
  return WorkTree.clone(`${folder}/${fullPath.replace('/', '-')}`, remote);
}

const merged = (url: string, token: string, { path }: Proposal) => call(url, token, 'PUT', `${path}/merge`);

const refusals = (answers: readonly Answer[]): string[] =>
  answers.flatMap((answer) => (answer.kind === 'done' ? [] : [answer.reason]));

async function mergersOfOne(fixtures: Fixtures): Promise<void> {
  const { replicas, ada, expectedState } = fixtures;
  const project = await startedProject(replicas[0]!.url, ada, 'one', expectedState);
  const [proposal] = (await proposed(fixtures, project, [{ branch: 'topic', path: 'topic.txt' }])) as [
    Proposal,
  ];
  const answers = await everywhere(fixtures, Array<Proposal>(MERGERS).fill(proposal), merged);
  const winners = answers.filter(({ kind }) => kind === 'done');
  expect(winners.length === 1, `${winners.length} mergers were told that they did it`);
  const others = refusals(answers).filter((reason) => !/^405 .*405 Method Not Allowed/.test(reason));
  expect(others.length === 0, `a loser heard: ${others[0]}`);
  const clone = await cloned(fixtures, project);
  const commits = await clone.git('rev-list', '--count', 'HEAD');
  expect(commits === '3', `main has ${commits} commits: the first, that of the branch, and one merge are 3`);
}

async function mergersOfMany(fixtures: Fixtures): Promise<void> {
  const { replicas, ada, expectedState } = fixtures;
  const project = await startedProject(replicas[0]!.url, ada, 'many', expectedState);
  const names = Array.from({ length: MERGERS }, (_, i) => `topic-${i}`);
  const files = names.map((branch) => ({ branch, path: `${branch}.txt` }));
  const proposals = await proposed(fixtures, project, files);
  const begun = performance.now();
  const answers = await everywhere(fixtures, proposals, merged);
  const seconds = (performance.now() - begun) / 1000;
  const busy = refusals(answers);
  report(
    `${MERGERS - busy.length} merged in ${seconds.toFixed(1)} s, ${busy.length} told that others were first`,
  );
  const others = busy.filter((reason) => !/^409 .*Resource lock/.test(reason));
  expect(others.length === 0, `a loser heard: ${others[0]}`);
  // Whoever lost the race tries again, as they were told.
  for (const [i, proposal] of proposals.entries())
    if (answers[i]!.kind !== 'done') done(await merged(replicas[0]!.url, ada.token, proposal));
  const clone = await cloned(fixtures, project);
  const merges = (await clone.git('rev-list', '--first-parent', '--merges', 'HEAD')).split('\n');
  expect(merges.length === MERGERS, `main has ${merges.length} merges, one after the other`);
  const commits = await clone.git('rev-list', '--count', 'HEAD');
  expect(commits === String(1 + 2 * MERGERS), `main has ${commits} commits`);
  const tree = (await clone.git('ls-tree', '--name-only', 'HEAD')).split('\n').sort();
  const wanted = ['first.txt', ...files.map(({ path }) => path)].sort();
  expect(tree.join() === wanted.join(), `main has the files ${tree.join(', ')}`);
}

async function conflictingPairs(fixtures: Fixtures): Promise<void> {
  const { replicas, ada, expectedState } = fixtures;
  const project = await startedProject(replicas[0]!.url, ada, 'rivals', expectedState);
  const files = Array.from({ length: 2 * PAIRS }, (_, i) => ({
    branch: `rival-${i}`,
    path: `${Math.floor(i / 2)}.txt`,
  }));
  const proposals = await proposed(fixtures, project, files);
  const answers = await everywhere(fixtures, proposals, merged);
  const others = refusals(answers).filter((reason) => !/^406 .*Branch cannot be merged/.test(reason));
  expect(others.length === 0, `a loser heard: ${others[0]}`);
  const clone = await cloned(fixtures, project);
  for (let pair = 0; pair < PAIRS; pair++) {
    const winner = [2 * pair, 2 * pair + 1].filter((i) => answers[i]!.kind === 'done');
    expect(winner.length === 1, `${winner.length} of pair ${pair} were merged`);
    const text = await clone.git('show', `HEAD:${pair}.txt`);
    expect(text === `rival-${winner[0]}`, `${pair}.txt is ${text}`);
  }
}

async function mergedAndClosed(fixtures: Fixtures): Promise<void> {
  const { replicas, ada, expectedState } = fixtures;
  const project = await startedProject(replicas[0]!.url, ada, 'contended', expectedState);
  const files = Array.from({ length: PAIRS }, (_, i) => ({ branch: `topic-${i}`, path: `${i}.txt` }));
  const proposals = await proposed(fixtures, project, files);
  const [first, second, third] = replicas as [Replica, Replica, Replica];
  const tally = { merged: 0, closed: 0, withBoth: 0 };
  for (const [i, { branch, path }] of proposals.entries()) {
    const actions = [{ action: 'create', file_path: `more-${branch}.txt`, content: 'more\n' }];
    const json = { branch, commit_message: 'More', actions };
    const [merge, close, push] = (await Promise.all([
      call(first.url, ada.token, 'PUT', `${path}/merge`),
      // Half of them meet, half of them pass each other.
      sleep(i % 2 === 0 ? 0 : 40 * i).then(() =>
        call(second.url, ada.token, 'PUT', path, { state_event: 'close' }),
      ),
      call(third.url, ada.token, 'POST', `/projects/${project.id}/repository/commits`, json),
    ])) as [Answer, Answer, Answer];
    const { id: more } = done(push) as { id: string };
    const isClosed = close.kind === 'done' && close.value['state'] === 'closed';
    const told = refusals([merge, close]);
    expect(
      (merge.kind === 'done') !== isClosed,
      `of a merge and a close both or none were done: ${told.join(' | ')}`,
    );
    const others = told.filter((reason) => !/^405 .*405 Method Not Allowed/.test(reason));
    expect(others.length === 0, `the loser heard: ${others[0]}`);
    const { state, sha } = done(await call(first.url, ada.token, 'GET', path)) as {
      state: string;
      sha: string;
    };
    const wanted = merge.kind === 'done' ? 'merged' : 'closed';
    expect(state === wanted, `it was ${wanted}, and is ${state}`);
    tally[wanted]++;
    if (state === 'merged' && sha === more) tally.withBoth++;
  }
  report(`${tally.merged} merged, ${tally.withBoth} of them with the later push; ${tally.closed} closed`);
}
