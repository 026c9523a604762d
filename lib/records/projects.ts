import type { AvatarRecord } from './avatars.ts';
import type { DeletionMark } from './deletion.ts';
import type { ImportSource, ImportStatus } from './imports.ts';
import type { ShareRecord } from './shares.ts';
import type { Visibility } from './visibility.ts';

export interface ProjectRecord {
  readonly id: number;
  readonly name: string;
  readonly path: string;
  /** `namespace/path` with the case its owner gave it. */
  readonly fullPath: string;
  readonly namespaceId: number;
  readonly namespacePath: string;
  readonly namespaceName: string;
  readonly namespaceKind: 'user' | 'group';
  /** The owner of a personal namespace. */
  readonly ownerId: number;
  readonly creatorId: number;
  /** Ids of the groups above, outermost first; empty in a personal namespace. */
  readonly ancestorIds: readonly number[];
  readonly visibility: Visibility;
  /** Groups it is shared with, at most {@link MAX_SHARES}. */
  readonly shares: readonly ShareRecord[];
  readonly description: string | null;
  readonly archived: boolean;
  /** The branch HEAD points to once it exists; null while the repository is empty. */
  readonly defaultBranch: string | null;
  readonly repositoryId: string;
  /** The fork network its packs lie in; absent: a network of its own, named by the repository's id. */
  readonly networkId?: string;
  /** The project it is a fork of, as long as both are there and say so. */
  readonly forkedFromId?: number;
  /** The first of the projects it descends from by that: equal in all that are related. */
  readonly forkRootId?: number;
  /** How many say that they are forks of this one. */
  readonly forksCount?: number;
  /** How many have starred it. */
  readonly starsCount?: number;
  /** Names of what it is written in, as it was measured last (`statistics.ts`). */
  readonly languages?: readonly string[];
  readonly importStatus: ImportStatus;
  /** Why the last import failed, in words that tell nothing private; null otherwise. */
  readonly importError: string | null;
  /** Of a project that was made from somebody else's repository. */
  readonly importSource?: ImportSource;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly lastActivityAt: string;
  /** A deletion that is to come; absent or null: none. */
  readonly deletion?: DeletionMark | null;
  /** Set when it is deleted; from then on the project answers 404 to everyone. */
  readonly deletedAt: string | null;
  readonly avatar?: AvatarRecord | null;
  /** Bytes of its repository's own packs, as measured last; absent: never. */
  readonly repositorySize?: number;
  readonly topics: readonly string[];
  /** Feature access levels and settings as given: stored and returned. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly version: number;
}
