/** IP addresses as numbers. */
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

/** @returns undefined for anything but a plain address; a zone id would name an interface of this machine */
export function parseAddress(text: string): Address | undefined {
  if (text.includes('%')) return undefined;
  const version = isIP(text);
  if (version === 4) return { version: 4, value: ipv4(text) };
  return version === 6 ? { version: 6, value: ipv6(text) } : undefined;
}

/** `10.0.0.0/8`, or a single address. */
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

/** Converts an IPv4-mapped IPv6 address (`::ffff:10.0.0.1`) to IPv4; returns others unchanged. */
export function unmapped(address: Address): Address {
  return address.version === 6 && address.value >> 32n === 0xffffn
    ? { version: 4, value: address.value & 0xffff_ffffn }
    : address;
}

function ipv4(text: string): bigint {
  return text.split('.').reduce((value, part) => (value << 8n) | BigInt(part), 0n);
}

/** @param text valid according to `isIP` */
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
