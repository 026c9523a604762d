import type { InvitationRecord } from '../../records/invitations.ts';
import type { UserRecord } from '../../records/users.ts';
import type { OutboxMessage } from '../../store/outbox/outbox.ts';
import { mailMessage, oneLine } from '../mail/message.ts';

/** The page that a mailed link leads to. */
const PAGE = '/users/invitation';

/** What the address that is invited is sent, with the link to decline by. */
export const invitationMail = (
  { email, source }: InvitationRecord,
  inviter: UserRecord,
  fullPath: string,
  { baseUrl, token }: { readonly baseUrl: string; readonly token: string },
): OutboxMessage =>
  mailMessage({
    to: email,
    subject: `${inviter.name} invites you to ${fullPath}`,
    text: `${oneLine(inviter.name)} (@${inviter.username}) invites you to become a member of the ${source.kind} ${fullPath}.

You are one as soon as an account has this address and has confirmed it. To accept with the account you have, or to
decline, follow this link within two weeks:

${baseUrl}${PAGE}?invitation_token=${token}
`,
  });
