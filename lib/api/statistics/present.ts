import { type StorageSizes, storageSizes, totalSize } from '../../records/storage-sizes.ts';
import type { ProjectStatistics } from '../../store/statistics/statistics.ts';

/** Sizes in bytes and number of commits, as a worker last measured them; 0 for a new project. */
export const projectStatistics = (measured: ProjectStatistics | undefined) => ({
  commit_count: measured?.commitCount ?? 0,
  ...storage(storageSizes(measured)),
});

/** Sizes in bytes; also the sum over the projects directly in a group. */
export const storage = (sizes: StorageSizes) => ({
  storage_size: totalSize(sizes),
  repository_size: sizes.repositorySize,
  wiki_size: sizes.wikiSize,
  lfs_objects_size: sizes.lfsObjectsSize,
  packages_size: sizes.packagesSize,
  job_artifacts_size: sizes.artifactsSize,
  snippets_size: sizes.snippetsSize,
});
