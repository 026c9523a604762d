import { digestOf, type Key, orderedBy, padded, wholeOrDigest } from './key.ts';
import type { RowKind } from './row-kind.ts';

/** Packages of a project, and the contents that their files have. */
export const packagesPartition = (projectId: number): string => `PACKAGES#${padded(projectId)}`;

export const PACKAGE_PREFIX = 'ID#';

/** A package. Also the order in which packages were created. */
export const packageKey = (projectId: number, id: number): Key => ({
  pk: packagesPartition(projectId),
  sk: PACKAGE_PREFIX + padded(id),
});

/** The package of a name and version: there is one. */
export const packageNameKey = (projectId: number, name: string, version: string): Key => ({
  pk: packagesPartition(projectId),
  sk: `NAME#${digestOf(JSON.stringify([name, version]))}`,
});

/** The orders of the list beside that of creation. */
export type PackageOrder = 'name' | 'version';

export const packageOrderPrefix = (order: PackageOrder): string => `BY${order.toUpperCase()}#`;

/** The place of a package in an order. */
export const packageOrderKey = (projectId: number, order: PackageOrder, value: string, id: number): Key => ({
  pk: packagesPartition(projectId),
  sk: packageOrderPrefix(order) + orderedBy(value, id),
});

/** How many packages there are, and the bytes of their files. */
export const packageCountKey = (projectId: number): Key => ({
  pk: packagesPartition(projectId),
  sk: 'COUNT',
});

/** Says that a file has this content. @param content ULID of its upload */
export const packageContentKey = (projectId: number, content: string): Key => ({
  pk: packagesPartition(projectId),
  sk: `CONTENT#${content}`,
});

/** Files of a package. */
export const packageFilesPartition = (packageId: number): string => `PACKAGEFILES#${padded(packageId)}`;

export const PACKAGE_FILE_PREFIX = 'ID#';

export const packageFileKey = (packageId: number, id: number): Key => ({
  pk: packageFilesPartition(packageId),
  sk: PACKAGE_FILE_PREFIX + padded(id),
});

/** The newest file of a name, whole: a download reads no other row of the package's files. */
export const newestPackageFileKey = (packageId: number, name: string): Key => ({
  pk: packageFilesPartition(packageId),
  sk: `NAME#${wholeOrDigest(name)}`,
});

const of = ['project'] as const;

export const rowKinds = [
  { name: 'package', partitions: ['PACKAGES#'], keys: { packageKey }, of },
  { name: 'package-name', partitions: ['PACKAGES#'], keys: { packageNameKey }, of },
  { name: 'package-order', partitions: ['PACKAGES#'], keys: { packageOrderKey }, of },
  { name: 'package-count', partitions: ['PACKAGES#'], keys: { packageCountKey }, of },
  { name: 'package-content', partitions: ['PACKAGES#'], keys: { packageContentKey }, of },
  { name: 'package-file', partitions: ['PACKAGEFILES#'], keys: { packageFileKey }, of },
  { name: 'newest-package-file', partitions: ['PACKAGEFILES#'], keys: { newestPackageFileKey }, of },
] as const satisfies readonly RowKind[];
