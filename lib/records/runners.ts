import type { MemberSource } from './members.ts';

export const RUNNER_TYPES = ['instance_type', 'group_type', 'project_type'] as const;
export type RunnerType = (typeof RUNNER_TYPES)[number];

export const RUNNER_ACCESS_LEVELS = ['not_protected', 'ref_protected'] as const;
export type RunnerAccessLevel = (typeof RUNNER_ACCESS_LEVELS)[number];

/** What runners register for: the whole instance, a group or a project. */
export type RunnerPlace = { readonly kind: 'instance' } | MemberSource;

/** What a runner says of itself; null: it did not. */
export interface RunnerFacts {
  /** Name of the program. */
  readonly name: string | null;
  readonly version: string | null;
  readonly revision: string | null;
  readonly platform: string | null;
  readonly architecture: string | null;
}

/** A program that takes jobs and runs them. */
export interface RunnerRecord extends RunnerFacts {
  readonly id: number;
  readonly type: RunnerType;
  /** Of type `group_type`. */
  readonly groupId: number | null;
  /** Of type `project_type`: the project that it was registered for, then those it was enabled in. */
  readonly projectIds: readonly number[];
  readonly description: string;
  readonly tags: readonly string[];
  /** Whether it takes jobs without tags. */
  readonly runUntagged: boolean;
  /** Whether it may be enabled in further projects by administrators only. */
  readonly locked: boolean;
  /** Whether it gets no jobs. */
  readonly paused: boolean;
  /** Seconds a job may take on it; null: as long as its project allows. */
  readonly maximumTimeout: number | null;
  /** `ref_protected`: it takes jobs of protected branches and tags only. */
  readonly accessLevel: RunnerAccessLevel;
  /** SHA-256 of its token, lower-case hex. */
  readonly hash: string;
  readonly createdAt: string;
  /** When it last asked, to some minutes; null: never. */
  readonly contactedAt: string | null;
  /** From where it last asked; empty: never. */
  readonly ipAddress: string;
  /** Of the record, apart from what the runner says of itself. */
  readonly change: number;
}
