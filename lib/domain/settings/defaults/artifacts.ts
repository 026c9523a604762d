/** Settings of jobs and of the files that they leave. */
export const artifacts = {
  /** MB */
  max_artifacts_size: 100,
  /** A duration; `0`: never */
  default_artifacts_expire_in: '30 days',
  /** Whether those of the newest pipeline of a ref that succeeded do not expire; projects may say that they do */
  keep_latest_artifact: true,
  /** A duration, after which nobody starts, repeats or cancels a job; null: never */
  archive_builds_in_human_readable: null as string | null,
};
