import { describe, expect, test } from 'vitest';
import { NetworkView } from '../../lib/git/network-view.ts';
import { ObjectMissing } from '../../lib/git/objects.ts';
import type { Oid } from '../../lib/git/oid.ts';
import { PackCache } from '../../lib/git/pack/pack-cache.ts';
import { PackStore } from '../../lib/git/pack/store.ts';
import type { ObjectDatabase } from '../../lib/git/ports.ts';
import { parseRefName } from '../../lib/git/refname.ts';
import { GitRepository } from '../../lib/git/repository.ts';
import { GitFixture } from './history-fixture.ts';
import { generateMerges, gitMergeTree } from './merge-fixture.ts';

const who = { name: 'C O Mitter', email: 'c@example.com', seconds: 1_700_000_000, timezone: '+0000' };
const zero = '0'.repeat(40) as Oid;

/** A target with `ours` and `base`, and a source with everything; and their ports. */
async function network(fixture: GitFixture) {
  const found = generateMerges(fixture, 2, 12).find(
    ([ours, theirs]) => gitMergeTree(fixture, ours, theirs).clean,
  )!;
  const [ours, theirs] = [fixture.oid(found[0]), fixture.oid(found[1])];
  const fork = await fixture.load();
  using parent = new GitFixture();
  parent.git('fetch', '--quiet', fixture.directory, `${found[0]}:${found[0]}`);
  const { repository, store } = await parent.load();
  const target = { objects: repository.objects, refs: repository.refs, store };
  return { ours, theirs, names: found, target, repository, source: fork.repository.objects };
}

describe('two repositories of a fork network', () => {
  test('commits of both are merged without a copy, and what the target lacks comes in the pack of the merge', async () => {
    using fixture = new GitFixture();
    const { ours, theirs, names, target, source, repository } = await network(fixture);
    await expect(new PackStore(repository.objects).read(theirs)).rejects.toThrow(ObjectMissing);
    const view = new NetworkView({ target, source, cache: new PackCache() });
    const merging = await view.git.merging();
    const expected = gitMergeTree(fixture, ...names);
    expect(await merging.check(ours, theirs)).toMatchObject({ kind: 'mergeable', tree: expected.tree });
    expect(await repository.objects.listPacks()).toHaveLength(1);

    const built = await merging.mergeCommit(ours, theirs, {
      author: who,
      committer: who,
      message: 'Merge\n',
    });
    if (built.kind !== 'built') throw new Error(built.kind);
    const pack = await view.copy([theirs]);
    const lacking = fixture.lines('rev-list', '--objects', theirs, `^${ours}`);
    expect(pack?.objectCount).toBe(lacking.length);
    const git = new GitRepository(target);
    const name = parseRefName(`refs/heads/${names[0]}`)!;
    const head = parseRefName('refs/merge-requests/1/head')!;
    const updates = [
      { name, from: ours, to: built.commit },
      { name: head, from: zero, to: theirs },
    ];
    await git.publish(built.objects, updates, { packs: [pack!] });

    // A reader of the target alone has all of it.
    const alone = new GitRepository({ ...target, store: new PackStore(repository.objects) });
    expect((await alone.commit(built.commit)).parents).toEqual([ours, theirs]);
    const page = await alone.listTree(built.commit, { recursive: true, limit: 1000 });
    for (const { id, type } of page!.entries) {
      if (type === 'blob') expect(await alone.readBlob(id)).toBeDefined();
    }
    const again = new NetworkView({
      target: { ...target, store: new PackStore(repository.objects) },
      source,
      cache: new PackCache(),
    });
    expect(await again.copy([theirs])).toBeUndefined();
  });

  test('a pack that both list is read once, and what is garbage in the target is copied', async () => {
    using fixture = new GitFixture();
    const { theirs, target, source, repository } = await network(fixture);
    const [own] = await repository.objects.listPacks();
    const view = () => new NetworkView({ target, source, cache: new PackCache() });
    const before = await view().copy([theirs]);
    repository.relist((packs) => packs.map((pack) => ({ ...pack, source: 'unreachable-garbage' })));
    const after = await view().copy([theirs]);
    expect(after!.objectCount).toBe(fixture.lines('rev-list', '--objects', theirs).length);
    expect(after!.objectCount).toBeGreaterThan(before!.objectCount);
    expect(own!.id).not.toBe(after!.id);
    const shared: ObjectDatabase = {
      ...source,
      listPacks: async () => [...(await source.listPacks()), own!],
      open: (pack, part) => (pack.id === own!.id ? repository.objects : source).open(pack, part),
    };
    const both = new NetworkView({ target, source: shared, cache: new PackCache() });
    expect((await both.copy([theirs]))?.objectCount).toBe(after!.objectCount);
  });
});
