/** An object of Git LFS that a project has. */
export interface LfsObject {
  /** SHA-256 of the content, hexadecimal. */
  readonly oid: string;
  /** Bytes. */
  readonly size: number;
  /** Where it lies: `<id of the project it was uploaded to>/<ULID of the upload>/<oid>`. */
  readonly location: string;
}

/** A file of a project that one user alone is to change. */
export interface LfsLock {
  readonly id: string;
  readonly projectId: number;
  /** From the root of the repository. */
  readonly path: string;
  readonly userId: number;
  /** ISO 8601, UTC. */
  readonly lockedAt: string;
}

/** Bytes of the longest path that can be locked. */
export const MAX_LOCKED_PATH = 4096;

/** Bytes of the largest object: what S3 accepts in one request. */
export const MAX_LFS_OBJECT_BYTES = 5 * 1024 ** 3;
