/** The writes of ref updates, for a transaction. Pure. */

import { ZERO_OID } from '../../git/oid.ts';
import type { PackDescription, Ref, RefUpdate } from '../../git/ports.ts';
import { type RefName, spaceOf } from '../../git/refname.ts';
import { type OutboxMessage, outboxWrites } from '../outbox/outbox.ts';
import { headKey, refKey, refNamesKey } from '../row-keys/repository.ts';
import { ABSENT, type Write } from '../table/write.ts';
import { listPack } from './pack-list.ts';
import { creates } from './ref-check.ts';
import type { RefState } from './ref-snapshot.ts';
import { isListed } from './ref-table.ts';
import { type Guard, newRepository } from './state.ts';

export interface SwapOptions {
  readonly packs?: readonly PackDescription[];
  readonly head?: RefName;
  /** Further writes of the same transaction. If one of them is refused, TransactionRefused is thrown. */
  readonly alongside?: readonly Write[];
  readonly messages?: readonly OutboxMessage[];
}

/** The write of a ref's row, on condition that the ref is unchanged since it was read. */
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
  // The table may hold the name: a row without an object id marks it as deleted.
  if (table !== '') return { put: { ...key, name: update.name, oid: '', ...about }, ...expected };
  return { delete: key, ...expected };
}

/**
 * Updates the row of the ref names: creations conflict with each other by its version, which is incremented per created
 * ref; `multi` tells readers of a change of several refs; branches and tags are counted.
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

/** What the first write of a repository needs besides refs: see `RefTransactions.begin`. */
export interface FirstWrite {
  /** Short name of the branch that HEAD points to. */
  readonly headBranch: string;
  /** Whether the owner of the repository exists; with a `reason`. */
  readonly owner?: Write | undefined;
  /** What the keys of its packs begin with. */
  readonly storagePrefix?: string | undefined;
}

/** The writes that make a repository together with its first refs. */
export function firstWrites(
  repositoryId: string,
  updates: readonly RefUpdate[],
  { head, ...options }: SwapOptions,
  { headBranch, owner, storagePrefix }: FirstWrite,
  by: string,
): Write[] {
  const refs = updates.filter(creates).map(refOf);
  const of = (space: 'heads' | 'tags') =>
    refs.filter((ref) => spaceOf(ref.name) === space && isListed(ref)).length;
  const rows = newRepository({ repositoryId, ...(storagePrefix ? { storagePrefix } : {}) }, headBranch, {
    names: refs.length,
    multi: refs.length > 1 ? 1 : 0,
    heads: of('heads'),
    tags: of('tags'),
  });
  const target = headKey(repositoryId);
  return [
    ...rows.map((row) =>
      head !== undefined && row.put.sk === target.sk ? { put: { ...target, target: head } } : row,
    ),
    ...(owner === undefined ? [] : [owner]),
    ...refs.map((ref) => ({
      put: { ...refKey(repositoryId, ref.name), ...ref, table: '', by },
      if: ABSENT,
      reason: 'ref',
    })),
    ...companions(repositoryId, options, by),
  ];
}

/** The other writes of the same transaction. */
export function companions(
  repositoryId: string,
  { packs = [], head, alongside = [], messages = [] }: SwapOptions,
  by: string,
): Write[] {
  return [
    ...packs.map((pack) => listPack(repositoryId, pack, by)),
    ...(head === undefined ? [] : [{ put: { ...headKey(repositoryId), target: head } }]),
    ...alongside,
    ...outboxWrites(messages),
  ];
}

export const refOf = ({ name, to, peeled, committed }: RefUpdate): Ref => ({
  name,
  oid: to,
  ...(peeled === undefined ? {} : { peeled }),
  ...(committed === undefined ? {} : { committed }),
});
