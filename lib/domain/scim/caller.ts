import type { GroupSso } from '../../records/group-sso.ts';
import type { GroupRecord } from '../../records/groups.ts';
import type { Check } from '../../store/table/write.ts';
import { locateGroup } from '../access/locate.ts';
import { tokenHash } from '../access/token-check.ts';
import type { Credential, Origin } from '../actor.ts';
import type { AuditAuthor } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { notFound, unauthorized } from '../errors.ts';

/** How the provider of a group is called among a user's identities. */
export const PROVIDER = 'group_saml';

/** The identity provider of a group, at work. */
export interface ScimCaller {
  readonly group: GroupRecord;
  readonly sso: GroupSso;
  /** Digest of the token it showed; absent: somebody acts in its place. */
  readonly hash?: string;
  readonly author: AuditAuthor;
  /** Public base URL without a trailing slash. */
  readonly baseUrl: string;
}

/**
 * Two round trips. Whoever shows no token of any group learns nothing of groups, and who shows that of one group
 * nothing of the others.
 * @param shown.groupPath full path of the group, or its id
 * @throws 401 for a token that is not in force; 404 for a group that is not the token's, or has no single sign-on
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
    address: origin.address,
  };
  return { group, sso: group.sso, hash, author, baseUrl };
}

export type GroupWithSso = GroupRecord & { readonly sso: GroupSso };

/** Single sign-on is of outermost groups: one that was put into another has none as long as it is there. */
export const hasSso = (group: GroupRecord): group is GroupWithSso =>
  group.parentId === null && group.deletedAt === null && group.sso?.enabled === true;

/** For a transaction: who asks still may. */
export const stillMay = ({ store }: Deps, { group, hash }: ScimCaller): Check[] => [
  store.scimIdentities.isOn(group.id),
  ...(hash === undefined ? [] : [store.scimTokens.isInForce(hash)]),
];
