/**
 * Sizes and languages of projects, measured by a worker some time after the last push, and for each group the total
 * size of the repositories directly in it.
 */
import { isDeepStrictEqual } from 'node:util';
import { encodeTime } from 'ulid';
import {
  SORTED_SIZES,
  type SortedSize,
  STORAGE_SIZES,
  type StorageSizes,
  sortedSizes,
  storageSizes,
} from '../../records/storage-sizes.ts';
import { Missing, Stale, TransactionRefused } from '../errors.ts';
import { MAINTENANCE, outboxWrite } from '../outbox/outbox.ts';
import { bySize } from '../placement/project-item.ts';
import { groupKey } from '../row-keys/groups.ts';
import { type Key, padded } from '../row-keys/key.ts';
import { listPartition } from '../row-keys/lists.ts';
import { projectKey } from '../row-keys/projects.ts';
import { projectSizeClass, projectSizeKey, statisticsKey } from '../row-keys/statistics.ts';
import { recordOf } from '../table/record-of.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, type Item, PRESENT, type Put, type Write } from '../table/write.ts';

/** The queue's job that measures a project: `{ projectId }`. */
export const MEASURE_JOB = 'project.measure';

export interface ProjectStatistics {
  /** The measured commit; null when there was none. */
  readonly head: string | null;
  /** Number of commits reachable from the default branch. */
  readonly commitCount: number;
  /** Bytes of the repository's own packs. */
  readonly repositorySize: number;
  /** Bytes of its objects of Git LFS; absent: none. */
  readonly lfsObjectsSize?: number;
  /** Bytes of the packs of its wiki; absent: none. */
  readonly wikiSize?: number;
  /** Bytes of the files of its packages; absent: none. */
  readonly packagesSize?: number;
  /** Bytes of the files that its jobs have left; absent: none. */
  readonly artifactsSize?: number;
  /** Bytes of the packs of its snippets; absent: none. */
  readonly snippetsSize?: number;
  /** The sum of these; absent in statistics of earlier releases, which no rows sort. */
  readonly storageSize?: number;
  /** Percentages by language, the largest first. */
  readonly languages: Readonly<Record<string, number>>;
  /** Path of the licence file and key of its licence; null without one. */
  readonly license?: { readonly path: string; readonly key: string } | null;
  /** The group whose total includes this project; null in a personal namespace. */
  readonly countedIn: number | null;
  readonly version: number;
}

export class Statistics {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  async ofProject(id: number): Promise<ProjectStatistics | undefined> {
    return recordOf<ProjectStatistics>(await this.#table.get(statisticsKey({ kind: 'project', id })));
  }

  /** Returns the statistics in the order of the ids. */
  async ofProjects(ids: readonly number[]): Promise<(ProjectStatistics | undefined)[]> {
    const keys = ids.map((id) => statisticsKey({ kind: 'project', id }));
    return (await this.#table.batchGet(keys)).map((item) => recordOf<ProjectStatistics>(item));
  }

  /** Returns the total sizes of the projects directly in each group, in the order of the ids. */
  async ofGroups(ids: readonly number[]): Promise<StorageSizes[]> {
    const keys = ids.map((id) => statisticsKey({ kind: 'group', id }));
    return (await this.#table.batchGet(keys)).map(storageSizes);
  }

  /**
   * Stores a measurement.
   * @param previous the statistics as read before measuring
   * @throws Stale when another worker has stored one meanwhile, Missing when the project is gone
   */
  async save(
    projectId: number,
    previous: ProjectStatistics | undefined,
    measured: Omit<ProjectStatistics, 'version'>,
  ): Promise<void> {
    const version = (previous?.version ?? 0) + 1;
    const sizes = sortedSizes(measured);
    const { storageSize } = sizes;
    const ordered = SORTED_SIZES.flatMap((size) => sortedWrites(projectId, size, previous, measured));
    const row: Put = {
      put: { ...statisticsKey({ kind: 'project', id: projectId }), ...measured, storageSize, version },
      ...(previous === undefined
        ? { if: ABSENT }
        : { if: '#version = :was', values: { was: previous.version } }),
      reason: 'statistics',
    };
    const names = Object.keys(measured.languages);
    // Lists of projects filtered by language or sorted by size read these attributes of the records.
    const same =
      names.join() === Object.keys(previous?.languages ?? {}).join() &&
      measured.repositorySize === (previous?.repositorySize ?? 0) &&
      (measured.lfsObjectsSize ?? 0) === (previous?.lfsObjectsSize ?? 0) &&
      ordered.length === 0;
    const set = {
      languages: names,
      repositorySize: measured.repositorySize,
      lfsObjectsSize: measured.lfsObjectsSize ?? 0,
      ...sizes,
      bySize: bySize(measured.repositorySize, projectId),
    };
    const lives = { if: `${PRESENT} AND attribute_type(#deletedAt, :null)`, values: { null: 'NULL' } };
    const record: Write = same
      ? { check: projectKey(projectId), ...lives, reason: 'project' }
      : { update: projectKey(projectId), set, ...lives, reason: 'project' };
    await this.#counted([row, record, ...ordered], previous, measured);
  }

  /** Deletes the statistics of a deleted project. */
  async forget(projectId: number): Promise<void> {
    const previous = await this.ofProject(projectId);
    if (previous === undefined) return;
    const row: Write = {
      delete: statisticsKey({ kind: 'project', id: projectId }),
      if: '#version = :was',
      values: { was: previous.version },
      reason: 'statistics',
    };
    const sizes = SORTED_SIZES.map((size) => ({ delete: projectSizeKey(projectId, size) }));
    await this.#counted([row, ...sizes], previous, undefined);
  }

  /** Executes the writes together with the changes of the groups' totals. A deleted group has no total to change. */
  async #counted(
    writes: readonly Write[],
    previous: ProjectStatistics | undefined,
    measured: Omit<ProjectStatistics, 'version'> | undefined,
  ): Promise<void> {
    const sums = new Map<number, StorageSizes>();
    for (const [each, sign] of [
      [previous, -1],
      [measured, 1],
    ] as const) {
      if (typeof each?.countedIn !== 'number') continue;
      const [sum, sizes] = [storageSizes(sums.get(each.countedIn)), storageSizes(each)];
      const added = STORAGE_SIZES.map((size) => [size, sum[size] + sign * sizes[size]]);
      sums.set(each.countedIn, Object.fromEntries(added));
    }
    const groups = new Map([...sums].filter(([, by]) => Object.values(by).some((bytes) => bytes !== 0)));
    for (;;) {
      const counts = [...groups].flatMap(([id, by]): Write[] => [
        { update: statisticsKey({ kind: 'group', id }), add: by },
        { check: groupKey(id), if: PRESENT, reason: `group ${id}` },
      ]);
      try {
        return await this.#table.transact([...writes, ...counts]);
      } catch (error) {
        if (!(error instanceof TransactionRefused)) throw error;
        if (error.has('project')) throw new Missing('project');
        if (error.has('statistics')) throw new Stale('statistics');
        const gone = [...groups.keys()].filter((id) => error.has(`group ${id}`));
        if (gone.length === 0) throw error;
        for (const id of gone) groups.delete(id);
      }
    }
  }
}

/**
 * The row by which a size sorts a project; undefined for 0. It is in `byId` too where the project is among those that may
 * be empty: for the size of its storage, if its repository is.
 */
export function sortedRow(
  projectId: number,
  size: SortedSize,
  measured: Omit<ProjectStatistics, 'version'>,
): (Item & Key) | undefined {
  const bytes = sortedSizes(measured)[size];
  const mayBeEmpty = size !== 'storageSize' || measured.repositorySize === 0;
  if (bytes === 0) return undefined;
  return {
    ...projectSizeKey(projectId, size),
    list: listPartition(projectSizeClass(size), projectId),
    bySize: bySize(bytes, projectId),
    ...(mayBeEmpty ? { byId: padded(projectId) } : {}),
  };
}

function sortedWrites(
  projectId: number,
  size: SortedSize,
  previous: ProjectStatistics | undefined,
  measured: Omit<ProjectStatistics, 'version'>,
): Write[] {
  const isSorted = previous?.storageSize !== undefined;
  const was = isSorted ? sortedRow(projectId, size, previous) : undefined;
  const row = sortedRow(projectId, size, measured);
  if (isDeepStrictEqual(was, row)) return [];
  return [row === undefined ? { delete: projectSizeKey(projectId, size) } : { put: row }];
}

/** Pushes within this time are measured together. Milliseconds. */
const MERGE_WINDOW_MS = 20_000;

/**
 * Schedules the measurement of a project, for the transaction that changes it. All messages for a project in one
 * window of {@link MERGE_WINDOW_MS} have the same id, so they are one row.
 */
export function scheduleMeasuring(projectId: number, now: Date): Put {
  const at = (Math.floor(now.getTime() / MERGE_WINDOW_MS) + 2) * MERGE_WINDOW_MS;
  const id = `${encodeTime(at, 10)}0000${padded(projectId)}`;
  return outboxWrite({ id, queue: MAINTENANCE, type: MEASURE_JOB, body: { projectId } });
}
