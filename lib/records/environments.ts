export const TIERS = ['production', 'staging', 'testing', 'development', 'other'] as const;
export type EnvironmentTier = (typeof TIERS)[number];

export const ENVIRONMENT_STATES = ['available', 'stopped'] as const;
export type EnvironmentState = (typeof ENVIRONMENT_STATES)[number];

/** A place that a project is deployed to. */
export interface EnvironmentRecord {
  readonly id: number;
  readonly projectId: number;
  /** At most 255 characters, unique in the project. What is before its first slash is its folder. */
  readonly name: string;
  /** For host names: at most 24 of `a-z0-9-`, never changed. */
  readonly slug: string;
  readonly externalUrl: string | null;
  readonly state: EnvironmentState;
  readonly tier: EnvironmentTier;
  /** When it is to be deleted, unless it is available again by then; ISO 8601, UTC. */
  readonly deletedOn: string | null;
  /** When it is to be stopped, unless it is deployed to again by then; absent: never. */
  readonly autoStopAt?: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly version: number;
}

export const DEPLOYMENT_STATUSES = ['created', 'running', 'success', 'failed', 'canceled'] as const;
export type DeploymentStatus = (typeof DEPLOYMENT_STATUSES)[number];

/** A job that deploys, and the name of the one in its pipeline that stops what it deployed. */
export interface DeployingJob {
  readonly pipelineId: number;
  readonly jobId: number;
  readonly onStop?: string;
}

/** That a commit was, is or will be brought to an environment. */
export interface DeploymentRecord {
  readonly id: number;
  /** Its number in the project. */
  readonly iid: number;
  readonly projectId: number;
  readonly environmentId: number;
  /** A branch or tag, as it was named then. */
  readonly ref: string;
  readonly tag: boolean;
  readonly sha: string;
  readonly status: DeploymentStatus;
  readonly userId: number;
  /** The commit that the environment had before it succeeded; null: none, or it has not succeeded. */
  readonly previousSha: string | null;
  /** The job that deploys; absent: somebody told of it through the API. */
  readonly job?: DeployingJob;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly version: number;
}
