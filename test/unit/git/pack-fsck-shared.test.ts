import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Fsck } from '../../../lib/git/fsck.ts';
import type { Oid } from '../../../lib/git/oid.ts';
import { applyDelta, deltaSizes, sharedEnds } from '../../../lib/git/pack/delta.ts';
import { TREE } from '../../../lib/git/pack/entry.ts';
import { encodeTree } from '../../../lib/git/parse.ts';

const rows = fc.uniqueArray(
  fc.record({
    name: fc.stringMatching(/^[ab.-]{1,3}$/),
    mode: fc.constantFrom(0o100644, 0o040000, 0o160000),
    oid: fc.constantFrom(...['0', '1', '2', '3'].map((digit) => digit.repeat(40) as Oid)),
  }),
  { selector: (row) => row.name, maxLength: 12 },
);

function check(data: Buffer, shared?: { base: Uint8Array; prefix: number; tail: number }) {
  const links = new Set<string>();
  const fsck = new Fsck(
    {},
    { add: (name, at) => links.add(Buffer.from(name.subarray(at, at + 20)).toString('hex')) },
  );
  fsck.check(TREE, data, Buffer.alloc(20), 0, shared);
  return { ids: new Set([...fsck.errors, ...fsck.warnings].map((finding) => finding.id)), links };
}

/** A delta of three instructions: copy from the start of the base, insert, copy the end of the base. */
function deltaOf(base: Uint8Array, start: number, noise: Uint8Array, end: number): Buffer {
  const copy = (from: number, size: number) =>
    size ? [0xb3, from & 255, from >> 8, size & 255, size >> 8] : [];
  const varint = (n: number) => [(n & 127) | 128, n >> 7];
  const insert = noise.length ? [noise.length, ...noise] : [];
  const tail = base.length - end;
  return Buffer.from([
    ...varint(base.length),
    ...varint(start + noise.length + tail),
    ...copy(0, start),
    ...insert,
    ...copy(end, tail),
  ]);
}

it('checking a tree relative to its delta base gives the findings and links of both together', () => {
  const noise = fc.oneof(
    fc.uint8Array({ maxLength: 60 }),
    rows.map((some) => encodeTree(some).subarray(0, 120)),
  );
  fc.assert(
    fc.property(rows, noise, fc.nat(300), fc.nat(300), fc.boolean(), (some, middle, from, to, whole) => {
      const base = Buffer.from(encodeTree(some));
      // Mostly whole entries are removed, sometimes parts of them.
      const size = (at: number) => Math.min(base.length, whole ? at - (at % 29) : at);
      const [start, end] = [Math.min(size(from), size(to)), Math.max(size(from), size(to))];
      const delta = deltaOf(base, start, middle.subarray(0, 120), end);
      const sizes = deltaSizes(delta);
      const data = Buffer.alloc(sizes.result);
      applyDelta(base, delta, sizes, data);
      const first = check(base);
      const alone = check(data);
      const beside = check(data, { base, ...sharedEnds(delta, sizes) });
      for (const id of alone.ids) expect(beside.ids.has(id) || first.ids.has(id)).toBe(true);
      for (const id of beside.ids) expect(alone.ids.has(id)).toBe(true);
      if (alone.ids.has('badTree')) return;
      for (const link of alone.links) expect(beside.links.has(link) || first.links.has(link)).toBe(true);
      for (const link of beside.links) expect(alone.links.has(link)).toBe(true);
    }),
    { numRuns: 3000 },
  );
});
