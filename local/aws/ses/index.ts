import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { ConnectionFailure, Faults } from '../faults.ts';
import { requestHandler, type SdkRequestHandler, textOf } from '../request-handler.ts';

/** A failure that the real service may show. A rule's `on` is the recipient. */
export type SesFault =
  /** Answered with an error; nothing is sent. */
  | { kind: 'error'; code: 'TooManyRequestsException' | 'MessageRejected' | 'BadRequestException' }
  /** Sent, but the connection breaks before the answer. */
  | { kind: 'lostAnswer' };

/** SES v2, as far as SendEmail with raw content: each mail is a file. */
export interface EmbeddedSes {
  /** For `new SESv2Client({ requestHandler, ... })`. */
  requestHandler: SdkRequestHandler;
  faults: Faults<SesFault>;
}

interface SendEmail {
  readonly Destination?: { readonly ToAddresses?: readonly string[] };
  readonly Content?: { readonly Raw?: { readonly Data?: string } };
}

const STATUS = { TooManyRequestsException: 429, MessageRejected: 400, BadRequestException: 400 } as const;

/** @param dir where mails are stored, as `<time>-<recipient>-<id>.eml`: the bytes that SES would send */
export function openSes({ dir }: { readonly dir: string }): EmbeddedSes {
  // Mails contain links that grant access.
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  // Of a process that was killed as it wrote: it has acknowledged nothing, and the mail is sent again.
  for (const name of readdirSync(dir)) if (name.endsWith('.part')) rmSync(join(dir, name));
  const faults = new Faults<SesFault>();

  async function send(input: SendEmail) {
    const [to, ...others] = input.Destination?.ToAddresses ?? [];
    const data = input.Content?.Raw?.Data;
    if (to === undefined || others.length > 0 || data === undefined) return failed('BadRequestException');
    const fault = faults.take('SendEmail', to);
    if (fault?.kind === 'error') return failed(fault.code);
    const id = randomUUID();
    const time = new Date().toISOString().replaceAll(':', '-');
    const name = `${time}-${to.replace(/[^\w.@+-]/g, '_').slice(0, 100)}-${id.slice(0, 8)}`;
    await writeFile(join(dir, `${name}.part`), Buffer.from(data, 'base64'), { mode: 0o600 });
    // A reader of the directory never sees an incomplete mail.
    await rename(join(dir, `${name}.part`), join(dir, `${name}.eml`));
    if (fault?.kind === 'lostAnswer') throw new ConnectionFailure('lostAnswer');
    return { status: 200, headers: {}, body: { MessageId: id } };
  }

  return {
    requestHandler: requestHandler(async ({ method, path, body }) => {
      const known = method === 'POST' && path === '/v2/email/outbound-emails';
      const answer = known
        ? await send(JSON.parse(textOf(body)) as SendEmail)
        : failed('BadRequestException');
      return {
        response: {
          statusCode: answer.status,
          headers: { ...answer.headers, 'content-type': 'application/json' },
          body: Readable.from([Buffer.from(JSON.stringify(answer.body))]),
        },
      };
    }),
    faults,
  };
}

const failed = (code: keyof typeof STATUS) => ({
  status: STATUS[code],
  headers: { 'x-amzn-errortype': code },
  body: { message: code },
});
