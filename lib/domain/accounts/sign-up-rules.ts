/** Which e-mail addresses people may have here, and what new accounts are, as the instance's settings say. */
import { userPattern } from '../../regexp/user-pattern.ts';
import type { Deps } from '../deps.ts';
import type { InstanceSettings } from '../settings/current.ts';

/**
 * What is wrong with an address beyond its form: an allow list has every other domain refused; then come the domains
 * that are denied, unless they are allowed, and the expression of addresses that are.
 */
export async function addressProblems({ settings }: Deps, email: string): Promise<string[]> {
  const now = await settings.current();
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase();
  const listed = (patterns: readonly string[]) => patterns.some((pattern) => matches(pattern, domain));
  if (now.domain_allowlist.length > 0)
    return listed(now.domain_allowlist) ? [] : ['domain is not authorized for sign-up.'];
  if (now.domain_denylist_enabled && listed(now.domain_denylist)) return ['is not from an allowed domain.'];
  return now.email_restrictions_enabled && (await isRestricted(now.email_restrictions, email))
    ? ['is not allowed. Try again with a different email address, or contact your GitLab admin.']
    : [];
}

/** Whether a new account with this address is external when its creator does not say so. The pattern ignores case. */
export async function isExternalByDefault(settings: InstanceSettings, email: string): Promise<boolean> {
  const { user_default_external: external, user_default_internal_regex: internal } = settings;
  if (!external || !internal) return external;
  return (await userPattern(internal, { ignoreCase: true })).find(email) === undefined;
}

async function isRestricted(restrictions: string | null, email: string): Promise<boolean> {
  if (!restrictions) return false;
  const pattern = await userPattern(restrictions);
  // The pattern minds case, as the product's does, but capitals are no way around a restriction in small letters.
  return [email, email.toLowerCase()].some((text) => pattern.find(text) !== undefined);
}

/** A domain, or one with `*` for any characters, in time that does not depend on how many there are. */
function matches(pattern: string, domain: string): boolean {
  const [head = '', ...parts] = pattern.toLowerCase().split('*');
  if (!domain.startsWith(head)) return false;
  const tail = parts.pop();
  if (tail === undefined) return domain === head;
  let at = head.length;
  for (const part of parts) {
    const next = domain.indexOf(part, at);
    if (next < 0) return false;
    at = next + part.length;
  }
  return domain.length - tail.length >= at && domain.endsWith(tail);
}
