/**
 * Calls a hook, or the service of an integration. The order has all that is needed, so the function that runs it needs no
 * rights.
 */
import { inflateSync } from 'node:zlib';
import { parseAllowList } from './allow-list.ts';
import { OutboundError } from './errors.ts';
import { sendLines } from './lines.ts';
import { outboundRequest } from './request.ts';

/** The job of the queue `outbound` that carries out a {@link HookOrder}. */
export const CALL_HOOK_JOB = 'hook.call';
/** The job of the queue `maintenance` by which it reports what was answered. */
export const HOOK_CALLED_JOB = 'hook.called';

export interface HookOrder {
  readonly url: string;
  /** Default: POST. `LINES`: a connection to host and port of the URL, which is sent the payload and no HTTP. */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'LINES';
  readonly headers: Readonly<Record<string, string>>;
  /** What is sent: deflated, in base64. */
  readonly payload: string;
  /** How much of the answer is read, if it is more than usual. */
  readonly answerBytes?: number;
  readonly anyCertificate: boolean;
  /** Destinations allowed although not on the public internet: see `parseAllowList`. */
  readonly allow: string;
}

export interface HookOutcome {
  /** Null: there was no answer. */
  readonly status: number | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly milliseconds: number;
  readonly failure?: string;
}

/** Until the answer has ended, connecting included. */
const CALL_MS = 10_000;
/** How much of an answer is read. */
const MAX_ANSWER = 8 * 1024;
/** The same of an answer that the next call depends on. */
const LONGEST_ANSWER = 64 * 1024;
const MAX_HEADERS = 40;
const MAX_HEADER = 500;

/** Never throws. */
export async function callHook(order: HookOrder): Promise<HookOutcome> {
  const began = performance.now();
  const milliseconds = () => Math.round(performance.now() - began);
  const none = { headers: {}, body: '' } as const;
  const signal = AbortSignal.timeout(CALL_MS);
  const { method = 'POST' } = order;
  const limit = Math.min(order.answerBytes ?? MAX_ANSWER, LONGEST_ANSWER);
  try {
    const url = new URL(order.url);
    const policy = { allow: parseAllowList(order.allow) };
    const body = inflateSync(Buffer.from(order.payload, 'base64'));
    if (method === 'LINES') {
      await sendLines(url, body, policy, signal);
      return { status: 200, ...none, milliseconds: milliseconds() };
    }
    const [username, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
    const named = username !== '' || password !== '';
    const basic = Buffer.from(`${username}:${password}`).toString('base64');
    const answer = await outboundRequest(
      {
        method,
        url,
        headers: order.headers,
        ...(method === 'GET' ? {} : { body }),
        anyCertificate: order.anyCertificate,
        signal,
        ...(named ? { authorization: `Basic ${basic}` } : {}),
      },
      { maxBytes: Number.POSITIVE_INFINITY, headMs: CALL_MS, idleMs: CALL_MS },
      policy,
    );
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    try {
      for await (const piece of answer.body) {
        pieces.push(piece);
        bytes += piece.length;
        if (bytes >= limit) break;
      }
    } catch {
      // An answer that breaks off has a status all the same.
    }
    answer.close();
    return {
      status: answer.status,
      headers: headersOf(answer.headers),
      body: Buffer.concat(pieces).subarray(0, limit).toString('utf8'),
      milliseconds: milliseconds(),
    };
  } catch (error) {
    const failure = error instanceof OutboundError ? error.failure : 'bad-url';
    return { status: null, ...none, milliseconds: milliseconds(), failure };
  }
}

const headersOf = (headers: NodeJS.Dict<string | string[]>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .slice(0, MAX_HEADERS)
      .map(([name, value]) => [name.slice(0, 100), [value ?? ''].flat().join(', ').slice(0, MAX_HEADER)]),
  );
