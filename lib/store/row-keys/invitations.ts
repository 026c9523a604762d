import type { MemberSource } from '../../records/members.ts';
import { folded, type Key, padded, wholeOrDigest } from './key.ts';
import { memberPartition } from './members.ts';

/** An invitation of an e-mail address. */
export const INVITE = 'INVITE#';

export const inviteKey = (source: MemberSource, email: string): Key => ({
  pk: memberPartition(source),
  sk: INVITE + wholeOrDigest(folded(email)),
});

/** Number of invitations; sorts after them. */
export const inviteCountKey = (source: MemberSource): Key => ({
  pk: memberPartition(source),
  sk: 'INVITES',
});

/** Invitations of an address. */
export const invitedPartition = (email: string): string => `INVITED#${wholeOrDigest(folded(email))}`;

export const invitedKey = ({ kind, id }: MemberSource, email: string): Key => ({
  pk: invitedPartition(email),
  sk: `${kind.toUpperCase()}#${padded(id)}`,
});

/** Maps the digest of a mailed link's token to its invitation. */
export const invitationKey = (hash: string): Key => ({ pk: `INVITATION#${hash}`, sk: 'INVITATION' });
