/** What a job needs of its runner beside running a script. */
import type { JobRecord, JobSpec } from '../../records/pipelines.ts';

/** By the names with which runners say that they can. */
const NEEDED: Readonly<Record<string, (job: JobRecord, spec: JobSpec) => boolean>> = {
  refspecs: ({ ref }) => ref.startsWith('refs/'),
  upload_multiple_artifacts: (_, { artifacts }) => Object.keys(artifacts?.['reports'] ?? {}).length > 0,
  artifacts_exclude: (_, { artifacts }) => artifacts?.['exclude'] !== undefined,
  multi_build_steps: (_, { release }) => release !== undefined,
  return_exit_code: ({ allowedExitCodes }) => allowedExitCodes !== undefined,
};

/** Whether a runner with such features can do all that a job asks for. */
export const canRun = (
  features: Readonly<Record<string, unknown>>,
  { job, spec }: { readonly job: JobRecord; readonly spec: JobSpec },
): boolean => Object.entries(NEEDED).every(([name, needs]) => features[name] === true || !needs(job, spec));
