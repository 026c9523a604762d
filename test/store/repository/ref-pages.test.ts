import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Oid, ZERO_OID } from '../../../lib/git/oid.ts';
import type { Ref, RefUpdate } from '../../../lib/git/ports.ts';
import { type RefName, type RefSpace, spacePrefix } from '../../../lib/git/refname.ts';
import { writeRefTable } from '../../../lib/store/repository/ref-table-writer.ts';
import { changeGuards, newRepository } from '../../../lib/store/repository/state.ts';
import { refNamesKey } from '../../../lib/store/row-keys/repository.ts';
import { compareText } from '../../../lib/store/table/text-order.ts';
import { measured, openTestStore, type TestStore } from '../table/store-fixture.ts';

let opened: TestStore;
beforeAll(async () => {
  opened = await openTestStore();
});
afterAll(() => opened.close());

let repositories = 0;
async function fresh(): Promise<string> {
  const id = `paged-${++repositories}`;
  await opened.store.table.transact(newRepository({ repositoryId: id }, 'main'));
  return id;
}
const open = (id: string) => opened.store.repositories.open(id);
const oid = (n: number) => n.toString(16).padStart(40, '0') as Oid;
const branch = (n: number) => `refs/heads/branch-${n.toString().padStart(7, '0')}` as RefName;

/** A repository whose table has that many branches and tags, as after folding. */
async function tabled(branches: number, tags = 0): Promise<string> {
  const id = await fresh();
  const refs = function* () {
    for (let n = 0; n < branches; n++) yield [{ name: branch(n), oid: oid(n + 1), committed: n }];
    for (let n = 0; n < tags; n++) yield [{ name: `refs/tags/t${n + 1_000_000}` as RefName, oid: oid(1) }];
  };
  const counts = await writeRefTable(opened.store.table, id, `table-${id}`, refs());
  await opened.store.table.transact([
    ...changeGuards(id, { refTable: `table-${id}` }),
    { update: refNamesKey(id), set: { ...counts } },
  ]);
  return id;
}

describe('a page of refs', () => {
  test('contains the branches of the table as changed by rows, from any position', async () => {
    const id = await tabled(1500, 700);
    const removed = [10, 1111, 1112, 1499].map((n) => ({ name: branch(n), from: oid(n + 1), to: ZERO_OID }));
    const made = [
      ['refs/heads/a', ZERO_OID],
      ['refs/heads/branch-0001111x', ZERO_OID],
      ['refs/heads/zz', ZERO_OID],
      [branch(1200), oid(1201)],
      ['refs/tags/a', ZERO_OID],
    ].map(([name, from]) => ({ name: name as RefName, from: from as Oid, to: oid(7) }));
    await open(id).compareAndSwap([...removed, ...made]);
    for (const space of ['heads', 'tags'] as const) {
      const { refs: all } = await open(id).all({ prefix: spacePrefix(space) });
      for (const offset of [0, 9, 11, 450, 699, 1110, 1113, 1499, 2000]) {
        const page = await open(id).page({ space, offset, limit: 20 });
        expect(page).toEqual({
          refs: all.slice(offset, offset + 20),
          total: all.length,
          more: all.length > offset + 20,
        });
        const back = await open(id).page({ space, offset, limit: 20, descending: true });
        expect(back).toEqual({ ...page, refs: all.toReversed().slice(offset, offset + 20) });
        const after = all[offset]?.name;
        if (after === undefined) continue;
        expect(await open(id).page({ space, after, limit: 20 })).toEqual({
          refs: all.slice(offset + 1, offset + 21),
          total: all.length,
          more: all.length > offset + 21,
        });
      }
    }
  });

  test('costs the same at a few hundred and at many thousand branches', async () => {
    const [few, many] = [await tabled(600), await tabled(60_000)];
    await open(many).compareAndSwap([{ name: branch(777), from: oid(778), to: oid(1) }]);
    const queries = [
      { limit: 20 },
      { limit: 20, after: branch(500) },
      { limit: 20, offset: 500 },
      { limit: 20, descending: true },
    ];
    for (const query of queries) {
      const cold = (id: string) => opened.another().repositories.open(id);
      const cost = (id: string) => measured(opened, () => cold(id).page({ space: 'heads', ...query }));
      const [before, after] = [await cost(few), await cost(many)];
      expect([query, after.requests]).toEqual([query, before.requests]);
      expect(after.units).toBeLessThanOrEqual(before.units + 8);
      expect(after.requests).toBeLessThanOrEqual(7);
      const far = await measured(opened, () =>
        cold(many).page({ space: 'heads', offset: 50_000, limit: 20 }),
      );
      expect(far.units).toBeLessThanOrEqual(before.units + 16);
    }
    const one = await measured(opened, () => open(many).get([branch(59_999)]));
    expect(one.units).toBeLessThanOrEqual(16);
  });

  test('equals that of a plain sorted list after any updates', async () => {
    const names = ['a', 'b', 'b/x', 'c', 'd', 'e'].flatMap((name) => [
      `refs/heads/${name}`,
      `refs/tags/${name}`,
    ]);
    const step = fc.record({
      name: fc.constantFrom(...names),
      to: fc.integer({ min: 0, max: 3 }),
      fold: fc.boolean(),
    });
    const place = fc.record({
      space: fc.constantFrom<RefSpace>('heads', 'tags'),
      offset: fc.nat(6),
      limit: fc.integer({ min: 1, max: 4 }),
      descending: fc.boolean(),
    });
    const run = async (
      steps: readonly { name: string; to: number; fold: boolean }[],
      query: Required<Place>,
    ) => {
      const id = await fresh();
      const model = new Map<string, Ref>();
      for (const { name, to, fold } of steps) {
        if (fold) await open(id).foldRefs();
        const clash = [...model.keys()].some((o) => o.startsWith(`${name}/`) || name.startsWith(`${o}/`));
        const from = model.get(name)?.oid ?? ZERO_OID;
        if (clash || (from === ZERO_OID && to === 0)) continue;
        // The third object is not a commit.
        const committed = to === 3 && name.startsWith('refs/tags') ? null : to;
        const update = { name: name as RefName, from, to: to === 0 ? ZERO_OID : oid(to), committed };
        await open(id).compareAndSwap([update satisfies RefUpdate]);
        if (to === 0) model.delete(name);
        else model.set(name, { name: update.name, oid: update.to, committed });
      }
      const listed = [...model.values()]
        .filter(({ name, committed }) => name.startsWith(spacePrefix(query.space)) && committed !== null)
        .toSorted((a, b) => compareText(a.name, b.name));
      const ordered = query.descending ? listed.toReversed() : listed;
      expect(await open(id).page(query)).toEqual({
        refs: ordered.slice(query.offset, query.offset + query.limit),
        total: listed.length,
        more: listed.length > query.offset + query.limit,
      });
      const view: Ref[] = [];
      for await (const some of (await open(id).view()).refs()) view.push(...some);
      expect(view).toEqual([...model.values()].toSorted((a, b) => compareText(a.name, b.name)));
    };
    await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 10 }), place, run), { numRuns: 15 });
  });
});

type Place = { space: RefSpace; offset: number; limit: number; descending: boolean };
