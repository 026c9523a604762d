/**
 * Pushes through the staging area: the state of each and the worker that processes it. A worker holds a push by a
 * lease. A fencing token, which increases with every holder, prevents a worker whose lease has expired from writing.
 */

import type { RepositoryOwner } from '../../records/repository-owner.ts';
import type { StagedUpload } from '../blobs/staging.ts';
import { ConditionFailed, LimitReached, Stale, TransactionRefused } from '../errors.ts';
import { INGEST, message, messageAt, type Outbox, outboxWrite } from '../outbox/outbox.ts';
import { pushUploadKey, SLOT, uploadSlotKey, uploadSlotsPartition } from '../row-keys/git.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, type Item, type Update, type Values } from '../table/write.ts';

/**
 * `uploading` until all parts are there, `queued` until a worker claims it, `ingesting` while a worker holds it.
 * `done`: the commands were processed, each with its own result; `failed`: they were not, for the reason in `failure`.
 */
type PushUploadState = 'uploading' | 'queued' | 'ingesting' | 'done' | 'failed' | 'aborted';

/** The repository that a push goes to: the code of a project, or one beside it. */
export type UploadOf = { readonly projectId: number } | { readonly beside: RepositoryOwner };

export type PushUpload = UploadOf & UploadFacts;

interface UploadFacts {
  readonly id: string;
  readonly userId: number;
  /** The token that began the push; it is checked again when the push is ingested. */
  readonly tokenId: number;
  readonly staged: StagedUpload;
  readonly state: PushUploadState;
  /** Which of the user's slots it occupies. */
  readonly slot: number;
  /** Fencing token: the number of times a worker has claimed the push. */
  readonly fence: number;
  /** Packs that workers have stored for it, recorded before they become visible. */
  readonly packs: readonly string[];
  readonly progress: IngestProgress;
  /** Why the push failed; null unless it did. */
  readonly failure: string | null;
  /** ISO 8601. An upload that is unfinished by then is given up. */
  readonly expiresAt: string;
}

export interface IngestProgress {
  readonly phase: 'waiting' | 'receiving' | 'resolving' | 'checking' | 'storing';
  /** Number of objects processed. */
  readonly done: number;
  readonly total: number;
  /** Bytes of the pack read so far. */
  readonly bytes: number;
}

/** The ingest queue's job that receives a staged push: `{ id }`. */
export const INGEST_PUSH_JOB = 'push.ingest';

/** Maximum number of unfinished pushes of one user. */
export const UPLOADS_PER_USER = 10;
const UPLOAD_SECONDS = 24 * 3600;
/** Time for which the result can be read. */
const RESULT_SECONDS = 24 * 3600;
const NO_PROGRESS: IngestProgress = { phase: 'waiting', done: 0, total: 0, bytes: 0 };

export type NewPushUpload = UploadOf & Pick<UploadFacts, 'userId' | 'tokenId' | 'staged'>;

export class PushUploads {
  readonly #table: Table;
  readonly #outbox: Outbox;
  constructor(table: Table, outbox: Outbox) {
    this.#table = table;
    this.#outbox = outbox;
  }

  /** Begins a push. @throws LimitReached when the user has {@link UPLOADS_PER_USER} unfinished ones */
  async open(upload: NewPushUpload, now = new Date()): Promise<PushUpload> {
    const at = seconds(now);
    for (;;) {
      const slot = await this.#freeSlot(upload.userId, at);
      const record: PushUpload = {
        ...upload,
        id: upload.staged.id,
        slot,
        state: 'uploading',
        fence: 0,
        packs: [],
        progress: NO_PROGRESS,
        failure: null,
        expiresAt: new Date((at + UPLOAD_SECONDS) * 1000).toISOString(),
      };
      const until = at + UPLOAD_SECONDS;
      try {
        await this.#table.transact([
          { put: { ...pushUploadKey(record.id), ...record, until: 0, ttl: until }, if: ABSENT },
          {
            put: { ...uploadSlotKey(upload.userId, slot), upload: record.id, until, ttl: until },
            if: 'attribute_not_exists(#pk) OR #until <= :now',
            values: { now: at },
            reason: 'slot',
          },
        ]);
        return record;
      } catch (error) {
        // A concurrent call has taken this slot: try the next free one.
        if (!(error instanceof TransactionRefused && error.has('slot'))) throw error;
      }
    }
  }

  /** Checks for a free slot; called before anything is stored for an upload. @throws LimitReached */
  async requireSlot(userId: number, now = new Date()): Promise<void> {
    await this.#freeSlot(userId, seconds(now));
  }

  async #freeSlot(userId: number, at: number): Promise<number> {
    const { items } = await this.#table.query({ partition: uploadSlotsPartition(userId), prefix: SLOT });
    const taken = new Set(items.filter((item) => (item['until'] as number) > at).map((item) => item['sk']));
    for (let slot = 0; slot < UPLOADS_PER_USER; slot++) {
      if (!taken.has(uploadSlotKey(userId, slot).sk)) return slot;
    }
    throw new LimitReached('uploads', UPLOADS_PER_USER);
  }

  /** Reads with strong consistency. Returns undefined for a push that has expired. */
  async get(id: string, now = new Date()): Promise<PushUpload | undefined> {
    const item = await this.#table.get(pushUploadKey(id));
    return item === undefined || (item['ttl'] as number) <= seconds(now) ? undefined : recordOf(item);
  }

  /** Enqueues the job that ingests the push. @returns false when the push is not (or no longer) `uploading` */
  async queue({ id }: PushUpload, now = new Date()): Promise<boolean> {
    const change = this.#update(id, { state: 'queued', ttl: seconds(now) + RESULT_SECONDS });
    try {
      await this.#outbox.commit(
        [{ ...change, if: '#state = :was', values: { was: 'uploading' } }],
        [message(INGEST, INGEST_PUSH_JOB, { id })],
      );
      return true;
    } catch (error) {
      if (error instanceof TransactionRefused) return false;
      throw error;
    }
  }

  /**
   * Claims the push for `lease` seconds, which {@link progress} renews.
   * @returns `busy` while another worker holds it, `over` when nothing remains to be done
   */
  async claim(id: string, lease: number, now = new Date()): Promise<PushUpload | 'busy' | 'over'> {
    const at = seconds(now);
    try {
      const item = await this.#table.update({
        ...this.#update(id, { state: 'ingesting', until: at + lease }),
        add: { fence: 1 },
        if: '#state = :queued OR (#state = :ingesting AND #until <= :now)',
        values: { queued: 'queued', ingesting: 'ingesting', now: at },
      });
      return recordOf(item);
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
      const state = (await this.#table.get(pushUploadKey(id)))?.['state'];
      return state === 'ingesting' ? 'busy' : 'over';
    }
  }

  /** Enqueues another message for the time at which the current holder has finished or its lease has expired. */
  async requeueAt(id: string, at: Date): Promise<void> {
    await this.#table.put(outboxWrite(messageAt(INGEST, INGEST_PUSH_JOB, { id }, at)));
  }

  /** Records the progress and renews the lease. @throws Stale when another worker holds the push by now */
  async progress(held: PushUpload, progress: IngestProgress, lease: number, now = new Date()): Promise<void> {
    await this.#held(held, { progress, until: seconds(now) + lease });
  }

  /** Records a stored pack before it becomes visible. @throws Stale */
  async addPack(held: PushUpload, packs: readonly string[]): Promise<void> {
    await this.#held(held, { packs });
  }

  /** Releases the push, so that another worker can claim it at once. Does nothing if the lease was lost. */
  async release(held: PushUpload): Promise<void> {
    await this.#held(held, { until: 0 }).catch(unlessStale);
  }

  /** Ends the push. @param failure why the commands were not processed; null when they were. @throws Stale */
  async end(held: PushUpload, failure: string | null, now = new Date()): Promise<void> {
    const state = failure === null ? 'done' : 'failed';
    await this.#held(held, { state, failure, ttl: seconds(now) + RESULT_SECONDS });
    await this.#freeOf(held);
  }

  /** Aborts the push. @returns false when a worker has already claimed it */
  async abort(upload: PushUpload): Promise<boolean> {
    try {
      await this.#table.update({
        ...this.#update(upload.id, { state: 'aborted' }),
        if: '#state IN (:uploading, :queued, :aborted)',
        values: { uploading: 'uploading', queued: 'queued', aborted: 'aborted' },
      });
    } catch (error) {
      if (error instanceof ConditionFailed) return false;
      throw error;
    }
    await this.#freeOf(upload);
    return true;
  }

  async #freeOf({ id, userId, slot }: PushUpload): Promise<void> {
    const held = { if: '#upload = :id', values: { id } };
    await this.#table.delete({ delete: uploadSlotKey(userId, slot), ...held }).catch((error: unknown) => {
      if (!(error instanceof ConditionFailed)) throw error;
    });
  }

  async #held({ id, fence }: PushUpload, set: Values): Promise<void> {
    try {
      await this.#table.update({
        ...this.#update(id, set),
        if: '#state = :ingesting AND #fence = :fence',
        values: { ingesting: 'ingesting', fence },
      });
    } catch (error) {
      throw error instanceof ConditionFailed ? new Stale('upload') : error;
    }
  }

  #update(id: string, set: Values): Update {
    return { update: pushUploadKey(id), set };
  }
}

function recordOf(item: Item): PushUpload {
  const { pk, sk, ttl, until, w, ...record } = item;
  return record as unknown as PushUpload;
}

const seconds = (time: Date) => Math.floor(time.getTime() / 1000);

function unlessStale(error: unknown): void {
  if (!(error instanceof Stale)) throw error;
}
