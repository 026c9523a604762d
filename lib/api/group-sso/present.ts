import { samlIdentityOf } from '../../domain/scim/group-identities.ts';
import type { GroupSso } from '../../records/group-sso.ts';
import type { GroupRecord } from '../../records/groups.ts';
import type { UserRecord } from '../../records/users.ts';
import type { ScimIdentity } from '../../store/scim/identities.ts';
import type { ScimToken } from '../../store/scim/tokens.ts';

const scimUrl = ({ fullPath }: GroupRecord, baseUrl: string): string =>
  `${baseUrl}/api/scim/v2/groups/${encodeURIComponent(fullPath)}`;

export const provider = (group: GroupRecord, sso: GroupSso, baseUrl: string) => ({
  id: group.id,
  group_id: group.id,
  enabled: sso.enabled,
  enforced_sso: sso.enforced,
  git_check_enforced: sso.gitCheckEnforced,
  sso_url: sso.ssoUrl,
  certificate_fingerprint: sso.certificateFingerprint,
  default_membership_role: sso.defaultRole,
  trusted_email_domains: sso.trustedDomains,
  scim_url: scimUrl(group, baseUrl),
});

export const token = ({ createdAt, createdById }: ScimToken, group: GroupRecord, baseUrl: string) => ({
  created_at: createdAt,
  created_by_id: createdById,
  scim_url: scimUrl(group, baseUrl),
});

export const scimIdentity = ({ externUid, userId, active }: ScimIdentity) => ({
  extern_uid: externUid,
  user_id: userId,
  active,
});

export const samlIdentity = (user: UserRecord, group: GroupRecord) => ({
  extern_uid: samlIdentityOf(user, group.id)!.extern_uid,
  user_id: user.id,
});
