import type { GroupSso } from '../../records/group-sso.ts';
import type { GroupRecord } from '../../records/groups.ts';
import type { Check } from '../../store/table/write.ts';
import { locateGroup } from '../access/locate.ts';
import { tokenHash } from '../access/token-check.ts';
import type { Credential, Origin } from '../actor.ts';
import type { AuditAuthor } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { notFound, unauthorized } from '../errors.ts';

/** The name of a group's provider in a user's identities. */
export const PROVIDER = 'group_saml';

/** The identity provider of a group, as the caller of a request. */
export interface ScimCaller {
  readonly group: GroupRecord;
  readonly sso: GroupSso;
  /** Digest of its token; absent when an owner acts instead of the provider. */
  readonly hash?: string;
  readonly author: AuditAuthor;
  /** Public base URL without a trailing slash. */
  readonly baseUrl: string;
}

/**
 * Authenticates an identity provider, in two round trips. Without a valid token nothing is disclosed about groups, and
 * with one only about its own group.
 * @param shown.groupPath full path or ID of the group
 * @throws 401 for an invalid token; 404 for a group other than the token's, or without single sign-on
 */
export async function openScim(
  deps: Deps,
  shown: {
    readonly credential: Credential;
    readonly groupPath: string;
    readonly origin: Origin;
    readonly baseUrl: string;
  },
): Promise<ScimCaller> {
  const { credential, groupPath, origin, baseUrl } = shown;
  if (credential.kind !== 'token' || credential.via !== 'bearer') throw unauthorized();
  const { store } = deps;
  const hash = tokenHash(credential.token);
  const [groupId, located] = await Promise.all([
    store.scimTokens.groupOf(hash),
    locateGroup(deps, groupPath),
    deps.settings.current(),
  ]);
  if (groupId === undefined) throw unauthorized();
  const group = located.id === groupId ? (located.record ?? (await store.groups.get(groupId))) : undefined;
  if (group === undefined || !hasSso(group)) throw notFound('Group');
  const author: AuditAuthor = {
    kind: 'requester',
    authorId: -1,
    name: `SCIM of ${group.fullPath}`,
    authorClass: 'ScimToken',
    ...(origin.address === undefined ? {} : { address: origin.address }),
  };
  return { group, sso: group.sso, hash, author, baseUrl };
}

export type GroupWithSso = GroupRecord & { readonly sso: GroupSso };

/** Single sign-on belongs to top-level groups; it is off while a group is a subgroup. */
export const hasSso = (group: GroupRecord): group is GroupWithSso =>
  group.parentId === null && group.deletedAt === null && group.sso?.enabled === true;

/** Transaction condition: the caller still has access. */
export const stillMay = ({ store }: Deps, { group, hash }: ScimCaller): Check[] => [
  store.scimIdentities.isOn(group.id),
  ...(hash === undefined ? [] : [store.scimTokens.isInForce(hash)]),
];
