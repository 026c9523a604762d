import { afterAll, describe, expect, test } from 'vitest';
import { HistoryCache, KnownAnswers, KnownHistory } from '../../lib/git/history/known.ts';
import { History } from '../../lib/git/history.ts';
import type { Oid } from '../../lib/git/oid.ts';
import type { RawPath } from '../../lib/git/tree/path.ts';
import { GitFixture, generateHistory, random } from './history-fixture.ts';

describe('the history cache between requests', () => {
  const fixture = new GitFixture();
  afterAll(() => fixture[Symbol.dispose]());

  test('the last commit for a path is that of git, whatever is cached', async () => {
    generateHistory(fixture, { seed: 7, commits: 150, skew: true });
    const { store } = await fixture.load();
    const commits = fixture.lines('rev-list', '--all') as Oid[];
    const known = new KnownHistory();
    const pick = random(5);
    for (let i = 0; i < 120; i++) {
      const from = commits[pick(commits.length)]!;
      const path = ['README', 'a', 'a/b', 'lib/deep', 'lib/z', 'run.sh', 'never'][pick(7)] as RawPath;
      // A separate History for each query, as in requests.
      const found = await new History(store, known).lastCommitForPath(from, path);
      expect(found?.oid ?? '', `${from} ${path}`).toBe(
        fixture.git('rev-list', '-1', from, '--', path).trim(),
      );
    }
  });

  test('a cached answer is not computed again', async () => {
    const { store } = await fixture.load();
    const main = fixture.oid('main');
    const known = new KnownHistory();
    const ask = (maxCommits: number) =>
      new History(store, known).lastCommitForPath(main, 'never' as RawPath, { maxCommits });
    await expect(ask(3)).rejects.toThrow('passed 3 commits');
    expect(await ask(1_000)).toBeUndefined();
    expect(await ask(0)).toBeUndefined();
  });
});

describe('limits of the history cache', () => {
  const oid = (number: number) => number.toString(16).padStart(40, '0') as Oid;

  test('answers take a bounded number of bytes: the oldest are dropped', () => {
    const answers = new KnownAnswers();
    const long = 'x'.repeat(4_000) as RawPath;
    for (let i = 0; i < 2_000; i++) answers.add(long, oid(i), oid(1));
    expect(answers.get(long, oid(0))).toBeUndefined();
    expect(answers.get(long, oid(1_999))).toBe(oid(1));
    const kept = Array.from({ length: 2_000 }, (_, i) => answers.get(long, oid(i))).filter(Boolean);
    expect(kept.length).toBeGreaterThan(100);
    expect(kept.length).toBeLessThan(600);
  });

  test('least recently used repositories are dropped, others stay', () => {
    const cache = new HistoryCache();
    const first = cache.of('first');
    const second = cache.of('second');
    for (let i = 0; i < 255; i++) {
      cache.of(`other ${i}`);
      expect(cache.of('second')).toBe(second);
    }
    expect(cache.of('first')).not.toBe(first);
  });
});
