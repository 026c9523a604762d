import type { AvatarRecord } from './avatars.ts';
import type { DeletionMark } from './deletion.ts';
import type { GroupSso } from './group-sso.ts';
import type { ShareRecord } from './shares.ts';
import type { Visibility } from './visibility.ts';

/**
 * A group of projects and groups. `parentId` decides where it stands; `ancestorIds`, `fullPath` and `fullName` follow
 * from it, and those below a large group follow some time after it moved.
 */
export interface GroupRecord {
  readonly id: number;
  readonly name: string;
  readonly path: string;
  readonly fullPath: string;
  /** Names joined with ` / `. */
  readonly fullName: string;
  readonly parentId: number | null;
  /** Outermost first; what to read ahead of walking the parents. */
  readonly ancestorIds: readonly number[];
  readonly visibility: Visibility;
  readonly description: string;
  readonly avatar?: AvatarRecord | null;
  readonly creatorId: number | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** A deletion that is to come, with all inside; absent or null: none. */
  readonly deletion?: DeletionMark | null;
  /** Set when it is deleted; from then on it and all inside answer 404 to everyone. */
  readonly deletedAt: string | null;
  /** Its path until the move under way: what is inside is still found below that one. */
  readonly movedFrom: string | null;
  /** Groups invited to it, at most {@link MAX_SHARES}. */
  readonly shares: readonly ShareRecord[];
  /** Of an outermost group; absent or null: never set up. */
  readonly sso?: GroupSso | null;
  /** Everything the parameters set and no rule reads in the store. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly version: number;
}

/** Groups in each other, the outermost counted. */
export const MAX_DEPTH = 20;
