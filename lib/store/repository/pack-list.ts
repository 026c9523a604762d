/** The packs of one repository, as rows. Their objects are in `pack-objects.ts`. */
import type { PackDescription, PackSource } from '../../git/ports.ts';
import {
  DERIVED,
  OLD_PACK,
  oldPackKey,
  PACK_ROWS,
  packKey,
  repositoryPartition,
} from '../row-keys/repository.ts';
import type { QueryOptions, Table } from '../table/table.ts';
import { ABSENT, type Item, PRESENT, type Put, type Write } from '../table/write.ts';
import { type DerivedRow, derivedOf } from './derived-files.ts';

export interface CataloguedPack extends PackDescription {
  /** Superseded packs hold no objects that active ones lack, and stay readable for a while. */
  readonly state: 'active' | 'superseded';
  /** ISO 8601, when it was superseded. */
  readonly supersededAt?: string;
}

/** How rows have always spelled the sources of packs: older functions may read the same rows during a deployment. */
const STORED_SOURCES: Readonly<Record<PackSource, string>> = {
  receive: 'push',
  insert: 'api',
  compact: 'compaction',
  gc: 'collection',
  'unreachable-garbage': 'garbage',
};
const SOURCES = new Map(
  Object.entries(STORED_SOURCES).map(([source, stored]) => [stored, source as PackSource]),
);

/** The source of a pack as its row spells it. */
export const storedSource = (source: PackSource): string => STORED_SOURCES[source];

/** @param by id of the transaction, by which a writer recognises its own row */
export function listPack(repositoryId: string, pack: PackDescription, by: string): Put {
  return {
    put: {
      ...packKey(repositoryId, pack.id),
      ...pack,
      source: storedSource(pack.source),
      state: 'active',
      by,
    },
    if: ABSENT,
    reason: 'pack',
  };
}

/**
 * Marks packs as superseded, in the transaction that lists their replacement: two writes each.
 * @throws RangeError for an inherited pack: it stays listed as long as this repository exists
 */
export function supersedePacks(repositoryId: string, packs: readonly PackDescription[], at: Date): Write[] {
  const supersededAt = at.toISOString();
  const foreign = packs.find(({ inherited }) => inherited === true);
  if (foreign !== undefined) throw new RangeError(`pack ${foreign.id} is inherited`);
  return packs.flatMap((pack): Write[] => [
    { delete: packKey(repositoryId, pack.id), if: PRESENT, reason: 'superseded' },
    {
      put: {
        ...oldPackKey(repositoryId, supersededAt, pack.id),
        ...describe(pack),
        source: storedSource(pack.source),
        state: 'superseded',
        supersededAt,
      },
    },
  ]);
}

export interface Listing {
  /** Active packs, newest first. */
  readonly packs: readonly CataloguedPack[];
  /** Derived files of the packs, at most one of each kind. */
  readonly derived: readonly DerivedRow[];
}

/** Reads the list of packs, strongly consistent. */
export async function listingOf(table: Table, repositoryId: string): Promise<Listing> {
  const packs: CataloguedPack[] = [];
  const derived: DerivedRow[] = [];
  const rows = { partition: repositoryPartition(repositoryId), prefix: PACK_ROWS, reverse: true };
  for await (const item of table.queryAll(rows)) {
    if ((item['sk'] as string).startsWith(DERIVED)) derived.push(derivedOf(item));
    else packs.push(fromRow(item));
  }
  return { packs, derived };
}

/**
 * Returns superseded packs, oldest first.
 * @param options.until superseded at that time at the latest
 */
export function supersededOf(
  table: Table,
  repositoryId: string,
  options: { readonly until?: Date; readonly most?: number } = {},
): Promise<CataloguedPack[]> {
  const { until, most } = options;
  const range = {
    partition: repositoryPartition(repositoryId),
    from: OLD_PACK,
    // Sorts after the ids of packs of that millisecond.
    to: `${OLD_PACK}${until === undefined ? '' : until.toISOString()}~`,
  };
  return collect(table, most === undefined ? range : { ...range, limit: most }, most);
}

async function collect(table: Table, rows: QueryOptions, most?: number): Promise<CataloguedPack[]> {
  const packs: CataloguedPack[] = [];
  for await (const item of table.queryAll(rows)) {
    packs.push(fromRow(item));
    if (packs.length === most) break;
  }
  return packs;
}

function fromRow(item: Item): CataloguedPack {
  const { pk: _p, sk: _s, by: _b, w: _w, source, ...pack } = item;
  return { ...pack, source: SOURCES.get(source as string) } as unknown as CataloguedPack;
}

function describe(pack: PackDescription): PackDescription {
  const { id, source, objectCount, packSize, indexSize, layout, location } = pack;
  return { id, source, objectCount, packSize, indexSize, layout, location };
}
