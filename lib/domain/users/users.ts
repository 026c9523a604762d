import { isInternal, type UserRecord } from '../../records/users.ts';
import type { Page, PageRequest } from '../../store/table/paging.ts';
import { sameName } from '../../store/table/unique-names.ts';
import type { Put } from '../../store/table/write.ts';
import { type Identity, identityName, identityNames } from '../../store/users/item.ts';
import type { UserQuery } from '../../store/users/list.ts';
import { userChangeError, userOfId } from '../accounts/accounts.ts';
import { hashPassword } from '../accounts/password-hash.ts';
import { addressProblems, isExternalByDefault } from '../accounts/sign-up-rules.ts';
import { type Actor, isAdministrator } from '../actor.ts';
import { type AuditAuthor, auditedUser, prepareAudited } from '../audit-events/event.ts';
import { type AvatarFile, type NewAvatar, newAvatar } from '../avatars/avatars.ts';
import type { Deps } from '../deps.ts';
import { confirmationOf } from '../emails/confirmation.ts';
import { forbidden, invalid } from '../errors.ts';
import { userEvent } from '../hook-events/records.ts';
import { prepareHooks } from '../hook-events/tell.ts';
import { addressConfirmed } from '../invitations/on-confirmed.ts';
import { emailProblems, MAX_NAME_LENGTH, problemsOf, usernameProblems } from '../name-rules.ts';
import { type PasswordResetLink, passwordResetLink } from './password-resets.ts';
import { passwordProblems } from './passwords.ts';
import { profileProblems } from './profile.ts';

export interface NewUserInput {
  readonly email: string;
  readonly name: string;
  readonly username: string;
  readonly password?: string | undefined;
  readonly resetPassword: boolean;
  readonly forceRandomPassword: boolean;
  readonly admin: boolean;
  /** Default: the instance's setting; also for the limit. */
  readonly external?: boolean | undefined;
  readonly privateProfile: boolean;
  readonly canCreateGroup: boolean;
  readonly projectsLimit?: number | undefined;
  readonly skipConfirmation: boolean;
  readonly profile: Readonly<Record<string, unknown>>;
  readonly avatar?: AvatarFile | null | undefined;
  /** Base URL of links in mails. */
  readonly baseUrl: string;
}

/**
 * Creates a user. With `resetPassword` a link to choose a password is sent.
 * @throws 409 for a taken email or username, 400 with problems by field
 */
export async function createUser(deps: Deps, author: AuditAuthor, input: NewUserInput): Promise<UserRecord> {
  const asked = !input.forceRandomPassword && !input.resetPassword;
  const chosen = asked ? (input.password ?? '') : undefined;
  const settings = await deps.settings.current();
  const { projectsLimit = settings.default_projects_limit } = input;
  const malformed = emailProblems(input.email);
  const problems = problemsOf({
    email: malformed.length > 0 ? malformed : await addressProblems(deps, input.email),
    name: nameProblems(input.name),
    username: usernameProblems(input.username),
    password: chosen === undefined ? [] : await passwordProblems(chosen, input, settings),
    projects_limit: projectsLimit < 0 ? ['must be greater than or equal to 0'] : [],
    ...profileProblems(input.profile),
  });
  if (problems !== undefined) throw invalid(problems);
  const external = input.external ?? (await isExternalByDefault(settings, input.email));
  const now = deps.now();
  const avatar = newAvatar(input.avatar);
  const invited = input.resetPassword ? passwordResetLink(deps, input.baseUrl) : undefined;
  const [event, tell, passwordHash] = await Promise.all([
    prepareAudited(deps, author),
    prepareHooks(deps, { actorId: null, baseUrl: input.baseUrl }),
    // Null never matches: an unknown random password needs no hash.
    chosen === undefined ? null : hashPassword(chosen),
  ]);
  const added = (id: number) => event({ entity: auditedUser({ ...input, id }), details: { add: 'user' } });
  try {
    return await deps.store.users.create(
      {
        username: input.username,
        name: input.name,
        email: input.email,
        state: 'active',
        admin: input.admin,
        external,
        privateProfile: input.privateProfile,
        // External users cannot create projects: they work where they are invited.
        canCreateGroup: input.canCreateGroup && !external,
        projectsLimit: external ? 0 : projectsLimit,
        confirmedAt: input.skipConfirmation ? now.toISOString() : null,
        lastActivityOn: null,
        passwordHash,
        profile: input.profile,
        ...(avatar && { avatar: avatar.avatar }),
        ...invited?.change,
      },
      {
        now,
        about: (id) => {
          const { alongside, messages } = welcome(deps, input, id, invited, avatar, added(id));
          const told = tell({ kind: 'system' }, [userEvent('create', { ...input, id })]);
          return { alongside, messages: [...messages, ...told] };
        },
      },
    );
  } catch (error) {
    throw userChangeError(error);
  }
}

/** Further writes and messages for a new user: audit event, avatar, confirmation mail unless skipped, and password link. */
function welcome(
  deps: Deps,
  input: NewUserInput,
  userId: number,
  invited: PasswordResetLink | undefined,
  avatar: NewAvatar | undefined,
  event: Put,
) {
  const asked = { userId, emailId: null, email: input.email };
  const confirmation = input.skipConfirmation ? undefined : confirmationOf(deps, asked, input.baseUrl);
  return {
    alongside: [
      event,
      ...(avatar?.writes({ kind: 'user', id: userId }) ?? []),
      ...(confirmation?.alongside ?? []),
      ...(invited === undefined ? [] : [invited.opens(userId)]),
    ],
    messages: [
      ...(confirmation?.messages ?? [addressConfirmed(input.email)]),
      ...(invited === undefined ? [] : [invited.mail(input)]),
    ],
  };
}

/** Lists users active since a date, by default within half a year; the least recent first. */
export function activeSince(
  { store, now }: Deps,
  day: string | undefined,
  request: PageRequest,
): Promise<Page<UserRecord>> {
  const since = new Date(now());
  since.setUTCMonth(since.getUTCMonth() - 6);
  return store.users.activeSince(day ?? since.toISOString().slice(0, 10), request);
}

/** @throws 403 for anonymous callers without a whole `username`, 404 */
export async function listUsers(
  deps: Deps,
  actor: Actor,
  query: UserQuery & {
    readonly username?: string;
    readonly identity?: Identity;
  },
): Promise<Page<UserRecord>> {
  const { username, identity } = query;
  if (actor.kind === 'anonymous') {
    const { restricted_visibility_levels: restricted } = await deps.settings.current();
    // If public visibility is restricted, users are not public either.
    if (username === undefined || restricted.includes('public'))
      throw forbidden('Not authorized to access /api/v4/users');
  }
  if (username !== undefined || identity !== undefined) {
    const { users } = deps.store;
    const user = await (username === undefined ? users.byIdentity(identity!) : users.byUsername(username));
    const fits =
      user !== undefined &&
      (identity === undefined || hasIdentity(user, identity)) &&
      (query.states?.includes(user.state) ?? true) &&
      (query.service !== false || !isInternal(user)) &&
      (query.where?.(user) ?? true);
    // Found by name; the other filters still apply.
    if (fits && (query.search !== undefined || query.attributes !== undefined))
      return users.list({ ...query, idAfter: user.id - 1, idBefore: user.id + 1 });
    const items = fits && query.page === 1 ? [user] : [];
    return { items, total: fits ? 1 : 0, more: false };
  }
  return deps.store.users.list(query);
}

/** @throws 403 for anonymous callers, 404 */
export async function getUser(deps: Deps, actor: Actor, id: number): Promise<UserRecord> {
  if (actor.kind === 'anonymous') throw forbidden('Not authorized!');
  return userOfId(deps, id);
}

const hasIdentity = (user: UserRecord, wanted: Identity): boolean =>
  identityNames(user).some((name) => sameName(name, identityName(wanted)));

/** Whether the actor sees the attributes reserved for administrators. */
export const seesAll = (actor: Actor): boolean => isAdministrator(actor);

export function nameProblems(name: string): string[] {
  if (name.trim() === '') return ["can't be blank"];
  return name.length > MAX_NAME_LENGTH ? ['is too long (maximum is 255 characters)'] : [];
}

/** Only administrators may search by identity. @throws 403 */
export function requireIdentitySearch(actor: Actor): void {
  if (!isAdministrator(actor)) throw forbidden();
}
