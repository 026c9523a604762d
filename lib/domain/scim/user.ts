import type { UserRecord } from '../../records/users.ts';
import type { ScimIdentity } from '../../store/scim/identities.ts';

/** Somebody as the provider and as the service know them. */
export interface ScimUser {
  readonly identity: ScimIdentity;
  readonly user: UserRecord;
}
