/** The coverage that a job has printed. */
import { setImmediate as turn } from 'node:timers/promises';
import type { JobRecord } from '../../records/pipelines.ts';
import { PatternError, userPattern } from '../../regexp/user-pattern.ts';
import type { Deps } from '../deps.ts';

/** Bytes of the trace that are searched, from its end. */
const MAX_SEARCHED = 256 * 1024;
/** A pattern that takes long has found nothing by then. */
const MAX_MS = 2_000;
/** Lines that are searched between two turns of the event loop. */
const LINES = 20;

/** The number in the last line of a job's trace that its pattern fits, or else its project's; undefined without one. */
export async function coverageOf({ store }: Deps, job: JobRecord): Promise<number | undefined> {
  const [spec, project] = await Promise.all([store.jobs.spec(job), store.projects.get(job.projectId)]);
  const source = spec?.coverage ?? project?.settings['build_coverage_regex'];
  if (typeof source !== 'string' || source === '') return undefined;
  try {
    const pattern = await userPattern(source);
    const lines = (await store.jobTraces.tail(job, MAX_SEARCHED)).toString('utf8').split(/\r\n|\n|\r/);
    const until = performance.now() + MAX_MS;
    for (const [n, line] of lines.reverse().entries()) {
      const number = /\d+(?:\.\d+)?/.exec(pattern.last(line) ?? '')?.[0];
      if (number !== undefined) return Number(number);
      if (n % LINES !== LINES - 1) continue;
      if (performance.now() > until) return undefined;
      await turn();
    }
    return undefined;
  } catch (error) {
    if (error instanceof PatternError) return undefined;
    throw error;
  }
}
