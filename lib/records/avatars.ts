/** Describes an avatar within its owner's record; the bytes are in a separate row. */
export interface AvatarRecord {
  /** Last segment of its URL. */
  readonly filename: string;
  readonly type: string;
  /** ULID, new for each uploaded image. */
  readonly version: string;
}
