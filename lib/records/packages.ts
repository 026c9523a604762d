export const PACKAGE_STATUSES = ['default', 'hidden'] as const;
export type PackageStatus = (typeof PACKAGE_STATUSES)[number];

/** Files under one name and version. */
export interface PackageRecord {
  readonly id: number;
  readonly projectId: number;
  readonly name: string;
  readonly version: string;
  /** Hidden ones are in no list, and are downloaded as others are. */
  readonly status: PackageStatus;
  readonly creatorId: number;
  /** Of its files. */
  readonly files: number;
  readonly bytes: number;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
}

/** A file of a package. Another one of the same name may follow it, and is downloaded from then on. */
export interface PackageFileRecord {
  readonly id: number;
  readonly packageId: number;
  readonly projectId: number;
  readonly name: string;
  readonly size: number;
  readonly md5: string;
  readonly sha1: string;
  readonly sha256: string;
  /** Where the content is: see `lib/store/packages`. */
  readonly location: string;
  readonly createdAt: string;
}
