/** How long a runner that asks again and again waits for the job of a push, and how long a large pipeline takes to be made. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { git, gitBeside } from './git.ts';
import { HostProcess } from './host.ts';
import type { Report } from './report.ts';

const PUSHES = 12;
/** The runner's own polling is not what is measured. */
const POLLING_MS = 20;
const JOB_TARGET_MS = 2_000;
const LARGE = 1_000;
/** For as many as fit into `parallel` at a time. */
const PARALLEL = 50;
const LARGE_TARGET_MS = 3_000;
const PATIENCE_MS = 60_000;

export async function jobsOfPushes(report: Report): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'lemnos-bench-jobs-'));
  const host = await HostProcess.start();
  try {
    const { id } = await json(host, 'POST', '/projects', { name: 'jobs' });
    const { runners_token: registration } = await json(host, 'GET', `/projects/${id}`);
    const { token } = await json(host, 'POST', '/runners', { token: registration });
    git(tmpdir(), 'init', '--quiet', '--initial-branch=main', folder);
    const push = async (config: string, branch: string) => {
      writeFileSync(join(folder, '.gitlab-ci.yml'), config);
      git(folder, 'add', '.gitlab-ci.yml');
      git(folder, '-c', 'user.name=A', '-c', 'user.email=a@b', 'commit', '--quiet', '-m', branch);
      await gitBeside(folder, 'push', '--quiet', host.remote('jobs'), `HEAD:refs/heads/${branch}`);
    };
    /** @returns how long the job of a push was not there */
    const waitsFor = async (n: number): Promise<number> => {
      await push(`# ${n}\njob: { script: [x] }\n`, 'main');
      const begun = performance.now();
      const job = await untilThere(async () => {
        const answer = await host.call('POST', '/jobs/request', { token });
        return answer.status === 201 ? ((await answer.json()) as { id: number; token: string }) : undefined;
      });
      const waited = performance.now() - begun;
      await host.call('PUT', `/jobs/${job.id}`, { token: job.token, state: 'success' });
      return waited;
    };
    // The first one waits for functions that start.
    await waitsFor(0);
    const waits: number[] = [];
    for (let n = 1; n <= PUSHES; n++) waits.push(await waitsFor(n));
    waits.sort((a, b) => a - b);
    const row = (operation: string, ours: number, target?: number) =>
      report.row({ subject: 'jobs', operation, ours, unit: 'ms', ...(target && { target }) });
    row('from a push to its job, median', waits[PUSHES / 2]!, JOB_TARGET_MS);
    row('from a push to its job, longest', waits.at(-1)!, JOB_TARGET_MS);

    const groups = Array.from(
      { length: LARGE / PARALLEL },
      (_, n) => `j${n}: { script: [x], parallel: ${PARALLEL} }`,
    );
    await push(groups.join('\n'), 'large');
    const begun = performance.now();
    const becomes = async (wanted: string) => {
      await untilThere(async () => {
        const [pipeline] = await json(host, 'GET', `/projects/${id}/pipelines?ref=large`);
        return pipeline !== undefined && [wanted, 'pending'].includes(pipeline.status) ? true : undefined;
      });
      return performance.now() - begun;
    };
    row(`from a push to its ${LARGE} jobs`, await becomes('created'), LARGE_TARGET_MS);
    row('until they wait for a runner', await becomes('pending'));
  } finally {
    await host.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

// biome-ignore lint/suspicious/noExplicitAny: answers have every shape
const json = async (host: HostProcess, method: string, path: string, body?: unknown): Promise<any> =>
  (await host.call(method, path, body)).json();

async function untilThere<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (const until = Date.now() + PATIENCE_MS; ; ) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > until) throw new Error('it did not come');
    await sleep(POLLING_MS);
  }
}
