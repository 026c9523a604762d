/** Single sign-on of top-level groups: its settings, and the token of the identity provider. */
import { randomBytes } from 'node:crypto';
import type { GroupSso } from '../../records/group-sso.ts';
import type { GroupRecord } from '../../records/groups.ts';
import { Missing, Stale } from '../../store/errors.ts';
import type { ScimToken } from '../../store/scim/tokens.ts';
import { signedIn } from '../access/permissions.ts';
import { tokenHash } from '../access/token-check.ts';
import type { GroupAccess } from '../access/types.ts';
import { type Actor, isAdministrator } from '../actor.ts';
import { type Audited, audited, auditedResource } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { conflict, forbidden, invalid, notFound, refused } from '../errors.ts';
import { problemsOf } from '../name-rules.ts';
import { hasSso } from '../scim/caller.ts';

export type GroupSsoInput = Partial<GroupSso>;

const UNSET: GroupSso = {
  enabled: false,
  enforced: false,
  gitCheckEnforced: false,
  ssoUrl: null,
  certificateFingerprint: null,
  defaultRole: 10,
  trustedDomains: [],
};

/** @throws 404 where it was never set up, or for a subgroup */
export function ssoOf({ group }: GroupAccess): GroupSso {
  if (group.parentId !== null || (group.sso ?? null) === null) throw notFound('SAML Provider');
  return group.sso!;
}

/**
 * Changes the given settings. While single sign-on is off, the identity provider has no access; the settings are kept.
 * @throws 400 by field; 403 for trusting a domain without being an administrator; 409 on a concurrent change
 */
export async function changeSso(
  deps: Deps,
  actor: Actor,
  { group }: GroupAccess,
  input: GroupSsoInput,
): Promise<GroupSso> {
  if (group.parentId !== null) throw refused('Single sign-on is set up for a top-level group');
  const previous = group.sso ?? UNSET;
  const next = { ...previous, ...input };
  if (!isSame(previous.trustedDomains, next.trustedDomains) && !isAdministrator(actor))
    throw forbidden('Only an administrator can trust email domains');
  const problems = problemsOf({
    sso_url: next.enabled && next.ssoUrl === null ? ["can't be blank"] : urlProblems(next.ssoUrl),
    certificate_fingerprint:
      next.certificateFingerprint === null || FINGERPRINT.test(next.certificateFingerprint)
        ? []
        : ['is invalid'],
    trusted_email_domains: next.trustedDomains.every((domain) => DOMAIN.test(domain)) ? [] : ['is invalid'],
  });
  if (problems !== undefined) throw invalid(problems);
  const changes = ATTRIBUTES.filter(([name]) => !isSame(previous[name], next[name]));
  const events = await Promise.all(
    changes.map(([name, called]) =>
      audited(deps, actor, {
        entity: auditedResource('Group', group),
        details: { change: called, from: shown(previous[name]), to: shown(next[name]) },
      }),
    ),
  );
  await groupUpdate(deps, group, { ...next }, events);
  return next;
}

/** Settings as in audit events. */
const ATTRIBUTES: readonly (readonly [keyof GroupSso, string])[] = [
  ['enabled', 'group SSO'],
  ['enforced', 'group SSO enforcement'],
  ['gitCheckEnforced', 'group SSO enforcement for Git'],
  ['ssoUrl', 'group SSO URL'],
  ['certificateFingerprint', 'group SSO certificate fingerprint'],
  ['defaultRole', 'group SSO default membership role'],
  ['trustedDomains', 'group SSO trusted e-mail domains'],
];

const shown = (value: GroupSso[keyof GroupSso]) =>
  Array.isArray(value) ? value.join(', ') : (value as string | number | boolean | null);

const isSame = (previous: unknown, next: unknown): boolean =>
  JSON.stringify(previous) === JSON.stringify(next);

async function groupUpdate(
  { store, now }: Deps,
  group: GroupRecord,
  sso: GroupSso,
  alongside: Awaited<ReturnType<typeof audited>>[],
): Promise<void> {
  try {
    await store.groups.update(group, { sso }, { now: now(), alongside });
  } catch (error) {
    if (error instanceof Missing) throw notFound('Group');
    throw error instanceof Stale ? conflict('409 Conflict: Resource lock') : error;
  }
}

/** SHA-1 or SHA-256, in pairs of hex with or without colons. */
const FINGERPRINT = /^[0-9a-f]{2}(?::?[0-9a-f]{2}){19}(?:(?::?[0-9a-f]{2}){12})?$/i;
const DOMAIN = /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$/;

function urlProblems(url: string | null): string[] {
  if (url === null) return [];
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol) ? [] : ['must be a valid URL'];
}

/** A token with its text, which is shown only once. */
export interface ToldScimToken {
  readonly token: ScimToken;
  readonly text: string;
}

/** Returns the current token, without its text. @throws 404 */
export async function scimTokenOf({ store }: Deps, { group }: GroupAccess): Promise<ScimToken> {
  const token = await store.scimTokens.ofGroup(group.id);
  if (token === undefined) throw notFound('SCIM Token');
  return token;
}

/**
 * Issues a token and revokes the former one with immediate effect.
 * @throws 400 where single sign-on is off; 403 for external users; 409 when another one was issued concurrently
 */
export async function issueScimToken(
  deps: Deps,
  actor: Actor,
  { group }: GroupAccess,
): Promise<ToldScimToken> {
  if (!hasSso(group)) throw refused('Single sign-on is not enabled for this group');
  // Provisioned users can see internal projects, which an external user must not gain access to.
  if (signedIn(actor).user.external) throw forbidden('An external user cannot issue a SCIM token');
  const text = `glsoat-${randomBytes(20).toString('base64url')}`;
  const token: ScimToken = {
    groupId: group.id,
    hash: tokenHash(text),
    createdAt: deps.now().toISOString(),
    createdById: signedIn(actor).user.id,
  };
  const previous = await deps.store.scimTokens.ofGroup(group.id);
  const message = previous === undefined ? 'Issued a SCIM token' : 'Replaced the SCIM token';
  await swapped(
    deps.store.scimTokens.issue(token, previous, {
      alongside: [await tokenEvent(deps, actor, group, message)],
    }),
  );
  return { token, text };
}

/** Effective at once. @throws 404, 409 as above */
export async function revokeScimToken(deps: Deps, actor: Actor, access: GroupAccess): Promise<void> {
  const previous = await scimTokenOf(deps, access);
  const event = await tokenEvent(deps, actor, access.group, 'Revoked the SCIM token');
  await swapped(deps.store.scimTokens.revoke(previous, { alongside: [event] }));
}

const tokenEvent = (deps: Deps, actor: Actor, group: GroupRecord, message: string) =>
  audited(deps, actor, {
    entity: auditedResource('Group', group),
    details: { custom_message: message } satisfies Audited['details'],
  });

async function swapped(write: Promise<void>): Promise<void> {
  try {
    await write;
  } catch (error) {
    throw error instanceof Stale ? conflict('409 Conflict: Resource lock') : error;
  }
}
