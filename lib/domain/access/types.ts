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

export interface GitAccess {
  readonly actor: Actor;
  readonly project: ProjectAccess;
}
