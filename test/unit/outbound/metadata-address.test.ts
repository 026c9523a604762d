import { describe, expect, test } from 'vitest';
import { parseAddress } from '../../../lib/outbound/address.ts';
import { parseAllowList } from '../../../lib/outbound/allow-list.ts';
import { resolveDestination, urlProblem } from '../../../lib/outbound/destination.ts';
import { isMetadataAddress } from '../../../lib/outbound/metadata-address.ts';

/** Permits every address, and the names that clouds use. */
const everything = parseAllowList(
  '0.0.0.0/0, ::/0, metadata.google.internal, metadata, instance-data, git.example.internal, 169.254.169.254',
);

/** As the clouds' manuals name them. */
const METADATA = [
  '169.254.169.254',
  '169.254.170.2',
  '169.254.170.23',
  '169.254.0.23',
  '169.254.42.42',
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd20:ce::254',
  'fd00:c1::a9fe:a9fe',
  'fd00:42::42',
  'fe80::a9fe:a9fe',
  '192.0.0.192',
  '100.100.100.200',
  '168.63.129.16',
];

/** RFC 6052 §2.4 and the RFCs of the other forms, with 169.254.169.254 (a9fe:a9fe). */
const FORMS = [
  '::ffff:169.254.169.254',
  '::ffff:a9fe:a9fe',
  '::169.254.169.254',
  '::ffff:0:169.254.169.254',
  '64:ff9b::169.254.169.254',
  '64:ff9b:1::169.254.169.254',
  '64:ff9b:1:a9fe:a9:fe00::',
  '64:ff9b:1:a9:fe:a9fe::',
  '64:ff9b:1:0:a9:fea9:fe00::',
  '2002:a9fe:a9fe::1',
  '2001:0:808:808:0:0:5601:5601',
  'fd00::5efe:a9fe:a9fe',
  'fd00::200:5efe:a9fe:a9fe',
];

const host = (address: string) => (address.includes(':') ? `[${address}]` : address);

describe('metadata addresses of clouds are never called, although the allow list permits every address', () => {
  test.each([...METADATA, ...FORMS])('%s', async (address) => {
    const url = new URL(`http://${host(address)}/latest/meta-data`);
    expect(urlProblem(url, { allow: everything })).toBe('Requests to the local network are not allowed');
    // A name that resolves to it, also when the list permits the name.
    const resolve = async () => [{ address }];
    const named = resolveDestination(new URL('http://git.example.internal/'), { allow: everything, resolve });
    await expect(named).rejects.toMatchObject({ failure: 'blocked' });
  });

  test.each(['metadata.google.internal', 'METADATA.google.internal.', 'metadata', 'instance-data'])(
    '%s, whatever it resolves to',
    (name) => {
      expect(urlProblem(new URL(`http://${name}/`), { allow: everything })).toBeDefined();
    },
  );

  test.each([
    '169.253.255.255',
    '169.255.0.0',
    '10.0.0.1',
    '127.0.0.1',
    '100.100.100.201',
    '192.0.0.193',
    '168.63.129.17',
    '::1',
    'fd00:ec3::254',
    'fd00:ec1:ffff::1',
    'fd00::a9fe:a9fe',
    'fec0::1',
    '64:ff9b::10.0.0.1',
    '64:ff9b:1::10.0.0.1',
    '2002:a00:1::',
    '::ffff:10.0.0.1',
  ])('%s is none of them, and is called where the list permits it', (address) => {
    expect(isMetadataAddress(parseAddress(address)!)).toBe(false);
    expect(urlProblem(new URL(`http://${host(address)}/`), { allow: everything })).toBeUndefined();
  });
});
