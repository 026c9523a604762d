/** The writes by which refs change, for a transaction. Pure. */

import { ZERO_OID } from '../../git/oid.ts';
import type { PackDescription, Ref, RefUpdate } from '../../git/ports.ts';
import { type RefName, spaceOf } from '../../git/refname.ts';
import { type OutboxMessage, outboxWrite } from '../outbox/outbox.ts';
import { headKey, refKey, refNamesKey } from '../row-keys/repository.ts';
import type { Write } from '../table/write.ts';
import { listPack } from './pack-list.ts';
import { creates } from './ref-check.ts';
import type { RefState } from './ref-snapshot.ts';
import { isListed } from './ref-table.ts';
import type { Guard } from './state.ts';

export interface SwapOptions {
  readonly packs?: readonly PackDescription[];
  readonly head?: RefName;
  /** Writes of others in the same transaction. When one of them is refused, TransactionRefused is thrown. */
  readonly alongside?: readonly Write[];
  readonly messages?: readonly OutboxMessage[];
}

/** The row of a ref, on condition that what stands there is as it was seen. */
export function refWrite(
  repositoryId: string,
  update: RefUpdate,
  { row, ref }: RefState,
  guard: Guard,
  by: string,
): Write {
  const table = guard.refTable;
  const key = refKey(repositoryId, update.name);
  const current = row !== undefined && row.table === table;
  const expected = {
    if: current ? '#oid = :oid AND #table = :table' : 'attribute_not_exists(#pk) OR #table <> :table',
    values: current ? { oid: row.oid, table } : { table },
    reason: 'ref',
  };
  if (update.from === update.to) return { check: key, ...expected };
  const listed = current ? row.was === true : ref !== undefined && isListed(ref);
  const about = { table, by, ...(table !== '' && listed ? { was: true } : {}) };
  if (update.to !== ZERO_OID) return { put: { ...key, ...refOf(update), ...about }, ...expected };
  // A table may hold the name: a row without an object says that it is gone.
  if (table !== '') return { put: { ...key, name: update.name, oid: '', ...about }, ...expected };
  return { delete: key, ...expected };
}

/**
 * Creators exclude each other by the version, which rises by as many as they create; what changes several refs at once
 * tells readers so; branches and tags are counted.
 */
export function namesWrite(
  repositoryId: string,
  updates: readonly RefUpdate[],
  { states, names }: { readonly states: ReadonlyMap<RefName, RefState>; readonly names: number },
): Write[] {
  const created = updates.filter(creates).length;
  const several = updates.filter((update) => update.from !== update.to).length > 1;
  const counts = { heads: 0, tags: 0 };
  for (const update of updates) {
    const space = spaceOf(update.name);
    if (space === undefined) continue;
    const ref = states.get(update.name)?.ref;
    if (update.to !== ZERO_OID && isListed(refOf(update))) counts[space]++;
    if (ref !== undefined && isListed(ref)) counts[space]--;
  }
  const add = {
    ...(created > 0 ? { names: created } : {}),
    ...(several ? { multi: 1 } : {}),
    ...(counts.heads === 0 ? {} : { heads: counts.heads }),
    ...(counts.tags === 0 ? {} : { tags: counts.tags }),
  };
  if (Object.keys(add).length === 0) return [];
  return [
    {
      update: refNamesKey(repositoryId),
      add,
      ...(created > 0 ? { if: '#names = :names', values: { names }, reason: 'names' } : {}),
    },
  ];
}

/** What stands in the same transaction. */
export function companions(
  repositoryId: string,
  { packs = [], head, alongside = [], messages = [] }: SwapOptions,
  by: string,
): Write[] {
  return [
    ...packs.map((pack) => listPack(repositoryId, pack, by)),
    ...(head === undefined ? [] : [{ put: { ...headKey(repositoryId), target: head } }]),
    ...alongside,
    ...messages.map(outboxWrite),
  ];
}

export const refOf = ({ name, to, peeled, committed }: RefUpdate): Ref => ({
  name,
  oid: to,
  ...(peeled === undefined ? {} : { peeled }),
  ...(committed === undefined ? {} : { committed }),
});
