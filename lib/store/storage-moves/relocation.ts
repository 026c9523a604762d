/**
 * Brings the packs and derived files of repositories to another place: copies them, compares what was copied, and
 * switches the rows that name them. Readers find each object at the place that the row names which they have read: both
 * are there until a day after the switch.
 */
import type { Blobs } from '../blobs/blobs.ts';
import type { ObjectCopies } from '../blobs/object-copies.ts';
import { StoreError, TransactionRefused } from '../errors.ts';
import type { MaintenanceNotes } from '../maintenance/last-runs.ts';
import type { Lease, Leases } from '../maintenance/leases.ts';
import { type DerivedRow, derivedPrefix } from '../repository/derived-files.ts';
import { type ForkNetworks, packPrefix, writerOf } from '../repository/fork-networks.ts';
import { type CataloguedPack, listingOf } from '../repository/pack-list.ts';
import { packObjectKeys } from '../repository/pack-objects.ts';
import { randomStripe } from '../repository/state.ts';
import { leaseKey } from '../row-keys/maintenance.ts';
import { derivedKey, guardKey, packKey } from '../row-keys/repository.ts';
import { mapLimit } from '../table/map-limit.ts';
import { type Table, TRANSACTION_ITEMS } from '../table/table.ts';
import type { Update, Write } from '../table/write.ts';

export interface RelocationStores {
  readonly table: Table;
  readonly blobs: Blobs;
  readonly objectCopies: ObjectCopies;
  readonly leases: Leases;
  readonly maintenanceNotes: MaintenanceNotes;
  readonly networks: ForkNetworks;
}

export interface Repository {
  readonly repositoryId: string;
  readonly networkId: string;
}

/** A pack of another repository that is no longer listed, once its copy is. */
export type GivenUp = Pick<CataloguedPack, 'id' | 'location'>;

/** What was copied is not what is to be read, or the list is too long: trying again does not help. */
export class RelocationFailed extends StoreError {
  override readonly name = 'RelocationFailed';
  constructor(message: string) {
    super('refused', message);
  }
}

interface Copied {
  readonly from: string;
  readonly to: string;
  /** Bytes; undefined: what the source has. */
  readonly size: number | undefined;
  /** Where checksums end, from the beginning of the object. */
  readonly checksums: readonly number[];
}

/** What one repository has to change. */
interface Changes {
  readonly objects: readonly Copied[];
  readonly writes: readonly Update[];
  readonly givenUp: readonly GivenUp[];
}

/** Objects that are copied, or compared, at the same time. */
const CONCURRENCY = 8;
const CHECKSUM_BYTES = 20;
/** Seconds: nothing long is done under the lease. */
const LEASE_SECONDS = 300;

/**
 * Copies what is listed and not there yet, while everybody reads and writes.
 * @param deadline milliseconds since 1970; no further object is begun after it
 * @returns whether everything is there
 */
export async function copyListed(
  stores: RelocationStores,
  repositories: readonly Repository[],
  to: string,
  deadline: number,
): Promise<boolean> {
  for (const repository of repositories) {
    const { objects } = await changesOf(stores, repository, to);
    if (!(await copyMissing(stores, objects, deadline))) return false;
  }
  return true;
}

/**
 * Copies what was listed since, compares all, and switches the rows of all repositories in one transaction. Maintenance
 * and forks wait for it or begin again; pushes do not notice.
 * @param others the other writes of the transaction, given the packs of other repositories that are no longer listed
 * @returns `blocked`: maintenance has one of the repositories; try again. `refused`: one of the other writes was.
 */
export async function switchTo(
  stores: RelocationStores,
  repositories: readonly Repository[],
  to: string,
  others: (givenUp: readonly (GivenUp & { readonly repositoryId: string })[]) => readonly Write[],
  now: Date,
): Promise<'done' | 'blocked' | 'refused'> {
  const leases: Lease[] = [];
  try {
    const changes: Changes[] = [];
    const givenUp: (GivenUp & { readonly repositoryId: string })[] = [];
    for (const repository of repositories) {
      if (!(await hasBegun(stores, repository))) continue;
      const lease = await stores.leases.acquire(repository.repositoryId, LEASE_SECONDS, now);
      if (lease === undefined) {
        await stores.maintenanceNotes.want(repository.repositoryId, now);
        return 'blocked';
      }
      leases.push(lease);
      const found = await changesOf(stores, repository, to);
      changes.push(found);
      givenUp.push(...found.givenUp.map((pack) => ({ ...pack, repositoryId: repository.repositoryId })));
      await copyMissing(stores, found.objects, Number.POSITIVE_INFINITY);
      await compare(stores.blobs, found.objects);
    }
    const writes = [
      ...leases.map((lease) => moved(lease, to)),
      ...changes.flatMap((change) => change.writes),
      ...others(givenUp),
    ];
    if (writes.length > TRANSACTION_ITEMS)
      throw new RelocationFailed(
        `there are ${writes.length} packs and files in the list: maintenance has to merge some first`,
      );
    if (writes.length === 0) return 'done';
    await stores.table.transact(writes);
    return 'done';
  } catch (error) {
    if (!(error instanceof TransactionRefused)) throw error;
    return error.refusals.every(({ reason }) => OWN_REASONS.has(reason ?? '')) ? 'blocked' : 'refused';
  } finally {
    // If this fails, the leases expire.
    await Promise.all(leases.map((lease) => stores.leases.release(lease).catch(() => {})));
  }
}

const OWN_REASONS = new Set(['lease', 'pack', 'derived']);

/**
 * Deletes the objects that repositories have left at a place, except those that forks list there.
 * @returns false when the deadline passed first
 */
export async function emptyPlace(
  { table, blobs, networks }: RelocationStores,
  repositories: readonly Repository[],
  storagePrefix: string,
  deadline: number,
): Promise<boolean> {
  for (const repository of repositories) {
    const { repositoryId } = repository;
    for (const prefix of [
      packPrefix({ ...repository, storagePrefix }),
      derivedPrefix(repositoryId, storagePrefix),
    ]) {
      for (let after: string | undefined, more = true; more; ) {
        if (Date.now() > deadline) return false;
        const page = await blobs.list(prefix, { limit: 500, ...(after === undefined ? {} : { after }) });
        // Read after the keys.
        const { packs, derived } = await listingOf(table, repositoryId);
        const listed = new Set([...packs, ...derived].map(({ location }) => location));
        const left = page.keys
          .map((key) => ({ key, location: key.replace(/\.(pack|idx)$/, '') }))
          .filter(({ key, location }) => !listed.has(location) && !listed.has(key));
        const named = left.map(({ location }) => ({ location, id: location.slice(prefix.length) }));
        const inherited = await networks.inherited(named.filter(({ id }) => !id.includes('.')));
        const goes = left.flatMap(({ key, location }) => (inherited.has(location) ? [] : [key]));
        if (goes.length > 0) await blobs.delete(goes);
        after = page.keys.at(-1);
        more = page.more;
      }
    }
  }
  return true;
}

async function hasBegun({ table }: RelocationStores, { repositoryId }: Repository): Promise<boolean> {
  return (await table.get(guardKey(repositoryId, randomStripe()))) !== undefined;
}

async function changesOf({ table }: RelocationStores, repository: Repository, to: string): Promise<Changes> {
  const { repositoryId } = repository;
  const { packs, derived } = await listingOf(table, repositoryId);
  const prefix = packPrefix({ ...repository, storagePrefix: to });
  const files = derivedPrefix(repositoryId, to);
  const leaving = packs.filter(({ location }) => !location.startsWith(prefix));
  const replaced = derived.filter(({ location }) => !location.startsWith(files));
  return {
    objects: [
      ...leaving.flatMap((pack) => objectsOf(pack, prefix + pack.id)),
      ...replaced.map(({ location }) => ({
        from: location,
        to: files + nameOf(location),
        size: undefined,
        checksums: [],
      })),
    ],
    writes: [
      ...leaving.map((pack) => relocatedPack(repositoryId, pack, prefix + pack.id)),
      ...replaced.map((file) => relocatedFile(repositoryId, file, files + nameOf(file.location))),
    ],
    givenUp: leaving
      .filter((pack) => writerOf(pack).repositoryId !== repositoryId)
      .map(({ id, location }) => ({ id, location })),
  };
}

const nameOf = (location: string): string => location.slice(location.lastIndexOf('/') + 1);

function objectsOf(pack: CataloguedPack, location: string): Copied[] {
  const { packSize, indexSize } = pack;
  const from = packObjectKeys(pack);
  const to = packObjectKeys({ ...pack, location });
  const parts =
    pack.layout === 'joined'
      ? [{ size: packSize + indexSize, checksums: [packSize, packSize + indexSize] }]
      : [packSize, indexSize].map((size) => ({ size, checksums: [size] }));
  return parts.map((part, index) => ({ from: from[index]!, to: to[index]!, ...part }));
}

/** Its place is its own from now on, wherever it came from. */
const relocatedPack = (repositoryId: string, { id, location }: CataloguedPack, to: string): Update => ({
  update: packKey(repositoryId, id),
  set: { location: to },
  remove: ['inherited'],
  if: '#location = :was',
  values: { was: location },
  reason: 'pack',
});

const relocatedFile = (repositoryId: string, { kind, location }: DerivedRow, to: string): Update => ({
  update: derivedKey(repositoryId, kind),
  set: { location: to },
  if: '#location = :was',
  values: { was: location },
  reason: 'derived',
});

/** Tells forks that copy the list to begin again, and maintenance where to write. */
const moved = ({ repositoryId, fence }: Lease, storagePrefix: string): Update => ({
  update: leaseKey(repositoryId),
  set: { storagePrefix },
  remove: ['wantedUntil'],
  add: { swaps: 1 },
  if: '#fence = :fence',
  values: { fence },
  reason: 'lease',
});

async function copyMissing(
  { blobs, objectCopies }: RelocationStores,
  objects: readonly Copied[],
  deadline: number,
): Promise<boolean> {
  let done = true;
  await mapLimit(CONCURRENCY, objects, async ({ from, to, size }) => {
    if (Date.now() > deadline) {
      done = false;
      return;
    }
    const there = await blobs.head(to);
    const expected = size ?? (await blobs.head(from))?.size;
    if (expected === undefined || there?.size !== expected) await objectCopies.copy(from, to, expected ?? 0);
  });
  return done;
}

/** @throws RelocationFailed where a copy is not what it should be */
async function compare(blobs: Blobs, objects: readonly Copied[]): Promise<void> {
  await mapLimit(CONCURRENCY, objects, async ({ from, to, size, checksums }) => {
    const [was, is] = await Promise.all([
      size ?? blobs.head(from).then((info) => info?.size),
      blobs.head(to),
    ]);
    if (was !== is?.size) throw new RelocationFailed(`${to} has ${is?.size} bytes instead of ${was}`);
    for (const end of checksums) {
      const at = Math.max(0, end - CHECKSUM_BYTES);
      const [one, other] = await Promise.all([from, to].map((key) => blobs.read(key, at, CHECKSUM_BYTES)));
      if (!Buffer.from(one!).equals(other!)) throw new RelocationFailed(`the checksum of ${to} is wrong`);
    }
  });
}
