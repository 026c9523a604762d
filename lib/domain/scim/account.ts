/** Accounts of users provisioned by an identity provider. */
import { randomBytes } from 'node:crypto';
import type { GroupSso } from '../../records/group-sso.ts';
import type { GroupRecord } from '../../records/groups.ts';
import type { UserRecord } from '../../records/users.ts';
import { type Identity, identitiesOf, MAX_IDENTITIES } from '../../store/users/item.ts';
import { addressProblems } from '../accounts/sign-up-rules.ts';
import type { Deps } from '../deps.ts';
import { emailProblems, usernameProblems } from '../name-rules.ts';
import { nameProblems } from '../users/users.ts';
import type { ScimAttributes } from './attributes.ts';
import { PROVIDER } from './caller.ts';
import { badRequest, notUnique } from './errors.ts';

/**
 * Whether the account was created by the provider of this group, which then manages its name and address. Accounts that
 * existed before belong to their owners, and administrators manage theirs themselves.
 */
export const isManaged = (user: UserRecord, { id }: Pick<GroupRecord, 'id'>): boolean =>
  user.profile['provisioned_by_group_id'] === id && !user.admin && user.type === undefined;

/** Returns the user's identities with the given one at this group's provider; undefined: without one. @throws 409 */
export function identitiesWith(
  user: Pick<UserRecord, 'profile'>,
  { id }: Pick<GroupRecord, 'id'>,
  externUid: string | undefined,
): readonly Identity[] {
  const others = identitiesOf(user).filter(({ saml_provider_id }) => saml_provider_id !== id);
  if (externUid === undefined) return others;
  if (others.length >= MAX_IDENTITIES) throw notUnique('The account has too many identities');
  return [...others, { provider: PROVIDER, extern_uid: externUid, saml_provider_id: id }];
}

/** Whether the provider is trusted to confirm the address. */
export const isTrusted = ({ trustedDomains }: GroupSso, email: string): boolean =>
  trustedDomains.includes(email.slice(email.lastIndexOf('@') + 1).toLowerCase());

/** Returns the display name from the given attributes. */
export function fullNameOf(
  said: ScimAttributes,
  names: { readonly givenName: string | null; readonly familyName: string | null },
): string | undefined {
  const parts = said.givenName !== undefined || said.familyName !== undefined;
  const joined = parts ? [names.givenName, names.familyName].filter(Boolean).join(' ') : '';
  return said.formatted || joined || said.displayName || undefined;
}

/** IDs that cannot be used in a path: clients resolve dot segments, and the last one is the search endpoint. */
const UNREACHABLE: ReadonlySet<string> = new Set(['.', '..', '.search']);

/** @throws 400 `invalidValue` */
export function requireValidUser({
  externUid,
  email,
  name,
}: {
  externUid?: string | undefined;
  email?: string | undefined;
  name?: string | undefined;
}): void {
  const problems = [
    ...(externUid !== undefined && UNREACHABLE.has(externUid) ? ['externalId is invalid'] : []),
    ...(email === undefined ? [] : emailProblems(email).map((problem) => `emails ${problem}`)),
    ...(name === undefined ? [] : nameProblems(name).map((problem) => `name ${problem}`)),
  ];
  if (problems.length > 0) throw badRequest('invalidValue', problems.join('; '));
}

/** Checks that the instance allows the address. @throws 400 `invalidValue` */
export async function requireAllowedAddress(deps: Deps, email: string): Promise<void> {
  const problems = await addressProblems(deps, email);
  if (problems.length > 0)
    throw badRequest('invalidValue', problems.map((problem) => `emails ${problem}`).join('; '));
}

const LONGEST_USERNAME = 200;

/** Derives a username from the name at the provider. */
export function usernameOf(userName: string): string {
  const name = userName
    .replace(/(?<=.)@.*$/su, '')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9_.-]+/g, '-')
    .replace(/\.{2,}/g, '.')
    .slice(0, LONGEST_USERNAME)
    .replace(/^-+/, '')
    .replace(/(?:\.git|\.atom)+$/i, '')
    .replace(/[.-]+$/, '');
  return name === '' ? 'user' : name;
}

/** Returns the first of `alice`, `alice1`, ... that is free, or that only `own` has. */
export async function freeUsername(
  { store }: Deps,
  userName: string,
  own?: Pick<UserRecord, 'id'>,
): Promise<string> {
  const base = usernameOf(userName);
  const numbered = Array.from({ length: 9 }, (_, i) => `${base}${i + 1}`);
  const candidates = [base, ...numbered].filter((name) => usernameProblems(name).length === 0);
  const holders = await store.names.holders('path', candidates);
  const isFree = (holder: (typeof holders)[number]) =>
    holder === undefined || (holder.type === 'user' && holder.id === own?.id);
  const free = candidates.find((_, i) => isFree(holders[i]));
  return free ?? `${base}-${randomBytes(6).toString('hex')}`;
}
