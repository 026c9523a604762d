import { NameTaken } from '../store/errors.ts';
import type { Page } from '../store/paging.ts';
import type { UserRecord } from '../store/records.ts';
import type { UserQuery } from '../store/users.ts';
import type { Actor } from './access.ts';
import type { Deps } from './deps.ts';
import { conflict, forbidden, invalid, notFound } from './errors.ts';
import { hashPassword, MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from './passwords.ts';
import { emailProblems, MAX_NAME_LENGTH, problemsOf, usernameProblems } from './paths.ts';
import { isAdministrator } from './permissions.ts';

export const DEFAULT_PROJECTS_LIMIT = 100_000;

export interface NewUserInput {
  readonly email: string;
  readonly name: string;
  readonly username: string;
  readonly password?: string | undefined;
  readonly resetPassword: boolean;
  readonly forceRandomPassword: boolean;
  readonly admin: boolean;
  readonly external: boolean;
  readonly privateProfile: boolean;
  readonly canCreateGroup: boolean;
  readonly projectsLimit: number;
  readonly skipConfirmation: boolean;
  readonly profile: Readonly<Record<string, unknown>>;
}

/** @throws 409 naming a taken e-mail or username, 400 with problems by field */
export async function createUser(deps: Deps, input: NewUserInput): Promise<UserRecord> {
  const chosen = input.forceRandomPassword || input.resetPassword ? undefined : input.password;
  const problems = problemsOf({
    email: emailProblems(input.email),
    name: nameProblems(input.name),
    username: usernameProblems(input.username),
    password: chosen === undefined ? [] : passwordProblems(chosen),
    projects_limit: input.projectsLimit < 0 ? ['must be greater than or equal to 0'] : [],
  });
  if (problems !== undefined) throw invalid(problems);
  const now = deps.now();
  try {
    return await deps.store.users.create(
      {
        username: input.username,
        name: input.name,
        email: input.email,
        state: 'active',
        admin: input.admin,
        external: input.external,
        privateProfile: input.privateProfile,
        // External users have no place of their own: they work where they are invited.
        canCreateGroup: input.canCreateGroup && !input.external,
        projectsLimit: input.external ? 0 : input.projectsLimit,
        confirmedAt: input.skipConfirmation ? now.toISOString() : null,
        lastActivityOn: null,
        // Null signs nobody in: a password that nobody knows needs no hash.
        passwordHash: chosen === undefined ? null : await hashPassword(chosen),
        profile: input.profile,
      },
      { now },
    );
  } catch (error) {
    if (!(error instanceof NameTaken)) throw error;
    throw conflict(
      error.names.includes('email') ? 'Email has already been taken' : 'Username has already been taken',
    );
  }
}

/** @throws 403 for anonymous callers without a whole `username`, 404 */
export async function listUsers(
  deps: Deps,
  actor: Actor,
  query: UserQuery & { username?: string },
): Promise<Page<UserRecord>> {
  if (query.username !== undefined) {
    const user = await deps.store.users.byUsername(query.username);
    const fits =
      user !== undefined && (query.states?.includes(user.state) ?? true) && (query.where?.(user) ?? true);
    const items = fits && query.page === 1 ? [user] : [];
    return { items, total: fits ? 1 : 0, more: false };
  }
  if (actor.kind === 'anonymous') throw forbidden('Not authorized to access /api/v4/users');
  return deps.store.users.list(query);
}

/** @throws 403 for anonymous callers, 404 */
export async function getUser(deps: Deps, actor: Actor, id: number): Promise<UserRecord> {
  if (actor.kind === 'anonymous') throw forbidden('Not authorized!');
  const user = await deps.store.users.get(id);
  if (user === undefined) throw notFound('User');
  return user;
}

/** Whether the actor gets the administrators' view. */
export const seesAll = (actor: Actor): boolean => isAdministrator(actor);

function nameProblems(name: string): string[] {
  if (name.trim() === '') return ["can't be blank"];
  return name.length > MAX_NAME_LENGTH ? ['is too long (maximum is 255 characters)'] : [];
}

function passwordProblems(password: string): string[] {
  if (password === '') return ["can't be blank"];
  if (password.length < MIN_PASSWORD_LENGTH) {
    return [`is too short (minimum is ${MIN_PASSWORD_LENGTH} characters)`];
  }
  return password.length > MAX_PASSWORD_LENGTH
    ? [`is too long (maximum is ${MAX_PASSWORD_LENGTH} characters)`]
    : [];
}

/** Identities at a provider are for administrators to look for. @throws 403 */
export function demandIdentitySearch(actor: Actor): void {
  if (!isAdministrator(actor)) throw forbidden();
}
