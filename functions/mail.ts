import { sendMail } from '../lib/domain/mail/send.ts';
import { currentAddress } from '../lib/domain/notifications/recipients.ts';
import { Mailer } from '../lib/store/mail/transport.ts';
import { deps } from './deps.ts';
import { worker } from './worker.ts';

let mailer: Mailer | undefined;

/** Sends mail. What is written down of an error has no text of a mail in it. */
export const handler = worker(
  (message) => {
    const { mailFrom } = deps().environment;
    if (mailFrom !== undefined) mailer ??= new Mailer(mailFrom);
    return sendMail(deps(), mailer, message, currentAddress);
  },
  (error) => ({ error: (error as Error).name }),
);
