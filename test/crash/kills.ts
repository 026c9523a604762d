import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Tally } from '../deploy/tally.ts';
import { listProblems } from './check-lists.ts';
import { mailProblems } from './check-mails.ts';
import { check, type Report } from './checker.ts';
import { call, done } from './client.ts';
import { openData } from './data.ts';
import type { ExpectedState } from './expected-state.ts';
import { Host, settle } from './host.ts';
import { person, startedProject } from './people.ts';
import { expect, report } from './races.ts';
import { readRows } from './rows.ts';
import { simulatedNow } from './simulated-clock.ts';
import { type Fixtures, introduce, write } from './writers.ts';

/** As a user starts it, with everybody writing. */
const KILLS = 12;
/** Stopped in an orderly way, with everybody writing. */
const STOPS = 2;
/** With everybody writing while everything is merged and collected, each time a day later. */
const MAINTAINED_KILLS = 6;
/** With maintenance alone, many days each time. */
const MAINTENANCE_KILLS = 4;
/** Writers take turns by round, and need several answers for one piece of work: a fork, a group that moves. */
const LEAST_MS = 1500;
/** How long a host may live for those who have got nothing done so far, and how many such hosts there are at most. */
const PATIENCE_MS = 30_000;
const PATIENT_ROUNDS = 4;
/** Rounds after which everything is checked, and the last. */
const CHECK_EVERY = 3;

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
export async function kills(
  tally: Tally,
  dataDir: string,
  folder: string,
  expectedState: ExpectedState,
): Promise<void> {
  const seed = Number(process.env['CRASH_SEED'] ?? Math.floor(Math.random() * 1e6));
  const random = randomOf(seed);
  console.log(`      CRASH_SEED=${seed}`);
  const first = await Host.start(dataDir);
  const fixtures = await introduce(first.url, folder, expectedState).catch((error: Error) => {
    throw new Error([error.message, ...first.errors()].join('\n'));
  });
  await first.kill();

  const rounds = new Rounds(tally, dataDir, fixtures, expectedState, random);
  for (let round = 1; round <= KILLS; round++) await rounds.kill(300 + random() * 3700);
  for (let round = 1; round <= STOPS; round++) await rounds.stop(1000 + random() * 2000);
  await tally.step('what a killed host could not send waits for the next one', async () => {
    const host = await Host.start(dataDir, 'test/crash/mute-host.ts');
    const { ada } = fixtures;
    await person(host.url, 'unheard', expectedState);
    await startedProject(host.url, ada, 'unheard', expectedState);
    const { id, fullPath } = await startedProject(host.url, ada, 'unheard-of', expectedState);
    done(await call(host.url, ada.token, 'DELETE', `/projects/${id}`));
    expectedState.projects.get(fullPath)!.present.acknowledge(false);
    await host.kill();
    const { promises } = await checked(dataDir, expectedState, false);
    expect(promises >= 5, `only ${promises} promises`);
  });
  // From here on the simulated clock runs ahead.
  for (let round = 1; round <= MAINTAINED_KILLS; round++)
    await rounds.kill(1000 + random() * 3000, 'test/crash/maintained-host.ts');
  await rounds.end();
  await maintenanceKills(tally, dataDir, expectedState, random);
  await tally.step('promises are kept and nothing is left over once the workers have run', async () => {
    await settle(dataDir);
    await checked(dataDir, expectedState, true);
  });
  await tally.step(
    'each comment and issue was mailed; again only where the host died as it sent it',
    async () => {
      await using data = await openData(dataDir);
      const ends = KILLS + STOPS + MAINTAINED_KILLS + PATIENT_ROUNDS + MAINTENANCE_KILLS;
      const address = `${fixtures.reader.username}@example.com`;
      const problems = await mailProblems(dataDir, await readRows(data), address, ends);
      expect(problems.length === 0, `${problems.length} problems\n${problems.slice(0, 10).join('\n')}`);
    },
  );
  await tally.step('lists, their totals and the statistics say what is there', async () => {
    const host = await Host.start(dataDir);
    const problems = await listProblems(host.url, expectedState, fixtures.shared, folder);
    await host.stop();
    expect(problems.length === 0, `${problems.length} problems\n${problems.slice(0, 10).join('\n')}`);
  });
}

/** Everybody writes until the host is killed, again and again. */
class Rounds {
  readonly #tally: Tally;
  readonly #dataDir: string;
  readonly #fixtures: Fixtures;
  readonly #expectedState: ExpectedState;
  readonly #random: () => number;
  readonly #acknowledged = new Map<string, number>();
  #unclear = 0;
  readonly #refusals = new Set<string>();
  #round = 0;

  constructor(
    tally: Tally,
    dataDir: string,
    fixtures: Fixtures,
    expectedState: ExpectedState,
    random: () => number,
  ) {
    this.#tally = tally;
    this.#dataDir = dataDir;
    this.#fixtures = fixtures;
    this.#expectedState = expectedState;
    this.#random = random;
  }

  /** A stop is an end like another to those who write: what was acknowledged is there. */
  async stop(more: number): Promise<void> {
    const { round, delay } = this.#next(more);
    await this.#tally.step(`stop ${round}, of pushes too, after ${Math.round(delay)} ms`, async () => {
      const host = await Host.start(this.#dataDir);
      const writers = this.#write(host, round);
      await sleep(delay);
      const ended = await host.stop();
      await writers;
      expect(ended === 0, `the host ended with ${ended}: ${host.lastWords}`);
    });
    await this.#tally.step(`everything acknowledged is there after stop ${round}`, async () => {
      await checked(this.#dataDir, this.#expectedState, false);
    });
  }

  #next(more: number): { round: number; delay: number } {
    const round = ++this.#round;
    return { round, delay: LEAST_MS + more };
  }

  #write(host: Host, round: number): Promise<void> {
    return write(host, this.#fixtures, this.#expectedState, round, (what, outcome) => {
      const before = this.#acknowledged.get(what) ?? 0;
      this.#acknowledged.set(what, outcome.kind === 'done' ? before + 1 : before);
      if (outcome.kind === 'unclear') this.#unclear++;
      if (outcome.kind === 'refused') this.#refusals.add(outcome.reason);
    });
  }

  /** Those who tried, and have got nothing done. An upload takes as long as many a host lives; cut-off ones are looked at. */
  #idle(): string[] {
    return [...this.#acknowledged]
      .filter(([what, count]) => count === 0 && what !== 'uploads')
      .map(([what]) => what);
  }

  /** With `patience`, in ms, the host lives that much longer while somebody has got nothing done. */
  async kill(more: number, script?: string, patience = 0): Promise<void> {
    const { round, delay } = this.#next(more);
    const under = script === undefined ? '' : ', under maintenance,';
    await this.#tally.step(`kill ${round}${under} after ${Math.round(delay)} ms`, async () => {
      if (this.#random() < 0.25) await killedWhileStarting(this.#dataDir, this.#random);
      const host = await Host.start(this.#dataDir, script);
      const writers = this.#write(host, round);
      await sleep(delay);
      const latest = Date.now() + patience;
      while (host.alive && this.#idle().length > 0 && Date.now() < latest) await sleep(100);
      const { alive } = host;
      const errors = host.errors();
      await host.kill();
      await writers;
      expect(alive, `the host ended by itself: ${host.lastWords}`);
      expect(errors.length === 0, `the host complained: ${errors[0]}`);
    });
    if (round % CHECK_EVERY > 0) return;
    await this.#tally.step(`everything acknowledged is there after ${round} kills`, async () => {
      await checked(this.#dataDir, this.#expectedState, false);
    });
  }

  async end(): Promise<void> {
    // A fork takes many calls: on a slow machine no host of the rounds before may have lived long enough.
    for (let more = 0; more < PATIENT_ROUNDS && this.#idle().length > 0; more++)
      await this.kill(0, 'test/crash/maintained-host.ts', PATIENCE_MS);
    const counts = [...this.#acknowledged].map(([what, count]) => `${count} ${what}`);
    report(`acknowledged: ${counts.join(', ')}; ${this.#unclear} cut off`);
    await this.#tally.step('everybody got something done', async () => {
      expect(this.#idle().length === 0, `nothing done: ${this.#idle().join(', ')}`);
    });
    await this.#tally.step('nothing was refused that should not be, and every clone was sound', async () => {
      expect(this.#refusals.size === 0, [...this.#refusals].slice(0, 3).join('\n'));
    });
  }
}

/** Killed while it merges packs, collects garbage and removes what was replaced: everything acknowledged stays. */
async function maintenanceKills(
  tally: Tally,
  dataDir: string,
  expectedState: ExpectedState,
  random: () => number,
): Promise<void> {
  for (let round = 1; round <= MAINTENANCE_KILLS; round++) {
    const delay = 200 + random() * 2500;
    await tally.step(`kill ${round} of maintenance after ${Math.round(delay)} ms`, async () => {
      const host = await Host.start(dataDir, 'test/crash/maintenance-host.ts');
      await sleep(delay);
      const errors = host.errors();
      expect(host.alive, `maintenance ended by itself: ${host.lastWords}`);
      await host.kill();
      expect(errors.length === 0, `maintenance complained: ${errors[0]}`);
      await checked(dataDir, expectedState, false);
      report(`${readFileSync(`${dataDir}.clock`, 'utf8')} days by now`);
    });
  }
}

export async function checked(
  dataDir: string,
  expectedState: ExpectedState,
  settled: boolean,
): Promise<Omit<Report, 'problems'>> {
  await using data = await openData(dataDir);
  const { problems, ...found } = await check(data, expectedState, settled, simulatedNow(dataDir));
  report(
    `${found.items} items, ${found.packs} packs, ${found.unlisted} objects unlisted, ` +
      `${found.promises} promises waiting, ${found.frozen} frozen`,
  );
  // A few of each kind.
  const kinds = Object.values(Object.groupBy(problems, (problem) => problem.slice(0, problem.indexOf(':'))));
  const some = kinds.flatMap((kind) => kind!.slice(0, 4));
  expect(problems.length === 0, `${problems.length} problems\n${some.join('\n')}`);
  return found;
}

async function killedWhileStarting(dataDir: string, random: () => number): Promise<void> {
  const host = Host.launch(dataDir);
  await sleep(random() * 800);
  await host.kill();
}
