import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/**
 * The fault suite (`faults/run.ts`), divided among three processes for two processors, because a part of the time is the
 * disk's and git's; six at most. Each has a service of its own and tries every n-th operation. `npm run test:faults`;
 * `FAULTS=<text>` selects operations by a part of their name.
 */
const shards = Math.min(6, Math.ceil(1.5 * availableParallelism()));
const begun = performance.now();
const totals = await Promise.all(Array.from({ length: shards }, (_, i) => suite(i)));
const sum = (which: 'passed' | 'failed') => totals.reduce((all, each) => all + each[which], 0);
console.log(`the suite took ${Math.round((performance.now() - begun) / 1000)} s`);
console.log(`${sum('passed')} passed, ${sum('failed')} failed`);
process.exit(sum('failed') === 0 ? 0 : 1);

async function suite(shard: number): Promise<{ passed: number; failed: number }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'run.ts'), 'faults'], {
    env: { ...process.env, FAULTS_SHARD: `${shard}/${shards}` },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.on('exit', () => child.kill());
  let last: { passed: number; failed: number } | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    const [, passed, failed] = /^(\d+) passed, (\d+) failed$/.exec(line) ?? [];
    if (passed === undefined) console.log(line);
    else last = { passed: Number(passed), failed: Number(failed) };
  }
  // A process that ended without totals has failed.
  return last ?? { passed: 0, failed: 1 };
}
