/**
 * Fork networks. A repository's own packs have its own prefix within that of its network. A fork also lists packs of its
 * parent, and for each of these a second row protects the pack's objects from deletion.
 */
import type { PackDescription } from '../../git/ports.ts';
import type { StoragePrefix } from '../../records/storages.ts';
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
  /** What its keys begin with, where it is not in the default storage or was moved: `blobs/storages.ts`. */
  readonly storagePrefix?: StoragePrefix;
}

/** Prefix of the packs that this repository wrote. No other repository writes there. */
export const packPrefix = ({ networkId, repositoryId, storagePrefix = '' }: NetworkMember): string =>
  `${storagePrefix}networks/${networkId}/packs/${repositoryId}/`;

const PLACE = /^(?<storagePrefix>@.*?\/)?networks\/(?<networkId>[^/]+)\/packs\/(?<repositoryId>[^/]+)\//;

/** The repository that wrote a pack, where it was then. */
export const writerOf = ({ location }: Pick<PackDescription, 'location'>): NetworkMember => {
  const { storagePrefix, networkId = '', repositoryId = '' } = PLACE.exec(location)?.groups ?? {};
  return { networkId, repositoryId, ...(storagePrefix === undefined ? {} : { storagePrefix }) };
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

  /** Returns the locations of those packs that a repository lists that did not write them. */
  async inherited(packs: readonly Pick<PackDescription, 'id' | 'location'>[]): Promise<Set<string>> {
    const listed = new Set<string>();
    for (let i = 0; i < packs.length; i += 16) {
      await Promise.all(
        packs.slice(i, i + 16).map(async ({ id, location }) => {
          if (await this.#hasHeir(id, location)) listed.add(location);
        }),
      );
    }
    return listed;
  }

  /** Heirs of a pack that was moved list the one that was left. */
  async #hasHeir(id: string, location: string): Promise<boolean> {
    const heirs = { partition: heirsPartition(id), only: ['sk', 'location'] } as const;
    // Rows of earlier releases have no location: they protect the pack wherever it is.
    for await (const heir of this.#table.queryAll(heirs))
      if (heir['location'] === undefined || heir['location'] === location) return true;
    return false;
  }

  /** Removes the protection of packs that a fork no longer lists. The caller has to schedule the gc of unlisted packs. */
  async disinherit(repositoryId: string, packs: readonly Pick<PackDescription, 'id'>[]): Promise<void> {
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
    { put: { ...heirKey(id, repositoryId), location } },
  ]);
}
