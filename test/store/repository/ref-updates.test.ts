import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Oid, ZERO_OID } from '../../../lib/git/oid.ts';
import { type Ref, RefConflict, type RefUpdate } from '../../../lib/git/ports.ts';
import type { RefName } from '../../../lib/git/refname.ts';
import { PrefixConflicts } from '../../../lib/store/repository/ref-check.ts';
import { updated } from '../../../lib/store/repository/ref-updates.ts';
import { compareText } from '../../../lib/store/table/text-order.ts';

const oid = (n: number) => (n === 0 ? ZERO_OID : (n.toString(16).padStart(40, '0') as Oid));
const part = fc.constantFrom('a', 'a!', 'a.', 'ab', 'b', 'é', '\u{1f600}', '\uff21');
const name = fc
  .array(part, { minLength: 1, maxLength: 3 })
  .map((parts) => `refs/heads/${parts.join('/')}` as RefName);
const clash = (a: string, b: string) => a.startsWith(`${b}/`) || b.startsWith(`${a}/`);

async function* inRuns(refs: readonly Ref[]): AsyncGenerator<readonly Ref[]> {
  for (let i = 0; i < refs.length; i += 3) yield refs.slice(i, i + 3);
}

test('updates applied to a stream of refs give the same result, or refuse the same names, as in a map', async () => {
  const standing = fc.uniqueArray(name, { maxLength: 12 });
  const change = fc.record({ name, from: fc.nat(2), to: fc.nat(2) });
  const changes = fc.uniqueArray(change, { maxLength: 8, selector: (one) => one.name });
  await fc.assert(
    fc.asyncProperty(standing, changes, async (names, wanted) => {
      const before = names.filter((one, i) => !names.slice(0, i).some((other) => clash(one, other)));
      const model = new Map(before.map((one) => [one, { name: one, oid: oid(1) } as Ref]));
      const updates: RefUpdate[] = wanted.map((one) => ({
        name: one.name,
        from: oid(one.from),
        to: oid(one.to),
      }));
      const refused = new Set<RefName>();
      for (const { name, from } of updates)
        if ((model.get(name)?.oid ?? ZERO_OID) !== from) refused.add(name);
      const after = new Map(model);
      for (const { name, to } of updates) {
        if (to === ZERO_OID) after.delete(name);
        else after.set(name, { name, oid: to });
      }
      for (const { name, from, to } of updates) {
        const created = from === ZERO_OID && to !== ZERO_OID;
        // A name refused for another reason may or may not conflict with others.
        if (created && [...after.keys()].some((other) => clash(name, other))) refused.add(name);
      }
      const stored = [...model.values()].toSorted((a, b) => compareText(a.name, b.name));
      const result: Ref[] = [];
      const told = await (async () => {
        for await (const some of updated(inRuns(stored), updates)) result.push(...some);
        return undefined;
      })().catch((error: unknown) => error);
      if (refused.size === 0) {
        expect(told).toBeUndefined();
        expect(result).toEqual([...after.values()].toSorted((a, b) => compareText(a.name, b.name)));
      } else expect(told).toBeInstanceOf(RefConflict);
    }),
    { numRuns: 2000 },
  );
});

test('20,000 names of 500 segments are checked against 100,000 refs in time linear in both', () => {
  const deep = Array.from({ length: 20_000 }, (_, i) => `refs/heads/${'x/'.repeat(450)}${i}` as RefName);
  const conflicts = new PrefixConflicts(deep);
  for (let i = 0; i < 100_000; i++) conflicts.beside(`refs/heads/topic-${i}`);
  expect(conflicts.rejections()).toEqual([]);
  conflicts.beside('refs/heads/x/x');
  expect(conflicts.rejections()).toHaveLength(20_000);
});
