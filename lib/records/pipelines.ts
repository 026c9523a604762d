import type { JobArtifact } from './artifacts.ts';
import type { AuthorSnapshot } from './authors.ts';

/** What a pipeline or a job can be in. */
export const CI_STATUSES = [
  'created',
  'waiting_for_resource',
  'preparing',
  'pending',
  'running',
  'success',
  'failed',
  'canceled',
  'skipped',
  'manual',
  'scheduled',
] as const;
export type CiStatus = (typeof CI_STATUSES)[number];

/** States that external systems may report for a commit. */
const REPORTED_STATES = ['pending', 'running', 'success', 'failed', 'canceled'] as const;
export type ReportedState = (typeof REPORTED_STATES)[number];

/** Statuses from which nothing follows by itself. */
export const ENDED: readonly CiStatus[] = ['success', 'failed', 'canceled', 'skipped'];
export const hasEnded = (status: CiStatus): boolean => ENDED.includes(status);

/** Statuses of what has begun or can begin at any time. */
const ACTIVE: readonly CiStatus[] = ['waiting_for_resource', 'preparing', 'pending', 'running'];
export const isActiveStatus = (status: CiStatus): boolean => ACTIVE.includes(status);

/** Statuses of what can be cancelled. */
export const isCancelable = (status: CiStatus): boolean =>
  isActiveStatus(status) || status === 'created' || status === 'scheduled';

/** Between two times, which need not have come. */
export const secondsBetween = (from: string | null, to: string | null): number | null =>
  from === null || to === null ? null : Math.max(0, (Date.parse(to) - Date.parse(from)) / 1000);

export type PipelineOutcome = Extract<CiStatus, 'success' | 'failed'>;

/** What makes pipelines. */
export const PIPELINE_SOURCES = [
  'push',
  'web',
  'trigger',
  'schedule',
  'api',
  'external',
  'pipeline',
  'chat',
  'webide',
  'merge_request_event',
  'external_pull_request_event',
  'parent_pipeline',
  'ondemand_dast_scan',
  'ondemand_dast_validation',
] as const;
export type PipelineSource = (typeof PIPELINE_SOURCES)[number];

/** A job of another pipeline, which started this one. */
export interface PipelineParent {
  readonly projectId: number;
  readonly pipelineId: number;
  readonly jobId: number;
}

export interface PipelineRecord {
  readonly id: number;
  /** Its number within the project. */
  readonly iid: number;
  readonly projectId: number;
  readonly sha: string;
  /** Short name of the branch or tag, or the full name of another ref. */
  readonly ref: string;
  /** Absent: a branch. */
  readonly tag?: boolean;
  readonly source: PipelineSource;
  readonly status: CiStatus;
  /** Number of its reported statuses in each state, without replaced ones. */
  readonly states: Readonly<Partial<Record<ReportedState, number>>>;
  /** Total number of its reported statuses, including replaced ones. */
  readonly statuses: number;
  /** What its jobs add up to, without its reported statuses; absent: it has none. */
  readonly jobStatus?: CiStatus;
  /** Its last final result, whatever its status is now; absent if there was none yet. */
  readonly outcome?: PipelineOutcome;
  readonly author: AuthorSnapshot;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  readonly version: number;
  /** Where the branch was before the push that made it. */
  readonly beforeSha?: string;
  /** When its commit was committed. */
  readonly committedAt?: string;
  /** What is wrong with its configuration. */
  readonly yamlErrors?: string;
  /** Whether its ref was protected when it was made: then it has protected variables and runners. */
  readonly protected?: boolean;
  /** Percent: the mean of those of its jobs. */
  readonly coverage?: number | null;
  /** Seconds in which any of its jobs ran. */
  readonly duration?: number | null;
  /** The merge request that it is for, by the project that is proposed to. */
  readonly mergeRequest?: { readonly projectId: number; readonly iid: number };
  readonly parent?: PipelineParent;
  /** Base URL of links in mails about it. */
  readonly baseUrl?: string;
  /** The message that made it, which may come twice. */
  readonly madeBy?: string;
  /** Pipelines with jobs that take over its status: the last ones. */
  readonly mirrors?: readonly { readonly projectId: number; readonly pipelineId: number }[];
}

/** When a job starts. */
export type JobWhen = 'on_success' | 'on_failure' | 'always' | 'manual' | 'delayed';

/** The environment of a job, with its variables put in. */
export interface JobEnvironment {
  readonly name: string;
  readonly url?: string;
  readonly action: 'start' | 'stop' | 'prepare' | 'verify' | 'access';
  readonly onStop?: string;
  readonly autoStopIn?: string;
  readonly tier?: 'production' | 'staging' | 'testing' | 'development' | 'other';
}

/** A job of a pipeline: what lists show of it, and what decides about others. */
export interface JobRecord {
  readonly id: number;
  readonly projectId: number;
  readonly pipelineId: number;
  /** `bridge`: it starts another pipeline or takes over the status of one, and no runner takes it. */
  readonly kind: 'build' | 'bridge';
  readonly name: string;
  readonly stage: string;
  /** Position of its stage among those of the pipeline, from 0. */
  readonly stageIndex: number;
  readonly status: CiStatus;
  readonly when: JobWhen;
  readonly allowFailure: boolean;
  /** Names of the jobs that it waits for; absent: it waits for the stages before. */
  readonly needs?: readonly string[];
  readonly tags: readonly string[];
  readonly ref: string;
  readonly sha: string;
  readonly tag: boolean;
  /** Whether only runners for protected refs may take it. */
  readonly protected: boolean;
  /** Who started it; shown as long as the account exists. */
  readonly userId: number;
  readonly createdAt: string;
  /** While it runs, when its runner was last heard of, to a minute. */
  readonly updatedAt: string;
  /** When it last became ready for a runner. */
  readonly queuedAt: string | null;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  /** When a delayed job starts. */
  readonly scheduledAt: string | null;
  /** Seconds that a delayed job waits. */
  readonly startIn?: number;
  /** Seconds that its script may take; absent: as long as the project allows. */
  readonly timeout?: number;
  /** When the time is over that its runner was told; absent: no runner has taken it, or one in an earlier release. */
  readonly runsUntil?: string;
  readonly interruptible: boolean;
  readonly retry?: { readonly max: number; readonly when: readonly string[] };
  /** How often it was repeated before, by itself. */
  readonly attempt: number;
  /** Another one has replaced it. */
  readonly retried: boolean;
  /** Codes with which its script may end without failing the pipeline. */
  readonly allowedExitCodes?: readonly number[];
  readonly failureReason: string | null;
  readonly coverage: number | null;
  readonly environment?: JobEnvironment;
  /** Its deployment, and the status that it was last given; the id is null where it only touches its environment. */
  readonly deployment?: { readonly id: number | null; readonly status: string };
  readonly resourceGroup?: string;
  readonly runnerId: number | null;
  /** Hash of the token that the job has while it runs. */
  readonly tokenHash?: string;
  /** Hash of the token that it had when it ended: its runner may not know yet. */
  readonly endedTokenHash?: string;
  readonly artifacts: readonly JobArtifact[];
  readonly artifactsExpireAt: string | null;
  /** Its archive is for members of the project. */
  readonly privateArtifacts?: true;
  readonly erasedAt: string | null;
  readonly erasedById: number | null;
  /** The queues that it waits in. */
  readonly scopes: readonly string[];
  /** The pipeline that a bridge started. */
  readonly downstream?: { readonly projectId: number; readonly pipelineId: number };
  /** The pipeline whose status a bridge takes over. */
  readonly upstream?: { readonly projectId: number; readonly pipelineId: number };
  /** The call of a hook that its pipeline goes back to, and so does what is done with it. */
  readonly hookCall?: string;
  readonly version: number;
}

/** What a runner needs to know of a job, and lists do not: in the words of the configuration. */
export interface JobSpec {
  readonly script: readonly string[];
  readonly beforeScript?: readonly string[];
  readonly afterScript?: readonly string[];
  readonly image?: { readonly name: string } & Readonly<Record<string, unknown>>;
  readonly services?: readonly ({ readonly name: string } & Readonly<Record<string, unknown>>)[];
  readonly cache?: readonly Readonly<Record<string, unknown>>[];
  readonly artifacts?: Readonly<Record<string, unknown>>;
  /** Names of jobs whose artifacts it fetches; absent: those of all jobs of the stages before, or those it needs. */
  readonly dependencies?: readonly string[];
  /** Of its needs, those whose artifacts it fetches. */
  readonly needs?: readonly { readonly job: string; readonly artifacts: boolean }[];
  readonly crossNeeds: readonly Readonly<Record<string, unknown>>[];
  /** Of the configuration: the pipeline's, the job's and its rule's. */
  readonly variables: Readonly<Record<string, string>>;
  readonly release?: Readonly<Record<string, unknown>>;
  readonly trigger?: Readonly<Record<string, unknown>>;
  /** Full path of a project whose pipeline's status it takes over. */
  readonly upstream?: string;
  /** The source of the pattern that finds the coverage in the trace. */
  readonly coverage?: string;
  readonly passedOn?: Readonly<Record<string, unknown>>;
}

/** A variable that was given to a pipeline. */
export interface PipelineVariable {
  readonly key: string;
  readonly value: string;
  readonly type: 'env_var' | 'file';
}
