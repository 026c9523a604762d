/** The access rules that endpoints declare, and the port that enforces them. */
import type { GroupAbility, ProjectAbility } from '../domain/access/abilities/all.ts';
import type { OpenRequest, RequestContext } from '../domain/access/types.ts';
import type { Actor, Credential, Origin } from '../domain/actor.ts';
import type { TokenScope } from '../records/tokens.ts';

/** Authenticates and authorizes requests. */
export interface AccessPort {
  /**
   * @throws DomainError `unauthorized` or `invalid-token` for an invalid credential, `forbidden` for one whose owner is
   * blocked, `not-found` (`404 Project Not Found`, `404 Group Not Found`) for a project or group that is absent or
   * hidden from the caller.
   */
  open(request: OpenRequest): Promise<RequestContext>;
  /** @throws DomainError `forbidden`, or `not-found` where the caller may not learn that it exists. */
  authorize(opened: RequestContext, rule: SubjectRule): void;
}

export interface AnyoneAccess {
  readonly kind: 'anyone';
  /** Whether a credential is left unread, so that an invalid one is no error. */
  readonly unread: boolean;
}
export interface SignedInAccess {
  readonly kind: 'signed-in';
}
export interface AdministratorAccess {
  readonly kind: 'administrator';
}
export interface ProjectRule<Anonymous extends boolean = boolean> {
  readonly kind: 'project';
  readonly ability: ProjectAbility;
  /** Whether anonymous callers are allowed, as far as the project's visibility permits. */
  readonly anonymous: Anonymous;
}
export interface GroupRule<Anonymous extends boolean = boolean> {
  readonly kind: 'group';
  readonly ability: GroupAbility;
  /** As for a project. */
  readonly anonymous: Anonymous;
}
/** A rule about the project or group that the path parameter `:id` names. */
export type SubjectRule = ProjectRule | GroupRule;
/** For callers with a credential that is not a user's, and that the endpoint checks itself. */
export interface OtherAccess<T = unknown> {
  readonly kind: 'other';
  /** Called with the function's dependencies. @returns the actor for the handler @throws as `AccessPort.open` */
  readonly opens: (shown: Shown, deps: unknown) => Promise<T>;
}
/** What `opens` gets of a request; the credential comes from its headers. */
export interface Shown {
  readonly credential: Credential;
  /** Path parameters, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly origin: Origin;
  /** Public base URL without a trailing slash. */
  readonly baseUrl: string;
}
export type AccessRule = AnyoneAccess | SignedInAccess | AdministratorAccess | SubjectRule | OtherAccess;

export type SignedInActor = Extract<Actor, { kind: 'user' }>;

/** The actor a handler gets under a rule: never anonymous where the rule forbids it. */
export type ActorUnder<A extends AccessRule> =
  A extends OtherAccess<infer T>
    ? T
    : A extends AnyoneAccess | ProjectRule<true> | GroupRule<true>
      ? Actor
      : SignedInActor;

/** Anyone; a credential that is sent must be valid nevertheless. */
export const anyone = (): AnyoneAccess => ({ kind: 'anyone', unread: false });

/** Runners, whose token the handler checks: `gitlab-runner` sends it as `PRIVATE-TOKEN` too, which counts for nothing. */
export const runners = (): AnyoneAccess => ({ kind: 'anyone', unread: true });

/** Any signed-in user; 401 for others. */
export const signedIn = (): SignedInAccess => ({ kind: 'signed-in' });

/** Administrators; 401 for anonymous callers, 403 for other users. */
export const administrator = (): AdministratorAccess => ({ kind: 'administrator' });

/** Callers with `ability` in the project that the path parameter `:id` names. */
export function project(ability: ProjectAbility): ProjectRule<false>;
export function project(ability: ProjectAbility, options: { anonymous: true }): ProjectRule<true>;
export function project(ability: ProjectAbility, options: { anonymous?: boolean } = {}): ProjectRule {
  return { kind: 'project', ability, anonymous: options.anonymous === true };
}

/** Callers with `ability` in the group that the path parameter `:id` names. */
export function group(ability: GroupAbility): GroupRule<false>;
export function group(ability: GroupAbility, options: { anonymous: true }): GroupRule<true>;
export function group(ability: GroupAbility, options: { anonymous?: boolean } = {}): GroupRule {
  return { kind: 'group', ability, anonymous: options.anonymous === true };
}

/** Callers with a credential that `opens` accepts, sent as `Authorization: Bearer`. */
export const otherCredential = <T, D>(opens: (shown: Shown, deps: D) => Promise<T>): OtherAccess<T> => ({
  kind: 'other',
  opens: opens as OtherAccess<T>['opens'],
});

/** Whether a rule is about a project or group, which may be hidden from the caller. */
export const aboutSubject = (rule: AccessRule): rule is SubjectRule =>
  rule.kind === 'project' || rule.kind === 'group';

/** Whether anonymous callers are allowed, as far as what they ask for is public. */
export const mayBeAnonymous = (rule: AccessRule): boolean =>
  rule.kind === 'anyone' || (aboutSubject(rule) && rule.anonymous);

/**
 * The scopes of which a token needs at least one: `api` for everything, `read_api` for reads.
 * `extra` are scopes that a declaration adds, such as `read_user` or `read_repository`.
 */
export function scopesFor(method: string, extra: readonly TokenScope[] = []): readonly TokenScope[] {
  const read = method === 'GET' || method === 'HEAD';
  return [...new Set<TokenScope>(['api', ...(read ? (['read_api'] as const) : []), ...extra])];
}
