/** What hooks hear of. A message has ids and what is gone afterwards; the worker reads the rest. */
import type { DeploymentStatus } from '../../records/environments.ts';
import type { MemberSource } from '../../records/members.ts';
import type { MergeRequestRecord } from '../../records/merge-requests.ts';
import type { CiStatus } from '../../records/pipelines.ts';
import type { IssueMoment, MergeRequestMoment } from './moments.ts';

/** Previous and current value of an attribute, by the names of the payloads. */
export type HookChanges = Readonly<Record<string, readonly [unknown, unknown]>>;

export type HookEvent =
  | {
      readonly kind: 'push';
      readonly updates: readonly { readonly name: string; readonly from: string; readonly to: string }[];
      /** Of `git push -o`. */
      readonly options?: readonly string[];
    }
  | {
      readonly kind: 'issue';
      readonly iid: number;
      readonly action: 'open' | 'close' | 'reopen' | 'update';
      readonly changes: HookChanges;
      /** Absent: as it is when the worker reads it. */
      readonly moment?: IssueMoment;
    }
  | {
      readonly kind: 'merge-request';
      readonly iid: number;
      readonly action: 'open' | 'close' | 'reopen' | 'update' | 'merge' | 'approved' | 'unapproved';
      readonly changes: HookChanges;
      /** Absent: as it is when the worker reads it. */
      readonly moment?: MergeRequestMoment;
      readonly headSha?: string;
      /** The head before a push. */
      readonly oldrev?: string;
      /** Those that decide whether it is approved: after an approval, and before the loss of one. */
      readonly approvals?: MergeRequestRecord['approvals'];
    }
  | {
      readonly kind: 'note';
      readonly on: 'commit' | 'issue' | 'merge-request' | 'snippet';
      /** Id of what it is on; of a commit its object id. */
      readonly noteable: number | string;
      readonly iid?: number;
      readonly noteId: number;
    }
  | {
      readonly kind: 'release';
      readonly tag: string;
      readonly action: 'create' | 'update' | 'delete';
      /** Of a release that is deleted. */
      readonly former?: Readonly<Record<string, unknown>>;
    }
  | {
      readonly kind: 'wiki-page';
      readonly action: 'create' | 'update' | 'delete';
      readonly slug: string;
      readonly title: string;
      readonly format: string;
    }
  /** Without a status, in messages of an earlier release: the one that it has when the worker reads it. */
  | { readonly kind: 'deployment'; readonly deploymentId: number; readonly status?: DeploymentStatus }
  /** With the status that it was given, whatever it is by then. */
  | {
      readonly kind: 'pipeline';
      readonly pipelineId: number;
      readonly sha: string;
      readonly status: CiStatus;
    }
  | {
      readonly kind: 'job';
      readonly pipelineId: number;
      readonly sha: string;
      readonly jobId: number;
      readonly status: CiStatus;
    }
  | {
      readonly kind: 'member';
      readonly what: 'add' | 'update' | 'remove';
      readonly source: MemberSource;
      readonly userId: number;
      readonly accessLevel: number;
      readonly expiresAt: string | null;
      readonly createdAt: string;
    }
  /** What only its attributes tell of: projects, groups, users, keys. */
  | {
      readonly kind: 'record';
      /** `project_create`, `user_destroy`, `subgroup_create`. */
      readonly name: string;
      /** When what it is about was made; absent: when this happened. */
      readonly createdAt?: string;
      /** Of a personal project: whose name and address are told. */
      readonly ownerId?: number;
      readonly attributes: Readonly<Record<string, unknown>>;
    }
  /** Whose payload its subject makes; user, project and repository are added. */
  | {
      readonly kind: 'made';
      readonly hook: 'pipeline_events' | 'job_events';
      readonly payload: Readonly<Record<string, unknown>>;
    };
