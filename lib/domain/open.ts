import type { MemberRecord, ProjectRecord, TokenRecord, TokenScope, UserRecord } from '../store/records.ts';
import type { Actor, Credential, Opened, OpenRequest, ProjectAccess } from './access.ts';
import type { Deps } from './deps.ts';
import { DomainError, forbidden, notFound, unauthorized } from './errors.ts';
import { canSee, OWNER } from './permissions.ts';
import { demandActive, tokenHash } from './tokens.ts';

/**
 * Decides who asks and what they may know, in two round trips: the token beside the project (or its path), then
 * the user, the membership and, found by path, the project. `Sudo` costs more: it names somebody else.
 *
 * @throws 401 for a credential that is not good, 403 for a locked-out owner or a refused sudo,
 *   `404 Project Not Found` for a project that is absent or hidden.
 */
export async function open(deps: Deps, request: OpenRequest): Promise<Opened> {
  const [token, found] = await Promise.all([
    request.credential.kind === 'none' ? undefined : knownToken(deps, request.credential),
    request.project === undefined ? undefined : locate(deps, request.project),
  ]);
  if (token !== undefined) demandActive(token, deps.now());

  const [owner, project, membership] = await Promise.all([
    token && deps.store.users.get(token.userId),
    found === undefined ? undefined : (found.project ?? deps.store.projects.get(found.id)),
    token && found && deps.store.members.get(found.id, token.userId),
    token && noteUse(deps, token),
  ]);
  const signedInAs = token === undefined ? undefined : actorOf(token, owner);
  const actor = await impersonated(deps, signedInAs ?? { kind: 'anonymous' }, request.sudo);
  if (request.project === undefined) return { actor };

  if (project === undefined) throw notFound('Project');
  const member =
    actor.kind === 'user' && actor.sudoer !== undefined
      ? await deps.store.members.get(project.id, actor.user.id)
      : membership;
  const access = projectAccess(actor, project, member);
  if (!canSee(actor, access)) throw notFound('Project');
  return { actor, project: access };
}

/** The level an actor holds: the owner of a personal namespace owns the projects in it. */
export function projectAccess(
  actor: Actor,
  project: ProjectRecord,
  member: MemberRecord | undefined,
): ProjectAccess {
  if (actor.kind === 'anonymous') return { project, level: 0 };
  if (project.namespaceKind === 'user' && project.ownerId === actor.user.id) return { project, level: OWNER };
  return { project, level: member?.accessLevel ?? 0 };
}

/**
 * Writes down, once a day, that the token was used and its owner was here. Functions that only read may not write
 * it, and no request hangs on it.
 */
async function noteUse({ store, now }: Deps, token: TokenRecord): Promise<void> {
  const at = now();
  const day = at.toISOString().slice(0, 10);
  if (token.lastUsedAt !== null && token.lastUsedAt >= day) return;
  await Promise.allSettled([store.tokens.touch(token, at), store.users.touch(token.userId, day)]);
}

async function knownToken(
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

/** Digits alone are an id; everything else is a full path, which has a slash. */
async function locate(deps: Deps, idOrPath: string): Promise<{ id: number; project?: ProjectRecord }> {
  if (/^\d+$/.test(idOrPath)) {
    const project = await deps.store.projects.get(Number(idOrPath));
    return { id: Number(idOrPath), ...(project === undefined ? {} : { project }) };
  }
  const holder = idOrPath.includes('/') ? await deps.store.names.holder('path', idOrPath) : undefined;
  // An id that no counter gives: what follows finds nothing there and takes as long as for a hidden project.
  return { id: holder?.type === 'project' ? holder.id : 0 };
}

const LOCKED_OUT: Partial<Record<UserRecord['state'], string>> = {
  blocked: 'Your account has been blocked.',
  banned: 'Your account has been blocked.',
  deactivated:
    'Your account has been deactivated by your administrator. Please log back in from a web browser to reactivate your account.',
};

function actorOf(token: TokenRecord, user: UserRecord | undefined): Extract<Actor, { kind: 'user' }> {
  if (user === undefined) throw unauthorized();
  const lockedOut = LOCKED_OUT[user.state];
  if (lockedOut !== undefined) throw forbidden(lockedOut);
  return { kind: 'user', user, token, scopes: new Set(token.scopes) };
}

/** The user an administrator asks in the name of. Only a token with the scope `sudo` may. */
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
  return { ...actor, user, sudoer: actor.user };
}
