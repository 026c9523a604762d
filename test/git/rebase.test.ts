import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { History } from '../../lib/git/history.ts';
import { Merging, type RebaseOutcome, type Replayed } from '../../lib/git/merge/merging.ts';
import type { Oid } from '../../lib/git/oid.ts';
import type { PackStore } from '../../lib/git/pack/store.ts';
import { GitFixture } from './history-fixture.ts';
import { generateBranches } from './merge-fixture.ts';

const PAIRS = 40;
const committer = {
  name: 'C O Mitter',
  email: 'committer@example.com',
  seconds: 1_700_000_000,
  timezone: '+0100',
};

describe('rebases are those of git', () => {
  const fixture = new GitFixture();
  const worktree = mkdtempSync(join(tmpdir(), 'lemnos-rebase-'));
  const env = {
    PATH: process.env['PATH'],
    HOME: fixture.directory,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_COMMITTER_NAME: committer.name,
    GIT_COMMITTER_EMAIL: committer.email,
    GIT_COMMITTER_DATE: `${committer.seconds} ${committer.timezone}`,
  };
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: worktree, env, encoding: 'latin1', stdio: ['ignore', 'pipe', 'pipe'] });
  let store: PackStore;
  let merging: Merging;

  beforeAll(async () => {
    generateBranches(fixture, 7, PAIRS);
    ({ store } = await fixture.load());
    merging = new Merging(store, new History(store));
    git('clone', '--quiet', '--no-checkout', fixture.directory, '.');
  });
  afterAll(() => {
    fixture[Symbol.dispose]();
    rmSync(worktree, { recursive: true, force: true });
  });

  /** The new head, or the commit that git cannot apply. */
  function rebased(source: Oid, onto: Oid): string {
    git('checkout', '--quiet', '--force', '--detach', source);
    git('clean', '-fdxq');
    const { status } = spawnSync('git', ['rebase', '--quiet', onto], { cwd: worktree, env });
    if (status === 0) return git('rev-parse', 'HEAD').trim();
    const stopped = git('rev-parse', 'REBASE_HEAD').trim();
    git('rebase', '--quit');
    return `conflict ${stopped}`;
  }

  const brief = (outcome: RebaseOutcome) =>
    outcome.kind === 'built'
      ? outcome.commit
      : `${outcome.kind} ${'commit' in outcome ? outcome.commit : ''}`;

  test('the same commits, to the byte, or the same commit that conflicts', async () => {
    const seen = { moved: 0, same: 0, conflict: 0, dropped: 0 };
    for (let n = 0; n < PAIRS; n++) {
      const [source, onto] = [fixture.oid(`source${n}`), fixture.oid(`target${n}`)];
      const outcome = await merging.rebase({ source, onto, committer });
      expect(brief(outcome), `source${n}`).toBe(rebased(source, onto));
      if (outcome.kind !== 'built') {
        seen.conflict++;
        continue;
      }
      seen[outcome.commit === source ? 'same' : 'moved']++;
      const own = fixture.lines('rev-list', '--no-merges', `${onto}..${source}`).length;
      const made = git('rev-list', '--count', `${onto}..${outcome.commit}`).trim();
      if (Number(made) < own) seen.dropped++;
    }
    for (const count of Object.values(seen)) expect(count, JSON.stringify(seen)).toBeGreaterThan(2);
  });

  test('the steps tell what became of each commit', async () => {
    const n = await movedPair();
    const [source, onto] = [fixture.oid(`source${n}`), fixture.oid(`target${n}`)];
    const steps = merging.rebaseSteps({ source, onto, committer });
    const told: Replayed[] = [];
    let step = await steps.next();
    for (; !step.done; step = await steps.next()) told.push(step.value);
    const built = told.map(({ became }) => became).filter((oid) => oid !== undefined);
    expect(brief(step.value)).toBe(built.at(-1));
    expect(told.map(({ done }) => done)).toEqual(told.map((_, i) => i + 1));
    expect(told.every(({ total }) => total === told.length)).toBe(true);
  });

  async function movedPair(): Promise<number> {
    for (let n = 0; n < PAIRS; n++) {
      const [source, onto] = [fixture.oid(`source${n}`), fixture.oid(`target${n}`)];
      const outcome = await merging.rebase({ source, onto, committer });
      if (outcome.kind === 'built' && outcome.objects.filter(({ type }) => type === 'commit').length > 1)
        return n;
    }
    throw new Error('no pair is moved');
  }
});
