import type { ProjectStatistics } from '../../store/statistics/statistics.ts';

/** Sizes of features that do not exist yet. */
const NOTHING = {
  wiki_size: 0,
  lfs_objects_size: 0,
  job_artifacts_size: 0,
  packages_size: 0,
  snippets_size: 0,
};

/** Sizes in bytes and number of commits, as a worker last measured them; 0 for a new project. */
export const projectStatistics = (measured: ProjectStatistics | undefined) => ({
  commit_count: measured?.commitCount ?? 0,
  ...storage(measured?.repositorySize ?? 0),
});

/** Sizes in bytes; also the sum over the projects directly in a group. */
export const storage = (repositorySize: number) => ({
  storage_size: repositorySize,
  repository_size: repositorySize,
  ...NOTHING,
});
