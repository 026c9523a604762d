/** What a record says of its avatar; the bytes are in a row of their own. */
export interface AvatarRecord {
  /** The last part of its URL. */
  readonly filename: string;
  readonly type: string;
  /** ULID: another for each image. */
  readonly version: string;
}
