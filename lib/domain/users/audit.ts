/** Audit events of the changes of an account, one per changed attribute. */

import type { UserRecord } from '../../records/users.ts';
import { sameName } from '../../store/table/unique-names.ts';
import { identitiesOf, identityNames } from '../../store/users/item.ts';
import type { UserChange } from '../../store/users/users.ts';
import { type Audited, auditedUser } from '../audit-events/event.ts';
import { auditedEmail } from '../emails/audit.ts';

type Details = Audited['details'];

/** @param asked whether a link to choose a password is sent */
export function auditedChange(user: UserRecord, change: UserChange, asked: boolean): Audited[] {
  const entity = auditedUser(user);
  const changedUser = { ...user, ...change };
  const changed = (name: keyof UserRecord, called: string): Details[] =>
    changedUser[name] === user[name]
      ? []
      : [
          {
            change: called,
            from: (user[name] ?? null) as Details[string],
            to: changedUser[name] as Details[string],
          },
        ];
  const details: Details[] = [
    ...changed('email', 'email address'),
    ...(change.unconfirmedEmail ? changed('unconfirmedEmail', 'unconfirmed email address') : []),
    ...changed('username', 'username'),
    ...changed('name', 'name'),
    ...changed('admin', 'admin status'),
    ...changed('external', 'external status'),
    // A password change is recorded without any detail.
    ...('passwordHash' in change && changedUser.passwordHash !== user.passwordHash
      ? [{ change: 'password' }]
      : []),
    ...(asked ? [{ custom_message: 'Ask for password reset' }] : []),
    ...identityChanges(user, changedUser),
  ];
  return [
    ...details.map((details) => ({ entity, details })),
    ...(user.confirmedAt === null &&
    changedUser.confirmedAt !== null &&
    sameName(changedUser.email, user.email)
      ? [auditedEmail({ custom_message: 'Confirmed email' }, user, changedUser.email)]
      : []),
  ];
}

function identityChanges(previous: UserRecord, next: Pick<UserRecord, 'profile'>): Details[] {
  const [had, has] = [identityNames(previous), identityNames(next)];
  const addressEvents = (
    action: 'add' | 'remove',
    of: Pick<UserRecord, 'profile'>,
    others: readonly string[],
  ) =>
    identitiesOf(of)
      .filter((_, at) => !others.includes(identityNames(of)[at]!))
      .map(({ provider, extern_uid }) => ({
        [action]: 'identity',
        target_id: extern_uid,
        target_type: 'Identity',
        target_details: provider,
      }));
  return [...addressEvents('remove', previous, has), ...addressEvents('add', next, had)];
}
