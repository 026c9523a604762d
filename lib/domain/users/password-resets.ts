/** Choosing a password by a mailed link: for users without a password, or whose password an administrator chose. */
import { randomBytes } from 'node:crypto';
import type { UserRecord } from '../../records/users.ts';
import type { OutboxMessage } from '../../store/outbox/outbox.ts';
import type { Write } from '../../store/table/write.ts';
import type { PasswordReset } from '../../store/users/password-resets.ts';
import { tokenHash } from '../access/token-check.ts';
import { changeUser } from '../accounts/accounts.ts';
import { hashPassword } from '../accounts/password-hash.ts';
import type { Actor } from '../actor.ts';
import { audited, auditedUser } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { DomainError, invalid, tooManyRequests } from '../errors.ts';
import { mailMessage, oneLine } from '../mail/message.ts';
import { problemsOf } from '../name-rules.ts';
import { subjectOf } from '../rate-limits/throttles.ts';
import { passwordMails } from './account-mail.ts';
import { passwordProblems } from './passwords.ts';

/** Lifetime of a link in hours. */
const RESET_HOURS = 6;

/** Limit per IP address, against guessing tokens. */
const LIMIT = { kind: 'password-reset', limit: 20, seconds: 60 };

export interface PasswordResetLink {
  /** Change of the user's record. */
  readonly change: { readonly passwordReset: PasswordReset };
  /** For the same transaction. */
  opens(userId: number): Write;
  mail(to: Pick<UserRecord, 'name' | 'username' | 'email'>): OutboxMessage;
}

/** Creates a link, which replaces the previous one. Only its digest is stored. */
export function passwordResetLink({ store, now }: Deps, baseUrl: string): PasswordResetLink {
  const token = randomBytes(20).toString('base64url');
  const expiresAt = new Date(now().getTime() + RESET_HOURS * 3_600_000).toISOString();
  const reset = { hash: tokenHash(token), expiresAt };
  const link = `${baseUrl}/users/password/edit?reset_password_token=${token}`;
  return {
    change: { passwordReset: reset },
    opens: (userId) => store.passwordResets.createWrite(userId, reset),
    mail: (to) => mailMessage({ to: to.email, subject: 'Choose a password', text: textOf(to, link) }),
  };
}

/**
 * Sets the password of the user to whom the link was sent. A link works once.
 * @throws 429 for too many attempts from an IP address; 404 for an invalid or expired link; 400 by field
 */
export async function choosePassword(
  deps: Deps,
  actor: Actor,
  input: { readonly token: string; readonly password: string; readonly sourceIp: string },
): Promise<UserRecord> {
  if (
    !(await deps.store.rateLimits.take(
      LIMIT,
      subjectOf({ kind: 'address', address: input.sourceIp }),
      deps.now(),
    ))
  )
    throw tooManyRequests('This endpoint has been requested too many times. Try again later.');
  const hash = tokenHash(input.token);
  const found = await deps.store.passwordResets.userOf(hash, deps.now());
  if (found === undefined) throw deadLink();
  const settings = await deps.settings.current();
  const problems = problemsOf({ password: await passwordProblems(input.password, found, settings) });
  if (problems !== undefined) throw invalid(problems);
  const passwordHash = await hashPassword(input.password);
  const changed = await changeUser(deps, found.id, async (user) => {
    const { passwordReset } = user;
    // It was used or replaced concurrently.
    if (passwordReset?.hash !== hash) throw deadLink();
    const change = { passwordHash, passwordExpired: false, passwordReset: null };
    const details = { entity: auditedUser(user), details: { change: 'password' } };
    const event = await audited(deps, actor, details);
    const alongside = [deps.store.passwordResets.removeWrite(passwordReset), event];
    return { change, alongside, messages: passwordMails(user, 'owner') };
  });
  return changed ?? found;
}

const deadLink = () => new DomainError('not-found', 'Reset password token is invalid or has expired');

const textOf = ({ name, username }: Pick<UserRecord, 'name' | 'username'>, link: string) =>
  `Hello ${oneLine(name)},

please choose a password for your account "${username}":

${link}

The link works once and expires in ${RESET_HOURS} hours. If you did not expect this mail, contact your administrator.
`;
