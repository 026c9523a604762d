/** Returns whether a membership, share, invitation or token has expired: it ends at the start of its expiry date, UTC. */
export const isExpired = (record: { readonly expiresAt: string | null }, now = new Date()): boolean =>
  record.expiresAt !== null && record.expiresAt <= now.toISOString().slice(0, 10);
