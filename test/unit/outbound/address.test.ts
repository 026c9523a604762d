import { BlockList, isIP } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Address, inRange, parseAddress, parseRange } from '../../../lib/outbound/address.ts';
import { parseAllowList } from '../../../lib/outbound/allow-list.ts';
import { urlProblem } from '../../../lib/outbound/destination.ts';
import { isPublic } from '../../../lib/outbound/public-address.ts';

const nothing = parseAllowList('');
const publicly = (text: string) => isPublic(parseAddress(text)!);

/** What nobody may reach, in node's own words: another implementation of ranges than the one under test. */
const LOCAL = new BlockList();
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  LOCAL.addSubnet(net, bits, 'ipv4');
}

const dotted = (value: number) => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.');
const hex = (value: number) => value.toString(16).padStart(8, '0');
const groups = (value: number) => `${hex(value).slice(0, 4)}:${hex(value).slice(4)}`;

/** Any IPv4 address, every other one of a range that is not public. */
const ipv4 = fc.oneof(
  fc.integer({ min: 0, max: 0xffff_ffff }),
  fc
    .tuple(
      fc.constantFrom(0x7f00_0000, 0x0a00_0000, 0xa9fe_0000, 0xc0a8_0000, 0xac10_0000, 0x6440_0000),
      fc.integer({ min: 0, max: 0xffff }),
    )
    .map(([net, host]) => (net + host) >>> 0),
);

/** All the ways a URL may write an IPv4 address (WHATWG URL, "IPv4 parser"). */
const notation = ipv4.chain((value) => {
  const bytes = [24, 16, 8, 0].map((shift) => (value >>> shift) & 255);
  const base = fc.constantFrom(
    (n: number) => String(n),
    (n: number) => `0x${n.toString(16)}`,
    (n: number) => `0X${n.toString(16).padStart(6, '0')}`,
    (n: number) => `0${n.toString(8)}`,
  );
  const parts = fc.constantFrom(
    bytes,
    [bytes[0]!, bytes[1]!, bytes[2]! * 256 + bytes[3]!],
    [bytes[0]!, value & 0xff_ffff],
    [value],
  );
  return parts
    .chain((numbers) => fc.tuple(...numbers.map((n) => base.map((write) => write(n)))))
    .chain((texts) =>
      fc.constantFrom(
        texts.join('.'),
        `${texts.join('.')}.`,
        texts.join('%2e'),
        texts.join('。'),
        texts.join('.').replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
      ),
    )
    .map((host) => ({ value, host }));
});

/** An IPv6 address that carries an IPv4 one. */
const carrier = fc.constantFrom<(value: number) => string>(
  (v) => `::ffff:${dotted(v)}`,
  (v) => `::ffff:${groups(v)}`,
  (v) => `0:0:0:0:0:FFFF:${groups(v)}`,
  (v) => `64:ff9b::${groups(v)}`,
  (v) => `64:ff9b::${dotted(v)}`,
  (v) => `2002:${groups(v)}::1`,
  (v) => `::${dotted(v)}`,
  (v) => `::ffff:0:${dotted(v)}`,
  (v) => `64:ff9b:1::${groups(v)}`,
  // Teredo hides the client's address inverted.
  (v) => `2001:0:102:304::${groups(~v >>> 0)}`,
);

describe('addresses', () => {
  test('of the public internet are those in no special range', () => {
    fc.assert(
      fc.property(ipv4, (value) => {
        if (LOCAL.check(dotted(value), 'ipv4')) expect(publicly(dotted(value))).toBe(false);
      }),
      { numRuns: 2000 },
    );
    for (const text of [
      '8.8.8.8',
      '1.1.1.1',
      '140.82.112.3',
      '172.15.255.255',
      '172.32.0.0',
      '100.63.255.255',
    ])
      expect(publicly(text), text).toBe(true);
    for (const text of [
      '2606:4700::1111',
      '2a00:1450:4001::200e',
      '2001:4860:4860::8888',
      '64:ff9b::8.8.8.8',
      '::ffff:8.8.8.8',
    ])
      expect(publicly(text), text).toBe(true);
  });

  test.each([
    ...[
      '169.254.169.254',
      '169.254.170.2',
      '100.100.100.200',
      '168.63.129.16',
      '192.0.0.192',
      '255.255.255.255',
    ],
    ...[
      '::',
      '::1',
      'fe80::1',
      'fec0::1',
      'fc00::1',
      'fd00:ec2::254',
      'ff02::1',
      '2001:db8::1',
      '3fff::1',
      '100::1',
    ],
    ...[
      '2001:0:1::1',
      '2001:10::1',
      '2001:20::1',
      '2002::1',
      '5f00::1',
      '4000::1',
      '64:ff9b:1::1',
      '2620:4f:8000::1',
    ],
  ])('%s is not public', (text) => {
    expect(publicly(text)).toBe(false);
  });

  test('inside others are judged as themselves, or refused with them', () => {
    fc.assert(
      fc.property(ipv4, carrier, (value, carry) => {
        const text = carry(value);
        expect(isIP(text), text).toBe(6);
        if (LOCAL.check(dotted(value), 'ipv4')) expect(publicly(text), text).toBe(false);
      }),
      { numRuns: 2000 },
    );
  });

  test('are read as the URL parser reads them', () => {
    const any = fc.oneof(
      fc.ipV6(),
      ipv4.map((v) => `::ffff:${dotted(v)}`),
    );
    fc.assert(
      fc.property(any, (text) => {
        const canonical = new URL(`http://[${text}]/`).hostname.slice(1, -1);
        expect(parseAddress(text)).toEqual(parseAddress(canonical));
        // A range of one address holds that one and no neighbour.
        const { value } = parseAddress(text) as Address;
        const alone = parseRange(`${text}/128`)!;
        expect(inRange({ version: 6, value }, alone)).toBe(true);
        expect(inRange({ version: 6, value: value ^ 1n }, alone)).toBe(false);
      }),
    );
  });

  test('with a zone, and what only looks like one, are none', () => {
    for (const text of [
      'fe80::1%lo',
      '1.2.3',
      '1.2.3.4.5',
      '::1::',
      '',
      'localhost',
      '0x7f.0.0.1',
      '127.0.0.1 ',
    ])
      expect(parseAddress(text), text).toBeUndefined();
  });
});

describe('URLs', () => {
  test('of local addresses are refused in every notation', () => {
    fc.assert(
      fc.property(notation, fc.constantFrom('http', 'https'), ({ value, host }, scheme) => {
        const url = URL.parse(`${scheme}://${host}/x.git`);
        expect(url, host).not.toBeNull();
        expect(url!.hostname.replace(/\.$/, ''), host).toBe(dotted(value));
        if (LOCAL.check(dotted(value), 'ipv4')) expect(urlProblem(url!, { allow: nothing })).toBeDefined();
      }),
      { numRuns: 2000 },
    );
    fc.assert(
      fc.property(ipv4, carrier, (value, carry) => {
        const url = new URL(`http://[${carry(value)}]/`);
        if (LOCAL.check(dotted(value), 'ipv4')) expect(urlProblem(url, { allow: nothing })).toBeDefined();
      }),
    );
  });

  test.each([
    ['file:///etc/passwd', 'Only allowed schemes are http, https'],
    ['ssh://git@example.com/x.git', 'Only allowed schemes are http, https'],
    ['git://example.com/x.git', 'Only allowed schemes are http, https'],
    ['http://example.com:22/', 'Only allowed ports are 80, 443, and any over 1024'],
    ['https://example.com:25/', 'Only allowed ports are 80, 443, and any over 1024'],
    ['http://localhost/', 'Requests to the local network are not allowed'],
    ['http://LOCALHOST.:8080/', 'Requests to the local network are not allowed'],
    ['http://a.localhost/', 'Requests to the local network are not allowed'],
    ['http://[::1]/', 'Requests to the local network are not allowed'],
    ['https://example.com/', undefined],
    ['https://example.com:8443/', undefined],
  ])('%s: %s', (text, problem) => {
    expect(urlProblem(new URL(text), { allow: nothing })).toBe(problem);
  });
});

describe('the list of what is allowed', () => {
  const allow = parseAllowList('127.0.0.1:8080, 10.1.0.0/16,[::1]:22, git.corp.internal , low.corp:81');
  const problem = (text: string) => urlProblem(new URL(text), { allow });

  test('opens addresses, ranges and names, on a port or on all', () => {
    for (const text of [
      ...[
        'http://127.0.0.1:8080/',
        'http://localhost:8080/',
        'http://[::ffff:127.0.0.1]:8080/',
        'http://10.1.2.3/',
      ],
      ...[
        'http://10.1.2.3:22/',
        'http://[::1]:22/',
        'http://git.corp.internal:22/',
        'http://GIT.corp.internal./',
        'http://low.corp:81/',
      ],
    ])
      expect(problem(text), text).toBeUndefined();
    for (const text of [
      'http://127.0.0.1/',
      'http://127.0.0.2:8080/',
      'http://10.2.0.1/',
      'http://[::1]/',
      'http://low.corp:82/',
    ])
      expect(problem(text), text).toBeDefined();
  });

  test('must be understood as a whole', () => {
    for (const text of [
      '10.0.0.0/33',
      'a b',
      '1.2.3',
      'host:0',
      'host:70000',
      '[host]:1',
      'http://host',
      '*',
      '-x',
      '::1:',
    ]) {
      expect(() => parseAllowList(text), text).toThrow(RangeError);
    }
    expect(parseAllowList(' , ').names('', 80)).toBe(false);
  });
});
