import type { AccessRequestRecord } from '../../lib/records/access-requests.ts';
import type { InvitationRecord } from '../../lib/records/invitations.ts';
import { REQUEST } from '../../lib/store/row-keys/access-requests.ts';
import {
  INVITE,
  invitationKey,
  inviteCountKey,
  invitedKey,
  inviteKey,
} from '../../lib/store/row-keys/invitations.ts';
import { idOf } from '../../lib/store/row-keys/key.ts';
import { memberKey } from '../../lib/store/row-keys/members.ts';
import { userKey } from '../../lib/store/row-keys/users.ts';
import { keyText, rowCheck } from './rows.ts';

/** Invitations are found by address and by link, and counted; nobody asks to be let in who is in. */
export const invitations = rowCheck(
  ['invitation', 'invitation-count', 'invited-address', 'invitation-link', 'access-request'],
  function* (rows) {
    const counted = new Map<string, number>();
    const found = new Set<string>();
    for (const row of [...rows.of('PROJECT#'), ...rows.of('GROUP#')]) {
      if (row.sk.startsWith(INVITE)) {
        const { source, email, hash } = row as unknown as InvitationRecord;
        if (keyText(inviteKey(source, email)) !== keyText(row))
          yield `an invitation stands at ${keyText(row)}`;
        for (const key of [invitedKey(source, email), invitationKey(hash)]) {
          found.add(keyText(key));
          if (rows.get(key) === undefined) yield `${keyText(row)} is not found by ${keyText(key)}`;
        }
        const count = keyText(inviteCountKey(source));
        counted.set(count, (counted.get(count) ?? 0) + 1);
      }
      if (row.sk.startsWith(REQUEST)) {
        const { source, userId } = row as unknown as AccessRequestRecord;
        if (idOf(row.sk) !== userId || rows.get(userKey(userId)) === undefined)
          yield `${keyText(row)} is of nobody`;
        if (rows.get(memberKey(source, userId))?.['expiresAt'] === null)
          yield `${keyText(row)} is of a member`;
      }
    }
    for (const row of [...rows.of('PROJECT#'), ...rows.of('GROUP#')]) {
      if (row.sk === 'INVITES' && row['n'] !== (counted.get(keyText(row)) ?? 0))
        yield `${keyText(row)} counts ${row['n']} of ${counted.get(keyText(row)) ?? 0}`;
    }
    for (const row of [...rows.of('INVITED#'), ...rows.of('INVITATION#')])
      if (!found.has(keyText(row))) yield `${keyText(row)} leads to no invitation`;
  },
);
