/**
 * Files that jobs leave. The record of a job lists them, and says where each is in the bucket: an object of its own, written
 * before the transaction that lists it. A job that every upload and every deletion enqueues deletes what no record lists.
 */
import { createHash } from 'node:crypto';
import { decodeTime, ulid } from 'ulid';
import type { JobArtifact } from '../../records/artifacts.ts';
import type { JobRecord } from '../../records/pipelines.ts';
import type { Blobs } from '../blobs/blobs.ts';
import { MAINTENANCE, message, messageAt, type OutboxMessage, outboxWrite } from '../outbox/outbox.ts';
import { artifactsPartition } from '../row-keys/artifacts.ts';
import { jobKey } from '../row-keys/jobs.ts';
import { padded } from '../row-keys/key.ts';
import { deletePage } from '../table/delete-page.ts';
import type { Table } from '../table/table.ts';

/** All files of jobs have this prefix in the bucket. */
export const ARTIFACTS = 'artifacts/';

/** The maintenance queue's job that deletes files that the record of their job does not list. */
export const SWEEP_ARTIFACTS_JOB = 'artifacts.sweep';

/** The maintenance queue's job that deletes what a job has left when its time has come. */
export const EXPIRE_ARTIFACTS_JOB = 'artifacts.expire';

/** The maintenance queue's job that lets expire what the jobs of a project have left. */
export const EXPIRE_PROJECT_ARTIFACTS_JOB = 'artifacts.expire-project';

/** A job as its files need it. */
export type ArtifactsOf = Pick<JobRecord, 'projectId' | 'pipelineId' | 'id'>;

/** Body of that job. */
export interface UnlistedArtifacts {
  readonly pipelineId: number;
  readonly jobId: number;
  /** Keys in the bucket. */
  readonly blobs: readonly string[];
}

/** Content that was stored, and that no record lists yet. */
export type StoredArtifact = Pick<JobArtifact, 'blob' | 'size' | 'sha256'>;

/** How a client sends a file straight to the bucket, and for how many seconds it can begin to. */
export interface ArtifactUpload {
  readonly id: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly seconds: number;
}

/** No upload takes longer: by then a record lists it, or never will. */
const UPLOAD_MS = 24 * 3600_000;
const URL_SECONDS = 3600;

export class Artifacts {
  readonly #table: Table;
  readonly #blobs: Blobs;
  constructor(table: Table, blobs: Blobs) {
    this.#table = table;
    this.#blobs = blobs;
  }

  /**
   * Stores content that comes in pieces, without holding it. It is deleted after a day unless the record of the job lists it.
   * @throws what reading the pieces throws, StoreUnavailable
   */
  async store(job: ArtifactsOf, content: AsyncIterable<Uint8Array>, now: Date): Promise<StoredArtifact> {
    const blob = blobOf(job, ulid(now.getTime()));
    await this.#sweepLater(job, blob, now);
    const digest = createHash('sha256');
    const size = await this.#blobs.writePieces(blob, content, [digest]);
    return { blob, size, sha256: digest.digest('hex') };
  }

  /** Begins an upload that goes straight to the bucket: of this many bytes, and once. */
  async begin(job: ArtifactsOf, size: number, now: Date): Promise<ArtifactUpload> {
    const id = ulid(now.getTime());
    const blob = blobOf(job, id);
    await this.#sweepLater(job, blob, now);
    return { id, ...(await this.#blobs.presignedPutOnce(blob, size, URL_SECONDS)), seconds: URL_SECONDS };
  }

  /** What was sent in an upload that {@link begin} began; undefined where nothing was, or too long ago. */
  async uploaded(job: ArtifactsOf, id: string, now: Date): Promise<StoredArtifact | undefined> {
    if (!/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(id)) return undefined;
    // One that is listed later than this would be swept.
    if (Math.abs(now.getTime() - decodeTime(id)) > UPLOAD_MS / 2) return undefined;
    const blob = blobOf(job, id);
    const found = await this.#blobs.head(blob);
    return found && { blob, size: found.size };
  }

  /** Tells to look at the files of a job when they expire. */
  expiry({ pipelineId, id }: ArtifactsOf, at: string): OutboxMessage {
    return messageAt(MAINTENANCE, EXPIRE_ARTIFACTS_JOB, { pipelineId, jobId: id }, new Date(at));
  }

  /** Tells to let everything expire that jobs of a project have left so far. */
  expiryOfProject(projectId: number, at: string): OutboxMessage {
    return message(MAINTENANCE, EXPIRE_PROJECT_ARTIFACTS_JOB, { projectId, at });
  }

  /** Tells to delete files that the record of their job does not list any more. */
  unlisted({ pipelineId, id }: ArtifactsOf, artifacts: readonly JobArtifact[]): OutboxMessage[] {
    if (artifacts.length === 0) return [];
    const blobs = artifacts.map(({ blob }) => blob);
    return [
      message(MAINTENANCE, SWEEP_ARTIFACTS_JOB, { pipelineId, jobId: id, blobs } satisfies UnlistedArtifacts),
    ];
  }

  async #sweepLater({ pipelineId, id }: ArtifactsOf, blob: string, now: Date): Promise<void> {
    const body = { pipelineId, jobId: id, blobs: [blob] } satisfies UnlistedArtifacts;
    const at = new Date(now.getTime() + UPLOAD_MS);
    await this.#table.put(outboxWrite(messageAt(MAINTENANCE, SWEEP_ARTIFACTS_JOB, body, at)));
  }

  /** Deletes those of these files that the record of their job does not list. */
  async sweep({ pipelineId, jobId, blobs }: UnlistedArtifacts): Promise<void> {
    const job = (await this.#table.get(jobKey(pipelineId, jobId))) as Partial<JobRecord> | undefined;
    const listed = new Set(job?.artifacts?.map(({ blob }) => blob));
    const goes = blobs.filter((blob) => !listed.has(blob));
    if (goes.length > 0) await this.#blobs.delete(goes);
  }

  /** Returns a file as a stream, which is to be read or destroyed. @throws Missing */
  open({ blob }: Pick<JobArtifact, 'blob'>) {
    return this.#blobs.open(blob);
  }

  /** Bytes of all files that the jobs of a project have left. */
  async total(projectId: number): Promise<number> {
    const { items } = await this.#table.query({ partition: artifactsPartition(projectId) });
    return items.reduce((sum, { bytes }) => sum + (bytes as number), 0);
  }

  /** Deletes a page of the files of a deleted pipeline. @returns whether any are left */
  removeOfPipeline(projectId: number, pipelineId: number): Promise<boolean> {
    return this.#removeBelow(pipelinePrefix(projectId, pipelineId));
  }

  /** Deletes a page of the files of a deleted project, and what counted them. @returns whether any are left */
  async removeOfProject(projectId: number): Promise<boolean> {
    const left = await this.#removeBelow(projectPrefix(projectId));
    return (await deletePage(this.#table, { partition: artifactsPartition(projectId), limit: 100 })) || left;
  }

  async #removeBelow(prefix: string): Promise<boolean> {
    const { keys, more } = await this.#blobs.list(prefix);
    if (keys.length > 0) await this.#blobs.delete(keys);
    return more;
  }
}

const projectPrefix = (projectId: number): string => `${ARTIFACTS}${padded(projectId)}/`;
const pipelinePrefix = (projectId: number, pipelineId: number): string =>
  `${projectPrefix(projectId)}${padded(pipelineId)}/`;
const blobOf = ({ projectId, pipelineId, id }: ArtifactsOf, upload: string): string =>
  `${pipelinePrefix(projectId, pipelineId)}${padded(id)}/${upload}`;
