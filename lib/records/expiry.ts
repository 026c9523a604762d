/** Returns whether a membership has expired: it ends at the start of its expiry date, UTC. */
export const isExpired = (member: { readonly expiresAt: string | null }, now = new Date()): boolean =>
  member.expiresAt !== null && member.expiresAt <= now.toISOString().slice(0, 10);
