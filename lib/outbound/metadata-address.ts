/**
 * Addresses at which clouds give machines their credentials and configuration. They are never called, whatever the
 * allow list permits: a name or range there is meant for servers, and these hand out the rights of this machine.
 */
import { BlockList, isIPv6 } from 'node:net';
import { type Address, bitsOf, ipv4, unmapped } from './address.ts';

const METADATA_ADDRESSES = [
  // Link-local: AWS (IMDS; ECS 169.254.170.2; EKS 169.254.170.23), Azure, Google, Oracle, DigitalOcean, Hetzner,
  // OpenStack, Tencent (169.254.0.23), Scaleway (169.254.42.42).
  // https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html
  // https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-iam-roles.html
  '169.254.0.0/16',
  // https://specs.openstack.org/openstack/neutron-specs/specs/ussuri/metadata-add-ipv6-support.html (fe80::a9fe:a9fe)
  'fe80::/10',
  // AWS: metadata ::254, EKS Pod Identity ::23, DNS ::253, time ::123.
  // https://docs.aws.amazon.com/whitepapers/latest/ipv6-on-aws/supporting-amazon-vpc-services.html
  // https://docs.aws.amazon.com/eks/latest/userguide/pod-id-agent-setup.html
  'fd00:ec2::/32',
  // Google: https://cloud.google.com/compute/docs/metadata/querying-metadata
  'fd20:ce::254/128',
  // Oracle: https://docs.oracle.com/en-us/iaas/Content/Compute/Tasks/gettingmetadata.htm
  'fd00:c1::a9fe:a9fe/128',
  // Oracle, its first cloud.
  '192.0.0.192/32',
  // Scaleway: https://docs.cloud-init.io/en/latest/reference/datasources/scaleway.html
  'fd00:42::42/128',
  // Alibaba: https://www.alibabacloud.com/help/en/ecs/user-guide/view-instance-metadata
  '100.100.100.200/32',
  // Azure: https://learn.microsoft.com/en-us/azure/virtual-network/what-is-ip-address-168-63-129-16
  '168.63.129.16/32',
];

const METADATA_NAMES = new Set([
  // Google: https://cloud.google.com/compute/docs/metadata/querying-metadata
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  // AWS: https://docs.aws.amazon.com/vpc/latest/userguide/AmazonDNS-concepts.html
  'instance-data',
  'instance-data.ec2.internal',
  // Tencent: https://www.tencentcloud.com/document/product/213/4934
  'metadata.tencentyun.com',
  // Equinix has it on public addresses: https://deploy.equinix.com/developers/docs/metal/server-metadata/metadata/
  'metadata.platformequinix.com',
  'metadata.packet.net',
]);

const LIST = new BlockList();
for (const range of METADATA_ADDRESSES) {
  const [address = '', bits] = range.split('/');
  LIST.addSubnet(address, Number(bits), isIPv6(address) ? 'ipv6' : 'ipv4');
}

/** @param host as `hostOf` gives it: lower case, without a final dot */
export const isMetadataName = (host: string): boolean => METADATA_NAMES.has(host);

/** Whether an address is one of metadata, or leads to one by a transition mechanism between IPv4 and IPv6. */
export function isMetadataAddress(address: Address): boolean {
  const { version, text } = unmapped(address);
  if (version === 4) return LIST.check(text, 'ipv4');
  return LIST.check(text, 'ipv6') || embedded(bitsOf(address)).some((inside) => LIST.check(inside, 'ipv4'));
}

/** The IPv4 addresses that an IPv6 address may stand for. */
function embedded(bits: bigint): string[] {
  /** 32 bits from the left, after `from` of them. */
  const after = (from: number) => ipv4(Number((bits >> BigInt(96 - from)) & 0xffff_ffffn));
  const begins = (prefix: bigint, length: number) => bits >> BigInt(128 - length) === prefix;
  const found: string[] = [];
  // IPv4-compatible (RFC 4291 §2.5.5.1), IPv4-translated (RFC 7915), NAT64 (RFC 6052).
  if (begins(0n, 96) || begins(0xffff_0000n, 96) || begins(0x64_ff9b_0000_0000_0000_0000n, 96))
    found.push(after(96));
  // NAT64 of a network's own (RFC 8215), whose prefix may have any length (RFC 6052 §2.2): bits 64 to 71 are skipped.
  if (begins(0x64_ff9b_0001n, 48)) {
    const skipped = ((bits >> 64n) << 56n) | (bits & 0xff_ffff_ffff_ffffn);
    const at = (from: number) => ipv4(Number((skipped >> BigInt(88 - from)) & 0xffff_ffffn));
    found.push(at(48), at(56), at(64), after(96));
  }
  // 6to4 (RFC 3056), Teredo (RFC 4380), which inverts the client's address, ISATAP (RFC 5214) under any prefix.
  if (begins(0x2002n, 16)) found.push(after(16));
  if (begins(0x2001_0000n, 32)) found.push(ipv4(Number(~bits & 0xffff_ffffn)), after(32));
  if (((bits >> 32n) & 0xfdff_ffffn) === 0x5efen) found.push(after(96));
  return found;
}
