/**
 * Objects of Git LFS. The bytes lie under the project they were uploaded to, and each upload has a key of its own: so an
 * upload shows who had the bytes, and what is never listed can be deleted without looking for others that write there.
 * A fork lists the objects of its source, and for each of these a second row protects the bytes. Bytes that no project
 * lists are deleted by a job that every upload and every deletion enqueues.
 */
import { decodeTime, ulid } from 'ulid';
import type { LfsObject } from '../../records/lfs.ts';
import type { Blobs } from '../blobs/blobs.ts';
import { Missing, TransactionRefused } from '../errors.ts';
import { MAINTENANCE, messageAt, outboxWrite } from '../outbox/outbox.ts';
import { checkReadable } from '../repository/state.ts';
import type { Key } from '../row-keys/key.ts';
import {
  LFS_OBJECT,
  LFS_TOTAL,
  LFS_TOTAL_STRIPES,
  lfsHeirKey,
  lfsHeirsPartition,
  lfsObjectKey,
  lfsPartition,
  lfsTotalKey,
} from '../row-keys/lfs.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, type Item, type Update, type Write } from '../table/write.ts';

/** All objects of Git LFS have this prefix in the bucket. */
export const LFS = 'lfs/';

/** The maintenance queue's job that deletes the bytes of those of these objects that no project lists. */
export const LFS_SWEEP_JOB = 'lfs.sweep';

/** Body of that job. */
export interface LfsSweep {
  /** Locations. */
  readonly objects: readonly string[];
}

/** How long presigned URLs are valid, in seconds; a transfer that has started may finish later. */
const URL_SECONDS = 3600;
/** An upload that is older is not listed any more. */
const LISTABLE_MS = 24 * 3600_000;
/** Time from an upload's begin to its sweep: by then nothing lists it that has not. */
const SWEEP_MS = 2 * LISTABLE_MS;
/** Locations in one message, whose limit is 200 KB. */
const SWEPT_TOGETHER = 1000;
/** Objects that one transaction lists: two writes each. */
const LISTED_TOGETHER = 48;
const PAGE = 480;

export interface LfsTotal {
  readonly objects: number;
  readonly bytes: number;
}

/** How a client transfers an object, and for how many seconds it can begin to. */
export interface LfsTransfer {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly seconds: number;
}

/** A project as its objects need it. */
interface Owner {
  readonly id: number;
  readonly repositoryId: string;
}

export class LfsObjects {
  readonly #table: Table;
  readonly #blobs: Blobs;
  constructor(table: Table, blobs: Blobs) {
    this.#table = table;
    this.#blobs = blobs;
  }

  /** Returns those of the objects that the project has. */
  async find(projectId: number, oids: Iterable<string>): Promise<Map<string, LfsObject>> {
    const keys = [...new Set(oids)].map((oid) => lfsObjectKey(projectId, oid));
    const found = keys.length === 0 ? [] : await this.#table.batchGet(keys);
    return new Map(
      found.flatMap((item) => (item === undefined ? [] : [[item['oid'] as string, ofItem(item)]])),
    );
  }

  /** Number and bytes of the objects that the project has. */
  async total(projectId: number): Promise<LfsTotal> {
    const { items } = await this.#table.query({ partition: lfsPartition(projectId), prefix: LFS_TOTAL });
    const sum = (name: string) => items.reduce((n, item) => n + (item[name] as number), 0);
    return { objects: sum('objects'), bytes: sum('bytes') };
  }

  async downloadOf({ location }: LfsObject): Promise<LfsTransfer> {
    return { url: await this.#blobs.presignedGet(keyOf(location), URL_SECONDS), seconds: URL_SECONDS };
  }

  /** The key of the content in the bucket. */
  keyOf({ location }: LfsObject): string {
    return keyOf(location);
  }

  /** Returns the content as a stream, which is to be read or destroyed. @throws Missing */
  async open({ location }: LfsObject) {
    return this.#blobs.open(keyOf(location));
  }

  /**
   * Begins the upload of objects to a project. Until {@link list} has listed them, only who has the URLs knows of them.
   * @returns the id of the upload, and how to upload each
   */
  async begin(
    projectId: number,
    objects: readonly Omit<LfsObject, 'location'>[],
    now: Date,
  ): Promise<{
    readonly id: string;
    readonly transferOf: (object: Omit<LfsObject, 'location'>) => Promise<LfsTransfer>;
  }> {
    const id = ulid(now.getTime());
    await this.#sweepAt(
      objects.map(({ oid }) => locationOf(projectId, id, oid)),
      new Date(now.getTime() + SWEEP_MS),
    );
    return {
      id,
      transferOf: async ({ oid, size }) => {
        const key = keyOf(locationOf(projectId, id, oid));
        return {
          ...(await this.#blobs.presignedPutOf(key, { size, sha256: oid }, URL_SECONDS)),
          seconds: URL_SECONDS,
        };
      },
    };
  }

  /** Whether an upload of this id can be listed. */
  isListable(id: string, now: Date): boolean {
    return /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(id) && Math.abs(now.getTime() - decodeTime(id)) < LISTABLE_MS;
  }

  /** Bytes of an uploaded object; undefined when it is not there. */
  async sizeOf(projectId: number, upload: string, oid: string): Promise<number | undefined> {
    return (await this.#blobs.head(keyOf(locationOf(projectId, upload, oid))))?.size;
  }

  /** Lists an uploaded object, unless the project has it. @throws Missing when the project is gone */
  async list(project: Owner, upload: string, { oid, size }: Omit<LfsObject, 'location'>): Promise<void> {
    await this.#add(project, [{ oid, size, location: locationOf(project.id, upload, oid) }]);
  }

  /** Lists objects of other projects, those that the project has not. @throws Missing when the project is gone */
  async inherit(project: Owner, objects: readonly LfsObject[]): Promise<void> {
    for (let i = 0; i < objects.length; i += LISTED_TOGETHER)
      await this.#add(project, objects.slice(i, i + LISTED_TOGETHER));
  }

  /** Lists all objects of another project. Idempotent. @throws Missing when the project is gone */
  async inheritAll(project: Owner, fromId: number): Promise<void> {
    const rows = { partition: lfsPartition(fromId), prefix: LFS_OBJECT, limit: PAGE };
    let startKey: Item | undefined;
    do {
      const page = await this.#table.query(startKey === undefined ? rows : { ...rows, startKey });
      await this.inherit(project, page.items.map(ofItem));
      startKey = page.next;
    } while (startKey !== undefined);
  }

  async #add(project: Owner, objects: readonly LfsObject[]): Promise<void> {
    for (;;) {
      const known = await this.find(
        project.id,
        objects.map(({ oid }) => oid),
      );
      const added = objects.filter(({ oid }) => !known.has(oid));
      if (added.length === 0) return;
      try {
        await this.#table.transact([
          checkReadable(project.repositoryId),
          counted(project.id, added),
          ...added.flatMap((object) => rowsOf(project.id, object)),
        ]);
        return;
      } catch (error) {
        if (!(error instanceof TransactionRefused)) throw error;
        if (error.has('source')) throw new Missing('project');
        // Another request has listed one of them.
      }
    }
  }

  /**
   * Deletes up to `limit` rows of a deleted project, and enqueues the deletion of bytes that no other project lists.
   * @returns whether any are left
   */
  async removeOfProject(projectId: number, now: Date, limit = PAGE): Promise<boolean> {
    const rows = { partition: lfsPartition(projectId), limit };
    const page = await this.#table.query(rows);
    const objects = page.items.filter(({ sk }) => (sk as string).startsWith(LFS_OBJECT)).map(ofItem);
    // Before the rows: a run that is interrupted in between starts again.
    await this.#sweepAt(
      objects.map(({ location }) => location),
      new Date(now.getTime() + LISTABLE_MS),
    );
    await Promise.all(
      objects
        .filter(({ location }) => uploadedTo(location) !== projectId)
        .map(({ location }) => this.#table.delete({ delete: lfsHeirKey(location, projectId) })),
    );
    await Promise.all(
      (page.items as unknown as Key[]).map(({ pk, sk }) => this.#table.delete({ delete: { pk, sk } })),
    );
    return page.next !== undefined;
  }

  /** Deletes the bytes of those of these objects that no project lists. */
  async sweep({ objects }: LfsSweep): Promise<void> {
    const rows = await this.#table.batchGet(
      objects.map((location) => lfsObjectKey(uploadedTo(location), oidOf(location))),
      { only: ['location'] },
    );
    const goes: string[] = [];
    const others = objects.filter((location, i) => rows[i]?.['location'] !== location);
    for (let i = 0; i < others.length; i += 16) {
      await Promise.all(
        others.slice(i, i + 16).map(async (location) => {
          const heirs = { partition: lfsHeirsPartition(location), limit: 1, only: ['sk'] };
          if ((await this.#table.query(heirs)).items.length === 0) goes.push(keyOf(location));
        }),
      );
    }
    if (goes.length > 0) await this.#blobs.delete(goes);
  }

  async #sweepAt(locations: readonly string[], at: Date): Promise<void> {
    for (let i = 0; i < locations.length; i += SWEPT_TOGETHER) {
      const body = { objects: locations.slice(i, i + SWEPT_TOGETHER) } satisfies LfsSweep;
      await this.#table.put(outboxWrite(messageAt(MAINTENANCE, LFS_SWEEP_JOB, body, at)));
    }
  }
}

const keyOf = (location: string): string => `${LFS}${location}`;
const locationOf = (projectId: number, upload: string, oid: string): string =>
  `${projectId}/${upload}/${oid}`;
/** The project that an object was uploaded to. */
export const uploadedTo = (location: string): number => Number(location.slice(0, location.indexOf('/')));
const oidOf = (location: string): string => location.slice(location.lastIndexOf('/') + 1);

const counted = (projectId: number, objects: readonly LfsObject[]): Update => ({
  update: lfsTotalKey(projectId, Math.floor(Math.random() * LFS_TOTAL_STRIPES)),
  add: { objects: objects.length, bytes: objects.reduce((sum, { size }) => sum + size, 0) },
});

const rowsOf = (projectId: number, object: LfsObject): Write[] => [
  { put: { ...lfsObjectKey(projectId, object.oid), ...object }, if: ABSENT, reason: 'object' },
  ...(uploadedTo(object.location) === projectId
    ? []
    : [{ put: { ...lfsHeirKey(object.location, projectId) } }]),
];

function ofItem(item: Item): LfsObject {
  const { oid, size, location } = item as unknown as LfsObject;
  return { oid, size, location };
}
