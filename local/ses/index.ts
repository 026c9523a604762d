import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { ConnectionFailure, Faults } from '../s3/faults.ts';
import type { SdkRequestHandler } from '../s3/sdkTransport.ts';
import { readText } from '../sqs/index.ts';

/** A misbehaviour that the real service may show. A rule's `on` is the recipient. */
type SesFault =
  /** Answered with an error; nothing is sent. */
  | { kind: 'error'; code: 'TooManyRequestsException' | 'MessageRejected' | 'BadRequestException' }
  /** Sent, but the connection breaks before the answer. */
  | { kind: 'lostAnswer' };

/** The part of SES v2 that sends mail: each is a file. */
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

/** @param dir where mail goes: `<time>-<recipient>.eml`, as it would travel */
export function openSes({ dir }: { readonly dir: string }): EmbeddedSes {
  // Links in it let whoever reads them in.
  mkdirSync(dir, { recursive: true, mode: 0o700 });
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
    // Whoever waits for a mail never finds half of one.
    await rename(join(dir, `${name}.part`), join(dir, `${name}.eml`));
    if (fault?.kind === 'lostAnswer') throw new ConnectionFailure('lostAnswer');
    return { status: 200, headers: {}, body: { MessageId: id } };
  }

  return {
    requestHandler: {
      metadata: { handlerProtocol: 'http/1.1' },
      async handle({ method, path, body }) {
        const known = method === 'POST' && path === '/v2/email/outbound-emails';
        const answer = known
          ? await send(JSON.parse(readText(body)) as SendEmail)
          : failed('BadRequestException');
        return {
          response: {
            statusCode: answer.status,
            headers: { ...answer.headers, 'content-type': 'application/json' },
            body: Readable.from([Buffer.from(JSON.stringify(answer.body))]),
          },
        };
      },
      updateHttpClientConfig() {},
      httpHandlerConfigs: () => ({}),
      destroy() {},
    },
    faults,
  };
}

const failed = (code: keyof typeof STATUS) => ({
  status: STATUS[code],
  headers: { 'x-amzn-errortype': code },
  body: { message: code },
});
