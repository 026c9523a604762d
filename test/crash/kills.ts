import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ZERO_OID } from '../../lib/git/oid.ts';
import type { Tally } from '../deploy/tally.ts';
import { check, type Report } from './checker.ts';
import { call, commitFile, done, type Outcome, type Remote, WorkTree } from './client.ts';
import { openData } from './data.ts';
import { Host, settle } from './host.ts';
import { Fact, type Ledger } from './ledger.ts';
import { type Person, type Project, person, startedProject } from './people.ts';
import { expect, report } from './races.ts';

const KILLS = 20;
const MAINTENANCE_KILLS = 8;
/** Rounds after which everything is checked, and the last. */
const CHECK_EVERY = 5;
const API_COMMITTERS = 4;
const PUSHERS = 3;
/** Above 90 refs a push is a new ref table. */
const BULK_REFS = 120;

interface Cast {
  readonly ada: Person;
  readonly bob: Person;
  readonly shared: Project;
  readonly trees: readonly WorkTree[];
  /** Pushes refs that are made and deleted again. */
  readonly refTree: WorkTree;
  /** Pushes many refs at once. */
  readonly bulkTree: WorkTree;
}

/** One number generator, so that a run's delays can be had again. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    // mulberry32
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The host is killed again and again in the middle of writes; what it acknowledged must be there each time. */
export async function kills(tally: Tally, dataDir: string, folder: string, ledger: Ledger): Promise<void> {
  const seed = Number(process.env['CRASH_SEED'] ?? Math.floor(Math.random() * 1e6));
  const random = randomOf(seed);
  console.log(`      CRASH_SEED=${seed}`);
  const first = await Host.start(dataDir);
  const cast = await introduce(first.url, folder, ledger).catch((error: Error) => {
    throw new Error([error.message, ...first.errors()].join('\n'));
  });
  await first.kill();

  const counts = { acknowledged: 0, unclear: 0 };
  const refusals = new Set<string>();
  for (let round = 1; round <= KILLS; round++) {
    const delay = 300 + random() * 3700;
    await tally.step(`kill ${round} after ${Math.round(delay)} ms`, async () => {
      if (random() < 0.25) await killedWhileStarting(dataDir, random);
      const host = await Host.start(dataDir);
      const writers = write(host, cast, ledger, round, (outcome) => {
        if (outcome.kind === 'done') counts.acknowledged++;
        else if (outcome.kind === 'unclear') counts.unclear++;
        else refusals.add(outcome.reason);
      });
      await sleep(delay);
      const errors = host.errors();
      await host.kill();
      await writers;
      expect(errors.length === 0, `the host complained: ${errors[0]}`);
    });
    if (round % CHECK_EVERY === 0) {
      await tally.step(`everything acknowledged is there after ${round} kills`, async () => {
        await checked(dataDir, ledger, false);
      });
    }
  }
  report(`${counts.acknowledged} writes acknowledged, ${counts.unclear} cut off`);
  await tally.step('nothing was refused that should not be', async () => {
    expect(refusals.size === 0, [...refusals].slice(0, 3).join('\n'));
  });
  await tally.step('what a killed host could not send waits for the next one', async () => {
    const host = await Host.start(dataDir, 'test/crash/mute-host.ts');
    const { ada } = cast;
    await person(host.url, 'unheard', ledger);
    await startedProject(host.url, ada, 'unheard', ledger);
    const { id, fullPath } = await startedProject(host.url, ada, 'unheard-of', ledger);
    done(await call(host.url, ada.token, 'DELETE', `/projects/${id}`));
    ledger.projects.get(fullPath)!.present.acknowledge(false);
    await host.kill();
    const { promises } = await checked(dataDir, ledger, false);
    expect(promises >= 5, `only ${promises} promises`);
  });
  await maintenanceKills(tally, dataDir, ledger, random);
  await tally.step('promises are kept and nothing is left over once the workers have run', async () => {
    await settle(dataDir);
    await checked(dataDir, ledger, true);
  });
}

/** Killed while it merges packs, collects garbage and removes what was replaced: everything acknowledged stays. */
async function maintenanceKills(
  tally: Tally,
  dataDir: string,
  ledger: Ledger,
  random: () => number,
): Promise<void> {
  for (let round = 1; round <= MAINTENANCE_KILLS; round++) {
    const delay = 200 + random() * 2500;
    await tally.step(`kill ${round} of maintenance after ${Math.round(delay)} ms`, async () => {
      const host = await Host.start(dataDir, 'test/crash/maintenance-host.ts');
      await sleep(delay);
      const errors = host.errors();
      expect(host.alive, `maintenance ended by itself: ${errors[0]}`);
      await host.kill();
      expect(errors.length === 0, `maintenance complained: ${errors[0]}`);
      await checked(dataDir, ledger, false);
      report(`${readFileSync(`${dataDir}.calendar`, 'utf8')} days by now`);
    });
  }
}

export async function checked(
  dataDir: string,
  ledger: Ledger,
  settled: boolean,
): Promise<Omit<Report, 'problems'>> {
  await using data = await openData(dataDir);
  const { problems, ...found } = await check(data, ledger, settled);
  report(
    `${found.items} items, ${found.packs} packs, ${found.unlisted} objects unlisted, ` +
      `${found.promises} promises waiting, ${found.frozen} frozen`,
  );
  expect(problems.length === 0, `${problems.length} problems\n${problems.slice(0, 10).join('\n')}`);
  return found;
}

async function killedWhileStarting(dataDir: string, random: () => number): Promise<void> {
  const host = Host.launch(dataDir);
  await sleep(random() * 800);
  await host.kill();
}

async function introduce(url: string, folder: string, ledger: Ledger): Promise<Cast> {
  const ada = await person(url, 'ada', ledger);
  const bob = await person(url, 'bob', ledger);
  const shared = await startedProject(url, ada, 'shared', ledger);
  const remote = { url, token: ada.token, fullPath: shared.fullPath };
  const trees: WorkTree[] = [];
  for (let i = 0; i < PUSHERS + 2; i++) trees.push(await WorkTree.clone(join(folder, `tree-${i}`), remote));
  return { ada, bob, shared, trees: trees.slice(2), refTree: trees[0]!, bulkTree: trees[1]! };
}

/** Everybody writes until the host is gone. Resolves when the last of them has noticed. */
async function write(
  host: Host,
  cast: Cast,
  ledger: Ledger,
  round: number,
  note: (outcome: Outcome<unknown>) => void,
): Promise<void> {
  const { ada, bob, shared } = cast;
  const remote = { url: host.url, token: ada.token, fullPath: shared.fullPath };
  const until = async (step: (name: string) => Promise<Outcome<unknown>>) => {
    for (let n = 0; host.alive && n < 500; n++) note(await step(`${round}-${n}`));
  };

  const commits = Array.from({ length: API_COMMITTERS }, (_, i) =>
    until(async (name) => {
      const path = `api/${i}/${name}.txt`;
      const outcome = await commitFile(host.url, ada.token, shared, 'main', path);
      if (outcome.kind === 'done') ledger.committed(shared.id, 'main', outcome.value, path);
      return outcome;
    }),
  );

  const pushes = cast.trees.map((tree, i) =>
    until(async () => {
      const branch = `push/${i}`;
      const names = [`refs/heads/${branch}`, `refs/heads/twin/${i}`];
      const { commit, path } = await tree.commit(`push-${i}`);
      const outcome = await pushTogether(tree, remote, shared, names, commit, ledger);
      if (outcome.kind === 'done') ledger.committed(shared.id, branch, commit, path);
      return outcome;
    }),
  );

  // So many refs that the service writes them as a table, while everybody else has to wait.
  const bulk = until(async (name) => {
    const path = `bulk-${name}`;
    const made = await call(host.url, ada.token, 'POST', '/projects', { name: path, path });
    if (made.kind !== 'done') return made;
    note(made);
    const project = { id: made.value.id as number, fullPath: `${ada.username}/${path}` };
    ledger.projects.set(project.fullPath, { id: project.id, present: new Fact(true) });
    const { bulkTree } = cast;
    const names = Array.from({ length: BULK_REFS }, (_, i) => `refs/tags/bulk/${i}`);
    const target = { ...remote, fullPath: project.fullPath };
    const tip = await bulkTree.git('rev-parse', 'HEAD');
    return pushTogether(bulkTree, target, project, ['refs/heads/main', ...names], tip, ledger);
  });

  const refs = until(async (name) => {
    const ref = `refs/tags/t${name}`;
    const fact = ledger.ref(shared.id, ref);
    const tip = await cast.refTree.git('rev-parse', 'HEAD');
    fact.attempt(tip);
    const made = await cast.refTree.push(remote, `HEAD:${ref}`);
    settleFact(fact, tip, made);
    if (made.kind !== 'done') return made;
    note(made);
    fact.attempt(ZERO_OID);
    const deleted = await cast.refTree.push(remote, `:${ref}`);
    settleFact(fact, ZERO_OID, deleted);
    return deleted;
  });

  const people = until(async (name) => {
    try {
      await person(host.url, `user-${name}`, ledger);
      return { kind: 'done', value: undefined };
    } catch (error) {
      return outcomeOf(error as Error);
    }
  });

  const projects = until(async (name) => {
    const path = `project-${name}`;
    const made = await call(host.url, ada.token, 'POST', '/projects', { name: path, path });
    if (made.kind !== 'done') return made;
    note(made);
    const present = new Fact(true);
    ledger.projects.set(`${ada.username}/${path}`, { id: made.value.id, present });
    const id = made.value.id as number;
    const first = await commitFile(host.url, ada.token, { id }, 'main', 'first.txt');
    if (first.kind === 'done') ledger.committed(id, 'main', first.value, 'first.txt');
    if (first.kind !== 'done' || Number(name.split('-')[1]) % 2 === 0) return first;
    note(first);
    present.attempt(false);
    const deleted = await call(host.url, ada.token, 'DELETE', `/projects/${id}`);
    settleFact(present, false, deleted);
    return deleted;
  });

  const members = until(async () => {
    const fact = ledger.member(shared.id, bob.id);
    const path = `/projects/${shared.id}/members`;
    const is = [...fact.possible];
    // After a cut-off write only the service knows.
    if (is.length > 1) {
      const found = await call(host.url, ada.token, 'GET', `${path}/${bob.id}`);
      if (found.kind === 'done') fact.acknowledge(found.value.access_level);
      else if (found.kind === 'refused') fact.acknowledge(0);
      return found.kind === 'refused' ? { kind: 'done', value: undefined } : found;
    }
    const wanted = is[0] === 0 ? 30 : 0;
    fact.attempt(wanted);
    const outcome =
      wanted === 30
        ? await call(host.url, ada.token, 'POST', path, { user_id: bob.id, access_level: 30 })
        : await call(host.url, ada.token, 'DELETE', `${path}/${bob.id}`);
    settleFact(fact, wanted, outcome);
    return outcome;
  });

  await Promise.all([...commits, ...pushes, bulk, refs, people, projects, members]);
}

async function pushTogether(
  tree: WorkTree,
  remote: Remote,
  project: Project,
  names: readonly string[],
  commit: string,
  ledger: Ledger,
): Promise<Outcome<void>> {
  const facts = names.map((name) => ledger.ref(project.id, name));
  const groups = ledger.together.get(project.id) ?? [];
  if (!groups.some(([first]) => first === names[0])) ledger.together.set(project.id, [...groups, names]);
  for (const fact of facts) fact.attempt(commit);
  const outcome = await tree.push(remote, ...names.map((name) => `HEAD:${name}`));
  for (const fact of facts) settleFact(fact, commit, outcome);
  return outcome;
}

function settleFact<T>(fact: Fact<T>, value: T, outcome: Outcome<unknown>): void {
  if (outcome.kind === 'done') fact.acknowledge(value);
  else if (outcome.kind === 'refused') fact.refuse(value);
}

/** `done()` throws what it was told. */
function outcomeOf({ message }: Error): Outcome<never> {
  return { kind: message.startsWith('refused') ? 'refused' : 'unclear', reason: message };
}
