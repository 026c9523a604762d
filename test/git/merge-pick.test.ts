import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Oid } from '../../lib/git/oid.ts';
import type { PackStore } from '../../lib/git/pack/store.ts';
import { cherryPick, NoSuchParent, type PickOutcome, revert } from '../../lib/git/pick.ts';
import { GitFixture } from './history-fixture.ts';
import { generateMerges } from './merge-fixture.ts';

describe('cherry-picks and reverts are those of git', () => {
  const fixture = new GitFixture();
  const worktree = mkdtempSync(join(tmpdir(), 'lemnos-pick-'));
  const env = {
    PATH: process.env['PATH'],
    HOME: fixture.directory,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'A',
    GIT_AUTHOR_EMAIL: 'a@example.com',
    GIT_COMMITTER_NAME: 'C',
    GIT_COMMITTER_EMAIL: 'c@example.com',
  };
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: worktree, env, encoding: 'latin1', stdio: ['ignore', 'pipe', 'pipe'] });
  let store: PackStore;

  beforeAll(async () => {
    generateMerges(fixture, 31, 24);
    ({ store } = await fixture.load());
    git('clone', '--quiet', '--no-checkout', fixture.directory, '.');
  });
  afterAll(() => {
    fixture[Symbol.dispose]();
    rmSync(worktree, { recursive: true, force: true });
  });

  /** The result of git: the tree it commits, or why it does not. */
  function outcome(command: 'cherry-pick' | 'revert', commit: Oid, onto: Oid): string {
    git('checkout', '--quiet', '--force', '--detach', onto);
    git('clean', '-fdxq');
    const merge = git('rev-list', '--parents', '-1', commit).trim().split(' ').length > 2;
    const options = command === 'revert' ? ['--no-edit'] : ['--allow-empty'];
    const { status } = spawnSync('git', [command, ...options, ...(merge ? ['-m', '1'] : []), commit], {
      cwd: worktree,
      env,
    });
    const unmerged = git('ls-files', '--unmerged') !== '';
    if (status !== 0) git(command, '--quit');
    if (unmerged) return 'conflict';
    if (status !== 0) return 'empty';
    const [before, after] = [`${onto}^{tree}`, 'HEAD^{tree}'].map((tree) => git('rev-parse', tree).trim());
    return before === after ? 'empty' : after!;
  }

  const brief = (picked: PickOutcome) => (picked.kind === 'picked' ? picked.tree : picked.kind);

  test('generated branches', async () => {
    const seen = new Set<string>();
    for (let n = 0; n < 24; n++) {
      const [ours, theirs, base] = ['ours', 'theirs', 'base'].map((name) => fixture.oid(`${name}${n}`)) as [
        Oid,
        Oid,
        Oid,
      ];
      const mergeOrBase = fixture.oid(`${theirs}~1`);
      for (const [commit, onto] of [
        [theirs, ours],
        [theirs, mergeOrBase],
        [mergeOrBase, ours],
      ] as const) {
        if (onto === base && commit === base) continue;
        const picked = brief(await cherryPick(store, { commit, onto }));
        const expected = outcome('cherry-pick', commit, onto);
        expect(picked, `cherry-pick ${commit} onto ${onto}`).toBe(expected);
        seen.add(picked.length === 40 ? 'picked' : picked);
      }
      for (const [commit, onto] of [
        [ours, ours],
        [mergeOrBase, theirs],
        [theirs, ours],
      ] as const) {
        const reverted = brief(await revert(store, { commit, onto }));
        expect(reverted, `revert ${commit} on ${onto}`).toBe(outcome('revert', commit, onto));
        seen.add(reverted.length === 40 ? 'picked' : reverted);
      }
    }
    expect([...seen].sort()).toEqual(['conflict', 'empty', 'picked']);
  });

  test('a repeated pick is empty, and a revert undoes it', async () => {
    const [commit, parent] = [fixture.oid('theirs0'), fixture.oid('theirs0~1')];
    expect(await cherryPick(store, { commit, onto: parent })).toMatchObject({
      kind: 'picked',
      tree: fixture.oid('theirs0^{tree}'),
      objects: [],
    });
    expect(await cherryPick(store, { commit, onto: commit })).toEqual({ kind: 'empty' });
    expect(await revert(store, { commit, onto: commit })).toMatchObject({
      kind: 'picked',
      tree: fixture.oid(`${parent}^{tree}`),
    });
  });

  test('parents of a merge are counted from 1', async () => {
    const commit = fixture.oid('theirs2~1');
    const [first, second] = fixture.git('rev-list', '--parents', '-1', commit).trim().split(' ').slice(1) as [
      Oid,
      Oid,
    ];
    for (const [mainline, onto] of [
      [1, first],
      [2, second],
    ] as const) {
      const picked = await cherryPick(store, { commit, onto, mainline });
      expect(brief(picked)).toBe(fixture.oid(`${commit}^{tree}`));
    }
    await expect(cherryPick(store, { commit, onto: first, mainline: 3 })).rejects.toThrow(NoSuchParent);
    await expect(revert(store, { commit: fixture.oid('base0'), onto: first, mainline: 2 })).rejects.toThrow(
      NoSuchParent,
    );
  });
});
