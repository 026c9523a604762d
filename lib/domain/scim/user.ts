import type { UserRecord } from '../../records/users.ts';
import type { ScimIdentity } from '../../store/scim/identities.ts';

/** A user with the identity at the provider. */
export interface ScimUser {
  readonly identity: ScimIdentity;
  readonly user: UserRecord;
}
