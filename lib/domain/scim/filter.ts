import { sameName } from '../../store/table/unique-names.ts';
import { isWork } from './attributes.ts';
import { badRequest } from './errors.ts';
import { type Comparison, NotReadable, parseComparisons } from './path.ts';
import type { ScimUser } from './user.ts';

/** A lookup of users. */
export interface ScimFilter {
  readonly by: 'externUid' | 'userName' | 'email';
  readonly value: string;
  /** Further conditions for the user found. */
  holds(user: ScimUser): boolean;
}

/**
 * Parses a filter of a list (RFC 7644, 3.4.2.2): comparisons by equality, one of which must be a lookup.
 * @throws 400 `invalidFilter`
 */
export function parseFilter(text: string): ScimFilter {
  const comparisons = comparisonsIn(text);
  const finding = comparisons.find((comparison) => lookup(comparison) !== undefined) ?? comparisons[0]!;
  const { path, value } = finding;
  const by = lookup(finding);
  if (by === undefined)
    throw badRequest('invalidFilter', 'filter: only id, externalId, userName and emails.value are supported');
  if (by !== 'email' && path.where !== undefined)
    throw badRequest('invalidFilter', 'filter: only emails is multi-valued');
  if (typeof value !== 'string') throw badRequest('invalidFilter', 'filter: a string is expected');
  const others = comparisons.filter((comparison) => comparison !== finding).map(test);
  return { by, value, holds: (user) => others.every((holds) => holds(user)) };
}

function comparisonsIn(text: string): readonly Comparison[] {
  try {
    return parseComparisons(text);
  } catch (error) {
    if (error instanceof NotReadable) throw badRequest('invalidFilter', `filter: ${error.message}`);
    throw error;
  }
}

/** Returns the lookup of a comparison, if it is one. */
function lookup({ path }: Comparison): ScimFilter['by'] | undefined {
  const { attribute, sub } = path;
  if (!isWork(path)) return undefined;
  if (attribute === 'emails') return sub === undefined || sub === 'value' ? 'email' : undefined;
  if (sub !== undefined) return undefined;
  if (attribute === 'id' || attribute === 'externalid') return 'externUid';
  return attribute === 'username' ? 'userName' : undefined;
}

/** Evaluates one comparison. @throws 400 for an unknown attribute */
function test({ path, value }: Comparison): (user: ScimUser) => boolean {
  const { attribute, sub } = path;
  const name = sub === undefined ? attribute : `${attribute}.${sub}`;
  const supported =
    Object.hasOwn(VALUES, name) && isWork(path) && (path.where === undefined || attribute === 'emails');
  if (!supported) throw badRequest('invalidFilter', `filter: ${name} is not supported`);
  const of = VALUES[name as keyof typeof VALUES];
  const exact = attribute === 'id' || attribute === 'externalid';
  return (user) => {
    const actual = of(user);
    if (typeof actual !== 'string') return actual === value;
    return typeof value === 'string' && (exact ? actual === value : sameName(actual, value));
  };
}

type Value = string | boolean | null;

/** What may be compared of who is found, as it is shown. */
const VALUES = {
  id: ({ identity }: ScimUser): Value => identity.externUid,
  externalid: ({ identity }: ScimUser): Value => identity.externUid,
  username: ({ identity }: ScimUser): Value => identity.userName,
  active: ({ identity }: ScimUser): Value => identity.active,
  emails: ({ identity }: ScimUser): Value => identity.email,
  'emails.value': ({ identity }: ScimUser): Value => identity.email,
  displayname: ({ identity }: ScimUser): Value => identity.displayName ?? null,
  'name.formatted': ({ user }: ScimUser): Value => user.name,
  'name.givenname': ({ identity }: ScimUser): Value => identity.givenName,
  'name.familyname': ({ identity }: ScimUser): Value => identity.familyName,
};
