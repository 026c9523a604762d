/** Reports of variables that a job leaves to those that depend on it: lines `KEY=value`, compressed. */
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { JobArtifact } from '../../records/artifacts.ts';
import type { JobRecord } from '../../records/pipelines.ts';
import { mapLimit } from '../../store/table/map-limit.ts';
import type { Deps } from '../deps.ts';
import { DomainError, refused } from '../errors.ts';

/** Bytes. */
const MAX_BYTES = 5120;
const MAX_VARIABLES = 20;
/** Reports that one job gets variables of: the last ones. */
const MAX_REPORTS = 50;

type Variables = Readonly<Record<string, string>>;

/** @throws 400 in the product's words */
function parseDotenv(text: string): Variables {
  const variables: [string, string][] = [];
  for (const line of text.split(/\r?\n/)) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const [, key, value] = /^([^=]*)=(.*)$/.exec(line) ?? [];
    if (key === undefined || value === undefined) throw refused('Invalid Format');
    const name = key.trim();
    if (!/^\w{1,255}$/.test(name) || value.includes('\0')) throw refused('Invalid Format');
    variables.push([name, value.trim()]);
  }
  if (variables.length > MAX_VARIABLES)
    throw refused(`Dotenv files cannot have more than ${MAX_VARIABLES} variables`);
  return Object.fromEntries(variables);
}

/** Reads a stored report. @throws 400 */
export async function readDotenv(
  { store }: Deps,
  { blob, size }: Pick<JobArtifact, 'blob' | 'size'>,
): Promise<Variables> {
  // Compressed it is hardly larger.
  if (size > 2 * MAX_BYTES) throw tooBig();
  let text: Buffer;
  try {
    const packed = await store.blobs.read(blob, 0, size);
    text = await promisify(gunzip)(packed, { maxOutputLength: MAX_BYTES });
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === 'ERR_BUFFER_TOO_LARGE') throw tooBig();
    throw code?.startsWith('Z_') ? refused('Invalid Format') : error;
  }
  return parseDotenv(text.toString('utf8'));
}

const tooBig = () => refused(`Dotenv Artifact Too Big. Maximum Allowable Size: ${MAX_BYTES}`);

/** The variables that these jobs have left; of one name that of the later job counts. */
export async function inheritedVariables(deps: Deps, jobs: readonly JobRecord[]): Promise<Variables> {
  const reports = jobs
    .flatMap(({ artifacts }) => artifacts.filter(({ type }) => type === 'dotenv'))
    .slice(-MAX_REPORTS);
  const read = new Map<JobArtifact, Variables>();
  await mapLimit(8, reports, async (report) => {
    try {
      read.set(report, await readDotenv(deps, report));
    } catch (error) {
      // It was checked as it came: jobs go on without one that is damaged.
      if (!(error instanceof DomainError)) throw error;
    }
  });
  return Object.assign({}, ...reports.map((report) => read.get(report))) as Variables;
}
