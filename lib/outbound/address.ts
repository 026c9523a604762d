/** IP addresses as they stand on the wire, and which of them belong to the public internet. */
import { isIP } from 'node:net';

export interface Address {
  readonly version: 4 | 6;
  /** 32 or 128 bits. */
  readonly value: bigint;
}

/** The addresses that share their first `bits` with `address`. */
export interface AddressRange {
  readonly address: Address;
  readonly bits: number;
}

/**
 * Whether a connection to this address leaves for the public internet: neither this machine nor a network around it
 * (RFC 6890 and the IANA special-purpose registries), whatever form the address is written in.
 */
export function isPublic(address: Address): boolean {
  if (address.version === 4) return !NOT_PUBLIC_4.some((range) => inRange(address, range));
  for (const range of IPV4_INSIDE) {
    if (inRange(address, range)) return isPublic({ version: 4, value: address.value & 0xffff_ffffn });
  }
  return inRange(address, GLOBAL_6) && !NOT_PUBLIC_6.some((range) => inRange(address, range));
}

/** @returns undefined for anything but a plain address: one with a zone names an interface of this machine. */
export function parseAddress(text: string): Address | undefined {
  if (text.includes('%')) return undefined;
  const version = isIP(text);
  if (version === 4) return { version: 4, value: ipv4(text) };
  return version === 6 ? { version: 6, value: ipv6(text) } : undefined;
}

/** `10.0.0.0/8`, or an address alone. */
export function parseRange(text: string): AddressRange | undefined {
  const [name, length, more] = text.split('/') as [string, string?, string?];
  const address = parseAddress(name);
  if (address === undefined || more !== undefined) return undefined;
  const whole = address.version === 4 ? 32 : 128;
  if (length === undefined) return { address, bits: whole };
  if (!/^\d{1,3}$/.test(length) || Number(length) > whole) return undefined;
  return { address, bits: Number(length) };
}

export function inRange(address: Address, { address: first, bits }: AddressRange): boolean {
  if (address.version !== first.version) return false;
  const rest = BigInt((address.version === 4 ? 32 : 128) - bits);
  return address.value >> rest === first.value >> rest;
}

/** An IPv4 address that is written as IPv6 (`::ffff:10.0.0.1`) as what it is; others unchanged. */
export function unmapped(address: Address): Address {
  return address.version === 6 && inRange(address, MAPPED)
    ? { version: 4, value: address.value & 0xffff_ffffn }
    : address;
}

function ipv4(text: string): bigint {
  return text.split('.').reduce((value, part) => (value << 8n) | BigInt(part), 0n);
}

/** The text is one that `isIP` knows. */
function ipv6(text: string): bigint {
  const dotted = /^(.*:)([\d.]+\.[\d.]+)$/.exec(text);
  const low = dotted === null ? 0n : ipv4(dotted[2]!);
  const groups =
    dotted === null ? text : `${dotted[1]}${(low >> 16n).toString(16)}:${(low & 0xffffn).toString(16)}`;
  const [head, tail] = groups.split('::').map((half) => half.split(':').filter((group) => group !== ''));
  const zeros = tail === undefined ? 0 : 8 - head!.length - tail.length;
  const all = [...head!, ...new Array<string>(zeros).fill('0'), ...(tail ?? [])];
  return all.reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n);
}

const range = (text: string): AddressRange => {
  const parsed = parseRange(text);
  if (parsed === undefined) throw new RangeError(`${text} is no range of addresses`);
  return parsed;
};

/** https://www.iana.org/assignments/iana-ipv4-special-registry */
const NOT_PUBLIC_4 = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // behind a carrier's NAT; a metadata address of one cloud
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // a cloud's host, from inside its machines
  '169.254.0.0/16', // link-local; the metadata address of most clouds
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments; a metadata address of one cloud
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // AMT
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
].map(range);

/** What is given out for global unicast; everything outside is local, reserved or not yet anybody's. */
const GLOBAL_6 = range('2000::/3');

/** https://www.iana.org/assignments/iana-ipv6-special-registry */
const NOT_PUBLIC_6 = [
  '2001::/23', // protocol assignments: Teredo, ORCHID, benchmarks
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4: an IPv4 address inside, and no relays left
  '2620:4f:8000::/48', // AS112
  '3fff::/20', // documentation
].map(range);

const MAPPED = range('::ffff:0:0/96');

/** Where the last 32 bits are the IPv4 address that is meant: mapped ones, and NAT64 (RFC 6052). */
const IPV4_INSIDE = [MAPPED, range('64:ff9b::/96')];
