import type { MemberSource } from '../../records/members.ts';
import { folded, type Key, padded, wholeOrDigest } from './key.ts';
import { memberPartition } from './members.ts';

/** That an address is invited, whoever it may be. */
export const INVITE = 'INVITE#';

export const inviteKey = (source: MemberSource, email: string): Key => ({
  pk: memberPartition(source),
  sk: INVITE + wholeOrDigest(folded(email)),
});

/** How many of them there are; sorts behind them. */
export const inviteCountKey = (source: MemberSource): Key => ({
  pk: memberPartition(source),
  sk: 'INVITES',
});

/** What an address is invited to. */
export const invitedPartition = (email: string): string => `INVITED#${wholeOrDigest(folded(email))}`;

export const invitedKey = ({ kind, id }: MemberSource, email: string): Key => ({
  pk: invitedPartition(email),
  sk: `${kind.toUpperCase()}#${padded(id)}`,
});

/** Leads from the digest of a link's token to the invitation it was mailed with. */
export const invitationKey = (hash: string): Key => ({ pk: `INVITATION#${hash}`, sk: 'INVITATION' });
