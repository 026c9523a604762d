import type { UserRecord } from '../../records/users.ts';
import { type Audited, auditedUser } from '../audit-events/event.ts';

/** Audit details of a change of a user's address. */
export const auditedEmail = (
  what: Audited['details'],
  owner: Pick<UserRecord, 'id' | 'username'>,
  address: string,
): Audited => ({
  entity: auditedUser(owner),
  details: { ...what, target_id: address, target_type: 'Email', target_details: address },
});
