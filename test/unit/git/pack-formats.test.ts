import { deflateSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CorruptData } from '../../../lib/git/corrupt-data.ts';
import { type Oid, oidBytes } from '../../../lib/git/oid.ts';
import { applyDelta, deltaSizes, sharedEnds } from '../../../lib/git/pack/delta.ts';
import { EntryHeader, OFS_DELTA, writeDistance, writeEntryHeader } from '../../../lib/git/pack/entry.ts';
import { EntryTable } from '../../../lib/git/pack/entry-table.ts';
import { inflateInto, inflateStart, NEED_MORE, usesHandle } from '../../../lib/git/pack/inflate.ts';
import { makeDelta } from '../../../lib/git/pack/make-delta.ts';
import { NameTable } from '../../../lib/git/pack/name-table.ts';
import { type WalkedTree, walkTree } from '../../../lib/git/pack/tree-walk.ts';
import { encodeTree, parseTree } from '../../../lib/git/parse.ts';
import { atOnce } from '../../../lib/git/work.ts';

describe('entry headers', () => {
  it('round-trip', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 2 ** 45 }),
        fc.integer({ min: 1, max: 2 ** 45 }),
        fc.nat(20),
        (size, distance, shift) => {
          const bytes = Buffer.alloc(64);
          const end = writeDistance(bytes, writeEntryHeader(bytes, shift, OFS_DELTA, size), distance);
          const head = new EntryHeader();
          expect(head.read(bytes, shift)).toBe(true);
          expect([head.type, head.size, head.distance, head.dataAt]).toEqual([
            OFS_DELTA,
            size,
            distance,
            end,
          ]);
          for (let cut = shift; cut < end; cut++) expect(head.read(bytes, shift, cut)).toBe(false);
        },
      ),
    );
  });

  it('of arbitrary bytes are read or refused', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        try {
          const head = new EntryHeader();
          if (head.read(bytes, 0)) expect(head.dataAt).toBeLessThanOrEqual(bytes.length);
        } catch (error) {
          expect(error).toBeInstanceOf(CorruptData);
        }
      }),
    );
  });
});

type Op = { copy: [number, number] } | { insert: Uint8Array };

function encodeDelta(base: Uint8Array, ops: readonly Op[]): { delta: Buffer; result: Buffer } {
  const parts: Uint8Array[] = [];
  const out: Uint8Array[] = [];
  for (const op of ops) {
    if ('insert' in op) {
      if (op.insert.length === 0) continue;
      parts.push(Buffer.from([op.insert.length]), op.insert);
      out.push(op.insert);
    } else {
      const from = Math.min(op.copy[0], base.length);
      const size = Math.min(op.copy[1], base.length - from);
      if (size === 0) continue;
      parts.push(Buffer.from([0xff, from, from >> 8, from >> 16, from >> 24, size, size >> 8, size >> 16]));
      out.push(base.subarray(from, from + size));
    }
  }
  const result = Buffer.concat(out);
  const varint = (n: number): number[] => (n < 128 ? [n] : [(n & 127) | 128, ...varint(n >> 7)]);
  const sizes = Buffer.from([...varint(base.length), ...varint(result.length)]);
  return { delta: Buffer.concat([sizes, ...parts]), result };
}

const op: fc.Arbitrary<Op> = fc.oneof(
  fc.tuple(fc.nat(400), fc.nat(200)).map((copy) => ({ copy })),
  fc.uint8Array({ maxLength: 127 }).map((insert) => ({ insert })),
);

describe('deltas', () => {
  it('give the declared result, and the reported common head and tail', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), fc.array(op, { maxLength: 8 }), (base, ops) => {
        const { delta, result } = encodeDelta(base, ops);
        const sizes = deltaSizes(delta);
        const out = Buffer.alloc(sizes.result + 7, 0xee);
        applyDelta(base, delta, sizes, out, 5);
        expect(out.subarray(5, 5 + sizes.result)).toEqual(result);
        expect([...out.subarray(0, 5), ...out.subarray(-2)]).toEqual(Array(7).fill(0xee));
        const { prefix, tail } = sharedEnds(delta, sizes);
        expect(Buffer.compare(result.subarray(0, prefix), base.subarray(0, prefix))).toBe(0);
        const end = result.subarray(tail);
        expect(Buffer.compare(end, base.subarray(base.length - end.length))).toBe(0);
      }),
    );
  });

  it('that we create give their target, or are not created if too long', () => {
    const text = fc.array(
      fc.constantFrom('some words that come again ', 'and others, ', 'x', '\0'.repeat(40), 'tail\n'),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(text, text, fc.uint8Array({ maxLength: 300 }), fc.nat(2000), (one, two, noise, limit) => {
        const base = Buffer.concat([Buffer.from(one.join('')), noise]);
        const target = Buffer.concat([Buffer.from(two.join('')), noise, Buffer.from(one.slice(3).join(''))]);
        const delta = makeDelta(base, target, limit);
        if (!delta) {
          expect(limit).toBeLessThan(target.length + Math.ceil(target.length / 127) + 20);
          return;
        }
        expect(delta.length).toBeLessThanOrEqual(limit);
        const out = Buffer.alloc(target.length);
        const sizes = deltaSizes(delta);
        expect(sizes.result).toBe(target.length);
        applyDelta(base, delta, sizes, out);
        expect(Buffer.compare(out, target)).toBe(0);
      }),
      // A delta between empty objects still has two bytes: both lengths.
      { numRuns: 1000, examples: [[[], [], Uint8Array.from([]), 0]] },
    );
  });

  it('that we create are short for small changes, and split long copies', () => {
    const base = Buffer.alloc(20_000_000);
    for (let i = 0; i < base.length; i += 4) base.writeUInt32LE((i * 2654435761) >>> 0, i);
    const target = Buffer.from(base);
    target.write('changed', 17_000_000);
    const delta = makeDelta(base, target, 200)!;
    const out = Buffer.alloc(target.length);
    applyDelta(base, delta, deltaSizes(delta), out);
    expect(out.equals(target)).toBe(true);
    expect(delta.length).toBeLessThan(60);
  });

  it('of arbitrary bytes are applied or refused, and never write out of bounds', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.uint8Array({ maxLength: 40 }), (base, delta) => {
        try {
          const sizes = deltaSizes(delta);
          if (sizes.result > 1000) return;
          const out = Buffer.alloc(sizes.result + 4, 0xee);
          applyDelta(base, delta, sizes, out, 2);
          expect([out[0], out[1], out.at(-1), out.at(-2)]).toEqual([0xee, 0xee, 0xee, 0xee]);
        } catch (error) {
          expect(error).toBeInstanceOf(CorruptData);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('inflating', () => {
  it('uses the internal binding of this version of Node', () => expect(usesHandle).toBe(true));

  it('gives content and length, whatever surrounds the stream', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 3000 }), fc.uint8Array({ maxLength: 9 }), (data, around) => {
        const stream = deflateSync(data);
        const input = Buffer.concat([around, stream, around]);
        const out = Buffer.alloc(data.length + 3);
        const from = around.length;
        expect(inflateInto(input, from, input.length, out, 2, data.length)).toBe(stream.length);
        expect(out.subarray(2, 2 + data.length)).toEqual(Buffer.from(data));
        expect(inflateInto(input, from, from + stream.length - 1, out, 0, data.length)).toBe(NEED_MORE);
        expect(Buffer.from(inflateStart(input, from, input.length, 20))).toEqual(
          Buffer.from(data.subarray(0, 20)),
        );
        const room = Buffer.alloc(data.length + 2);
        expect(() => inflateInto(input, from, input.length, room, 0, data.length + 1)).toThrow(CorruptData);
        if (data.length > 0)
          expect(() => inflateInto(input, from, input.length, out, 0, data.length - 1)).toThrow(CorruptData);
      }),
    );
  });

  it('of arbitrary bytes never hangs', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 50 }), fc.nat(100), (bytes, size) => {
        const out = Buffer.alloc(size + 1);
        try {
          inflateInto(bytes, 0, bytes.length, out, 0, size);
        } catch (error) {
          expect(error).toBeInstanceOf(CorruptData);
        }
      }),
    );
  });
});

const hex = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes) => Buffer.from(bytes).toString('hex') as Oid);

describe('names', () => {
  it('are numbered in the order they are added, and keep their numbers', () => {
    fc.assert(
      fc.property(fc.array(hex, { maxLength: 2000 }), (oids) => {
        const table = new NameTable();
        const numbers = new Map<Oid, number>();
        for (const oid of oids) {
          const expected = numbers.get(oid) ?? numbers.size;
          numbers.set(oid, expected);
          expect(table.add(oidBytes(oid), 0)).toBe(expected);
        }
        for (const [oid, number] of numbers) expect(table.find(oidBytes(oid), 0)).toBe(number);
        expect(table.find(Buffer.from('x'.repeat(20)), 0)).toBe(-1);
      }),
      { numRuns: 20 },
    );
  });

  it('are sorted bytewise, also with a common start', () => {
    const alike = fc
      .tuple(fc.constantFrom('00000000', 'ffffffff', '12345678'), hex)
      .map(([head, oid]) => head + oid.slice(8));
    fc.assert(
      fc.property(fc.uniqueArray(fc.oneof(hex, alike), { maxLength: 300 }), (oids) => {
        const table = new EntryTable();
        for (const oid of oids) table.names.set(oidBytes(oid as Oid), 20 * table.add(12, 1, 1, 0));
        expect([...atOnce(table.sortedByName())].map((entry) => oids[entry])).toEqual([...oids].sort());
      }),
    );
  });
});

const name = fc.stringMatching(/^[a-c.]{1,3}$/);
const treeRows = fc.uniqueArray(
  fc.record({
    name,
    mode: fc.constantFrom(0o100644, 0o100755, 0o040000, 0o120000, 0o160000),
    oid: fc.constantFrom(...['1', '2', '3', '4'].map((digit) => digit.repeat(40) as Oid)),
  }),
  { selector: (row) => row.name, maxLength: 25 },
);

describe('walking a tree relative to another one', () => {
  const walk = (data: Uint8Array, before?: WalkedTree) => {
    const seen: string[] = [];
    const walked = walkTree(data, before, (bytes, at, kind, nameAt) => {
      seen.push(
        `${kind} ${Buffer.from(bytes.subarray(nameAt, at - 1))} ${Buffer.from(bytes.subarray(at, at + 20)).toString('hex')}`,
      );
    });
    return { seen, walked };
  };

  it('visits every entry that the other lacks, and returns the starts of all', () => {
    fc.assert(
      fc.property(fc.array(treeRows, { minLength: 1, maxLength: 6 }), (versions) => {
        let before: WalkedTree | undefined;
        let all = new Set<string>();
        for (const rows of versions) {
          const data = encodeTree(rows);
          const alone = walk(data);
          expect(alone.seen.length).toBe(rows.filter((row) => row.mode !== 0o160000).length);
          const { seen, walked } = walk(data, before);
          expect(alone.seen.filter((entry) => !seen.includes(entry)).every((entry) => all.has(entry))).toBe(
            true,
          );
          expect([...walked.starts]).toEqual([...alone.walked.starts]);
          expect(walked.starts.length).toBe(rows.length + 1);
          before = walked;
          all = new Set(alone.seen);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('tells every entry of the other that it lacks, and none that both have at one place', () => {
    const entriesOf = (data: Uint8Array, before?: WalkedTree) => {
      const seen = { here: new Set<string>(), gone: new Set<string>() };
      const note =
        (kind: 'here' | 'gone') => (bytes: Uint8Array, at: number, _: number, __: number, start: number) =>
          void seen[kind].add(Buffer.from(bytes.subarray(start, at + 20)).toString('latin1'));
      const walked = walkTree(data, before, note('here'), true, note('gone'));
      return { ...seen, walked };
    };
    fc.assert(
      fc.property(treeRows, treeRows, (rows, others) => {
        const [one, other] = [encodeTree(rows), encodeTree(others)];
        const { walked: before, here: old } = entriesOf(other);
        const all = entriesOf(one).here;
        const { here, gone } = entriesOf(one, before);
        const minus = (set: Set<string>, less: Set<string>) => [...set].filter((entry) => !less.has(entry));
        expect(minus(gone, old)).toEqual([]);
        expect(minus(old, all)).toEqual(minus(gone, all));
        expect(minus(all, old)).toEqual(minus(here, old));
        expect(entriesOf(other, before)).toMatchObject({ here: new Set(), gone: new Set() });
      }),
      { numRuns: 500 },
    );
  });

  it('of arbitrary bytes never hangs, also relative to a valid one', () => {
    fc.assert(
      fc.property(treeRows, fc.uint8Array({ maxLength: 80 }), fc.nat(100), (rows, noise, at) => {
        const before = walk(encodeTree(rows)).walked;
        const data = Buffer.concat([before.data.subarray(0, at), noise, before.data.subarray(at)]);
        let alone: string[] | undefined;
        try {
          alone = walk(data).seen;
        } catch (error) {
          expect(error).toBeInstanceOf(CorruptData);
        }
        try {
          const beside = walk(data, before).seen;
          if (alone) {
            const known = new Set(walk(before.data).seen);
            expect(alone.every((entry) => beside.includes(entry) || known.has(entry))).toBe(true);
          }
        } catch (error) {
          expect(error).toBeInstanceOf(CorruptData);
          expect(alone).toBeUndefined();
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('reads the same entries as parseTree', () => {
    fc.assert(
      fc.property(treeRows, (rows) => {
        const data = encodeTree(rows);
        const plain = parseTree(data).filter((entry) => entry.mode !== 0o160000);
        expect(walk(data).seen.map((line) => line.split(' ')[2])).toEqual(plain.map((entry) => entry.oid));
      }),
    );
  });
});
