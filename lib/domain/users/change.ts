import { isInternal, type UserRecord } from '../../records/users.ts';
import { sameName } from '../../store/table/unique-names.ts';
import { type Identity, identitiesOf, MAX_IDENTITIES } from '../../store/users/item.ts';
import type { UserChange } from '../../store/users/users.ts';
import { signedIn } from '../access/permissions.ts';
import { actorStaysAdministrator, changeUser, type PlannedChange } from '../accounts/accounts.ts';
import { isConfirmedEmail, withoutAddress } from '../accounts/addresses.ts';
import { hashPassword } from '../accounts/password-hash.ts';
import { addressProblems } from '../accounts/sign-up-rules.ts';
import type { Actor } from '../actor.ts';
import { type AuditAuthor, audited } from '../audit-events/event.ts';
import { type AvatarFile, newAvatar } from '../avatars/avatars.ts';
import type { Deps } from '../deps.ts';
import { confirmationOf } from '../emails/confirmation.ts';
import { conflict, forbidden, invalid, notFound } from '../errors.ts';
import { userEvent } from '../hook-events/records.ts';
import { tellHooks } from '../hook-events/tell.ts';
import { addressConfirmed } from '../invitations/on-confirmed.ts';
import { emailProblems, problemsOf, usernameProblems } from '../name-rules.ts';
import { helpNamespaceMove, namespaceMove, requireFreeUsername } from '../namespaces/rename.ts';
import { moverOf } from '../notifications/enqueue.ts';
import { addressMails, passwordMails } from './account-mail.ts';
import { auditedChange } from './audit.ts';
import { passwordResetLink } from './password-resets.ts';
import { passwordProblems } from './passwords.ts';
import { ownedEmailProblems, profileProblems } from './profile.ts';
import { nameProblems } from './users.ts';

/** Changes of an account by an administrator; absent attributes do not change. */
export interface UserChangeInput {
  readonly email?: string | undefined;
  /** Marks the new or current address as confirmed. */
  readonly skipConfirmation: boolean;
  /** Changes the address at once, without confirmation by a mailed link. */
  readonly skipReconfirmation: boolean;
  readonly name?: string | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  /** Sends a link to choose a password; the current one works until then. */
  readonly resetPassword: boolean;
  readonly forceRandomPassword: boolean;
  readonly admin?: boolean | undefined;
  readonly external?: boolean | undefined;
  readonly privateProfile?: boolean | undefined;
  readonly canCreateGroup?: boolean | undefined;
  readonly projectsLimit?: number | undefined;
  /** Replaces the identity at the same provider. */
  readonly identity?: Pick<Identity, 'provider' | 'extern_uid'> | undefined;
  readonly profile: Readonly<Record<string, unknown>>;
  readonly avatar?: AvatarFile | null | undefined;
  /** Base URL of links in mails. */
  readonly baseUrl: string;
}

/**
 * Changes an account. When username or name change, the projects of the personal namespace move too: the first before the
 * response, the others by a job.
 * @throws 404; 403 for the ghost user, and when the acting administrator would lose that role; 409 for a taken email or
 *   username, and while projects are still moving to the last username; 400 by field
 */
export async function changeAccount(
  deps: Deps,
  actor: Actor,
  id: number,
  input: UserChangeInput,
): Promise<UserRecord> {
  let moves = false;
  const changed = await changeUser(deps, id, async (user) => {
    if (isInternal(user)) throw forbidden('An internal user cannot be changed');
    if (input.admin === false && user.admin && signedIn(actor).user.id === id)
      throw forbidden('You cannot take the rights of an administrator from yourself');
    await demandSound(deps, user, input);
    const planned = await plan(deps, actor, user, input);
    moves = 'movedFrom' in planned.change;
    return planned;
  });
  if (changed === undefined) throw notFound('User');
  if (moves) await helpNamespaceMove(deps, id, moverOf(deps, actor));
  return changed;
}

/** @throws 400 by field */
async function demandSound(deps: Deps, user: UserRecord, input: UserChangeInput): Promise<void> {
  const { email, name, username, projectsLimit, identity, profile } = input;
  const owned = [profile['public_email'], profile['commit_email']].some((address) => address !== undefined)
    ? await isConfirmedEmail(deps, user)
    : () => false;
  const settings = await deps.settings.current();
  const others = identitiesOf(user).filter(({ provider }) => provider !== identity?.provider);
  const problems = problemsOf({
    email: email === undefined ? [] : await newEmailProblems(deps, user, email),
    name: name === undefined ? [] : nameProblems(name),
    username: username === undefined || username === user.username ? [] : usernameProblems(username),
    password:
      newPassword(input) === undefined
        ? []
        : await passwordProblems(newPassword(input)!, { ...user, ...named(input) }, settings),
    projects_limit: (projectsLimit ?? 0) < 0 ? ['must be greater than or equal to 0'] : [],
    identities: identity !== undefined && others.length >= MAX_IDENTITIES ? ['are too many'] : [],
    ...profileProblems(profile),
    public_email: ownedEmailProblems(profile['public_email'], owned),
    commit_email: ownedEmailProblems(profile['commit_email'], owned),
  });
  if (problems !== undefined) throw invalid(problems);
}

/** The current address, in any case, is always allowed. */
async function newEmailProblems(deps: Deps, user: UserRecord, email: string): Promise<string[]> {
  const malformed = emailProblems(email);
  return malformed.length > 0 || sameName(email, user.email) ? malformed : addressProblems(deps, email);
}

async function plan(
  deps: Deps,
  actor: Actor,
  user: UserRecord,
  input: UserChangeInput,
): Promise<PlannedChange> {
  const { external = user.external, admin = user.admin } = input;
  const password = newPassword(input);
  const invited = input.resetPassword ? passwordResetLink(deps, input.baseUrl) : undefined;
  if (input.username !== undefined) await requireFreeUsername(deps, user, input.username);
  const move = namespaceMove(deps, user, named(input), moverOf(deps, actor));
  const address = await newAddress(deps, user, input);
  const avatar = newAvatar(input.avatar);
  const gives = address.change.email !== undefined && !sameName(address.change.email, user.email);
  const kept = gives ? withoutAddress(user.profile, user.email) : user.profile;
  const change: UserChange = {
    ...named(input),
    ...address.change,
    admin,
    external,
    ...(await limits(deps, user, input, external)),
    ...(input.privateProfile === undefined ? {} : { privateProfile: input.privateProfile }),
    ...(input.forceRandomPassword ? { passwordHash: null } : {}),
    ...(password === undefined
      ? {}
      : {
          passwordHash: await hashPassword(password),
          passwordExpired: signedIn(actor).user.id !== user.id,
          // The holder of a pending link could undo the change.
          passwordReset: null,
        }),
    ...invited?.change,
    ...(avatar && { avatar: avatar.avatar }),
    profile: { ...kept, ...input.profile, ...identified(user, input) },
    ...move.change,
  };
  const events = auditedChange(user, change, input.resetPassword);
  const after = { ...user, ...change };
  const told =
    after.username === user.username
      ? []
      : await tellHooks(deps, actor, { kind: 'system' }, [userEvent('rename', after, user.username)]);
  return {
    change,
    alongside: [
      ...(await Promise.all(events.map((event) => audited(deps, actor, event)))),
      ...move.alongside,
      ...address.alongside,
      ...(avatar?.writes({ kind: 'user', id: user.id }) ?? []),
      ...(invited === undefined ? [] : [invited.opens(user.id)]),
      ...(user.admin && !admin ? actorStaysAdministrator(deps, actor, user) : []),
    ],
    messages: [
      ...told,
      ...move.messages,
      ...address.messages,
      ...(invited === undefined ? [] : [invited.mail({ ...user, ...change })]),
      ...('passwordHash' in change
        ? passwordMails(user, signedIn(actor).user.id === user.id ? 'owner' : 'administrator')
        : []),
    ],
  };
}

/**
 * Changes the address at once if confirmation is skipped or only the case changes; else when the new address is confirmed
 * by the mailed link. @throws 409 when it is taken
 */
async function newAddress(
  deps: Deps,
  user: UserRecord,
  input: UserChangeInput,
): Promise<Required<Omit<PlannedChange, 'lastHereOn'>>> {
  const { email } = input;
  if (email === undefined || email === user.email) {
    const confirmed = input.skipConfirmation && user.confirmedAt === null;
    const change = confirmed ? { confirmedAt: deps.now().toISOString() } : {};
    return { change, alongside: [], messages: confirmed ? [addressConfirmed(user.email)] : [] };
  }
  if (input.skipReconfirmation || sameName(email, user.email)) {
    const confirmed = input.skipReconfirmation ? { confirmedAt: deps.now().toISOString() } : {};
    const messages = [
      ...(input.skipReconfirmation ? [addressConfirmed(email)] : []),
      ...(sameName(email, user.email) ? [] : addressMails(user, email, 'now')),
    ];
    return { change: { email, unconfirmedEmail: null, ...confirmed }, alongside: [], messages };
  }
  if ((await deps.store.names.holder('email', email)) !== undefined)
    throw conflict('Email has already been taken');
  const asked = { userId: user.id, emailId: null, email };
  const { alongside, messages } = confirmationOf(deps, asked, input.baseUrl);
  return {
    change: { unconfirmedEmail: email },
    alongside,
    messages: [...messages, ...addressMails(user, email, 'confirmed')],
  };
}

const named = ({ name, username }: UserChangeInput) => ({
  ...(name === undefined ? {} : { name }),
  ...(username === undefined ? {} : { username }),
});

const newPassword = ({ password, resetPassword, forceRandomPassword }: UserChangeInput) =>
  resetPassword || forceRandomPassword ? undefined : password;

/**
 * A user who becomes external can create neither projects nor groups; a limit that is set later stays. A user who is no
 * longer external gets the defaults of new users.
 */
async function limits({ settings }: Deps, user: UserRecord, input: UserChangeInput, external: boolean) {
  if (external && !user.external) return { canCreateGroup: false, projectsLimit: 0 };
  const projectsLimit = (await settings.current()).default_projects_limit;
  const fallback = user.external && !external ? { canCreateGroup: true, projectsLimit } : user;
  return {
    canCreateGroup: input.canCreateGroup ?? fallback.canCreateGroup,
    projectsLimit: input.projectsLimit ?? fallback.projectsLimit,
  };
}

function identified(user: UserRecord, { identity }: UserChangeInput): { identities?: Identity[] } {
  if (identity === undefined) return {};
  const others = identitiesOf(user).filter(({ provider }) => provider !== identity.provider);
  return { identities: [...others, { ...identity, saml_provider_id: null }] };
}

/** @throws 404 `404 User Not Found`, `404 Identity Not Found` */
export async function removeIdentity(
  deps: Deps,
  author: AuditAuthor,
  id: number,
  provider: string,
): Promise<void> {
  await changeUser(deps, id, async (user) => {
    const identities = identitiesOf(user).filter((identity) => identity.provider !== provider);
    if (identities.length === identitiesOf(user).length) throw notFound('Identity');
    const change = { profile: { ...user.profile, identities } };
    const events = auditedChange(user, change, false);
    const alongside = await Promise.all(events.map((event) => audited(deps, author, event)));
    return { change, alongside };
  });
}
