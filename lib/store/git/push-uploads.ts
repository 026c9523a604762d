/**
 * Pushes that come by way of the staging area: how far each is, and who works on it. A worker holds one for a while at
 * a time; a number that rises with every holder keeps one that slept too long from writing anything more.
 */

import type { StagedUpload } from '../blobs/staging.ts';
import { ConditionFailed, LimitReached, Stale, TransactionRefused } from '../errors.ts';
import { INGEST, message, messageAt, type Outbox, outboxWrite } from '../outbox/outbox.ts';
import { pushUploadKey, SLOT, uploadSlotKey, uploadSlotsPartition } from '../row-keys/git.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, type Item, type Update, type Values } from '../table/write.ts';

/**
 * `uploading` until its parts are there, `queued` until a worker takes it, `ingesting` while one has it. `done` says
 * that the commands were judged, each with its result; `failed` that they were not, and why.
 */
type PushUploadState = 'uploading' | 'queued' | 'ingesting' | 'done' | 'failed' | 'aborted';

export interface PushUpload {
  readonly id: string;
  readonly projectId: number;
  readonly userId: number;
  /** What it was begun with: asked again when it is taken in. */
  readonly tokenId: number;
  readonly staged: StagedUpload;
  readonly state: PushUploadState;
  /** Which of the user's places it takes. */
  readonly slot: number;
  /** How often a worker took it. */
  readonly fence: number;
  /** Packs that workers stored for it, before anybody saw them. */
  readonly packs: readonly string[];
  readonly progress: IngestProgress;
  /** For one that failed. */
  readonly failure: string | null;
  /** ISO 8601. What is still uploading then is given up. */
  readonly expiresAt: string;
}

export interface IngestProgress {
  readonly phase: 'waiting' | 'receiving' | 'resolving' | 'checking' | 'storing';
  /** Objects. */
  readonly done: number;
  readonly total: number;
  /** Of the pack, read so far. */
  readonly bytes: number;
}

/** The ingest queue's job that receives a staged push: `{ id }`. */
export const INGEST_PUSH_JOB = 'push.ingest';

/** Pushes one user may have under way. */
export const UPLOADS_PER_USER = 10;
const UPLOAD_SECONDS = 24 * 3600;
/** Whoever waits for the result asks within that time. */
const RESULT_SECONDS = 24 * 3600;
const NO_PROGRESS: IngestProgress = { phase: 'waiting', done: 0, total: 0, bytes: 0 };

export type NewPushUpload = Pick<PushUpload, 'projectId' | 'userId' | 'tokenId' | 'staged'>;

export class PushUploads {
  readonly #table: Table;
  readonly #outbox: Outbox;
  constructor(table: Table, outbox: Outbox) {
    this.#table = table;
    this.#outbox = outbox;
  }

  /** @throws LimitReached when the user has {@link UPLOADS_PER_USER} under way */
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
        // Somebody else took it: there may be another.
        if (!(error instanceof TransactionRefused && error.has('slot'))) throw error;
      }
    }
  }

  /** Asked before anything is stored for an upload. @throws LimitReached */
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

  /** Strongly consistent; what nobody finished in time is gone. */
  async get(id: string, now = new Date()): Promise<PushUpload | undefined> {
    const item = await this.#table.get(pushUploadKey(id));
    return item === undefined || (item['ttl'] as number) <= seconds(now) ? undefined : recordOf(item);
  }

  /** Promises that a worker takes it in. @returns false when it is not uploading (any more) */
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
   * Takes it for `lease` seconds, which {@link progress} renews.
   * @returns `busy` while somebody else has it, `over` when nothing is left to do
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

  /** Another message, for when whoever has it should be done or dead. */
  async requeueAt(id: string, at: Date): Promise<void> {
    await this.#table.put(outboxWrite(messageAt(INGEST, INGEST_PUSH_JOB, { id }, at)));
  }

  /** @throws Stale when somebody else has it by now */
  async progress(held: PushUpload, progress: IngestProgress, lease: number, now = new Date()): Promise<void> {
    await this.#held(held, { progress, until: seconds(now) + lease });
  }

  /** Notes a stored pack, before it can be seen. @throws Stale */
  async addPack(held: PushUpload, packs: readonly string[]): Promise<void> {
    await this.#held(held, { packs });
  }

  /** Lets the next one in at once. One that was lost is left alone. */
  async release(held: PushUpload): Promise<void> {
    await this.#held(held, { until: 0 }).catch(unlessStale);
  }

  /** @param failure why the commands were not judged. @throws Stale */
  async end(held: PushUpload, failure: string | null, now = new Date()): Promise<void> {
    const state = failure === null ? 'done' : 'failed';
    await this.#held(held, { state, failure, ttl: seconds(now) + RESULT_SECONDS });
    await this.#freeOf(held);
  }

  /** @returns false when a worker has it already */
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
