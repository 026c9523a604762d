import { currentAddress } from '../lib/domain/notifications/recipients.ts';
import { runMailJob } from '../lib/domain/worker/dispatch-mail.ts';
import { Mailer } from '../lib/store/mail/transport.ts';
import { deps, perClients } from './deps.ts';
import { worker } from './worker.ts';

const mailer = perClients(() => {
  const { mailFrom } = deps().environment;
  return mailFrom === undefined ? undefined : new Mailer(mailFrom);
});

/** Sends mail. The log line of an error contains no text of a mail. */
export const handler = worker(
  (message) => runMailJob({ ...deps(), mailer: mailer(), currentAddress }, message),
  (error) => ({ error: (error as Error).name }),
);
