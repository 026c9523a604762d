import type { GroupRecord } from '../../records/groups.ts';
import type { MemberSource } from '../../records/members.ts';
import type { JobRecord } from '../../records/pipelines.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { TokenRecord, TokenScope } from '../../records/tokens.ts';
import type { UserRecord } from '../../records/users.ts';
import { annotate, goesBackTo } from '../../telemetry/correlation.ts';
import type { Actor, Credential, Origin, Viewer } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { DomainError, forbidden, notFound, unauthorized } from '../errors.ts';
import { exceedsAddressLimit, requireFewAddresses } from '../rate-limits/address-limit.ts';
import { readsAs } from '../rate-limits/long-reads.ts';
import { whileCounted } from '../rate-limits/request-counting.ts';
import type { Caller } from '../rate-limits/throttles.ts';
import { effectiveAccess, MembershipCache, type Resource } from './effective-level.ts';
import { OWNER } from './levels.ts';
import { type Located, locateGroup, locateProject } from './locate.ts';
import { accessAt, canSee, canSeeGroup } from './permissions.ts';
import { type Prefetch, Prefetched } from './prefetch.ts';
import { requireActive, tokenHash } from './token-check.ts';
import type { GroupAccess, OpenRequest, ProjectAccess, RequestContext } from './types.ts';

/**
 * Authenticates a request and checks that the caller may see its project or group, in two round trips: first the
 * token and the project or group (or its path); then the user, the memberships in the ancestor groups, what the
 * request prefetches of the repository and, if found by path, the record. A third round trip is needed where one of
 * these is shared with other groups or has just moved. `Sudo` costs further ones, for the other user.
 *
 * @param onReuse called when a request that rotates tokens is made with a revoked token
 * @throws 401 for an invalid credential, 403 for a blocked owner or a refused sudo, `404 Project Not Found` or
 *   `404 Group Not Found` for what is absent or hidden
 */
export async function openRequest(
  deps: Deps,
  request: OpenRequest,
  onReuse?: OnTokenReuse,
): Promise<RequestContext> {
  const { credential, admission } = request;
  const stranger = credential.kind === 'none' ? admission?.stranger : undefined;
  const [holder, project, group] = await whileCounted(admission, stranger, () =>
    Promise.all([
      credential.kind === 'none' ? undefined : holderOf(deps, credential, request, onReuse),
      request.project === undefined ? undefined : locateProject(deps, request.project),
      request.group === undefined ? undefined : locateGroup(deps, request.group),
      // Warms the cache: every request needs them.
      deps.settings.current(),
    ]),
  );

  let prefetched: ReturnType<typeof prefetch>;
  const ownerMemberships = new MembershipCache(deps);
  const token = holder?.token;
  const caller = holder && ({ kind: 'user', id: holder.userId } as const);
  const [owner, projectRecord, groupRecord, tooMany] = await whileCounted(admission, caller, () => {
    prefetched = project && prefetch(deps, project, request.prefetch);
    return Promise.all([
      holder && deps.store.users.get(holder.userId),
      project && (project.record ?? deps.store.projects.get(project.id)),
      group && (group.record ?? deps.store.groups.get(group.id)),
      holder !== undefined && exceedsAddressLimit(deps, holder.userId, request.origin?.address),
      project &&
        prefetchLevels(ownerMemberships, { kind: 'project', id: project.id }, project, holder?.userId),
      group && prefetchLevels(ownerMemberships, { kind: 'group', id: group.id }, group, holder?.userId),
      token && noteUse(deps, token),
    ]);
  });
  const signedInAs = holder === undefined ? undefined : actorOf(holder, owner);
  if (signedInAs !== undefined) requireFewAddresses(tooMany, signedInAs.user);
  const effective = await impersonated(deps, signedInAs ?? { kind: 'anonymous' }, request.sudo);
  const actor = request.origin === undefined ? effective : { ...effective, origin: request.origin };
  // The prefetched memberships are the token owner's.
  const memberships =
    actor.kind === 'user' && actor.sudoer !== undefined ? new MembershipCache(deps) : ownerMemberships;
  const opened = project && { ...(await openProject(actor, projectRecord, memberships)), ...prefetched };
  if (opened !== undefined) {
    const address = request.origin?.address ?? '';
    const reader = actor.kind === 'user' ? { kind: 'user', id: actor.user.id } : { kind: 'address', address };
    readsAs(deps, reader as Caller, opened.project.id);
  }
  return {
    actor,
    ...(opened && { project: opened }),
    ...(group && { group: await openGroup(actor, groupRecord, memberships) }),
  };
}

/** Starts the reads that a request prefetches, if the project exists. */
export function prefetch(
  deps: Deps,
  { id, record, repositoryId }: Located<ProjectRecord>,
  requested: Prefetch | undefined,
): Pick<ProjectAccess, 'prefetched'> | undefined {
  if (requested === undefined || repositoryId === undefined) return undefined;
  const defaultBranch = record?.defaultBranch ?? null;
  return { prefetched: new Prefetched(deps, { id, repositoryId, defaultBranch }, requested) };
}

/** Prefetches all that determines the level, except for shares of ancestors and pending moves. */
function prefetchLevels(
  memberships: MembershipCache,
  source: MemberSource,
  { record, ancestorIds }: Located<ProjectRecord | GroupRecord>,
  userId: number | undefined,
): Promise<void> {
  const shared = (record?.shares ?? []).map(({ groupId }) => groupId);
  const groups = [...new Set([...ancestorIds, ...shared])];
  const sources = groups.map((id) => ({ kind: 'group', id }) as const);
  return memberships.read(groups, [source, ...sources], userId);
}

async function openProject(
  actor: Actor,
  project: ProjectRecord | undefined,
  memberships: MembershipCache,
): Promise<ProjectAccess> {
  const access = project && (await projectAccess(actor, project, memberships));
  if (access === undefined || !canSee(actor, access)) throw notFound('Project');
  return access;
}

async function openGroup(
  actor: Actor,
  group: GroupRecord | undefined,
  memberships: MembershipCache,
): Promise<GroupAccess> {
  const access = group && (await groupAccess(actor, group, memberships));
  if (access === undefined || !canSeeGroup(actor, access)) throw notFound('Group');
  return access;
}

/**
 * Returns the project with the actor's level. The owner of a personal namespace owns the projects in it.
 * @returns undefined if an ancestor group is deleted
 */
export async function projectAccess(
  actor: Viewer,
  project: ProjectRecord,
  memberships: MembershipCache,
): Promise<ProjectAccess | undefined> {
  const access = await effectiveAccess(memberships, resourceOf(project), userOf(actor));
  if (access === undefined) return undefined;
  const owns = actor.kind === 'user' && project.namespaceKind === 'user' && project.ownerId === actor.user.id;
  return accessAt(actor, project, owns ? OWNER : access.level);
}

/** Returns the group with the actor's level in it. @returns undefined if an ancestor group is deleted */
export async function groupAccess(
  actor: Viewer,
  group: GroupRecord,
  memberships: MembershipCache,
): Promise<GroupAccess | undefined> {
  const { id, parentId, shares } = group;
  const effective = await effectiveAccess(
    memberships,
    { source: { kind: 'group', id }, parentId, shares },
    userOf(actor),
  );
  if (effective === undefined) return undefined;
  const access = { group, ...effective };
  if (actor.kind === 'anonymous' || canSeeGroup(actor, access)) return access;
  return { ...access, hasDescendantMembership: await memberships.isInside(id, actor.user.id) };
}

export const resourceOf = ({ id, namespaceKind, namespaceId, shares }: ProjectRecord): Resource => ({
  source: { kind: 'project', id },
  parentId: namespaceKind === 'group' ? namespaceId : null,
  shares,
});

const userOf = (actor: Viewer) => (actor.kind === 'user' ? actor.user.id : undefined);

/**
 * Records, once a day, that the token was used and its owner was active. Failures are ignored: functions that only
 * read have no write permission, and no request depends on it.
 */
async function noteUse({ store, now }: Deps, token: TokenRecord): Promise<void> {
  const at = now();
  const day = at.toISOString().slice(0, 10);
  if (token.lastUsedAt !== null && token.lastUsedAt >= day) return;
  await Promise.allSettled([store.tokens.touch(token, at), store.users.touch(token.userId, day)]);
}

/** Revokes the successor of a rotated token that is used again. */
export type OnTokenReuse = (token: TokenRecord, origin: Origin | undefined) => Promise<void>;

/** @throws 401 for an invalid credential; the request then counts as unauthenticated */
async function validToken(
  deps: Deps,
  credential: Exclude<Credential, { kind: 'none' }>,
  { admission, rotates, origin }: Pick<OpenRequest, 'admission' | 'rotates' | 'origin'> = {},
  onReuse?: OnTokenReuse,
): Promise<TokenRecord> {
  try {
    const token = await storedToken(deps, credential);
    // Reuse of a rotated token: one of its two holders is not the owner.
    if (token.revoked && rotates) await onReuse?.(token, origin);
    await requireActive(deps, token);
    return token;
  } catch (error) {
    if (error instanceof DomainError) await admission?.admit(admission.stranger);
    throw error;
  }
}

/** Whose a credential is: of a user's token, or of a running job. */
interface Holder {
  readonly userId: number;
  readonly token?: TokenRecord;
  readonly job?: JobRecord;
}

/** @throws 401 for an invalid credential; the request then counts as unauthenticated */
async function holderOf(
  deps: Deps,
  credential: Exclude<Credential, { kind: 'none' }>,
  request: Pick<OpenRequest, 'admission' | 'rotates' | 'origin'> = {},
  onReuse?: OnTokenReuse,
): Promise<Holder> {
  if (credential.kind !== 'token' || credential.via !== 'job-token') {
    const token = await validToken(deps, credential, request, onReuse);
    return { userId: token.userId, token };
  }
  const job = await deps.store.jobs.withToken(tokenHash(credential.token));
  if (job?.status === 'running') {
    goesBackTo(job.hookCall);
    return { userId: job.userId, job };
  }
  await request.admission?.admit(request.admission.stranger);
  throw unauthorized();
}

/** Returns the owner of a credential. @throws 401 if it is invalid */
export async function callerOf(
  deps: Deps,
  credential: Exclude<Credential, { kind: 'none' }>,
): Promise<Caller> {
  const { userId } = await holderOf(deps, credential);
  return { kind: 'user', id: userId };
}

async function storedToken(
  { store }: Deps,
  credential: Exclude<Credential, { kind: 'none' }>,
): Promise<TokenRecord> {
  const token =
    credential.kind === 'token'
      ? await store.tokens.byHash(tokenHash(credential.token))
      : await store.tokens.get(credential.id);
  if (token === undefined) throw unauthorized();
  return token;
}

const LOCKED_OUT: Partial<Record<UserRecord['state'], string>> = {
  blocked: 'Your account has been blocked.',
  banned: 'Your account has been blocked.',
  blocked_pending_approval:
    'Your account is pending approval from your administrator and hence blocked. Please contact your administrator if you think this is an error.',
  deactivated:
    'Your account has been deactivated by your administrator. Please log back in from a web browser to reactivate your account.',
};

function actorOf({ token, job }: Holder, user: UserRecord | undefined): Extract<Actor, { kind: 'user' }> {
  if (user === undefined) throw unauthorized();
  annotate({ user: user.id });
  const lockedOut = LOCKED_OUT[user.state];
  if (lockedOut !== undefined) throw forbidden(lockedOut);
  if (token !== undefined) return { kind: 'user', user, token, scopes: new Set(token.scopes) };
  // What a job runs is written by others too: it has none of an administrator's powers.
  return { kind: 'user', user: { ...user, admin: false }, scopes: new Set(['api']), ...(job && { job }) };
}

/** Returns the user whom an administrator impersonates with `Sudo`; needs a token with the scope `sudo`. */
async function impersonated(deps: Deps, actor: Actor, sudo: string | undefined): Promise<Actor> {
  if (sudo === undefined) return actor;
  if (actor.kind === 'anonymous') throw unauthorized();
  if (!actor.user.admin) throw forbidden('Must be admin to use sudo');
  if (!actor.scopes.has('sudo' satisfies TokenScope)) throw new DomainError('insufficient-scope', 'sudo');
  const user = /^\d+$/.test(sudo)
    ? Number.isSafeInteger(Number(sudo))
      ? await deps.store.users.get(Number(sudo))
      : undefined
    : await deps.store.users.byUsername(sudo);
  if (user === undefined)
    throw new DomainError('not-found', `404 User with ID or username '${sudo.slice(0, 255)}' Not Found`);
  annotate({ user: user.id, sudoer: actor.user.id });
  return { ...actor, user, sudoer: actor.user };
}
