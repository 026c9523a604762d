import type { GroupRecord } from '../../records/groups.ts';
import type { AccessLevel } from '../../records/members.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { Actor, Credential, Origin } from '../actor.ts';
import type { Admission } from '../rate-limits/request-counting.ts';
import type { Prefetch, Prefetched } from './prefetch.ts';

/** A project the actor may know of, with the level they hold in it (0: none, only visibility lets them in). */
export interface ProjectAccess {
  readonly project: ProjectRecord;
  readonly level: AccessLevel | 0;
  /** Reads of its repository that are under way. */
  readonly prefetched?: Prefetched;
}

/** A group the actor may know of. */
export interface GroupAccess {
  readonly group: GroupRecord;
  readonly level: AccessLevel | 0;
  /** The groups it stands in, the innermost first. */
  readonly parents: readonly GroupRecord[];
  /** Whether the actor may know of it because they are a member of something inside, and only for that. */
  readonly inside?: boolean;
}

/** What a request opens with: at most two round trips decide all of it. */
export interface OpenRequest {
  readonly credential: Credential;
  /** Absent for what a worker does. */
  readonly origin?: Origin;
  /** Counts the request against whoever asks; absent for what a worker does. */
  readonly admission?: Admission;
  /** Id or username from the `Sudo` header or parameter. */
  readonly sudo?: string;
  /** Whether the credential is to be replaced: one that was replaced before ends what took its place. */
  readonly rotates?: true;
  /** Numeric id or full path, decoded, when the endpoint is about a project. */
  readonly project?: string;
  /** What to read of its repository in parallel with what decides access; dropped without the right to see it. */
  readonly prefetch?: Prefetch;
  /** The same as `project`, when it is about a group. */
  readonly group?: string;
}

export interface RequestContext {
  readonly actor: Actor;
  /** Present exactly when a project was asked for; a hidden or absent one throws `404 Project Not Found`. */
  readonly project?: ProjectAccess;
  /** The same for a group and `404 Group Not Found`. */
  readonly group?: GroupAccess;
}

export type GroupAbility =
  | 'read_group'
  | 'read_group_members'
  | 'create_projects'
  | 'create_subgroup'
  | 'admin_group_members'
  | 'read_deploy_tokens'
  | 'admin_deploy_tokens'
  /** Of oneself at least. */
  | 'read_audit_events'
  | 'admin_group'
  | 'remove_group';

export type ProjectAbility =
  | 'read_project'
  | 'read_code'
  /** Code as branches and commits: these are not there where the repository is switched off. */
  | 'read_history'
  | 'fork_project'
  | 'comment_on_code'
  | 'push_code'
  | 'read_pipelines'
  /** Of commits, as others' builds have them. */
  | 'report_statuses'
  | 'read_branch_rules'
  | 'read_members'
  | 'read_statistics'
  | 'admin_members'
  | 'read_deploy_tokens'
  | 'admin_deploy_tokens'
  /** Of oneself at least. */
  | 'read_audit_events'
  | 'admin_project'
  | 'archive_project'
  | 'change_namespace'
  | 'change_visibility_level'
  | 'remove_project';

export interface GitAccess {
  readonly actor: Actor;
  readonly project: ProjectAccess;
}
