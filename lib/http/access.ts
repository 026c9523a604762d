/**
 * Who may call an endpoint, as its declaration says it, and the port that decides.
 */
import type { GroupAbility, Opened, OpenRequest, ProjectAbility } from '../domain/access/types.ts';
import type { Actor, Credential, Origin } from '../domain/actor.ts';
import type { TokenScope } from '../records/tokens.ts';

/** Answers who asks, what they may know of, and whether they may. */
export interface AccessPort {
  /**
   * @throws DomainError `unauthorized` or `invalid-token` for a credential that is not good, `forbidden` for one
   * whose owner is locked out, `not-found` (`404 Project Not Found`, `404 Group Not Found`) for what is hidden or
   * absent.
   */
  open(request: OpenRequest): Promise<Opened>;
  /** @throws DomainError `forbidden`, or `not-found` where even the existence is hidden. */
  authorize(opened: Opened, rule: SubjectRule): void;
}

export interface AnyoneAccess {
  readonly kind: 'anyone';
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
  /** Whether callers without a credential may come as far as the project's visibility. */
  readonly anonymous: Anonymous;
}
export interface GroupRule<Anonymous extends boolean = boolean> {
  readonly kind: 'group';
  readonly ability: GroupAbility;
  /** As a project's. */
  readonly anonymous: Anonymous;
}
/** About what the path parameter `:id` names. */
export type SubjectRule = ProjectRule | GroupRule;
/** For whoever shows a credential that is no user's, and that a rule of its own judges. */
export interface OtherAccess<T = unknown> {
  readonly kind: 'other';
  /** Called with the function's dependencies. @returns who asks, as the handler is told @throws as `AccessPort.open` */
  readonly opens: (shown: Shown, deps: unknown) => Promise<T>;
}
/** What a request shows for that; the credential is one of its headers. */
export interface Shown {
  readonly credential: Credential;
  /** Of the path, decoded. */
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

/** Anyone at all; a credential that is shown must still be a good one. */
export const anyone = (): AnyoneAccess => ({ kind: 'anyone' });

/** Any signed-in user; 401 for others. */
export const signedIn = (): SignedInAccess => ({ kind: 'signed-in' });

/** 401 for anonymous callers, 403 for everybody who is not an administrator. */
export const administrator = (): AdministratorAccess => ({ kind: 'administrator' });

/** Whoever holds `ability` in the project that the path parameter `:id` names. */
export function project(ability: ProjectAbility): ProjectRule<false>;
export function project(ability: ProjectAbility, options: { anonymous: true }): ProjectRule<true>;
export function project(ability: ProjectAbility, options: { anonymous?: boolean } = {}): ProjectRule {
  return { kind: 'project', ability, anonymous: options.anonymous === true };
}

/** Whoever holds `ability` in the group that the path parameter `:id` names. */
export function group(ability: GroupAbility): GroupRule<false>;
export function group(ability: GroupAbility, options: { anonymous: true }): GroupRule<true>;
export function group(ability: GroupAbility, options: { anonymous?: boolean } = {}): GroupRule {
  return { kind: 'group', ability, anonymous: options.anonymous === true };
}

/** Whoever shows what `opens` takes for a credential, as `Authorization: Bearer`. */
export const otherCredential = <T, D>(opens: (shown: Shown, deps: D) => Promise<T>): OtherAccess<T> => ({
  kind: 'other',
  opens: opens as OtherAccess<T>['opens'],
});

/** Whether a rule is about something that may be hidden. */
export const aboutSubject = (rule: AccessRule): rule is SubjectRule =>
  rule.kind === 'project' || rule.kind === 'group';

/** Whether callers without a credential come in, as far as what they ask for is for everybody. */
export const mayBeAnonymous = (rule: AccessRule): boolean =>
  rule.kind === 'anyone' || (aboutSubject(rule) && rule.anonymous);

/**
 * The scopes of which a token needs one, when the endpoint names none: `api` does everything, `read_api` reads.
 * `extra` are scopes that a declaration adds, such as `read_user` or `read_repository`.
 */
export function scopesFor(method: string, extra: readonly TokenScope[] = []): readonly TokenScope[] {
  const read = method === 'GET' || method === 'HEAD';
  return [...new Set<TokenScope>(['api', ...(read ? (['read_api'] as const) : []), ...extra])];
}
