/** Sending mail, through SES. The only module that knows its SDK, so that only the function that sends carries it. */
import { SESv2Client, SendEmailCommand } from '@aws-sdk/client-sesv2';
import MailComposer from 'nodemailer/lib/mail-composer';
import { transports } from '../clients.ts';
import { MailDelayed, MailRefused, StoreUnavailable } from '../errors.ts';

export interface Mail {
  /** One address, without a name. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html?: string;
  /** Such as `References` or `List-Unsubscribe`. `From`, `To`, `Subject`, `Date` and `Message-ID` are not here. */
  readonly headers?: Readonly<Record<string, string>>;
  /** `<...@host>`: the same for the same mail, sent how often it may be. SES puts one of its own in its place. */
  readonly messageId?: string;
}

export class Mailer {
  readonly #client: SESv2Client;
  readonly #from: string;

  /** @param from an address, or `Name <address>`; SES must know it as one of ours */
  constructor(from: string, client = new SESv2Client({ maxAttempts: 4, ...transports().ses })) {
    this.#client = client;
    this.#from = from;
  }

  /** @throws MailRefused, MailDelayed; StoreUnavailable: then it may have been sent all the same */
  async send(mail: Mail): Promise<void> {
    const Data = await compose(this.#from, mail);
    try {
      await this.#client.send(
        new SendEmailCommand({ Destination: { ToAddresses: [mail.to] }, Content: { Raw: { Data } } }),
      );
    } catch (error) {
      const { name } = error as Error;
      if (name === 'BadRequestException') throw new MailRefused(error);
      if (THROTTLED.has(name)) throw new MailDelayed(error);
      // What else SES answers (a paused account, a sender it does not know) somebody can mend.
      throw new StoreUnavailable(true, error);
    }
  }
}

/** More than a second, or a day, may send. */
const THROTTLED: ReadonlySet<string> = new Set([
  'TooManyRequestsException',
  'ThrottlingException',
  'LimitExceededException',
]);

/** The message as it travels: headers are folded and encoded, and no text of ours can add one. */
async function compose(
  from: string,
  { to, subject, text, html, headers = {}, messageId }: Mail,
): Promise<Buffer> {
  return new MailComposer({
    from,
    // An object, which is not parsed: an address stays one address.
    to: { name: '', address: to },
    subject,
    text,
    ...(html === undefined ? {} : { html }),
    ...(messageId === undefined ? {} : { messageId }),
    headers: { 'Auto-Submitted': 'auto-generated', ...headers },
    // Nothing is read from files or URLs that a text might name.
    disableFileAccess: true,
    disableUrlAccess: true,
    newline: '\r\n',
  })
    .compile()
    .build();
}
