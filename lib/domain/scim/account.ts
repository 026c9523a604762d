/** The accounts behind people whom an identity provider knows. */
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
 * Whether the account was made for this group, whose provider says what it is called and where it gets mail. Accounts
 * that were there before are their owners', and administrators' are nobody else's.
 */
export const isManaged = (user: UserRecord, { id }: Pick<GroupRecord, 'id'>): boolean =>
  user.profile['provisioned_by_group_id'] === id && !user.admin && user.type === undefined;

/** Their identities with the one at this group's provider as it is to be; undefined: none. @throws 409 */
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

/** Whether an address is taken as confirmed because the provider names it. */
export const isTrusted = ({ trustedDomains }: GroupSso, email: string): boolean =>
  trustedDomains.includes(email.slice(email.lastIndexOf('@') + 1).toLowerCase());

/** What somebody is called, as far as it was said. */
export function fullNameOf(
  said: ScimAttributes,
  names: { readonly givenName: string | null; readonly familyName: string | null },
): string | undefined {
  const parts = said.givenName !== undefined || said.familyName !== undefined;
  const joined = parts ? [names.givenName, names.familyName].filter(Boolean).join(' ') : '';
  return said.formatted || joined || said.displayName || undefined;
}

/** Ids that no path leads to: clients take steps out of paths before they ask, and the last searches. */
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

/** Whether people may have the address here. @throws 400 `invalidValue` */
export async function requireAllowedAddress(deps: Deps, email: string): Promise<void> {
  const problems = await addressProblems(deps, email);
  if (problems.length > 0)
    throw badRequest('invalidValue', problems.map((problem) => `emails ${problem}`).join('; '));
}

const LONGEST_USERNAME = 200;

/** What a username becomes of the name that somebody signs in with at the provider. */
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

/** The first of `alice`, `alice1`, ... that nobody has, or only `own`. */
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
