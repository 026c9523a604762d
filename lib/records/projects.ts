import type { AvatarRecord } from './avatars.ts';
import type { DeletionMark } from './deletion.ts';
import type { ImportSource, ImportStatus } from './imports.ts';
import type { ShareRecord } from './shares.ts';
import type { Visibility } from './visibility.ts';

export interface ProjectRecord {
  readonly id: number;
  readonly name: string;
  readonly path: string;
  /** `namespace/path`, in the case it was created with. */
  readonly fullPath: string;
  readonly namespaceId: number;
  readonly namespacePath: string;
  readonly namespaceName: string;
  readonly namespaceKind: 'user' | 'group';
  /** The owner of a personal namespace. */
  readonly ownerId: number;
  readonly creatorId: number;
  /** Ids of its groups, top-level group first; empty in a personal namespace. */
  readonly ancestorIds: readonly number[];
  readonly visibility: Visibility;
  /** Groups it is shared with, at most {@link MAX_SHARES}. */
  readonly shares: readonly ShareRecord[];
  readonly description: string | null;
  readonly archived: boolean;
  /** The branch HEAD points to once it exists; null while the repository is empty. */
  readonly defaultBranch: string | null;
  readonly repositoryId: string;
  /** The fork network that holds its packs; absent: its own network, named by the repository's id. */
  readonly networkId?: string;
  /** What keys of its new packs, and of its wiki's, begin with (`lib/store/blobs/storages.ts`); absent: the default storage. */
  readonly storagePrefix?: string;
  /** The move to another storage that is under way. */
  readonly storageMove?: number;
  /** The project it is a fork of, as long as both exist and the fork relation does. */
  readonly forkedFromId?: number;
  /** Root of that chain of forks: the same in all related projects. */
  readonly forkRootId?: number;
  /** Number of its forks. */
  readonly forksCount?: number;
  /** Number of users who starred it. */
  readonly starsCount?: number;
  /** Number of its hooks. */
  readonly hooksCount?: number;
  /** Number of its active integrations. */
  readonly integrationsCount?: number;
  /** Names of its programming languages, as last measured (`statistics.ts`). */
  readonly languages?: readonly string[];
  readonly importStatus: ImportStatus;
  /** Why the last import failed, without private details; null: it did not fail. */
  readonly importError: string | null;
  /** Of a project that was imported from a remote repository. */
  readonly importSource?: ImportSource;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly lastActivityAt: string;
  /** Scheduled deletion; absent or null: none. */
  readonly deletion?: DeletionMark | null;
  /** Set when it is deleted; from then on the project answers 404 to everyone. */
  readonly deletedAt: string | null;
  readonly avatar?: AvatarRecord | null;
  /** Bytes of its repository's own packs, as last measured; absent: never measured. */
  readonly repositorySize?: number;
  /** Bytes of its objects of Git LFS, as last measured; absent: never measured. */
  readonly lfsObjectsSize?: number;
  /** Bytes of all that it stores, of its wiki and of its packages, as last measured; absent: never measured. */
  readonly storageSize?: number;
  readonly wikiSize?: number;
  readonly packagesSize?: number;
  readonly topics: readonly string[];
  /** Feature access levels and other settings, stored and returned unchanged. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly version: number;
}
