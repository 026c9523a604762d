import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ZERO_OID } from '../../lib/git/oid.ts';
import type { Tally } from '../deploy/tally.ts';
import { call, commitFile, done, type Outcome, WorkTree } from './client.ts';
import { type ExpectedState, Fact } from './expected-state.ts';
import { type Person, type Project, person, startedProject } from './people.ts';

interface Fixtures {
  readonly url: string;
  readonly folder: string;
  readonly expectedState: ExpectedState;
  readonly ada: Person;
}

const API_WRITERS = 25;
const COMMITS_EACH = 4;
/** Of a client that is told that another one was faster. */
const COMMIT_TRIES = 5;
const OWN_BRANCH_PUSHERS = 13;
const MAIN_PUSHERS = 12;
const PUSHES_EACH = 2;
/**
 * A pusher to a branch that others write fetches, rebases and tries again. It loses to every commit made while its own
 * git works, so it has its best time when the API's writers are done: this many milliseconds.
 */
const PUSHING_ALONE_MS = 15_000;

/** Who meets in one place at once. Each race writes down what was acknowledged; the checker reads it all later. */
export async function races(
  tally: Tally,
  url: string,
  folder: string,
  expectedState: ExpectedState,
): Promise<void> {
  const ada = await person(url, 'ada', expectedState);
  const fixtures: Fixtures = { url, folder, expectedState, ada };
  await tally.step('fifty writers on one repository', () => fiftyWriters(fixtures));
  await tally.step('twenty creators of one project path', () => twentyCreators(fixtures));
  await tally.step('a and a/b created at once', () => prefixPairs(fixtures));
  await tally.step('a ref deleted and updated at once', () => deleteAgainstUpdate(fixtures));
  await tally.step('members added and removed at once', () => memberRaces(fixtures));
  await tally.step('a project deleted under its writers', () => deletionUnderWriters(fixtures));
}

const toldToTryAgain = (outcome: Outcome<unknown>): boolean =>
  outcome.kind === 'refused' && outcome.reason.includes('Please refresh and try again');

async function fiftyWriters(fixtures: Fixtures): Promise<void> {
  const { url, folder, expectedState, ada } = fixtures;
  const project = await startedProject(url, ada, 'busy', expectedState);
  const remote = { url, token: ada.token, fullPath: project.fullPath };
  const pushers: WorkTree[] = [];
  for (let i = 0; i < OWN_BRANCH_PUSHERS + MAIN_PUSHERS; i++) {
    pushers.push(await WorkTree.clone(join(folder, `busy-${i}`), remote));
  }
  const outcomes = { api: new Count(), own: new Count(), main: new Count() };
  const begun = performance.now();
  let apiEnd = Number.POSITIVE_INFINITY;
  const api = Array.from({ length: API_WRITERS }, async (_, writer) => {
    for (let n = 0; n < COMMITS_EACH; n++) {
      const path = `api/${writer}-${n}.txt`;
      let outcome = await commitFile(url, ada.token, project, 'main', path);
      // Who is told to try again does: how many others are faster depends on the machine.
      for (let tries = 1; tries < COMMIT_TRIES && toldToTryAgain(outcome); tries++)
        outcome = await commitFile(url, ada.token, project, 'main', path);
      outcomes.api.add(outcome);
      if (outcome.kind === 'done') expectedState.committed(project.id, 'main', outcome.value, path);
    }
  });
  const apiDone = Promise.all(api).then(() => {
    apiEnd = performance.now();
  });
  const own = pushers.slice(0, OWN_BRANCH_PUSHERS).map(async (tree, i) => {
    const branch = `own/${i}`;
    for (let n = 0; n < PUSHES_EACH; n++) {
      const { commit, path } = await tree.commit(`own-${i}`);
      const outcome = await tree.push(remote, `HEAD:refs/heads/${branch}`);
      outcomes.own.add(outcome);
      if (outcome.kind !== 'done') continue;
      expectedState.committed(project.id, branch, commit, path);
      expectedState.ref(project.id, `refs/heads/${branch}`).acknowledge(commit);
    }
  });
  const main = pushers.slice(OWN_BRANCH_PUSHERS).map(async (tree, i) => {
    let { commit, path } = await tree.commit(`main-${i}`);
    while (performance.now() < apiEnd + PUSHING_ALONE_MS) {
      const outcome = await tree.push(remote, 'HEAD:refs/heads/main');
      outcomes.main.add(outcome);
      if (outcome.kind === 'done') {
        expectedState.committed(project.id, 'main', commit, path);
        break;
      }
      await sleep(500 + 1500 * Math.random());
      await tree.rebase(remote, 'main');
      commit = await tree.git('rev-parse', 'HEAD');
    }
  });
  await Promise.all([apiDone, ...own, ...main]);
  const seconds = (performance.now() - begun) / 1000;

  const rate = (100 * outcomes.api.done) / outcomes.api.all;
  const acknowledged = outcomes.api.done + outcomes.own.done + outcomes.main.done;
  report(
    `API commits ${outcomes.api.done} of ${outcomes.api.all} (${rate.toFixed(1)} %), ${((outcomes.api.done * 1000) / (apiEnd - begun)).toFixed(1)}/s`,
    `pushes to own branches ${outcomes.own.done} of ${outcomes.own.all}`,
    `pushes to main ${outcomes.main.done} of ${MAIN_PUSHERS} in ${outcomes.main.all} attempts`,
    `${acknowledged} commits in ${seconds.toFixed(1)} s`,
    ...new Set(outcomes.api.refused),
  );
  const unclear = Object.values(outcomes).flatMap(({ unclear }) => unclear);
  expect(unclear.length === 0, `${unclear.length} answers say nothing: ${unclear[0]}`);
  expect(rate >= 95, `only ${rate.toFixed(1)} % of the API commits succeeded: ${outcomes.api.refused[0]}`);
  expect(
    outcomes.own.done === outcomes.own.all,
    `a push to an own branch failed: ${outcomes.own.refused[0]}`,
  );
  const stale = outcomes.main.refused.filter((reason) => !/\[(remote )?rejected\]/.test(reason));
  expect(stale.length === 0, `a push to main was refused for another reason: ${stale[0]}`);
  expect(outcomes.main.done > 0, 'no push to main got through');

  const clone = await WorkTree.clone(join(folder, 'busy-clone'), remote);
  await clone.git('fsck', '--full', '--strict');
  const held = new Set((await clone.git('rev-list', '--remotes')).split('\n'));
  for (const commit of expectedState.commits.get(project.id)!.keys()) {
    expect(held.has(commit), `${commit} was acknowledged and is in no branch of a clone`);
  }
}

async function twentyCreators({ url, ada, expectedState }: Fixtures): Promise<void> {
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      call(url, ada.token, 'POST', '/projects', { name: `wanted ${i}`, path: i % 2 ? 'wanted' : 'WANTED' }),
    ),
  );
  const winners = outcomes.filter((outcome) => outcome.kind === 'done');
  expect(winners.length === 1, `${winners.length} creators were told that the project is theirs`);
  const { id, path_with_namespace } = winners[0]!.value;
  expectedState.projects.set(path_with_namespace, { id, present: new Fact(true) });
  for (const outcome of outcomes) {
    const told = outcome.kind === 'done' || /^400 .*has already been taken/.test(outcome.reason);
    expect(told, `a loser heard: ${outcome.kind === 'done' ? '' : outcome.reason}`);
  }
}

/** Through git and through the API: git could never hold both. */
async function prefixPairs(fixtures: Fixtures): Promise<void> {
  const { url, folder, ada, expectedState } = fixtures;
  const project = await startedProject(url, ada, 'pairs', expectedState);
  const remote = { url, token: ada.token, fullPath: project.fullPath };
  const [left, right] = await Promise.all(
    ['left', 'right'].map((name) => WorkTree.clone(join(folder, `pairs-${name}`), remote)),
  );
  const tip = await left!.git('rev-parse', 'HEAD');
  const create = (branch: string) =>
    call(url, ada.token, 'POST', `/projects/${project.id}/repository/branches`, { branch, ref: 'main' });
  let both = 0;
  for (let i = 0; i < 12; i++) {
    const [a, b] = [`pair${i}`, `pair${i}/b`];
    const outcomes: Outcome<unknown>[] = await Promise.all(
      i % 3 === 0
        ? [left!.push(remote, `HEAD:refs/heads/${a}`), right!.push(remote, `HEAD:refs/heads/${b}`)]
        : i % 3 === 1
          ? [create(a), create(b)]
          : [create(a), right!.push(remote, `HEAD:refs/heads/${b}`)],
    );
    const winners = outcomes.filter(({ kind }) => kind === 'done').length;
    both += winners === 2 ? 1 : 0;
    expect(winners > 0, `neither ${a} nor ${b} was created: ${reasons(outcomes)}`);
    expect(
      outcomes.every(({ kind }) => kind !== 'unclear'),
      `an answer says nothing: ${reasons(outcomes)}`,
    );
    for (const [n, branch] of [a, b].entries()) {
      const fact = expectedState.ref(project.id, `refs/heads/${branch}`);
      fact.acknowledge(outcomes[n]!.kind === 'done' ? tip : ZERO_OID);
    }
  }
  expect(both === 0, `${both} pairs of refs that exclude each other were both created`);
}

async function deleteAgainstUpdate(fixtures: Fixtures): Promise<void> {
  const { url, folder, ada, expectedState } = fixtures;
  const project = await startedProject(url, ada, 'contested', expectedState);
  const remote = { url, token: ada.token, fullPath: project.fullPath };
  const tree = await WorkTree.clone(join(folder, 'contested'), remote);
  const before = await tree.git('rev-parse', 'HEAD');
  const { commit: after } = await tree.commit('update');
  for (let i = 0; i < 12; i++) {
    const branch = `contested${i}`;
    const name = `refs/heads/${branch}`;
    done(await tree.push(remote, `${before}:${name}`));
    const path = `/projects/${project.id}/repository/branches/${branch}`;
    const [update, deletion] = await Promise.all([
      tree.push(remote, `${after}:${name}`),
      // Half of them meet, half of them pass each other.
      sleep(i % 2 === 0 ? 0 : 20 + 8 * i).then(() => call(url, ada.token, 'DELETE', path)),
    ]);
    const unclear = [update, deletion].filter(({ kind }) => kind === 'unclear');
    expect(unclear.length === 0, `an answer says nothing: ${reasons(unclear)}`);
    const fact = expectedState.ref(project.id, name);
    if (update.kind === 'done' && deletion.kind === 'done') {
      // One after the other, either way round.
      fact.acknowledge(after);
      fact.attempt(ZERO_OID);
    } else fact.acknowledge(update.kind === 'done' ? after : deletion.kind === 'done' ? ZERO_OID : before);
  }
}

async function memberRaces({ url, ada, expectedState }: Fixtures): Promise<void> {
  const project = await startedProject(url, ada, 'club', expectedState);
  const people = [await person(url, 'bob', expectedState), await person(url, 'cyd', expectedState)];
  const members = `/projects/${project.id}/members`;
  const add = (user: Person) => call(url, ada.token, 'POST', members, { user_id: user.id, access_level: 30 });
  const remove = (user: Person) => call(url, ada.token, 'DELETE', `${members}/${user.id}`);
  for (const user of people) {
    const fact = expectedState.member(project.id, user.id);
    for (const [what, write, level] of [
      ['add', add, 30],
      ['remove', remove, 0],
    ] as const) {
      const outcomes = await Promise.all(Array.from({ length: 10 }, () => write(user)));
      const winners = outcomes.filter(({ kind }) => kind === 'done').length;
      expect(winners === 1, `${winners} of ten heard that they did it (${what})`);
      const losers = what === 'add' ? /^409 / : /^404 /;
      const told = outcomes.every((outcome) => outcome.kind === 'done' || losers.test(outcome.reason));
      expect(told, `a loser heard: ${reasons(outcomes)}`);
      fact.acknowledge(level);
    }
    const writes = Array.from({ length: 16 }, (_, i) => (i % 2 === 0 ? add(user) : remove(user)));
    const outcomes = await Promise.all(writes);
    const won = (parity: number) =>
      outcomes.filter(({ kind }, i) => kind === 'done' && i % 2 === parity).length;
    const balance = won(0) - won(1);
    expect(balance === 0 || balance === 1, `${won(0)} additions and ${won(1)} removals succeeded`);
    fact.acknowledge(balance === 1 ? 30 : 0);
  }
}

async function deletionUnderWriters(fixtures: Fixtures): Promise<void> {
  const { url, folder, ada, expectedState } = fixtures;
  const project: Project = await startedProject(url, ada, 'doomed', expectedState);
  const remote = { url, token: ada.token, fullPath: project.fullPath };
  const trees = await Promise.all(
    Array.from({ length: 6 }, (_, i) => WorkTree.clone(join(folder, `doomed-${i}`), remote)),
  );
  let deletedAt = Number.POSITIVE_INFINITY;
  const late: string[] = [];
  const unclear: string[] = [];
  let acknowledged = 0;
  let refused = 0;
  const writer = async (write: (n: number) => Promise<Outcome<unknown>>) => {
    for (let n = 0, after = 0; after < 2 && n < 100; n++) {
      const begun = performance.now();
      const outcome = await write(n);
      if (outcome.kind === 'done') acknowledged++;
      else if (outcome.kind === 'refused') refused++;
      else unclear.push(outcome.reason);
      if (begun > deletedAt) after++;
      if (begun > deletedAt && outcome.kind === 'done') late.push(`write ${n}`);
    }
  };
  const writers = [
    ...trees.map((tree, i) =>
      writer(async () => {
        await tree.commit(`doomed-${i}`);
        return tree.push(remote, `HEAD:refs/heads/d${i}`);
      }),
    ),
    ...[0, 1, 2, 3].map((i) =>
      writer((n) => commitFile(url, ada.token, project, 'main', `doomed/${i}-${n}.txt`)),
    ),
  ];
  await sleep(1500);
  done(await call(url, ada.token, 'DELETE', `/projects/${project.id}`));
  deletedAt = performance.now();
  expectedState.projects.get(project.fullPath)!.present.acknowledge(false);
  await Promise.all(writers);
  report(`${acknowledged} writes before the deletion, ${refused} refused`);
  expect(late.length === 0, `${late.length} writes were acknowledged after the deletion`);
  expect(unclear.length === 0, `${unclear.length} answers say nothing: ${unclear[0]}`);
  expect(acknowledged > 0 && refused > 0, 'the deletion met no writers');
}

/** Outcomes of one kind of write. */
class Count {
  done = 0;
  readonly refused: string[] = [];
  readonly unclear: string[] = [];
  add(outcome: Outcome<unknown>): void {
    if (outcome.kind === 'done') this.done++;
    else this[outcome.kind].push(outcome.reason);
  }
  get all(): number {
    return this.done + this.refused.length + this.unclear.length;
  }
}

const reasons = (outcomes: readonly Outcome<unknown>[]): string =>
  outcomes.map((outcome) => (outcome.kind === 'done' ? 'done' : outcome.reason)).join(' | ');

export function expect(condition: boolean, otherwise: string): asserts condition {
  if (!condition) throw new Error(otherwise);
}

export function report(...lines: string[]): void {
  for (const line of lines) console.log(`      ${line}`);
}
