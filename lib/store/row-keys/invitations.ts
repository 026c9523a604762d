import type { MemberSource } from '../../records/members.ts';
import { folded, type Key, padded, wholeOrDigest } from './key.ts';
import { memberPartition } from './members.ts';
import type { RowKind } from './row-kind.ts';

/** An invitation of an email address. */
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

export const rowKinds = [
  { name: 'invitation', partitions: ['PROJECT#', 'GROUP#'], keys: { inviteKey }, of: ['project', 'group'] },
  {
    name: 'invitation-count',
    partitions: ['PROJECT#', 'GROUP#'],
    keys: { inviteCountKey },
    of: ['project', 'group'],
  },
  { name: 'invited-address', partitions: ['INVITED#'], keys: { invitedKey }, of: ['project', 'group'] },
  {
    name: 'invitation-link',
    partitions: ['INVITATION#'],
    keys: { invitationKey },
    of: ['project', 'group'],
    expires: true,
  },
] as const satisfies readonly RowKind[];
