import type { Subject } from './subject.ts';

/** What can have an avatar. */
export type AvatarOwner = Subject | { readonly kind: 'topic'; readonly id: number };

/** Describes an avatar within its owner's record; the bytes are in a separate row. */
export interface AvatarRecord {
  /** Last segment of its URL. */
  readonly filename: string;
  readonly type: string;
  /** ULID, new for each uploaded image. */
  readonly version: string;
}
