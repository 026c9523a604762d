import type { GroupRecord } from '../../records/groups.ts';
import type { AccessLevel } from '../../records/members.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { DeployTokenRecord, DeployTokenScope } from '../../records/tokens.ts';
import type { Actor, Credential, Origin } from '../actor.ts';
import type { Deps } from '../deps.ts';
import type { Admission } from '../rate-limits/request-counting.ts';
import type { Prefetch, Prefetched } from './prefetch.ts';

/** A project that the actor may see, with their access level (0: none, visible through its visibility only). */
export interface ProjectAccess {
  readonly project: ProjectRecord;
  readonly level: AccessLevel | 0;
  /** Reads of its repository in progress. */
  readonly prefetched?: Prefetched;
  /** Whether its merge requests, and so the refs that name what they propose, are hidden from the actor. */
  readonly hidesProposals?: boolean;
  /** Unprotected branches that the actor may push to, although they may not push to the project. */
  readonly collaboration?: ReadonlySet<string>;
}

/** A group that the actor may see. */
export interface GroupAccess {
  readonly group: GroupRecord;
  readonly level: AccessLevel | 0;
  /** Its ancestor groups, the parent first. */
  readonly parents: readonly GroupRecord[];
  /** Whether the group is visible to the actor only because they are a member of one of its descendants. */
  readonly hasDescendantMembership?: boolean;
}

/** Input of `openRequest`. */
export interface OpenRequest {
  readonly credential: Credential;
  /** Absent in workers. */
  readonly origin?: Origin;
  /** Counts the request towards the caller's rate limits; absent in workers. */
  readonly admission?: Admission;
  /** ID or username from the `Sudo` header or parameter. */
  readonly sudo?: string;
  /** Whether the request rotates its token. Reuse of a rotated token then revokes its successors. */
  readonly rotates?: true;
  /** Numeric ID or full path, decoded, when the endpoint is about a project. */
  readonly project?: string;
  /** Reads of its repository in parallel with the access check; dropped if the caller may not see the project. */
  readonly prefetch?: Prefetch;
  /** The same as `project`, when it is about a group. */
  readonly group?: string;
  /** What a deploy token may be that is the credential. */
  readonly deploy?: DeployTokenUse;
}

/** How an endpoint takes deploy tokens. */
export interface DeployTokenAccess {
  /** Scopes of which the token needs one. */
  readonly scopes: readonly DeployTokenScope[];
  /** Named by the endpoint, so that only functions which take them have its code. */
  readonly open: (deps: Deps, request: OpenRequest) => Promise<RequestContext>;
}

/** What a request does with a deploy token. */
export interface DeployTokenUse extends DeployTokenAccess {
  readonly writes: boolean;
}

export interface RequestContext {
  readonly actor: Actor;
  /** Present if the request names a project; a hidden or absent one throws `404 Project Not Found`. */
  readonly project?: ProjectAccess;
  /** The same for a group and `404 Group Not Found`. */
  readonly group?: GroupAccess;
  /** The deploy token that grants what is asked for; the actor is anonymous then. */
  readonly deployToken?: DeployTokenRecord;
}

export interface GitAccess {
  readonly actor: Actor;
  readonly project: ProjectAccess;
}
