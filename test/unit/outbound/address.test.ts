import { BlockList, isIP } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { inRange, network64, parseAddress, parseRange, unmapped } from '../../../lib/outbound/address.ts';
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
const hex4 = (text: string) =>
  text
    .split('.')
    .map((part) => Number(part).toString(16).padStart(2, '0'))
    .join('');
const bits = (text: string) =>
  groupsOf(new URL(`http://[${text}]/`).hostname.slice(1, -1)).reduce(
    (all, group) => (all << 16n) | BigInt(group),
    0n,
  );
const six = (value: bigint) =>
  written(Array.from({ length: 8 }, (_, i) => Number((value >> BigInt(112 - 16 * i)) & 0xffffn)));
const groups = (value: number) => `${hex(value).slice(0, 4)}:${hex(value).slice(4)}`;

/** The eight groups of an IPv6 address as the URL parser writes it. */
const groupsOf = (canonical: string): number[] => {
  const [head, tail] = canonical.split('::').map((half) => (half === '' ? [] : half.split(':')));
  const zeros = tail === undefined ? 0 : 8 - head!.length - tail.length;
  return [...head!, ...new Array<string>(zeros).fill('0'), ...(tail ?? [])].map((group) =>
    Number.parseInt(group, 16),
  );
};
const written = (numbers: readonly number[]) => numbers.map((group) => group.toString(16)).join(':');
/** The address that differs in the last bit. */
const neighbour = (canonical: string) => {
  const numbers = groupsOf(canonical);
  return written([...numbers.slice(0, 7), numbers[7]! ^ 1]);
};

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
  test('are public if they are in no special range', () => {
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

  // First and last address of each range, and whether the addresses before and after it are public.
  test.each<[string, string, boolean, boolean]>([
    ['0.0.0.0', '0.255.255.255', false, true],
    ['10.0.0.0', '10.255.255.255', true, true],
    ['100.64.0.0', '100.127.255.255', true, true],
    ['127.0.0.0', '127.255.255.255', true, true],
    ['168.63.129.16', '168.63.129.16', true, true],
    ['169.254.0.0', '169.254.255.255', true, true],
    ['172.16.0.0', '172.31.255.255', true, true],
    ['192.0.0.0', '192.0.0.255', true, true],
    ['192.0.2.0', '192.0.2.255', true, true],
    ['192.31.196.0', '192.31.196.255', true, true],
    ['192.52.193.0', '192.52.193.255', true, true],
    ['192.88.99.0', '192.88.99.255', true, true],
    ['192.168.0.0', '192.168.255.255', true, true],
    ['192.175.48.0', '192.175.48.255', true, true],
    ['198.18.0.0', '198.19.255.255', true, true],
    ['198.51.100.0', '198.51.100.255', true, true],
    ['203.0.113.0', '203.0.113.255', true, true],
    ['224.0.0.0', '255.255.255.255', true, true],
  ])('%s to %s are not public, alone and inside IPv6', (first, last, before, behind) => {
    const [from, to] = [first, last].map((text) => Number.parseInt(hex4(text), 16));
    const inside = [from!, from! + 1, Math.floor((from! + to!) / 2), to! - 1, to!].filter(
      (v) => v >= from! && v <= to!,
    );
    const outside = [from! > 0 && from! - 1, to! < 0xffff_ffff && to! + 1].filter((v) => v !== false);
    const ways = [dotted, (v: number) => `::ffff:${dotted(v)}`, (v: number) => `64:ff9b::${dotted(v)}`];
    for (const way of ways) {
      for (const value of inside) expect(publicly(way(value)), way(value)).toBe(false);
      for (const value of outside)
        expect(publicly(way(value)), way(value)).toBe(value < from! ? before : behind);
    }
  });

  test.each<[string, string, boolean, boolean]>([
    ['2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', true, true],
    ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', true, true],
    ['2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', true, true],
    ['2620:4f:8000::', '2620:4f:8000:ffff:ffff:ffff:ffff:ffff', true, true],
    ['3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', true, true],
    ['::', '::fffe:ffff:ffff', false, false],
    ['64:ff9b::1:0:0', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', false, true],
    ['4000::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', true, false],
  ])('%s to %s are not public', (first, last, before, behind) => {
    const [from, to] = [first, last].map((text) => bits(text));
    for (const value of [from!, from! + 1n, (from! + to!) / 2n, to! - 1n, to!])
      expect(publicly(six(value)), six(value)).toBe(false);
    if (from! > 0n) expect(publicly(six(from! - 1n)), `before ${first}`).toBe(before);
    if (to! < 2n ** 128n - 1n) expect(publicly(six(to! + 1n)), `behind ${last}`).toBe(behind);
  });

  test.each([
    ['::ffff:10.0.0.1', '10.0.0.1'],
    ['::FFFF:0a00:1', '10.0.0.1'],
    ['::10.0.0.1', '::10.0.0.1'],
    ['64:ff9b::10.0.0.1', '64:ff9b::a00:1'],
    ['10.0.0.1', '10.0.0.1'],
  ])('%s stands for %s', (text, meant) => {
    expect(unmapped(parseAddress(text)!).text).toBe(meant);
  });

  test('of IPv6 belong to the network of their first 64 bits', () => {
    fc.assert(
      fc.property(fc.ipV6(), (text) => {
        const canonical = new URL(`http://[${text}]/`).hostname.slice(1, -1);
        const first = groupsOf(canonical).slice(0, 4);
        expect(network64(parseAddress(text)!)).toBe(first.map((group) => hex(group).slice(4)).join(''));
      }),
    );
  });

  test('embedded in IPv6 are local if the IPv4 address is local', () => {
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
        const alone = parseRange(`${text}/128`)!;
        expect(inRange(parseAddress(text)!, alone)).toBe(true);
        expect(inRange(parseAddress(neighbour(canonical))!, alone)).toBe(false);
      }),
    );
  });

  test('with a zone, and texts that only look like addresses, are refused', () => {
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

describe('the allowlist', () => {
  // Node's own list finds IPv4 addresses in ranges of IPv6.
  test.each([
    ['::/0', '10.0.0.1', false],
    ['::/0', '::ffff:10.0.0.1', false],
    ['::/0', 'fd00::1', true],
    ['::ffff:0:0/96', '10.0.0.1', false],
    ['::ffff:10.0.0.1', '::ffff:10.0.0.1', false],
    ['0.0.0.0/0', '10.0.0.1', true],
    ['0.0.0.0/0', '::ffff:10.0.0.1', true],
    ['0.0.0.0/0', '64:ff9b::10.0.0.1', false],
    ['0.0.0.0/0', '::1', false],
    ['64:ff9b::/96', '64:ff9b::10.0.0.1', true],
    ['10.0.0.0/31', '10.0.0.2', false],
    ['fd00::/127', 'fd00::1', true],
    ['fd00::/127', 'fd00::2', false],
  ])('%s has %s: %s', (entry, text, permitted) => {
    expect(parseAllowList(entry).permits('host', parseAddress(text)!, 80)).toBe(permitted);
  });

  const allow = parseAllowList('127.0.0.1:8080, 10.1.0.0/16,[::1]:22, git.corp.internal , low.corp:81');
  const problem = (text: string) => urlProblem(new URL(text), { allow });

  test('allows addresses, ranges and names, on one port or all', () => {
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

  test('is refused if one entry is invalid', () => {
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
