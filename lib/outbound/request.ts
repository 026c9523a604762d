/**
 * HTTP requests to URLs given by users. The host is resolved once, all its addresses are checked, and the connection is
 * pinned to one of those addresses, so that a name that resolves differently a moment later (DNS rebinding) has no
 * effect. Every redirect is checked and pinned again.
 */
import {
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  Agent as PlainAgent,
  request as plainRequest,
} from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { parseAddress } from './address.ts';
import {
  type DestinationPolicy,
  hostOf,
  mayConnect,
  portOf,
  type ResolvedAddress,
  resolveDestination,
} from './destination.ts';
import { OutboundError, type OutboundFailure } from './errors.ts';

export interface OutboundLimits {
  /** Maximum bytes of the response body. */
  readonly maxBytes: number;
  /** Milliseconds until the response headers are received, including connecting. Default 30,000. */
  readonly headMs?: number;
  /** Milliseconds without a byte of the body. Default 30,000. */
  readonly idleMs?: number;
  /** Default 0. */
  readonly maxRedirects?: number;
}

export interface OutboundRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent to the first server, and with redirects as long as {@link mayForwardCredentials} allows it. */
  readonly authorization?: string | undefined;
  readonly body?: Uint8Array;
  /** Whether any certificate is good enough. */
  readonly anyCertificate?: boolean;
  /** Aborts the request, and the body. */
  readonly signal?: AbortSignal;
}

export interface OutboundResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The URL after the last redirect. */
  readonly url: URL;
  /** Must be read or closed. @throws OutboundError `too-large`, `timeout`, `unreachable` */
  readonly body: AsyncIterable<Uint8Array>;
  /** Discards the rest of the body. */
  close(): void;
}

/** @throws OutboundError */
export async function outboundRequest(
  wanted: OutboundRequest,
  limits: OutboundLimits,
  policy: DestinationPolicy,
): Promise<OutboundResponse> {
  let { url, authorization } = wanted;
  for (let left = limits.maxRedirects ?? 0; ; left--) {
    const response = await requestOnce({ ...wanted, url, authorization }, limits, policy);
    const target = redirectOf(response);
    if (target === undefined) return response;
    response.close();
    // A body is never sent to another server.
    if (left <= 0 || wanted.method !== 'GET') throw new OutboundError('redirects');
    if (!mayForwardCredentials(url, target)) authorization = undefined;
    url = target;
  }
}

/** Whether credentials for one URL may be sent to another: same server, or the same one upgraded to TLS. */
export function mayForwardCredentials(from: URL, to: URL): boolean {
  if (from.origin === to.origin) return true;
  const upgraded =
    from.protocol === 'http:' && to.protocol === 'https:' && from.port === '' && to.port === '';
  return upgraded && from.hostname === to.hostname;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

function redirectOf({ status, headers, url }: OutboundResponse): URL | undefined {
  if (!REDIRECTS.has(status)) return undefined;
  const target = URL.parse(headers.location ?? '', url);
  if (headers.location === undefined || target === null) throw new OutboundError('redirects');
  target.username = '';
  target.password = '';
  target.hash = '';
  return target;
}

async function requestOnce(
  wanted: OutboundRequest,
  limits: OutboundLimits,
  policy: DestinationPolicy,
): Promise<OutboundResponse> {
  const { headMs = 30_000 } = limits;
  const late = AbortSignal.timeout(headMs);
  const signal = wanted.signal === undefined ? late : AbortSignal.any([late, wanted.signal]);
  const addresses = await orAborted(resolveDestination(wanted.url, policy), signal);
  const head = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = begin(wanted, addresses);
    const end = () => request.destroy(new OutboundError('timeout'));
    signal.addEventListener('abort', end, { once: true });
    request.once('error', (error) => reject(asOutbound(error)));
    request.once('response', (answer) => {
      signal.removeEventListener('abort', end);
      resolve(answer);
    });
    watchConnection(request, wanted.url, addresses, policy);
    if (signal.aborted) end();
    else request.end(wanted.body);
  });
  return {
    status: head.statusCode ?? 0,
    headers: head.headers,
    url: wanted.url,
    body: bounded(head, limits, wanted.signal),
    close: () => head.destroy(),
  };
}

function begin(wanted: OutboundRequest, addresses: readonly ResolvedAddress[]): ClientRequest {
  const { url, method, body, authorization, anyCertificate } = wanted;
  const secure = url.protocol === 'https:';
  // A separate agent, so that connections are not shared and no proxy of the environment is used.
  const agent = secure
    ? new SecureAgent({ keepAlive: false, rejectUnauthorized: anyCertificate !== true })
    : new PlainAgent({ keepAlive: false });
  return (secure ? secureRequest : plainRequest)({
    agent,
    method,
    host: hostOf(url),
    port: portOf(url),
    path: `${url.pathname}${url.search}`,
    headers: {
      'User-Agent': 'git/lemnos',
      ...wanted.headers,
      ...(body === undefined ? {} : { 'Content-Length': String(body.length) }),
      ...(authorization === undefined ? {} : { Authorization: authorization }),
    },
    lookup: pinned(addresses),
    maxHeaderSize: 32 * 1024,
  });
}

/** A lookup function that always returns the checked addresses. */
function pinned(addresses: readonly ResolvedAddress[]): LookupFunction {
  return (_host, options, callback) => {
    if (options.all === true) callback(null, [...addresses]);
    else callback(null, addresses[0]!.address, addresses[0]!.family);
  };
}

/** Checks the remote address before any byte is sent, so that the check does not depend on how Node connects. */
function watchConnection(
  request: ClientRequest,
  url: URL,
  addresses: readonly ResolvedAddress[],
  policy: DestinationPolicy,
): void {
  request.once('socket', (socket) => {
    const check = () => {
      const address = parseAddress(socket.remoteAddress ?? '');
      const known = addresses.some((one) => sameAddress(one.address, socket.remoteAddress));
      if (known && address !== undefined && mayConnect(hostOf(url), address, portOf(url), policy)) return;
      request.destroy(new OutboundError('blocked'));
    };
    if (socket.connecting) socket.once('connect', check);
    else check();
  });
}

function sameAddress(one: string, other: string | undefined): boolean {
  const known = parseAddress(one);
  return known !== undefined && known.text === parseAddress(other ?? '')?.text;
}

async function* bounded(
  head: IncomingMessage,
  { maxBytes, idleMs = 30_000 }: OutboundLimits,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  const end = () => head.destroy(new OutboundError('timeout'));
  head.setTimeout(idleMs, end);
  signal?.addEventListener('abort', end, { once: true });
  let bytes = 0;
  try {
    if (signal?.aborted === true) throw new OutboundError('timeout');
    for await (const piece of head as AsyncIterable<Uint8Array>) {
      bytes += piece.length;
      if (bytes > maxBytes) throw new OutboundError('too-large');
      yield piece;
    }
  } catch (error) {
    throw asOutbound(error);
  } finally {
    signal?.removeEventListener('abort', end);
    head.destroy();
  }
}

const FAILURES: Readonly<Record<string, OutboundFailure>> = { ETIMEDOUT: 'timeout' };

function asOutbound(error: unknown): OutboundError {
  if (error instanceof OutboundError) return error;
  const code = (error as { code?: string }).code ?? '';
  const failure = /CERT|TLS|SSL|UNABLE_TO|SELF_SIGNED|EPROTO/.test(code)
    ? 'tls'
    : (FAILURES[code] ?? 'unreachable');
  return new OutboundError(failure, { cause: error });
}

function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = () => reject(new OutboundError('timeout'));
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', end));
  });
}
