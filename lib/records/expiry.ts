/** A membership is over at the start of the day it names, UTC. */
export const isExpired = (member: { readonly expiresAt: string | null }, now = new Date()): boolean =>
  member.expiresAt !== null && member.expiresAt <= now.toISOString().slice(0, 10);
