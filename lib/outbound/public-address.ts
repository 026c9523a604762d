/** Which IP addresses belong to the public internet. */
import { type Address, type AddressRange, inRange, parseRange } from './address.ts';

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
