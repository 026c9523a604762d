import { samlIdentityOf } from '../../domain/scim/group-identities.ts';
import type { MemberRecord } from '../../records/members.ts';
import type { UserRecord } from '../../records/users.ts';
import { publicEmail, userBasic } from '../users/present.ts';

/**
 * The user's basic fields with the membership's own (specification, document 3, §2).
 * @param signIn id of the group whose single sign-on identities are shown; undefined leaves the field out
 */
export function member(record: MemberRecord, user: UserRecord, baseUrl: string, signIn?: number) {
  const email = publicEmail(user);
  return {
    ...userBasic(user, baseUrl),
    ...(email === null ? {} : { email }),
    access_level: record.accessLevel,
    created_at: record.createdAt,
    expires_at: record.expiresAt,
    ...(signIn === undefined ? {} : { group_saml_identity: samlIdentityOf(user, signIn) ?? null }),
  };
}
