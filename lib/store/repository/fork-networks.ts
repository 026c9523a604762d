/**
 * Fork networks. A repository's own packs have its own prefix within that of its network. A fork also lists packs of its
 * parent, and for each of these a second row protects the pack's objects from deletion.
 */
import type { PackDescription } from '../../git/ports.ts';
import { heirKey, heirsPartition, networkMemberKey, networkPartition } from '../row-keys/forks.ts';
import { MEMBER } from '../row-keys/members.ts';
import { packKey } from '../row-keys/repository.ts';
import type { Table } from '../table/table.ts';
import type { Put } from '../table/write.ts';
import { type CataloguedPack, storedSource } from './pack-list.ts';

/** A repository, and the network of its packs: its own id if it never was a fork. */
export interface NetworkMember {
  readonly repositoryId: string;
  readonly networkId: string;
}

/** Prefix of the packs that this repository wrote. No other repository writes there. */
export const packPrefix = ({ networkId, repositoryId }: NetworkMember): string =>
  `networks/${networkId}/packs/${repositoryId}/`;

/** The repository that wrote a pack. */
export const writerOf = ({ location }: Pick<PackDescription, 'location'>): NetworkMember => {
  const [, networkId = '', , repositoryId = ''] = location.split('/');
  return { networkId, repositoryId };
};

export class ForkNetworks {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  /** Whether other repositories may list packs of this one. */
  async hasOthers({ networkId, repositoryId }: NetworkMember): Promise<boolean> {
    const rows = { partition: networkPartition(networkId), prefix: MEMBER, limit: 2, only: ['sk'] };
    const { items } = await this.#table.query(rows);
    return items.some(({ sk }) => sk !== networkMemberKey(networkId, repositoryId).sk);
  }

  /** Returns those of the packs that are listed by a repository that did not write them. */
  async inherited(packIds: readonly string[]): Promise<Set<string>> {
    const listed = new Set<string>();
    for (let i = 0; i < packIds.length; i += 16) {
      await Promise.all(
        packIds.slice(i, i + 16).map(async (id) => {
          const { items } = await this.#table.query({
            partition: heirsPartition(id),
            limit: 1,
            only: ['sk'],
          });
          if (items.length > 0) listed.add(id);
        }),
      );
    }
    return listed;
  }

  /** Removes the protection of packs that a fork no longer lists. The caller has to schedule the gc of unlisted packs. */
  async disinherit(repositoryId: string, packs: readonly PackDescription[]): Promise<void> {
    for (let i = 0; i < packs.length; i += 16) {
      await Promise.all(
        packs.slice(i, i + 16).map(({ id }) => this.#table.delete({ delete: heirKey(id, repositoryId) })),
      );
    }
  }

  async leave({ networkId, repositoryId }: NetworkMember): Promise<void> {
    await this.#table.delete({ delete: networkMemberKey(networkId, repositoryId) });
  }
}

/** Makes repositories members of a network; idempotent writes. */
export const joinNetwork = (networkId: string, ...repositoryIds: readonly string[]): Put[] =>
  repositoryIds.map((id) => ({ put: { ...networkMemberKey(networkId, id) } }));

/** Lists another repository's packs: two idempotent writes each. */
export function inheritPacks(repositoryId: string, packs: readonly CataloguedPack[], by: string): Put[] {
  return packs.flatMap(({ id, source, objectCount, packSize, indexSize, layout, location }): Put[] => [
    {
      put: {
        ...packKey(repositoryId, id),
        ...{ id, source: storedSource(source), objectCount, packSize, indexSize, layout, location },
        ...{ inherited: true, state: 'active', by },
      },
    },
    { put: { ...heirKey(id, repositoryId) } },
  ]);
}
