/** What takes up storage: each is an attribute of the statistics of a project, in bytes, and summed up for its group. */
export const STORAGE_SIZES = [
  'repositorySize',
  'lfsObjectsSize',
  'wikiSize',
  'packagesSize',
  'artifactsSize',
  'snippetsSize',
] as const;

/** Bytes. */
export type StorageSizes = Readonly<Record<(typeof STORAGE_SIZES)[number], number>>;

/** All sizes; 0 where nothing was measured. */
export const storageSizes = (measured: object | undefined): StorageSizes =>
  Object.fromEntries(
    STORAGE_SIZES.map((size) => [size, (measured as Partial<StorageSizes> | undefined)?.[size] ?? 0]),
  ) as StorageSizes;

export const totalSize = (sizes: StorageSizes): number =>
  Object.values(sizes).reduce((sum, size) => sum + size, 0);

/** What projects are sorted by beside the size of the repository, each an attribute of the record. */
export const SORTED_SIZES = ['storageSize', 'wikiSize', 'packagesSize'] as const;
export type SortedSize = (typeof SORTED_SIZES)[number];

export function sortedSizes(measured: object | undefined): Readonly<Record<SortedSize, number>> {
  const sizes = storageSizes(measured);
  return { storageSize: totalSize(sizes), wikiSize: sizes.wikiSize, packagesSize: sizes.packagesSize };
}
