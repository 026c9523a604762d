/**
 * Sends mail through SES. The only module that imports its SDK, so that only the function that sends mail bundles it.
 */
import { SESv2Client, SendEmailCommand } from '@aws-sdk/client-sesv2';
import MailComposer from 'nodemailer/lib/mail-composer';
import { transports } from '../clients.ts';
import { MailDelayed, MailRefused, StoreUnavailable } from '../errors.ts';

export interface Mail {
  /** One address, without a display name. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html?: string;
  /**
   * Additional headers such as `References` or `List-Unsubscribe`; not `From`, `To`, `Subject`, `Date`, `Message-ID`.
   */
  readonly headers?: Readonly<Record<string, string>>;
  /** `<...@host>`: the same for each attempt to send the same mail. SES replaces it with one of its own. */
  readonly messageId?: string;
}

export class Mailer {
  readonly #client: SESv2Client;
  readonly #from: string;

  /** @param from an address, or `Name <address>`; SES must have it as a verified sender */
  constructor(from: string, client = new SESv2Client({ maxAttempts: 4, ...transports().ses })) {
    this.#client = client;
    this.#from = from;
  }

  /** @throws MailRefused, MailDelayed; StoreUnavailable: then the mail may have been sent nevertheless */
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
      // Every other error of SES (a paused account, an unknown sender) can be fixed by an operator: retry later.
      throw new StoreUnavailable(true, error);
    }
  }
}

/** Errors that mean that the sending rate (per second or per day) is exceeded. */
const THROTTLED: ReadonlySet<string> = new Set([
  'TooManyRequestsException',
  'ThrottlingException',
  'LimitExceededException',
]);

/** Builds the MIME message. Headers are folded and encoded, so that no text can add a header. */
async function compose(
  from: string,
  { to, subject, text, html, headers = {}, messageId }: Mail,
): Promise<Buffer> {
  return new MailComposer({
    from,
    // An object is not parsed, so one address always remains one address.
    to: { name: '', address: to },
    subject,
    text,
    ...(html === undefined ? {} : { html }),
    ...(messageId === undefined ? {} : { messageId }),
    headers: { 'Auto-Submitted': 'auto-generated', ...headers },
    // Prevents that files or URLs named in a text are read.
    disableFileAccess: true,
    disableUrlAccess: true,
    newline: '\r\n',
  })
    .compile()
    .build();
}
