/** IP addresses and ranges of them. Node parses and compares them. */
import { BlockList, isIP, SocketAddress } from 'node:net';

export interface Address {
  readonly version: 4 | 6;
  /** The canonical text: lower case, shortened, the last 32 bits of an IPv4-mapped address with dots. */
  readonly text: string;
}

/** The addresses of one version that share their first bits. */
export interface AddressRange {
  readonly version: 4 | 6;
  readonly list: BlockList;
}

const familyOf = (version: 4 | 6) => (version === 4 ? 'ipv4' : 'ipv6');

/** @returns undefined for anything but a plain address; a zone id would name an interface of this machine */
export function parseAddress(text: string): Address | undefined {
  if (text.includes('%')) return undefined;
  const version = isIP(text) as 0 | 4 | 6;
  if (version === 0) return undefined;
  return { version, text: new SocketAddress({ address: text, family: familyOf(version) }).address };
}

/** `10.0.0.0/8`, or a single address. */
export function parseRange(text: string): AddressRange | undefined {
  const [name, length, more] = text.split('/') as [string, string?, string?];
  const address = parseAddress(name);
  if (address === undefined || more !== undefined) return undefined;
  const { version } = address;
  const whole = version === 4 ? 32 : 128;
  if (length !== undefined && (!/^\d{1,3}$/.test(length) || Number(length) > whole)) return undefined;
  const list = new BlockList();
  list.addSubnet(address.text, Number(length ?? whole), familyOf(version));
  return { version, list };
}

/** Compares the versions first: a `BlockList` also matches IPv4 addresses with IPv6 ranges, and the other way round. */
export function inRange({ version, text }: Address, range: AddressRange): boolean {
  return version === range.version && range.list.check(text, familyOf(version));
}

/** Converts an IPv4-mapped IPv6 address (`::ffff:10.0.0.1`) to IPv4; returns others unchanged. */
export function unmapped(address: Address): Address {
  const [, inside] = /^::ffff:([\d.]+)$/.exec(address.text) ?? [];
  return (inside === undefined ? undefined : parseAddress(inside)) ?? address;
}

/** The eight groups of an IPv6 address, as numbers of 16 bits. */
function groupsOf(text: string): number[] {
  const groups = text.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, a, b, c, d) =>
    [a * 256 + +b, c * 256 + +d].map((group) => group.toString(16)).join(':'),
  );
  const [head = [], tail = []] = groups.split('::').map((half) => half.split(':').filter(Boolean));
  const zeros = new Array<string>(8 - head.length - tail.length).fill('0');
  return [...head, ...zeros, ...tail].map((group) => Number.parseInt(group, 16));
}

/** An IPv6 address as a number of 128 bits. */
export const bitsOf = ({ text }: Address): bigint =>
  groupsOf(text).reduce((bits, group) => (bits << 16n) | BigInt(group), 0n);

/** The text of an IPv4 address of 32 bits. */
export const ipv4 = (bits: number): string => [24, 16, 8, 0].map((by) => (bits >>> by) & 255).join('.');

/** The first 64 bits of an IPv6 address as 16 hex digits: the network that a provider gives to one customer. */
export const network64 = (address: Address): string =>
  (bitsOf(address) >> 64n).toString(16).padStart(16, '0');
