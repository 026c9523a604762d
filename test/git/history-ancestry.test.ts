import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { History } from '../../lib/git/history.ts';
import type { Oid } from '../../lib/git/oid.ts';
import { GitFixture, generateHistory, random } from './history-fixture.ts';

const HISTORIES = [
  { seed: 11, commits: 100, skew: false },
  { seed: 12, commits: 150, skew: true },
  { seed: 13, commits: 300, skew: true },
];

describe.each(HISTORIES)('ancestry in a generated history $seed', (options) => {
  const fixture = new GitFixture();
  let history: History;
  let oids: Oid[];

  beforeAll(async () => {
    generateHistory(fixture, options);
    history = new History((await fixture.load()).store);
    oids = fixture.lines('rev-list', '--all') as Oid[];
  });
  afterAll(() => fixture[Symbol.dispose]());

  const git = (...args: string[]): string[] => {
    try {
      return fixture.lines(...args);
    } catch {
      return [];
    }
  };

  test('merge bases', async () => {
    const pick = random(options.seed);
    let several = 0;
    for (let i = 0; i < 80; i++) {
      const [one, two, three] = [
        oids[pick(oids.length)]!,
        oids[pick(oids.length)]!,
        oids[pick(oids.length)]!,
      ];
      const bases = (await history.mergeBases(one, [two])).map((node) => node.oid);
      if (bases.length > 1) several++;
      expect(bases.toSorted()).toEqual(git('merge-base', '--all', one, two).toSorted());
      const wide = (await history.mergeBases(one, [two, three])).map((node) => node.oid);
      expect(wide.toSorted()).toEqual(git('merge-base', '--all', one, two, three).toSorted());
    }
    expect(several, 'criss-crosses in the sample').toBeGreaterThan(0);
  });

  test('ancestors', async () => {
    const pick = random(options.seed + 1);
    const reached = new Map<Oid, Set<string>>();
    for (let i = 0; i < 80; i++) {
      const [a, b] = [oids[pick(oids.length)]!, oids[pick(oids.length)]!];
      if (!reached.has(b)) reached.set(b, new Set(fixture.lines('rev-list', b)));
      expect(await history.isAncestor(a, b)).toBe(reached.get(b)!.has(a));
    }
  });

  test('merged branches', async () => {
    const branches = fixture
      .lines('for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads')
      .map((line) => line.split(' ') as [string, Oid]);
    for (const into of ['main', oids[oids.length >> 1]!, oids[10]!]) {
      const merged = await history.merged(
        branches.map(([, oid]) => oid),
        fixture.oid(into),
      );
      const names = branches.filter((_, i) => merged[i]).map(([name]) => name);
      expect(names).toEqual(
        fixture.lines('for-each-ref', '--format=%(refname)', `--merged=${into}`, 'refs/heads'),
      );
    }
  });
});
