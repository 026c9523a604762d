/** The instance settings on email addresses of users and on defaults of new accounts. */
import { userPattern } from '../../regexp/user-pattern.ts';
import type { Deps } from '../deps.ts';
import type { InstanceSettings } from '../settings/current.ts';

/**
 * Problems with an address beyond its syntax. An allowlist rejects all other domains and ends the check; otherwise
 * the denylist applies, then the regular expression of restricted addresses.
 */
export async function addressProblems({ settings }: Deps, email: string): Promise<string[]> {
  const current = await settings.current();
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase();
  const listed = (patterns: readonly string[]) => patterns.some((pattern) => matches(pattern, domain));
  if (current.domain_allowlist.length > 0)
    return listed(current.domain_allowlist) ? [] : ['domain is not authorized for sign-up.'];
  if (current.domain_denylist_enabled && listed(current.domain_denylist))
    return ['is not from an allowed domain.'];
  return current.email_restrictions_enabled && (await isRestricted(current.email_restrictions, email))
    ? ['is not allowed. Try again with a different email address, or contact your GitLab admin.']
    : [];
}

/** Whether a new account with this address is external by default. The pattern ignores case. */
export async function isExternalByDefault(settings: InstanceSettings, email: string): Promise<boolean> {
  const { user_default_external: external, user_default_internal_regex: internal } = settings;
  if (!external || !internal) return external;
  return (await userPattern(internal, { ignoreCase: true })).find(email) === undefined;
}

async function isRestricted(restrictions: string | null, email: string): Promise<boolean> {
  if (!restrictions) return false;
  const pattern = await userPattern(restrictions);
  // The pattern is case-sensitive, as the original product's; capitals must not circumvent a lower-case restriction.
  return [email, email.toLowerCase()].some((text) => pattern.find(text) !== undefined);
}

/** Whether a domain matches a pattern with `*` for any characters. Linear time, without backtracking. */
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
