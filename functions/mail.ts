import { currentAddress } from '../lib/domain/notifications/recipients.ts';
import { runMailJob } from '../lib/domain/worker/dispatch-mail.ts';
import { Mailer } from '../lib/store/mail/transport.ts';
import { deps } from './deps.ts';
import { worker } from './worker.ts';

let mailer: Mailer | undefined;

/** Sends mail. The log line of an error contains no text of a mail. */
export const handler = worker(
  (message) => {
    const { mailFrom } = deps().environment;
    if (mailFrom !== undefined) mailer ??= new Mailer(mailFrom);
    return runMailJob({ ...deps(), mailer, currentAddress }, message);
  },
  (error) => ({ error: (error as Error).name }),
);
