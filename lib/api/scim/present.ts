import type { ScimCaller } from '../../domain/scim/caller.ts';
import type { ScimUser } from '../../domain/scim/find.ts';
import { LIST, USER } from './shapes.ts';

/** Where the resources of a group are. */
export const baseOf = ({ group, baseUrl }: ScimCaller): string =>
  `${baseUrl}/api/scim/v2/groups/${encodeURIComponent(group.fullPath)}`;

export const locationOf = (caller: ScimCaller, externUid: string): string =>
  `${baseOf(caller)}/Users/${encodeURIComponent(externUid)}`;

/** RFC 7643, 4.1: the address and the names are the provider's, the full name is the account's. */
export function user(caller: ScimCaller, { identity, user }: ScimUser) {
  const { externUid, givenName, familyName } = identity;
  return {
    schemas: [USER],
    id: externUid,
    externalId: externUid,
    userName: identity.userName,
    name: {
      formatted: user.name,
      ...(givenName === null ? {} : { givenName }),
      ...(familyName === null ? {} : { familyName }),
    },
    displayName: user.name,
    active: identity.active,
    emails: [{ type: 'work', value: identity.email, primary: true }],
    meta: {
      resourceType: 'User',
      created: identity.createdAt,
      lastModified: identity.updatedAt,
      location: locationOf(caller, externUid),
    },
  };
}

/** Which attributes the caller wants: RFC 7644, 3.9. */
export interface Wanted {
  readonly attributes?: string;
  readonly excludedAttributes?: string;
}

/** Whole attributes are chosen, by the first part of what is asked for; who it is is always told. */
export function chosen<T extends object>(resource: T, { attributes, excludedAttributes }: Wanted): object {
  const [only, without] = [namesIn(attributes), namesIn(excludedAttributes)];
  if (only === undefined && without === undefined) return resource;
  const kept = Object.entries(resource).filter(([name]) => {
    if (name === 'schemas' || name === 'id') return true;
    return only === undefined ? !without!.has(name.toLowerCase()) : only.has(name.toLowerCase());
  });
  return Object.fromEntries(kept);
}

function namesIn(list: string | undefined): ReadonlySet<string> | undefined {
  const names = (list ?? '').split(',').map((name) => name.trim().toLowerCase());
  const given = names.filter((name) => name !== '');
  const core = `${USER.toLowerCase()}:`;
  const first = (name: string) => (name.startsWith(core) ? name.slice(core.length) : name).split('.')[0]!;
  return given.length === 0 ? undefined : new Set(given.map(first));
}

/** RFC 7644, 3.4.2. */
export const list = (
  resources: readonly object[],
  { total = resources.length, startIndex = 1 }: { total?: number; startIndex?: number } = {},
) => ({
  schemas: [LIST],
  totalResults: total,
  itemsPerPage: resources.length,
  startIndex,
  Resources: resources,
});
