import type { InvitationRecord } from '../../records/invitations.ts';
import type { UserRecord } from '../../records/users.ts';
import type { OutboxMessage } from '../../store/outbox/outbox.ts';
import { mailMessage, oneLine } from '../mail/message.ts';

/** Path of the page that the mailed link opens. */
const PAGE = '/users/invitation';

/** The mail to an invited address, with the link to accept or decline. */
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

You become a member as soon as an account with this email address has confirmed it. To accept with an existing account,
or to decline, follow this link within two weeks:

${baseUrl}${PAGE}?invitation_token=${token}
`,
  });
