import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WireError } from '../../../lib/git/wire/error.ts';
import { give, isGiven } from '../../../lib/git/wire/given-bytes.ts';
import {
  DELIM,
  FLUSH,
  MAX_PKT_DATA,
  type Pkt,
  PktReader,
  pkt,
  RESPONSE_END,
} from '../../../lib/git/wire/pkt-line.ts';
import { onBand, streamed } from '../../../lib/git/wire/side-band.ts';

describe('a packet line', () => {
  it.each([
    // The examples of gitprotocol-common.
    ['a\n', '0006a\n'],
    ['a', '0005a'],
    ['foobar\n', '000bfoobar\n'],
    ['', '0004'],
  ])('of %j is %j', (content, line) => {
    expect(Buffer.from(pkt(content)).toString()).toBe(line);
  });

  it('holds 65,516 bytes and not one more', () => {
    expect(Buffer.from(pkt(new Uint8Array(MAX_PKT_DATA))).toString('latin1', 0, 4)).toBe('fff0');
    expect(() => pkt(new Uint8Array(MAX_PKT_DATA + 1))).toThrow(RangeError);
  });
});

describe('the reader', () => {
  it.each(['0003', 'fff1', 'ffff', '-001', '00 4', '0x05', 'xyzw', '\0\0\0\0'])(
    'refuses the length %j',
    async (text) => {
      await expect(new PktReader(pieces(Buffer.from(`${text}aaaaaaaa`), 3)).next()).rejects.toMatchObject({
        code: 'pkt-malformed',
      });
    },
  );

  it.each(['0', '000', '0005', '0009abc'])('reports %j as truncated', async (text) => {
    await expect(new PktReader(pieces(Buffer.from(text), 1)).next()).rejects.toMatchObject({
      code: 'truncated',
    });
  });

  const packet = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((data): Pkt => ({ kind: 'data', data })),
    fc.constantFrom<Pkt>({ kind: 'flush' }, { kind: 'delim' }, { kind: 'response-end' }),
  );

  it('reads packet lines from pieces of any size, and passes on the rest', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(packet, { maxLength: 20 }),
        fc.uint8Array({ maxLength: 300 }),
        fc.integer({ min: 1, max: 64 }),
        async (packets, tail, size) => {
          const bytes = Buffer.concat([...packets.map(encoded), tail]);
          const reader = new PktReader(pieces(bytes, size));
          for (const one of packets) expect(plain(await reader.next())).toEqual(plain(one));
          const rest: Uint8Array[] = [];
          for await (const piece of reader.rest()) rest.push(piece);
          expect(Buffer.concat(rest)).toEqual(Buffer.from(tail));
        },
      ),
    );
  });

  it('ends or gives a typed error for arbitrary bytes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 400 }),
        fc.integer({ min: 1, max: 9 }),
        async (bytes, size) => {
          const reader = new PktReader(pieces(bytes, size));
          try {
            for (let count = 0; (await reader.next()).kind !== 'end'; count++)
              expect(count).toBeLessThanOrEqual(100);
          } catch (error) {
            expect(error).toBeInstanceOf(WireError);
          }
        },
      ),
    );
  });

  it('continues where a reader of the rest stopped', async () => {
    const reader = new PktReader(pieces(Buffer.from('0000PACKmore'), 4));
    expect(await reader.next()).toEqual({ kind: 'flush' });
    for await (const piece of reader.rest()) {
      expect(Buffer.from(piece).toString()).toBe('PACK');
      break;
    }
    for await (const piece of reader.rest()) expect(Buffer.from(piece).toString()).toBe('more');
  });
});

describe('side bands', () => {
  it.each([
    ['side-band', 995],
    ['side-band-64k', 65515],
  ] as const)('%s splits what is longer than a line', async (mode, capacity) => {
    const content = Buffer.alloc(capacity * 2 + 1, 'x');
    const reader = new PktReader(pieces(Buffer.concat(onBand(mode, 1, content)), 7777));
    const sizes: number[] = [];
    for (let one = await reader.next(); one.kind === 'data'; one = await reader.next()) {
      expect(one.data[0]).toBe(1);
      sizes.push(one.data.length - 1);
    }
    expect(sizes).toEqual([capacity, capacity, 1]);
  });

  it.each([
    ['side-band', 995],
    ['side-band-64k', 65515],
  ] as const)(
    '%s carries a stream in full lines, in pieces with memory of their own',
    async (mode, capacity) => {
      const lengths = [0, 1, capacity, capacity + 1, 262_144, 700_001];
      for (const [length, size] of lengths.flatMap((each) => [4000, 65_536, 1e6].map((by) => [each, by]))) {
        const content = Buffer.from(Array.from({ length: length! }, (_, i) => (i * 7) % 251));
        const made: Uint8Array[] = [];
        for await (const piece of streamed(mode, pieces(content, size!))) made.push(piece);
        const expected: Uint8Array[] = [];
        for (let at = 0; at < length!; at += capacity)
          expected.push(...onBand(mode, 1, content.subarray(at, at + capacity)));
        expect(Buffer.concat(made).equals(Buffer.concat(expected)), `${length} by ${size}`).toBe(true);
        expect(new Set(made.map(({ buffer }) => buffer)).size).toBe(made.length);
      }
    },
  );

  it('a stream frees content that was given, once it is copied, and gives away what it makes', async () => {
    const [kept, given] = [new Uint8Array(300_000).fill(1), give(new Uint8Array(300_000).fill(2))];
    async function* content() {
      yield kept;
      yield given;
    }
    const made: Uint8Array[] = [];
    for await (const piece of streamed('side-band-64k', content())) {
      expect(isGiven(piece)).toBe(true);
      made.push(piece);
    }
    expect([kept.length, given.length]).toEqual([300_000, 0]);
    const sent = Buffer.concat([new Uint8Array(300_000).fill(1), new Uint8Array(300_000).fill(2)]);
    expect(Buffer.concat(made).equals(Buffer.concat(onBand('side-band-64k', 1, sent)))).toBe(true);
  });

  it('without them only the pack is sent, unframed', () => {
    expect(onBand('none', 1, 'PACK')).toEqual([Buffer.from('PACK')]);
    expect(onBand('none', 2, 'progress')).toEqual([]);
    expect(onBand('none', 3, 'error')).toEqual([]);
  });
});

function encoded(one: Pkt): Uint8Array {
  if (one.kind === 'data') return pkt(one.data);
  return one.kind === 'flush' ? FLUSH : one.kind === 'delim' ? DELIM : RESPONSE_END;
}

function plain(one: Pkt): unknown {
  return one.kind === 'data' ? { kind: 'data', data: Buffer.from(one.data).toString('hex') } : one;
}

async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
