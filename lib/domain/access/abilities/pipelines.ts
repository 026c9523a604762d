import { DEVELOPER, MAINTAINER, OWNER, REPORTER } from '../levels.ts';
import type { ProjectRules } from './rules.ts';

export const project = {
  read_pipelines: { level: REPORTER, reader: 'anyone', features: ['repository', 'builds'] },
  /** Statuses of commits, which external builds report. */
  report_statuses: { level: DEVELOPER, reader: 'nobody', writes: true, features: ['repository', 'builds'] },
  create_pipeline: { level: DEVELOPER, reader: 'nobody', writes: true, features: ['repository', 'builds'] },
  /** Passing variables to pipelines, in projects that restrict that. */
  set_pipeline_variables: {
    level: MAINTAINER,
    reader: 'nobody',
    writes: true,
    features: ['repository', 'builds'],
  },
  /** Retrying, cancelling and playing, of pipelines and of jobs. */
  update_pipeline: { level: DEVELOPER, reader: 'nobody', writes: true, features: ['repository', 'builds'] },
  /** Starting manual jobs: below Developer, those of environments whose rule says so. */
  play_job: { level: REPORTER, reader: 'nobody', writes: true, features: ['repository', 'builds'] },
  destroy_pipeline: { level: OWNER, reader: 'nobody', writes: true, features: ['repository', 'builds'] },
  /** The variables that a pipeline was given. */
  read_pipeline_variables: { level: DEVELOPER, reader: 'nobody', features: ['repository', 'builds'] },
  /** Archives that jobs leave for members alone. */
  read_private_artifacts: { level: REPORTER, reader: 'nobody', features: ['repository', 'builds'] },
  destroy_artifacts: {
    level: MAINTAINER,
    reader: 'nobody',
    writes: true,
    features: ['repository', 'builds'],
  },
  /** Erasing jobs that others started. */
  admin_jobs: { level: MAINTAINER, reader: 'nobody', writes: true, features: ['repository', 'builds'] },
} as const satisfies ProjectRules;
