import type { ScimCaller } from '../../domain/scim/caller.ts';
import type { ScimUser } from '../../domain/scim/user.ts';
import { LIST, USER } from './shapes.ts';

/** Base URL of the SCIM resources of a group. */
export const baseOf = ({ group, baseUrl }: ScimCaller): string =>
  `${baseUrl}/api/scim/v2/groups/${encodeURIComponent(group.fullPath)}`;

export const locationOf = (caller: ScimCaller, externUid: string): string =>
  `${baseOf(caller)}/Users/${encodeURIComponent(externUid)}`;

/** A user (RFC 7643, 4.1). All values are the provider's, except the full name, which is the account's. */
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
    ...((identity.displayName ?? null) === null ? {} : { displayName: identity.displayName }),
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

/** The attributes to return (RFC 7644, 3.9): a list of names, or one string of names separated by commas. */
export interface AttributeSelection {
  readonly attributes?: string | readonly string[];
  readonly excludedAttributes?: string | readonly string[];
}

/** Keeps the selected attributes and sub-attributes; `schemas` and `id` are always kept. */
export function selectAttributes(
  resource: Readonly<Record<string, unknown>>,
  selection: AttributeSelection,
): object {
  const [only, without] = [namesIn(selection.attributes), namesIn(selection.excludedAttributes)];
  if (only === undefined && without === undefined) return resource;
  const selected = Object.entries(resource).flatMap(([name, value]) => {
    if (name === 'schemas' || name === 'id') return [[name, value] as const];
    const subs = (only ?? without!).get(name.toLowerCase());
    if (subs === undefined) return only === undefined ? [[name, value] as const] : [];
    if (subs === WHOLE) return only === undefined ? [] : [[name, value] as const];
    const part = partOf(value, (sub) => subs.has(sub.toLowerCase()) === (only !== undefined));
    return part === undefined ? [] : [[name, part] as const];
  });
  return Object.fromEntries(selected);
}

const WHOLE = 'whole';
type Names = ReadonlyMap<string, ReadonlySet<string> | typeof WHOLE>;

/** Attribute names in lower case, each with its named sub-attributes, or `WHOLE` when it is named itself. */
function namesIn(list: string | readonly string[] | undefined): Names | undefined {
  const names = [list ?? []].flat().flatMap((name) => name.split(','));
  const cleaned = names.map((name) => name.trim().toLowerCase()).filter((name) => name !== '');
  if (cleaned.length === 0) return undefined;
  const core = `${USER.toLowerCase()}:`;
  const found = new Map<string, Set<string> | typeof WHOLE>();
  for (const name of cleaned) {
    const [attribute = '', sub] = (name.startsWith(core) ? name.slice(core.length) : name).split('.');
    const previous = found.get(attribute);
    if (sub === undefined) found.set(attribute, WHOLE);
    else if (previous !== WHOLE) found.set(attribute, (previous ?? new Set()).add(sub));
  }
  return found;
}

/** Keeps sub-attributes of a complex attribute, or of each value of a multi-valued one; undefined when none is left. */
function partOf(value: unknown, keep: (sub: string) => boolean): unknown {
  if (Array.isArray(value)) {
    const parts = value.map((one) => partOf(one, keep)).filter((one) => one !== undefined);
    return parts.length === 0 ? undefined : parts;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const selected = Object.entries(value).filter(([sub]) => keep(sub));
  return selected.length === 0 ? undefined : Object.fromEntries(selected);
}

/** A list response (RFC 7644, 3.4.2). */
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
