/** What jobs leave while they run. */
import { secondsOf } from '../../durations/durations.ts';
import { type ArtifactFormat, type ArtifactType, FORMAT_OF_TYPE } from '../../records/artifacts.ts';
import type { JobRecord } from '../../records/pipelines.ts';
import type { ArtifactUpload, StoredArtifact } from '../../store/artifacts/artifacts.ts';
import { Missing, Stale } from '../../store/errors.ts';
import { scheduleMeasuring } from '../../store/statistics/statistics.ts';
import type { Deps } from '../deps.ts';
import { badRequest, forbidden, refused, tooLarge } from '../errors.ts';
import { runningJob } from '../jobs/running-job.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';
import { readDotenv } from './dotenv.ts';

const MB = 1024 ** 2;
/** Characters of the name of a file. */
const MAX_NAME = 255;

/** What a runner says of a file. */
export interface ArtifactFacts {
  readonly type: ArtifactType;
  readonly format: ArtifactFormat;
  readonly filename: string;
  /** As a duration, or `never`; absent: by the setting of the instance. */
  readonly expireIn?: string | undefined;
}

/** The format in which runners send files of a type. */
export const formatOf = (type: ArtifactType): ArtifactFormat => FORMAT_OF_TYPE[type];

/** Bytes of the largest file that a job may leave. */
export async function maxArtifactBytes({ settings }: Deps): Promise<number> {
  return (await settings.current()).max_artifacts_size * MB;
}

/**
 * Begins an upload that goes straight to the bucket. {@link listArtifact} lists it afterwards.
 * @throws 413 for a file that is larger than allowed
 */
export async function beginUpload(deps: Deps, job: JobRecord, size: number): Promise<ArtifactUpload> {
  if (size > (await maxArtifactBytes(deps))) throw tooLarge();
  return deps.store.artifacts.begin(job, size, deps.now());
}

/** Returns what was sent in an upload that {@link beginUpload} began. @throws 400 where nothing was; 413 */
export async function uploadedArtifact(deps: Deps, job: JobRecord, id: string): Promise<StoredArtifact> {
  const stored = await deps.store.artifacts.uploaded(job, id, deps.now());
  if (stored === undefined) throw badRequest('The file was not uploaded');
  if (stored.size > (await maxArtifactBytes(deps))) throw tooLarge();
  return stored;
}

/** Stores a file, which {@link listArtifact} lists afterwards. @throws 413; what reading it throws */
export async function storeArtifact(
  deps: Deps,
  job: JobRecord,
  content: AsyncIterable<Uint8Array>,
): Promise<StoredArtifact> {
  return deps.store.artifacts.store(job, limited(content, await maxArtifactBytes(deps)), deps.now());
}

async function* limited(content: AsyncIterable<Uint8Array>, limit: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const piece of content) {
    size += piece.length;
    if (size > limit) throw tooLarge();
    yield piece;
  }
}

/**
 * Lists a stored file among those that a running job has left. The same file again is no error: the answer to the first may
 * have been lost.
 * @throws 403 where the job is not running with this token; 400 for another file of the same type, and for wrong facts
 */
export async function listArtifact(
  deps: Deps,
  { id, token }: { readonly id: number; readonly token: string },
  facts: ArtifactFacts,
  stored: StoredArtifact,
): Promise<void> {
  const { type, format, filename } = facts;
  if (FORMAT_OF_TYPE[type] !== format) throw refused('Invalid file format with specified file type');
  if (type === 'dotenv') await readDotenv(deps, stored);
  const expireAt = await expiryOf(deps, facts);
  const artifact = { type, format, filename: nameOf(filename), ...stored };
  const listed = await retryOnConflict(
    async () => {
      const job = await runningJob(deps, id, token);
      const before = job.artifacts.find((each) => each.type === type);
      if (before !== undefined) {
        const same = before.blob === stored.blob || (before.sha256 ?? '') === stored.sha256;
        if (!same) throw refused('another artifact of the same type already exists');
        return undefined;
      }
      const { store } = deps;
      const spec = type === 'archive' ? await store.jobs.spec(job) : undefined;
      // One for all files of a job: it looks at the time that counts then.
      const messages =
        expireAt === null || job.artifactsExpireAt !== null ? [] : [store.artifacts.expiry(job, expireAt)];
      const isPrivate = spec?.artifacts?.['public'] === false;
      return store.jobs.addArtifact(job, artifact, { expireAt, isPrivate, messages });
    },
    (error) => error instanceof Stale,
  ).catch((error: unknown) => {
    throw error instanceof Missing ? forbidden() : error;
  });
  // Not in the transaction, where the jobs of a pipeline would wait for each other.
  if (listed !== undefined) await deps.store.table.put(scheduleMeasuring(listed.projectId, deps.now()));
}

/** When files expire. @throws 400 for what is no duration */
async function expiryOf({ settings, now }: Deps, { expireIn }: ArtifactFacts): Promise<string | null> {
  const text = expireIn?.trim() || (await settings.current()).default_artifacts_expire_in;
  if (/^(never|0)$/i.test(text)) return null;
  const seconds = secondsOf(text);
  if (seconds === undefined) throw badRequest('expire_in is not a duration');
  const at = new Date(now().getTime() + seconds * 1000);
  // As far as dates go.
  return Number.isNaN(at.getTime()) || at.getUTCFullYear() > 9999 ? null : at.toISOString();
}

/** The last segment, without what would end a header or a path. */
function nameOf(filename: string): string {
  const last = filename.toWellFormed().split(/[/\\]/).at(-1)!;
  const plain = last.replaceAll(/\p{Cc}/gu, '').slice(-MAX_NAME);
  return plain === '' || plain === '.' || plain === '..' ? 'artifact' : plain;
}
