/** Checks the destination of a call: first its URL, then every address of its host. */
import { lookup } from 'node:dns/promises';
import { type Address, parseAddress } from './address.ts';
import type { AllowList } from './allow-list.ts';
import { OutboundError } from './errors.ts';
import { isMetadataAddress, isMetadataName } from './metadata-address.ts';
import { isPublic } from './public-address.ts';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

export type Resolver = (host: string) => Promise<readonly { address: string }[]>;

export interface DestinationPolicy {
  readonly allow: AllowList;
  /** Default: the system's. Called once per host of a call. */
  readonly resolve?: Resolver;
}

/** Longer than any URL that works elsewhere. */
export const MAX_URL_LENGTH = 2048;

/**
 * Checks a URL without a DNS query. IP addresses are recognized in every notation (the URL parser knows them all:
 * `0x7f.1`, `2130706433`, `０１７７.1`).
 * @returns why it may not be called, as a message for the user; undefined when it may
 */
export function urlProblem(url: URL, { allow }: Pick<DestinationPolicy, 'allow'>): string | undefined {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'Only allowed schemes are http, https';
  const host = hostOf(url);
  const port = portOf(url);
  const address = parseAddress(host);
  if (address === undefined ? isMetadataName(host) : isMetadataAddress(address)) return NOT_LOCAL;
  const permitted = address === undefined ? allow.names(host, port) : allow.permits(host, address, port);
  if (permitted) return undefined;
  if (port !== 80 && port !== 443 && port < 1024) return 'Only allowed ports are 80, 443, and any over 1024';
  if (address !== undefined) return isPublic(address) ? undefined : NOT_LOCAL;
  if (host === '') return 'URI is invalid';
  const loopback = LOOPBACK.some((one) => allow.permits(host, one, port));
  return /(^|\.)localhost$/.test(host) && !loopback ? NOT_LOCAL : undefined;
}

/**
 * Resolves and checks the addresses of a URL's host. All of them may be connected to. The connection must use these
 * addresses and not resolve the host again.
 * @throws OutboundError `bad-url`, `blocked`
 */
export async function resolveDestination(
  url: URL,
  policy: DestinationPolicy,
): Promise<readonly ResolvedAddress[]> {
  const problem = urlProblem(url, policy);
  if (problem !== undefined)
    throw new OutboundError(problem === NOT_LOCAL ? 'blocked' : 'bad-url', { message: problem });
  const host = hostOf(url);
  const literal = parseAddress(host);
  const found = literal === undefined ? await ask(host, policy.resolve ?? systemResolver) : [host];
  const port = portOf(url);
  return found.map((address) => {
    const parsed = parseAddress(address);
    if (parsed === undefined || !mayConnect(host, parsed, port, policy)) throw new OutboundError('blocked');
    return { address, family: parsed.version };
  });
}

/** Checks one address of a host, also after connecting. */
export function mayConnect(
  host: string,
  address: Address,
  port: number,
  { allow }: DestinationPolicy,
): boolean {
  return !isMetadataAddress(address) && (isPublic(address) || allow.permits(host, address, port));
}

/** Lower case, without the brackets of an IPv6 address and without the final dot of an absolute name. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');

export const portOf = (url: URL): number => Number(url.port) || (url.protocol === 'http:' ? 80 : 443);

const NOT_LOCAL = 'Requests to the local network are not allowed';

const LOOPBACK = ['127.0.0.1', '::1'].map((text) => parseAddress(text)!);

const MAX_ADDRESSES = 32;

async function ask(host: string, resolve: Resolver): Promise<string[]> {
  let found: readonly { address: string }[];
  try {
    found = await resolve(host);
  } catch (cause) {
    throw new OutboundError('blocked', { cause });
  }
  if (found.length === 0 || found.length > MAX_ADDRESSES) throw new OutboundError('blocked');
  return found.map(({ address }) => address);
}

const systemResolver: Resolver = (host) => lookup(host, { all: true });
