/**
 * Generic packages of projects. The content of each file is an object of its own, written before the transaction that
 * lists the file. A job that every upload enqueues deletes content that no file has.
 */
import { createHash } from 'node:crypto';
import { ulid } from 'ulid';
import type { PackageFileRecord, PackageRecord } from '../../records/packages.ts';
import type { Blobs } from '../blobs/blobs.ts';
import { LimitReached, Missing, Stale, TransactionRefused } from '../errors.ts';
import {
  MAINTENANCE,
  message,
  messageAt,
  type Outbox,
  type OutboxMessage,
  outboxWrite,
} from '../outbox/outbox.ts';
import { checkProjectExists } from '../placement/project-item.ts';
import { idOf, orderedUnder } from '../row-keys/key.ts';
import {
  newestPackageFileKey,
  PACKAGE_FILE_PREFIX,
  PACKAGE_PREFIX,
  type PackageOrder,
  packageContentKey,
  packageCountKey,
  packageFileKey,
  packageFilesPartition,
  packageKey,
  packageNameKey,
  packageOrderKey,
  packageOrderPrefix,
  packagesPartition,
} from '../row-keys/packages.ts';
import { scheduleMeasuring } from '../statistics/statistics.ts';
import type { Counters } from '../table/counters.ts';
import { deletePage } from '../table/delete-page.ts';
import { chunkFor, cutPage, type Page, type PageRequest } from '../table/paging.ts';
import { type Direction, mergeKeys, rowSource } from '../table/sorted-sources.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, type Item, PRESENT, type Write } from '../table/write.ts';

/** The contents of all packages have this prefix in the bucket. */
export const PACKAGES = 'packages/';

/** The maintenance queue's job that deletes contents that no file has. */
export const PACKAGE_CONTENTS_JOB = 'packages.contents';
/** The maintenance queue's job that deletes the files of a deleted package. */
export const PACKAGE_FILES_JOB = 'packages.files';

/** Body of the first job. */
export interface PackageContents {
  /** Locations. */
  readonly contents: readonly string[];
}

/** Body of the second job. */
export interface PackageFiles {
  readonly projectId: number;
  readonly packageId: number;
}

/** Maximum number of files of a package, replaced ones included. */
export const MAX_PACKAGE_FILES = 1000;
/** Packages of one name that are told together. */
const MAX_VERSIONS = 100;
/** No upload takes longer: by then a file has its content, or never will. */
const UPLOAD_MS = 24 * 3600_000;
/** Files whose rows one transaction deletes: two each, beside the message. */
const REMOVED_TOGETHER = 40;

/** Content that was stored, and is of no file yet. */
export type StoredContent = Pick<PackageFileRecord, 'location' | 'size' | 'md5' | 'sha1' | 'sha256'>;

export interface PackageTotals {
  readonly packages: number;
  readonly bytes: number;
}

/** What a list of packages shows. */
export interface PackageQuery {
  readonly order: PackageOrder | 'created';
  readonly direction: Direction;
  readonly where?: ((record: PackageRecord) => boolean) | undefined;
}

export class Packages {
  readonly #table: Table;
  readonly #blobs: Blobs;
  readonly #counters: Counters;
  readonly #outbox: Outbox;
  constructor(table: Table, blobs: Blobs, counters: Counters, outbox: Outbox) {
    this.#table = table;
    this.#blobs = blobs;
    this.#counters = counters;
    this.#outbox = outbox;
  }

  /**
   * Stores content that comes in pieces, without holding it. It is deleted after a day unless {@link addFile} lists it.
   * @throws what reading the pieces throws, StoreUnavailable
   */
  async store(projectId: number, content: AsyncIterable<Uint8Array>, now: Date): Promise<StoredContent> {
    const location = `${projectId}/${ulid(now.getTime())}`;
    await this.#table.put(
      outboxWrite(
        messageAt(
          MAINTENANCE,
          PACKAGE_CONTENTS_JOB,
          { contents: [location] } satisfies PackageContents,
          new Date(now.getTime() + UPLOAD_MS),
        ),
      ),
    );
    const digests = { md5: createHash('md5'), sha1: createHash('sha1'), sha256: createHash('sha256') };
    const size = await this.#blobs.writePieces(objectKey(location), content, Object.values(digests));
    return {
      location,
      size,
      md5: digests.md5.digest('hex'),
      sha1: digests.sha1.digest('hex'),
      sha256: digests.sha256.digest('hex'),
    };
  }

  /**
   * Adds a file to the package of a name and version, which it makes if there is none.
   * @throws Stale when another request makes or deletes the package; Missing when the project is deleted; LimitReached
   */
  async addFile(
    to: Pick<PackageRecord, 'projectId' | 'name' | 'version' | 'status' | 'creatorId'>,
    name: string,
    content: StoredContent,
    now: Date,
  ): Promise<PackageFileRecord> {
    const { projectId } = to;
    const [found, fileId] = await Promise.all([
      this.named(projectId, to.name, to.version),
      this.#counters.next('package-file'),
    ]);
    if (found !== undefined && found.files >= MAX_PACKAGE_FILES)
      throw new LimitReached('files of a package', MAX_PACKAGE_FILES);
    const createdAt = now.toISOString();
    const id = found?.id ?? (await this.#counters.next('package'));
    const file: PackageFileRecord = { id: fileId, packageId: id, projectId, name, ...content, createdAt };
    await this.#transact([
      ...(found === undefined
        ? creation({ ...to, id, files: 1, bytes: content.size, createdAt })
        : [
            {
              update: packageKey(projectId, id),
              add: { files: 1, bytes: content.size },
              if: `${PRESENT} AND #files < :most`,
              values: { most: MAX_PACKAGE_FILES },
              reason: 'package',
            },
          ]),
      { put: { ...packageFileKey(id, fileId), ...file } },
      { put: { ...newestPackageFileKey(id, name), ...file } },
      { put: { ...packageContentKey(projectId, contentOf(file)) } },
      {
        update: packageCountKey(projectId),
        add: { packages: found === undefined ? 1 : 0, bytes: content.size },
      },
      checkProjectExists(projectId),
    ]);
    // Not in the transaction, where uploads at once would wait for each other.
    await this.#table.put(scheduleMeasuring(projectId, now));
    return file;
  }

  async get(projectId: number, id: number): Promise<PackageRecord | undefined> {
    const item = await this.#table.get(packageKey(projectId, id));
    return item && packageOf(item);
  }

  /** Costs two reads. */
  async named(projectId: number, name: string, version: string): Promise<PackageRecord | undefined> {
    const row = await this.#table.get(packageNameKey(projectId, name, version));
    return row && this.get(projectId, row['packageId'] as number);
  }

  /** Packages of the name, the oldest first, a hundred at most. */
  async ofName(projectId: number, name: string): Promise<PackageRecord[]> {
    const { items } = await this.#table.query({
      partition: packagesPartition(projectId),
      prefix: packageOrderPrefix('name') + orderedUnder(name),
      limit: MAX_VERSIONS,
      only: ['sk'],
    });
    const keys = items.map(({ sk }) => packageKey(projectId, idOf(sk as string)));
    const found = await this.#table.batchGet(keys);
    return found.flatMap((item) => (item === undefined ? [] : [packageOf(item)]));
  }

  /** The newest file of a name. Costs two reads. */
  async newestFile(
    projectId: number,
    { name, version, file }: { readonly name: string; readonly version: string; readonly file: string },
  ): Promise<PackageFileRecord | undefined> {
    const row = await this.#table.get(packageNameKey(projectId, name, version));
    const item = row && (await this.#table.get(newestPackageFileKey(row['packageId'] as number, file)));
    return item && fileOf(item);
  }

  async file(packageId: number, id: number): Promise<PackageFileRecord | undefined> {
    const item = await this.#table.get(packageFileKey(packageId, id));
    return item && fileOf(item);
  }

  /** The packages of a project. A page costs two reads unless it is filtered. */
  async page(
    projectId: number,
    { order, direction, where }: PackageQuery,
    request: PageRequest,
  ): Promise<Page<PackageRecord>> {
    const partition = packagesPartition(projectId);
    const chunk = where === undefined ? chunkFor(request, 1) : 100;
    const prefix = order === 'created' ? PACKAGE_PREFIX : packageOrderPrefix(order);
    const after = request.rows?.after;
    const source = rowSource(this.#table, { partition, prefix }, direction, chunk, after);
    return cutPage(mergeKeys([source], direction, after), request, {
      load: async (ids) => {
        const items = await this.#table.batchGet(ids.map((id) => packageKey(projectId, id)));
        return items.map((item) => item && packageOf(item));
      },
      where,
    });
  }

  /** The files of a package, the oldest first. */
  async filesPage(packageId: number, request: PageRequest): Promise<Page<PackageFileRecord>> {
    const rows = { partition: packageFilesPartition(packageId), prefix: PACKAGE_FILE_PREFIX };
    const source = rowSource(this.#table, rows, 'asc', chunkFor(request, 1));
    const [page, total] = await Promise.all([
      cutPage(mergeKeys([source], 'asc'), request, {
        load: async (ids) => {
          const items = await this.#table.batchGet(ids.map((id) => packageFileKey(packageId, id)));
          return items.map((item) => item && fileOf(item));
        },
      }),
      request.count ? this.#table.count(rows, MAX_PACKAGE_FILES) : undefined,
    ]);
    return { ...page, total };
  }

  async totals(projectId: number): Promise<PackageTotals> {
    const row = await this.#table.get(packageCountKey(projectId));
    return { packages: (row?.['packages'] as number) ?? 0, bytes: (row?.['bytes'] as number) ?? 0 };
  }

  /** Where the content of a file is in the bucket. */
  keyOf({ location }: Pick<PackageFileRecord, 'location'>): string {
    return objectKey(location);
  }

  /** Returns the content as a stream, which is to be read or destroyed. @throws Missing */
  open({ location }: Pick<PackageFileRecord, 'location'>) {
    return this.#blobs.open(objectKey(location));
  }

  /** Deletes a package; its files follow. @throws Stale when a file was added or deleted, or the package is gone */
  async remove(record: PackageRecord, now: Date): Promise<void> {
    const { projectId, id, files, bytes, name, version } = record;
    await this.#transact(
      [
        {
          delete: packageKey(projectId, id),
          if: '#files = :files AND #bytes = :bytes',
          values: { files, bytes },
          reason: 'package',
        },
        { delete: packageNameKey(projectId, name, version) },
        { delete: packageOrderKey(projectId, 'name', name, id) },
        { delete: packageOrderKey(projectId, 'version', version, id) },
        { update: packageCountKey(projectId), add: { packages: -1, bytes: -bytes } },
        scheduleMeasuring(projectId, now),
      ],
      [message(MAINTENANCE, PACKAGE_FILES_JOB, { projectId, packageId: id } satisfies PackageFiles)],
    );
  }

  /** Deletes a file. @throws Stale when it, or another file of its name, was added or deleted meanwhile */
  async removeFile(file: PackageFileRecord, now: Date): Promise<void> {
    const { projectId, packageId, id, name, size } = file;
    const newest = await this.#table.get(newestPackageFileKey(packageId, name));
    const isNewest = newest?.['id'] === id;
    const before = isNewest ? await this.#fileBefore(file) : undefined;
    const unchanged = { if: '#id = :newest', values: { newest: newest?.['id'] }, reason: 'package' };
    const replaced: Write =
      before === undefined
        ? { delete: newestPackageFileKey(packageId, name), ...unchanged }
        : { put: { ...newestPackageFileKey(packageId, name), ...before }, ...unchanged };
    await this.#transact(
      [
        { delete: packageFileKey(packageId, id), if: PRESENT, reason: 'package' },
        { delete: packageContentKey(projectId, contentOf(file)) },
        ...(isNewest ? [replaced] : []),
        {
          update: packageKey(projectId, packageId),
          add: { files: -1, bytes: -size },
          if: PRESENT,
          reason: 'package',
        },
        { update: packageCountKey(projectId), add: { bytes: -size } },
        scheduleMeasuring(projectId, now),
      ],
      [unlisted([file.location])],
    );
  }

  /** The file of the same name that came before. Reads the files of the package, at most {@link MAX_PACKAGE_FILES}. */
  async #fileBefore({ packageId, id, name }: PackageFileRecord): Promise<PackageFileRecord | undefined> {
    let startKey: Item | undefined;
    do {
      const { items, next } = await this.#table.query({
        partition: packageFilesPartition(packageId),
        from: PACKAGE_FILE_PREFIX,
        to: packageFileKey(packageId, id - 1).sk,
        reverse: true,
        ...(startKey && { startKey }),
      });
      const found = items.find((item) => item['name'] === name);
      if (found !== undefined) return fileOf(found);
      startKey = next;
    } while (startKey !== undefined);
    return undefined;
  }

  /**
   * Deletes rows of the files of a deleted package, and enqueues the deletion of their contents.
   * @returns whether any are left
   */
  async removeFiles({ projectId, packageId }: PackageFiles, limit = 400): Promise<boolean> {
    const { items, next } = await this.#table.query({ partition: packageFilesPartition(packageId), limit });
    const files = items.filter(({ sk }) => (sk as string).startsWith(PACKAGE_FILE_PREFIX)).map(fileOf);
    for (let i = 0; i < files.length; i += REMOVED_TOGETHER) {
      const some = files.slice(i, i + REMOVED_TOGETHER);
      const contents = some.map(({ location }) => location);
      await this.#outbox.commit(
        some.flatMap((file): Write[] => [
          { delete: packageFileKey(packageId, file.id) },
          { delete: packageContentKey(projectId, contentOf(file)) },
        ]),
        [unlisted(contents)],
      );
    }
    const names = items.filter(({ sk }) => !(sk as string).startsWith(PACKAGE_FILE_PREFIX));
    await Promise.all(
      names.map(({ pk, sk }) => this.#table.delete({ delete: { pk: pk as string, sk: sk as string } })),
    );
    return next !== undefined;
  }

  /** Deletes those of these contents that no file has. */
  async sweep({ contents }: PackageContents): Promise<void> {
    const rows = await this.#table.batchGet(
      contents.map((location) => packageContentKey(projectOf(location), contentOf({ location }))),
      { only: ['sk'] },
    );
    const goes = contents.filter((_, i) => rows[i] === undefined).map(objectKey);
    if (goes.length > 0) await this.#blobs.delete(goes);
  }

  /** Deletes rows and contents of a deleted project. @returns whether any are left */
  async removeOfProject(projectId: number, deadline: number): Promise<boolean> {
    for (;;) {
      const { items } = await this.#table.query({
        partition: packagesPartition(projectId),
        prefix: PACKAGE_PREFIX,
        limit: 25,
      });
      if (items.length === 0) break;
      for (const { id } of items.map(packageOf)) {
        while (await deletePage(this.#table, { partition: packageFilesPartition(id), limit: 500 }))
          if (Date.now() > deadline) return true;
        await this.#table.delete({ delete: packageKey(projectId, id) });
      }
      if (Date.now() > deadline) return true;
    }
    const { keys, more } = await this.#blobs.list(`${PACKAGES}${projectId}/`);
    if (keys.length > 0) await this.#blobs.delete(keys);
    if (more) return true;
    return deletePage(this.#table, { partition: packagesPartition(projectId), limit: 500 });
  }

  async #transact(writes: readonly Write[], messages: readonly OutboxMessage[] = []): Promise<void> {
    try {
      await this.#outbox.commit(writes, messages);
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      if (error.has('project')) throw new Missing('project');
      throw error.has('package') ? new Stale('package') : error;
    }
  }
}

/** Tells to delete contents that no file has any more. */
const unlisted = (contents: readonly string[]): OutboxMessage =>
  message(MAINTENANCE, PACKAGE_CONTENTS_JOB, { contents } satisfies PackageContents);

function creation(record: PackageRecord): Write[] {
  const { projectId, id, name, version } = record;
  return [
    { put: { ...packageKey(projectId, id), ...record }, if: ABSENT, reason: 'package' },
    {
      put: { ...packageNameKey(projectId, name, version), packageId: id },
      if: ABSENT,
      reason: 'package',
    },
    { put: { ...packageOrderKey(projectId, 'name', name, id) } },
    { put: { ...packageOrderKey(projectId, 'version', version, id) } },
  ];
}

/** Contents are named `<project>/<ULID>`. */
const contentOf = ({ location }: Pick<PackageFileRecord, 'location'>): string =>
  location.slice(location.indexOf('/') + 1);
const projectOf = (location: string): number => Number(location.slice(0, location.indexOf('/')));
const objectKey = (location: string): string => PACKAGES + location;

function packageOf({ pk: _p, sk: _s, ...record }: Item): PackageRecord {
  return record as unknown as PackageRecord;
}

function fileOf({ pk: _p, sk: _s, ...record }: Item): PackageFileRecord {
  return record as unknown as PackageFileRecord;
}
