/** What the jobs of a pipeline report of their tests: read when it is asked for, which is seldom. */
import { pipeline as piped, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { JobArtifact } from '../../records/artifacts.ts';
import type { JobRecord } from '../../records/pipelines.ts';
import { Missing } from '../../store/errors.ts';
import { can } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import { BadReport, junitCases, type TestCase, type TestStatus } from '../artifacts/junit.ts';
import type { Deps } from '../deps.ts';
import { getPipeline } from './pipelines.ts';

/** Bytes of a report as it is stored, and of all that are held at a time. */
const MAX_STORED = 8 * 1024 ** 2;
/** Reports that are read at a time. */
const WIDTH = 4;
/** Of all reports of a pipeline. */
const MAX_REPORTS = 500;
const MAX_BYTES = 64 * 1024 ** 2;
const MAX_CASES = 100_000;

export interface ReportedCase extends TestCase {
  readonly jobId: number;
}

/** The reports of the jobs of a name. */
export interface TestSuite {
  readonly name: string;
  readonly jobIds: readonly number[];
  /** Seconds; a test that was reported twice counts twice here, and once otherwise. */
  readonly time: number;
  /** The worst first, and within one status the slowest. */
  readonly cases: readonly ReportedCase[];
  /** Why it has no cases. */
  readonly error: string | null;
}

const ORDER: readonly TestStatus[] = ['error', 'failed', 'success', 'skipped'];

/** What is left of the limits of a pipeline. */
interface Budget {
  bytes: number;
  cases: number;
}

interface Suite {
  readonly jobIds: number[];
  readonly cases: Map<string, ReportedCase>;
  time: number;
  error: string | null;
}

/**
 * The suites of a pipeline: those of its jobs that report tests, without jobs that others have replaced, in the order of jobs.
 * Jobs whose files are for members alone report to nobody else. What goes past the limits fails the suite that it is in.
 * @throws `404 Not found`
 */
export async function testSuites(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  id: number,
): Promise<TestSuite[]> {
  await getPipeline(deps, access, id);
  const seesPrivate = can(actor, access, 'read_private_artifacts');
  const reports = (await deps.store.jobs.all(id))
    .filter(({ retried, privateArtifacts }) => !retried && (seesPrivate || privateArtifacts !== true))
    .flatMap((job) => job.artifacts.filter(({ type }) => type === 'junit').map((file) => ({ job, file })));
  const suites = new Map<string, Suite>();
  const budget: Budget = { bytes: MAX_BYTES, cases: MAX_CASES };
  for (let at = 0; at < reports.length; at += WIDTH) {
    const some = reports.slice(at, at + WIDTH);
    // One after the other, so that the same ones go past the limits each time.
    const held = await Promise.all(
      some.map(({ file }, i) => (at + i < MAX_REPORTS ? stored(deps, file) : null)),
    );
    for (const [i, { job }] of some.entries()) {
      const name = suiteOf(job);
      const suite: Suite = suites.get(name) ?? { jobIds: [], cases: new Map(), time: 0, error: null };
      suites.set(name, suite);
      suite.jobIds.push(job.id);
      await addReport(suite, job, held[i]!, budget);
    }
  }
  return [...suites].map(([name, { jobIds, cases, time, error }]) =>
    error === null
      ? { name, jobIds, time, cases: [...cases.values()].sort(worstFirst), error }
      : { name, jobIds, time: 0, cases: [], error },
  );
}

const worstFirst = (a: ReportedCase, b: ReportedCase): number =>
  ORDER.indexOf(a.status) - ORDER.indexOf(b.status) || b.time - a.time;

/** Jobs that were made of one by a number share a suite; those of a matrix have their own. */
const suiteOf = ({ name }: JobRecord): string => name.replace(/[\s:]+\d+[\s:/\\]+\d+\s*$/, '').trim();

/** A report as it is stored; null where it is too large or gone. */
async function stored({ store }: Deps, { blob, size }: JobArtifact): Promise<Uint8Array | null> {
  if (size > MAX_STORED) return null;
  return store.blobs.read(blob, 0, size).catch((error: unknown) => {
    if (error instanceof Missing) return null;
    throw error;
  });
}

async function addReport(suite: Suite, job: JobRecord, bytes: Uint8Array | null, budget: Budget) {
  if (suite.error !== null) return;
  try {
    if (bytes === null) throw new BadReport('JUnit data parsing failed: the report is too large');
    for await (const each of junitCases(unpacked(bytes, budget))) {
      if (--budget.cases < 0)
        throw new BadReport(
          `JUnit data parsing failed: number of test cases exceeded the limit of ${MAX_CASES}`,
        );
      suite.time += each.time;
      suite.cases.set(JSON.stringify([each.status, each.classname, each.name]), { ...each, jobId: job.id });
    }
  } catch (error) {
    if (!(error instanceof BadReport)) throw error;
    suite.error = error.message;
  }
}

async function* unpacked(bytes: Uint8Array, budget: Budget) {
  // Whoever reads is told.
  const content = piped(Readable.from([bytes], { objectMode: false }), createGunzip(), () => {});
  try {
    for await (const piece of content) {
      budget.bytes -= (piece as Buffer).length;
      if (budget.bytes < 0)
        throw new BadReport('JUnit data parsing failed: the reports of the pipeline are too large');
      yield piece as Buffer;
    }
  } catch (error) {
    const { code } = error as { code?: string };
    throw code?.startsWith('Z_') ? new BadReport('JUnit data parsing failed: it cannot be unpacked') : error;
  }
}
