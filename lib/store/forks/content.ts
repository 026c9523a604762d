/** Copies the content of one repository to a new one, which lists the source's packs and gets refs of its own. */
import { ulid } from 'ulid';
import type { Ref } from '../../git/ports.ts';
import { type RefName, spacePrefix } from '../../git/refname.ts';
import { type Swaps, swapsOf, unswapped } from '../maintenance/leases.ts';
import { MAINTENANCE, messageAt, outboxWrite } from '../outbox/outbox.ts';
import {
  inheritPacks,
  joinNetwork,
  type NetworkMember,
  packPrefix,
  writerOf,
} from '../repository/fork-networks.ts';
import { type CataloguedPack, listingOf } from '../repository/pack-list.ts';
import { countsOf, writeRefTable } from '../repository/ref-table-writer.ts';
import type { Repositories } from '../repository/repositories.ts';
import { changeGuards, checkReadable, type Guard } from '../repository/state.ts';
import { PACKS_GC_JOB, SWEEP_DELAY_MS, type UnlistedMark } from '../repository/unlisted-pack-gc.ts';
import { heirKey } from '../row-keys/forks.ts';
import { leaseKey } from '../row-keys/maintenance.ts';
import { headKey, packKey, refKey, refNamesKey } from '../row-keys/repository.ts';
import type { Table } from '../table/table.ts';
import type { Check, Write } from '../table/write.ts';

/** Two writes per pack. With all other writes, a transaction has at most a hundred. */
const PACKS_PER_TRANSACTION = 36;
/** Maximum number of refs written as rows; more are written as a table. */
const MAX_ROWS = 8;
const NEW_GUARD: Guard = { state: 'open', epoch: 0, refTable: '', frozenBy: '' };

/** One view of the content that a fork inherits: branches, tags, and the packs that contain all they reach. */
export interface Inheritance {
  readonly head: RefName;
  /** Whether HEAD's branch exists. */
  readonly born: boolean;
  /** Sorted by their keys; may be iterated more than once. */
  readonly refs: () => AsyncIterable<readonly Ref[]>;
  readonly packs: readonly CataloguedPack[];
  /** As long as this is unchanged, no pack was removed from the list, so the list was complete. */
  readonly swaps: Swaps;
}

interface Stores {
  readonly table: Table;
  readonly repositories: Repositories;
}

/** @throws Missing */
export async function readInheritance(
  { table, repositories }: Stores,
  { repositoryId }: NetworkMember,
): Promise<Inheritance> {
  // In this order: packs with what refs reach were listed before the refs, and `swaps` reveals removals after that.
  const swaps = swapsOf(await table.get(leaseKey(repositoryId)));
  const source = repositories.open(repositoryId);
  const view = await source.view({ prefixes: [spacePrefix('heads'), spacePrefix('tags')] });
  const { packs } = await source.listing();
  let born = false;
  for await (const some of view.refs(view.head)) born ||= some.some(({ name }) => name === view.head);
  return {
    head: view.head,
    born,
    async *refs() {
      yield* view.refs(spacePrefix('heads'));
      yield* view.refs(spacePrefix('tags'));
    },
    packs: packs.filter((pack) => pack.source !== 'unreachable-garbage'),
    swaps,
  };
}

/** The repository that inherits the content. */
export interface Heir extends NetworkMember {
  /** Checks in every transaction that this worker is still the one to fill the repository. */
  readonly waiting: Check;
}

/**
 * Gives a new repository the inheritance read from another one. It becomes visible to all readers at once: what does
 * not fit into the last transaction is written before it, and has no effect until then. Idempotent: may be repeated at
 * any point, also concurrently.
 *
 * @param last writes that complete the fork, on the same condition as `heir.waiting`
 * @throws TransactionRefused: `swaps` when the inheritance has to be read again, `source` when the source is no longer
 *   open, and the reasons of `heir.waiting` and `last`
 */
export async function inherit(
  stores: Stores,
  source: NetworkMember,
  heir: Heir,
  { head, refs, packs, swaps }: Inheritance,
  last: readonly Write[],
  now: Date,
): Promise<void> {
  const { table } = stores;
  const { repositoryId, networkId, waiting } = heir;
  const by = ulid();
  const joined = () => [
    checkReadable(source.repositoryId),
    unswapped(source.repositoryId, swaps),
    ...joinNetwork(networkId, source.repositoryId, repositoryId),
  ];
  await giveUpOthers(table, heir, packs, now);
  for (let i = PACKS_PER_TRANSACTION; i < packs.length; i += PACKS_PER_TRANSACTION) {
    const some = inheritPacks(repositoryId, packs.slice(i, i + PACKS_PER_TRANSACTION), by);
    await table.transact([...joined(), waiting, ...some]);
  }
  const few = await fewOf(refs());
  const counts =
    few === undefined ? await writeRefTable(table, repositoryId, by, refs(), now) : countsOf(few);
  await table.transact([
    ...joined(),
    ...inheritPacks(repositoryId, packs.slice(0, PACKS_PER_TRANSACTION), by),
    { put: { ...headKey(repositoryId), target: head } },
    { update: refNamesKey(repositoryId), add: { names: 1, multi: 1 }, set: { ...counts } },
    ...(few === undefined
      ? changeGuards(repositoryId, { refTable: by }, NEW_GUARD)
      : few.map((ref) => ({ put: { ...refKey(repositoryId, ref.name), ...ref, table: '', by } }))),
    ...last,
  ]);
}

/** @returns undefined when there are too many refs for rows */
async function fewOf(refs: AsyncIterable<readonly Ref[]>): Promise<Ref[] | undefined> {
  const few: Ref[] = [];
  for await (const some of refs) {
    if (few.length + some.length > MAX_ROWS) return undefined;
    few.push(...some);
  }
  return few;
}

/** Unlists packs that an earlier attempt listed and the source has replaced since, and schedules their sweep. */
async function giveUpOthers(
  table: Table,
  { repositoryId, waiting }: Heir,
  packs: readonly CataloguedPack[],
  now: Date,
): Promise<void> {
  const wanted = new Set(packs.map(({ id }) => id));
  const listed = (await listingOf(table, repositoryId)).packs;
  const others = listed.filter((pack) => pack.inherited === true && !wanted.has(pack.id));
  for (const [, some] of Map.groupBy(others, (pack) => packPrefix(writerOf(pack)))) {
    for (let i = 0; i < some.length; i += PACKS_PER_TRANSACTION) {
      const part = some.slice(i, i + PACKS_PER_TRANSACTION);
      const mark = {
        ...writerOf(part[0]!),
        unlisted: part.map(({ id }) => id),
        since: now.toISOString(),
      } satisfies UnlistedMark;
      const at = new Date(now.getTime() + SWEEP_DELAY_MS);
      await table.transact([
        waiting,
        ...part.flatMap(({ id }) => [
          { delete: packKey(repositoryId, id) },
          { delete: heirKey(id, repositoryId) },
        ]),
        outboxWrite(messageAt(MAINTENANCE, PACKS_GC_JOB, { ...mark }, at)),
      ]);
    }
  }
}
