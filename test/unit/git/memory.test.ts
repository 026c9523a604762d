import { describe, expect, it } from 'vitest';
import { MemoryRepository } from '../../../lib/git/memory.ts';
import { type Oid, ZERO_OID } from '../../../lib/git/oid.ts';
import { RefConflict, type RefRejection, type RefUpdate } from '../../../lib/git/ports.ts';
import { parseRefName } from '../../../lib/git/refname.ts';
import { buildPack } from '../../harness/build-pack.ts';

const ref = (name: string) => parseRefName(`refs/heads/${name}`)!;
const [one, two, three] = ['1', '2', '3'].map((digit) => digit.repeat(40) as Oid) as [Oid, Oid, Oid];
const create = (name: string, to = one): RefUpdate => ({ name: ref(name), from: ZERO_OID, to });

async function rejections(
  repository: MemoryRepository,
  updates: RefUpdate[],
): Promise<[string | undefined, RefRejection][]> {
  const error = await repository.refs.compareAndSwap(updates).then(
    () => undefined,
    (failure: unknown) => failure,
  );
  if (error === undefined) return [];
  expect(error).toBeInstanceOf(RefConflict);
  return (error as RefConflict).rejections.map(({ name, reason }) => [name?.slice(11), reason]);
}

describe('compare and swap', () => {
  const cases: [string, RefUpdate[], [string, RefRejection][]][] = [
    ['creates', [create('new')], []],
    ['moves', [{ name: ref('a/b'), from: one, to: two }], []],
    ['deletes', [{ name: ref('a/b'), from: one, to: ZERO_OID }], []],
    ['refuses a stale value', [{ name: ref('a/b'), from: two, to: three }], [['a/b', 'stale']]],
    ['refuses to move what is not there', [{ name: ref('x'), from: two, to: three }], [['x', 'stale']]],
    ['refuses to create what exists', [create('a/b', two)], [['a/b', 'exists']]],
    ['refuses a name below a ref', [create('a/b/c')], [['a/b/c', 'prefix-conflict']]],
    ['refuses a name above a ref', [create('a')], [['a', 'prefix-conflict']]],
    ['takes names that only begin alike', [create('a/bc'), create('a-b')], []],
    [
      'refuses two that exclude each other',
      [create('p'), create('p/q')],
      [
        ['p', 'prefix-conflict'],
        ['p/q', 'prefix-conflict'],
      ],
    ],
    ['takes the place of what it deletes', [{ name: ref('a/b'), from: one, to: ZERO_OID }, create('a')], []],
    ['is all or nothing', [create('fine'), { name: ref('a/b'), from: two, to: three }], [['a/b', 'stale']]],
  ];
  it.each(cases)('%s', async (_name, updates, expected) => {
    const repository = new MemoryRepository();
    await repository.refs.compareAndSwap([create('a/b')]);
    const before = await repository.refs.all();
    expect(await rejections(repository, updates)).toEqual(expected);
    const after = await repository.refs.all();
    if (expected.length > 0) expect(after).toEqual(before);
    for (const { name, to } of expected.length > 0 ? [] : updates) {
      const held = (await repository.refs.get([name])).get(name)?.oid;
      expect(held).toBe(to === ZERO_OID ? undefined : to);
    }
  });

  it('lists packs and sets HEAD in the same step, or not at all', async () => {
    const repository = new MemoryRepository();
    const { content, objectCount } = buildPack([{ type: 'blob', data: Buffer.from('x') }]);
    const pack = await repository.objects.newPack(content, { source: 'insert', objectCount });
    expect(await repository.objects.listPacks()).toEqual([]);
    const stale = { name: ref('a'), from: one, to: two };
    await expect(repository.refs.compareAndSwap([stale], { packs: [pack], head: ref('a') })).rejects.toThrow(
      RefConflict,
    );
    expect([await repository.objects.listPacks(), await repository.refs.head()]).toEqual([
      [],
      'refs/heads/main',
    ]);
    await repository.refs.compareAndSwap([create('a')], { packs: [pack], head: ref('a') });
    expect([await repository.objects.listPacks(), await repository.refs.head()]).toEqual([
      [pack],
      'refs/heads/a',
    ]);
    const second = await repository.objects.newPack(content, { source: 'insert', objectCount });
    await repository.refs.compareAndSwap([], { packs: [second] });
    expect((await repository.objects.listPacks()).map(({ id }) => id)).toEqual([second.id, pack.id]);
    expect(second.id > pack.id).toBe(true);
  });

  it('does not list a pack that was rolled back', async () => {
    const repository = new MemoryRepository();
    const { content, objectCount } = buildPack([]);
    const pack = await repository.objects.newPack(content, { source: 'insert', objectCount });
    await repository.objects.rollbackPack(pack);
    await expect(repository.refs.compareAndSwap([create('a')], { packs: [pack] })).rejects.toThrow(
      'rolled back',
    );
    expect((await repository.refs.all()).refs).toEqual([]);
  });

  it.each(['read-only', 'deleted', 'collected'] as const)(
    'is refused as a whole when the repository is %s',
    async (reason) => {
      const repository = new MemoryRepository();
      repository.refusal = reason;
      expect(await rejections(repository, [create('a')])).toEqual([[undefined, reason]]);
    },
  );
});

it('refs are listed by name, bytewise, under a prefix', async () => {
  const repository = new MemoryRepository();
  await repository.refs.compareAndSwap(['b', 'a-b', 'a/b', 'é', 'Z'].map((name) => create(name)));
  const names = async (prefix?: string) =>
    (await repository.refs.all(prefix === undefined ? {} : { prefix })).refs.map(({ name }) =>
      name.slice(11),
    );
  expect(await names()).toEqual(['Z', 'a-b', 'a/b', 'b', 'é']);
  expect(await names('refs/heads/a/')).toEqual(['a/b']);
});
