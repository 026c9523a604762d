/** Commits pinned by API objects, while garbage collections run before, during and after. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pinCommit, pinCommits } from '../../../lib/domain/commits/pin.ts';
import { GARBAGE_MS } from '../../../lib/git/maintenance/collect.ts';
import type { Oid } from '../../../lib/git/oid.ts';
import type { RefName } from '../../../lib/git/refname.ts';
import type { ProjectRecord } from '../../../lib/records/projects.ts';
import { TransactionRefused } from '../../../lib/store/errors.ts';
import { closeRepository } from '../../../lib/store/repository/state.ts';
import { pinnedCommitKey } from '../../../lib/store/row-keys/repository.ts';
import type { Write } from '../../../lib/store/table/write.ts';
import { DAY, type Ground, openYard, type Yard } from '../maintenance/maintenance-fixture.ts';

let yard: Yard;
beforeAll(async () => {
  yard = await openYard();
});
afterAll(() => yard[Symbol.asyncDispose]());

const dropped = 'refs/heads/dropped' as RefName;

/** Three commits on the main line, two more on a branch that is deleted. */
async function withLost(): Promise<{ ground: Ground; project: ProjectRecord; lost: Oid }> {
  const ground = await yard.repository();
  await ground.commits(3);
  await ground.git.createRef(dropped, (await ground.git.headRef()).head!.oid);
  const lost = await ground.commits(2, 'dropped');
  await ground.git.deleteRef(dropped, lost);
  const project = {
    repositoryId: ground.id,
    importStatus: 'none',
    defaultBranch: null,
  } as unknown as ProjectRecord;
  return { ground, project, lost };
}

/** All objects reachable from the commit are in packs that are not garbage. */
async function expectSafe(ground: Ground, commit: Oid): Promise<void> {
  const listed = await ground.open().objects.listPacks();
  const ports = ground.open();
  ports.objects.listPacks = async () => listed.filter(({ source }) => source !== 'unreachable-garbage');
  await ports.refs.compareAndSwap([{ name: dropped, from: '0'.repeat(40) as Oid, to: commit }]);
  expect(await ground.readAll(ports)).toContain(commit);
  await ground.git.deleteRef(dropped, commit);
}

const note = (keep: readonly Write[]) =>
  yard.store.table.transact([{ put: { pk: 'TEST', sk: crypto.randomUUID() } }, ...keep]);

describe('a pinned commit', () => {
  test('survives garbage collections, and is not a ref', async () => {
    const { ground, project, lost } = await withLost();
    await pinCommit(yard.deps(), project, lost, note);
    expect((await ground.open().refs.all()).refs).toHaveLength(1);
    expect(await ground.collect()).toEqual({ garbage: 0, resurrected: 0 });
    await expectSafe(ground, lost);
    const kept: Oid[] = [];
    for await (const oid of ground.open().refs.pinned()) kept.push(oid);
    expect(kept).toEqual([lost]);
  });

  test('is pinned once for any number of objects: later ones write nothing for it', async () => {
    const { project, lost } = await withLost();
    const seen: number[] = [];
    const counted = async (keep: readonly Write[]) => {
      seen.push(keep.length);
      await note(keep);
    };
    await pinCommits(yard.deps(), project, [lost, lost], counted);
    await pinCommit(yard.deps(), project, lost, counted);
    await Promise.all(Array.from({ length: 10 }, () => pinCommit(yard.deps(), project, lost, counted)));
    expect(seen.slice(0, 2)).toEqual([2, 0]);
  });

  test('is resurrected from garbage with all it reaches, and the pack of garbage is removed in time', async () => {
    const { ground, project, lost } = await withLost();
    expect((await ground.collect()).garbage).toBeGreaterThan(2);
    await pinCommit(yard.deps(), project, lost, note);
    await expectSafe(ground, lost);
    await ground.collect(new Date(Date.now() + GARBAGE_MS + DAY));
    expect((await ground.active()).map(({ source }) => source)).not.toContain('unreachable-garbage');
    await expectSafe(ground, lost);
  });

  test.each(['before', 'swap'] as const)(
    'survives when it is pinned while a collection runs: %s',
    async (at) => {
      const { ground, project, lost } = await withLost();
      await ground.collect(new Date(), { [at]: () => pinCommit(yard.deps(), project, lost, note) });
      await expectSafe(ground, lost);
    },
  );

  test.each([
    ['only the epoch was raised', (ground: Ground) => yard.store.repositories.raiseEpoch(ground.id)],
    ['a whole collection ran', (ground: Ground) => ground.collect()],
  ])('is checked again when %s between the check and the transaction', async (_, between) => {
    const { ground, project, lost } = await withLost();
    let calls = 0;
    await pinCommit(yard.deps(), project, lost, async (keep) => {
      if (calls++ === 0) await between(ground);
      await note(keep);
    });
    expect(calls).toBe(2);
    await expectSafe(ground, lost);
  });

  test('that is missing or refused leaves nothing of the object that would pin it', async () => {
    const { ground, project, lost } = await withLost();
    const absent = 'dead'.repeat(10) as Oid;
    const unwritten = () => expect.unreachable('called');
    await expect(pinCommit(yard.deps(), project, absent, unwritten)).rejects.toThrow('404 Commit Not Found');
    // A refusal by the caller is passed on, and the packs resurrected for it are deleted.
    await ground.collect();
    const keys = await ground.keys();
    const refused = new TransactionRefused([{ reason: 'other', item: undefined }]);
    await expect(
      pinCommit(yard.deps(), project, lost, async (keep) => {
        expect(keep).toHaveLength(3);
        throw refused;
      }),
    ).rejects.toBe(refused);
    expect(await ground.keys()).toEqual(keys);
    // The repository is deleted meanwhile, and before.
    const closing = pinCommit(yard.deps(), project, lost, async (keep) => {
      await yard.store.table.transact(closeRepository(ground.id));
      await note(keep);
    });
    await expect(closing).rejects.toThrow('404 Project Not Found');
    expect(await yard.store.table.get(pinnedCommitKey(ground.id, lost))).toBeUndefined();
    await expect(pinCommit(yard.deps(), project, lost, unwritten)).rejects.toThrow('404 Project Not Found');
  });
});
