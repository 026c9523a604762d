/** Which IP addresses belong to the public internet. */
import { BlockList, isIPv6 } from 'node:net';
import { type Address, unmapped } from './address.ts';

/**
 * Whether a connection to this address leaves for the public internet: neither this machine nor a network around it
 * (RFC 6890 and the IANA special-purpose registries), whatever form the address is written in.
 */
export function isPublic(address: Address): boolean {
  const { version, text } = unmapped(address);
  if (version === 4) return !NOT_PUBLIC.check(text, 'ipv4');
  return GLOBAL_6.check(text, 'ipv6') && !NOT_PUBLIC.check(text, 'ipv6');
}

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
];

/** https://www.iana.org/assignments/iana-ipv6-special-registry */
const NOT_PUBLIC_6 = [
  '2001::/23', // protocol assignments: Teredo, ORCHID, benchmarks
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4: an IPv4 address inside, and no relays left
  '2620:4f:8000::/48', // AS112
  '3fff::/20', // documentation
];

/** NAT64 (RFC 6052): the last 32 bits are the IPv4 address that is meant. */
const NAT64 = '64:ff9b::';
const inNat64 = (range: string): string => {
  const [address, bits] = range.split('/');
  return `${NAT64}${address}/${96 + Number(bits)}`;
};

/** What is given out for global unicast, and NAT64; everything outside is local, reserved or not assigned yet. */
const GLOBAL_6 = listOf(['2000::/3', `${NAT64}/96`]);

const NOT_PUBLIC = listOf([...NOT_PUBLIC_4, ...NOT_PUBLIC_6, ...NOT_PUBLIC_4.map(inNat64)]);

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    list.addSubnet(address, Number(bits), isIPv6(address) ? 'ipv6' : 'ipv4');
  }
  return list;
}
