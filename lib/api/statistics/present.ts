import type { ProjectStatistics } from '../../store/statistics/statistics.ts';

/** Features that keep nothing yet. */
const NOTHING = {
  wiki_size: 0,
  lfs_objects_size: 0,
  job_artifacts_size: 0,
  packages_size: 0,
  snippets_size: 0,
};

/** Bytes and commits, as a worker measured them last; nothing yet of a new project. */
export const projectStatistics = (measured: ProjectStatistics | undefined) => ({
  commit_count: measured?.commitCount ?? 0,
  ...storage(measured?.repositorySize ?? 0),
});

/** Bytes of the projects directly in a group. */
export const storage = (repositorySize: number) => ({
  storage_size: repositorySize,
  repository_size: repositorySize,
  ...NOTHING,
});
