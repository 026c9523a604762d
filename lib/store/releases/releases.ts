/** Releases of projects, by their tags. What creates or deletes one moves refs as well, and is one transaction with that. */

import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { ReleaseEvidence, ReleaseRecord } from '../../records/releases.ts';
import { Missing, Stale, TransactionRefused } from '../errors.ts';
import { checkProjectExists } from '../placement/project-item.ts';
import { idOf } from '../row-keys/key.ts';
import {
  RELEASE_PREFIX,
  type ReleaseOrder,
  releaseCountKey,
  releaseEvidenceKey,
  releaseKey,
  releaseListKey,
  releaseListPrefix,
  releasesPartition,
} from '../row-keys/releases.ts';
import type { Counters } from '../table/counters.ts';
import { deletePage } from '../table/delete-page.ts';
import { chunkFor, cutPage, type Page, type PageRequest } from '../table/paging.ts';
import { type Direction, mergeKeys, querySource } from '../table/sorted-sources.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, type Check, type Item, type Put, unchangedSince, type Write } from '../table/write.ts';

/** Maximum number of releases of a project. */
export const MAX_RELEASES = 10_000;

/** Reasons of refusals: another request was first; there are too many; the project is deleted. */
export const RELEASE_REFUSED = 'release';
export const RELEASES_FULL = 'release-count';
export const RELEASE_OF_NOTHING = 'release-project';

/** What of a release can be changed. */
export type ReleaseChange = Partial<
  Pick<ReleaseRecord, 'name' | 'description' | 'releasedAt' | 'milestoneIds' | 'links' | 'evidences'>
>;

/** Maximum number of evidences of a release. */
export const MAX_EVIDENCES = 20;

/** Collects an evidence of a release: `{ projectId, tag, releaseId, first }`. */
export const COLLECT_EVIDENCE_JOB = 'release.collect-evidence';

export class Releases {
  readonly #table: Table;
  readonly #counters: Counters;
  constructor(table: Table, counters: Counters) {
    this.#table = table;
    this.#counters = counters;
  }

  nextId(): Promise<number> {
    return this.#counters.next('release');
  }

  nextLinkId(): Promise<number> {
    return this.#counters.next('release-link');
  }

  nextEvidenceId(): Promise<number> {
    return this.#counters.next('release-evidence');
  }

  async get(projectId: number, tag: string): Promise<ReleaseRecord | undefined> {
    return fromItem(await this.#table.get(releaseKey(projectId, tag)));
  }

  /** Returns releases in the order of the tags; undefined for a tag without one. One round trip per hundred. */
  async ofTags(projectId: number, tags: readonly string[]): Promise<(ReleaseRecord | undefined)[]> {
    const items = await this.#table.batchGet(tags.map((tag) => releaseKey(projectId, tag)));
    return items.map(fromItem);
  }

  /** The document of an evidence. */
  async document(
    { projectId, id: releaseId }: ReleaseRecord,
    { id }: ReleaseEvidence,
  ): Promise<string | undefined> {
    const row = await this.#table.get(releaseEvidenceKey(projectId, releaseId, id));
    return row && inflateRawSync(row['document'] as Uint8Array).toString();
  }

  async count(projectId: number): Promise<number> {
    const row = await this.#table.get(releaseCountKey(projectId));
    return (row?.['releases'] as number | undefined) ?? 0;
  }

  /** The releases of a project, by the time of their release or of their creation. */
  async page(
    projectId: number,
    order: ReleaseOrder,
    direction: Direction,
    request: PageRequest,
  ): Promise<Page<ReleaseRecord>> {
    const prefix = releaseListPrefix(order);
    const tags = new Map<number, string>();
    const source = querySource(
      this.#table,
      { partition: releasesPartition(projectId), prefix, only: ['sk', 'tag'] },
      direction,
      chunkFor(request, 1),
      ({ sk, tag }) => {
        const id = idOf(sk as string);
        tags.set(id, tag as string);
        return { sort: sk as string, id };
      },
    );
    const [page, total] = await Promise.all([
      cutPage(mergeKeys([source], direction), request, {
        load: (ids) =>
          this.ofTags(
            projectId,
            ids.map((id) => tags.get(id)!),
          ),
      }),
      request.count ? this.count(projectId) : undefined,
    ]);
    return { ...page, total };
  }

  /** The release with the latest time of release up to `until`. */
  async latest(projectId: number, until: Date): Promise<ReleaseRecord | undefined> {
    const { items } = await this.#table.query({
      partition: releasesPartition(projectId),
      from: releaseListPrefix('released'),
      to: `${releaseListPrefix('released')}${until.toISOString()}~`,
      reverse: true,
      limit: 1,
    });
    return items[0] && this.get(projectId, items[0]['tag'] as string);
  }

  /** Up to `limit` releases, in the order of their tags' rows. @param after the tag of the last one before */
  async batch(
    projectId: number,
    after: string | undefined,
    limit: number,
  ): Promise<{ readonly items: readonly ReleaseRecord[]; readonly more: boolean }> {
    const { items, next } = await this.#table.query({
      partition: releasesPartition(projectId),
      prefix: RELEASE_PREFIX,
      limit,
      ...(after === undefined ? {} : { startKey: { ...releaseKey(projectId, after) } }),
    });
    return { items: items.map((item) => fromItem(item)!), more: next !== undefined };
  }

  /**
   * Writes of a new release, for the transaction that checks or creates its tag. Refused as {@link RELEASE_REFUSED} where
   * the tag has one, {@link RELEASES_FULL}, {@link RELEASE_OF_NOTHING}.
   */
  creation(release: ReleaseRecord): Write[] {
    const { projectId, tag } = release;
    return [
      { put: { ...releaseKey(projectId, tag), ...release }, if: ABSENT, reason: RELEASE_REFUSED },
      ...listRows(release),
      {
        update: releaseCountKey(projectId),
        add: { releases: 1 },
        if: 'attribute_not_exists(#releases) OR #releases < :limit',
        values: { limit: MAX_RELEASES },
        reason: RELEASES_FULL,
      },
      { ...checkProjectExists(projectId), reason: RELEASE_OF_NOTHING },
    ];
  }

  /** Writes that delete a release. Refused as {@link RELEASE_REFUSED} where it was changed since it was read. */
  removal(release: ReleaseRecord): Write[] {
    return [
      { delete: releaseKey(release.projectId, release.tag), ...unchanged(release) },
      ...listRows(release).map(({ put: { pk, sk } }) => ({ delete: { pk, sk } })),
      ...(release.evidences ?? []).map(({ id }) => ({
        delete: releaseEvidenceKey(release.projectId, release.id, id),
      })),
      { update: releaseCountKey(release.projectId), add: { releases: -1 } },
    ];
  }

  /** Refused as {@link RELEASE_REFUSED} where the tag has a release. */
  absence(projectId: number, tag: string): Check {
    return { check: releaseKey(projectId, tag), if: ABSENT, reason: RELEASE_REFUSED };
  }

  /** @throws Stale when it was changed or deleted since it was read; Missing when the project is deleted */
  async change(
    release: ReleaseRecord,
    change: ReleaseChange,
    now: Date,
    alongside: readonly Write[] = [],
  ): Promise<ReleaseRecord> {
    const next = { ...release, ...change, updatedAt: now.toISOString(), version: release.version + 1 };
    const moved = next.releasedAt !== release.releasedAt;
    await this.#transact([
      { put: { ...releaseKey(release.projectId, release.tag), ...next }, ...unchanged(release) },
      ...(moved ? [releasedRow(next), { delete: keyOf(releasedRow(release)) }] : []),
      { ...checkProjectExists(release.projectId), reason: RELEASE_OF_NOTHING },
      ...alongside,
    ]);
    return next;
  }

  /** Adds an evidence. @throws Stale when the release was changed or deleted since it was read; Missing */
  async addEvidence(
    release: ReleaseRecord,
    evidence: ReleaseEvidence,
    document: string,
    now: Date,
  ): Promise<void> {
    const key = releaseEvidenceKey(release.projectId, release.id, evidence.id);
    const evidences = [...(release.evidences ?? []), evidence];
    await this.change(release, { evidences }, now, [
      // Escapes make a text six times as long.
      { put: { ...key, document: deflateRawSync(document) } },
    ]);
  }

  /** @throws Stale when it was changed or deleted since it was read */
  async remove(release: ReleaseRecord, alongside: readonly Write[] = []): Promise<void> {
    await this.#transact([...this.removal(release), ...alongside]);
  }

  /** Deletes up to `limit` rows of a deleted project. @returns whether any are left */
  removeOfProject(projectId: number, limit = 500): Promise<boolean> {
    return deletePage(this.#table, { partition: releasesPartition(projectId), limit });
  }

  async #transact(writes: readonly Write[]): Promise<void> {
    try {
      await this.#table.transact(writes);
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      if (error.has(RELEASE_OF_NOTHING)) throw new Missing('project');
      throw error.has(RELEASE_REFUSED) ? new Stale('release') : error;
    }
  }
}

const releasedRow = ({ projectId, id, tag, releasedAt }: ReleaseRecord): Put => ({
  put: { ...releaseListKey(projectId, 'released', releasedAt, id), tag },
});

const listRows = (release: ReleaseRecord): Put[] => [
  releasedRow(release),
  {
    put: {
      ...releaseListKey(release.projectId, 'created', release.createdAt, release.id),
      tag: release.tag,
    },
  },
];

const keyOf = ({ put: { pk, sk } }: Put) => ({ pk, sk });

const unchanged = (record: ReleaseRecord) => unchangedSince(record, RELEASE_REFUSED);

function fromItem(item: Item | undefined): ReleaseRecord | undefined {
  if (item === undefined) return undefined;
  const { pk: _p, sk: _s, ...record } = item;
  return record as unknown as ReleaseRecord;
}
