import type { AvatarRecord } from './avatars.ts';
import type { DeletionMark } from './deletion.ts';
import type { GroupSso } from './group-sso.ts';
import type { ShareRecord } from './shares.ts';
import type { Visibility } from './visibility.ts';

/**
 * A group of projects and groups. `parentId` is authoritative; `ancestorIds`, `fullPath` and `fullName` are derived from
 * it. After a large group moves, those of its descendants are updated with a delay.
 */
export interface GroupRecord {
  readonly id: number;
  readonly name: string;
  readonly path: string;
  readonly fullPath: string;
  /** Names joined with ` / `. */
  readonly fullName: string;
  readonly parentId: number | null;
  /** Top-level group first. Used to prefetch the ancestors before walking `parentId`. */
  readonly ancestorIds: readonly number[];
  readonly visibility: Visibility;
  readonly description: string;
  readonly avatar?: AvatarRecord | null;
  readonly creatorId: number | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Scheduled deletion of the group and all its descendants; absent or null: none. */
  readonly deletion?: DeletionMark | null;
  /** Set when it is deleted; from then on it and its descendants answer 404 to everyone. */
  readonly deletedAt: string | null;
  /** Previous path while a move is in progress: descendants may still have paths below it. Null: not moving. */
  readonly movedFrom: string | null;
  /** Groups invited to it, at most {@link MAX_SHARES}. */
  readonly shares: readonly ShareRecord[];
  /** Of a top-level group only; absent or null: never configured. */
  readonly sso?: GroupSso | null;
  /** What keys of its wiki's new packs begin with (`lib/store/blobs/storages.ts`); absent: the default storage. */
  readonly storagePrefix?: string;
  /** The move to another storage that is under way. */
  readonly storageMove?: number;
  /** Settings that the store keeps and never reads. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly version: number;
}

/** Maximum nesting depth of groups, the top-level group included. */
export const MAX_DEPTH = 20;
