import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Tally } from '../deploy/tally.ts';
import { ExpectedState } from './expected-state.ts';
import { faults } from './faults/run.ts';
import { fullDisk } from './full-disk.ts';
import { hookKills } from './hook-kills.ts';
import { Host, settle } from './host.ts';
import { checked, kills } from './kills.ts';
import { mergeRaces } from './merge-races.ts';
import { expect, races } from './races.ts';

/**
 * The crash and race suite: many writers at once, and `kill -9` among them, against the host as a user starts it, with
 * real HTTP and real git. `npm run test:crash [merges|races|kills|hooks|full|faults]`; `faults` makes every call to AWS fail in turn
 * (`faults/run.ts`) and is what `npm run test:faults` runs in parallel. CRASH_SEED repeats the delays of a run. Each part
 * takes less than eight minutes on an idle machine with two cores.
 */
const only = process.argv[2];
/** The faults take ten minutes on an idle machine, and share it with other suites in `.ci/run`. */
const LIMIT_MS = (only === 'faults' ? 35 : 15) * 60_000;

const tally = new Tally();
const root = mkdtempSync(join(tmpdir(), 'lemnos-crash-'));
// Temporary files of hosts, gits and checks are deleted with it.
process.env['TMPDIR'] = root;
// Hosts and gits end in the `exit` listener of `process.ts`.
process.on('exit', () => rmSync(root, { recursive: true, force: true }));
const stop = (code: number) => {
  console.log(`${tally.passed} passed, ${tally.failed + 1} failed`);
  process.exit(code);
};
process.once('SIGINT', () => stop(130));
process.once('SIGTERM', () => stop(143));
setTimeout(() => {
  console.log(`FAIL  the suite took longer than ${LIMIT_MS / 60_000} minutes`);
  stop(1);
}, LIMIT_MS).unref();

const begun = performance.now();
for (const [name, part] of [
  ['merges', (_: string, folder: string) => mergeRaces(tally, folder)],
  ['races', raceSuite],
  ['kills', killSuite],
  ['hooks', (dataDir: string) => hookKills(tally, dataDir)],
  ['full', (_: string, folder: string) => fullDisk(tally, folder)],
  ['faults', (dataDir: string) => faults(tally, dataDir)],
] as const) {
  // The fault suite runs this part in several processes.
  if (only === undefined ? name === 'faults' : only !== name) continue;
  const folder = join(root, name);
  mkdirSync(folder);
  try {
    await part(join(folder, 'data'), folder);
  } catch (error) {
    tally.failed += 1;
    console.log(`FAIL  ${name}: ${error instanceof Error ? error.stack : error}`);
  }
}
console.log(`the suite took ${Math.round((performance.now() - begun) / 1000)} s`);
console.log(`${tally.passed} passed, ${tally.failed} failed`);
process.exit(tally.failed === 0 ? 0 : 1);

async function raceSuite(dataDir: string, folder: string): Promise<void> {
  const expectedState = new ExpectedState();
  const host = await Host.start(dataDir);
  try {
    await races(tally, host.url, folder, expectedState);
  } finally {
    await host.stop();
  }
  await tally.step('the host had nothing to complain of', async () => {
    const errors = host.errors();
    expect(errors.length === 0, `${errors.length} errors\n${errors.slice(0, 5).join('\n')}`);
  });
  await tally.step(
    'after the races everything is in order, and nothing of the deleted project is left',
    async () => {
      await settle(dataDir);
      await checked(dataDir, expectedState, true);
    },
  );
}

async function killSuite(dataDir: string, folder: string): Promise<void> {
  await kills(tally, dataDir, folder, new ExpectedState());
}
