/** The packs of one repository, as rows. Their bytes are `git-objects.ts`'s business. */
import type { PackDescription } from '../git/ports.ts';
import { PACK, packKey, repositoryPartition } from './keys.ts';
import type { Table } from './table.ts';
import { ABSENT, type Item, type Put, type Write } from './write.ts';

export interface CataloguedPack extends PackDescription {
  /** Superseded packs hold nothing that active ones lack, and stay readable for a while. */
  readonly state: 'active' | 'superseded';
  /** ISO 8601, when it was superseded. */
  readonly supersededAt?: string;
}

/** @param by the transaction that lists it, by which a writer knows its own row again */
export function listPack(repositoryId: string, pack: PackDescription, by: string): Put {
  return {
    put: { ...packKey(repositoryId, pack.id), ...pack, state: 'active', by },
    if: ABSENT,
    reason: 'pack',
  };
}

/** Takes packs out of the list in the transaction that lists what replaces them. */
export function supersedePacks(repositoryId: string, ids: readonly string[], at: Date): Write[] {
  return ids.map((id) => ({
    update: packKey(repositoryId, id),
    set: { state: 'superseded', supersededAt: at.toISOString() },
    if: '#state = :active',
    values: { active: 'active' },
    reason: 'superseded',
  }));
}

/** Newest first, strongly consistent. */
export async function packsOf(table: Table, repositoryId: string): Promise<CataloguedPack[]> {
  const packs: CataloguedPack[] = [];
  const rows = { partition: repositoryPartition(repositoryId), prefix: PACK, reverse: true } as const;
  for await (const item of table.queryAll(rows)) packs.push(fromRow(item));
  return packs;
}

function fromRow(item: Item): CataloguedPack {
  const { pk: _p, sk: _s, by: _b, w: _w, ...pack } = item;
  return pack as unknown as CataloguedPack;
}
