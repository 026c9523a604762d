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
  /** Whose name the sender has; and whose address, where that is in the domain of the configured sender. */
  readonly author?: { readonly name: string; readonly address?: string };
}

interface Sender {
  readonly name: string;
  readonly address: string;
}

export class Mailer {
  readonly #client: SESv2Client;
  readonly #from: Sender;

  /** @param from an address, or `Name <address>`; SES must have it as a verified sender */
  constructor(from: string, client = new SESv2Client({ maxAttempts: 4, ...transports().ses })) {
    this.#client = client;
    const [, name = '', address = from] = /^(?:([^<>]*) )?<([^<>]+)>$/.exec(from) ?? [];
    this.#from = { name, address };
  }

  /** @throws MailRefused, MailDelayed; StoreUnavailable: then the mail may have been sent nevertheless */
  async send(mail: Mail): Promise<void> {
    const { author } = mail;
    const own = { ...this.#from, ...(author === undefined ? {} : { name: author.name }) };
    const address = author?.address;
    const isNeighbour = address !== undefined && domainOf(address) === domainOf(own.address);
    if (!isNeighbour) return this.#send(own, mail);
    try {
      await this.#send({ ...own, address }, mail);
    } catch (error) {
      // Only the configured address is verified, and not its domain.
      if (!(error instanceof StoreUnavailable && (error.cause as Error).name === 'MessageRejected'))
        throw error;
      await this.#send(own, mail);
    }
  }

  async #send(from: Sender, mail: Mail): Promise<void> {
    const Data = await compose(from, mail);
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

const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1).toLowerCase();

/** Errors that mean that the sending rate (per second or per day) is exceeded. */
const THROTTLED: ReadonlySet<string> = new Set([
  'TooManyRequestsException',
  'ThrottlingException',
  'LimitExceededException',
]);

/** Builds the MIME message. Headers are folded and encoded, so that no text can add a header. */
async function compose(
  from: Sender,
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
