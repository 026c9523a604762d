import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { History, type LogQuery } from '../../lib/git/history.ts';
import type { Oid } from '../../lib/git/oid.ts';
import type { RawPath } from '../../lib/git/tree/path.ts';
import { ASKED_PATHS, GitFixture, generateHistory, random } from './history-fixture.ts';

const HISTORIES = [
  { seed: 1, commits: 120, skew: false },
  { seed: 2, commits: 120, skew: true },
  { seed: 3, commits: 300, skew: true },
  { seed: 4, commits: 40, skew: false },
];

describe.each(HISTORIES)('log of a generated history $seed', (options) => {
  const fixture = new GitFixture();
  let history: History;
  let oids: Oid[];

  beforeAll(async () => {
    generateHistory(fixture, options);
    history = new History((await fixture.load()).store);
    oids = fixture.lines('rev-list', '--all') as Oid[];
  });
  afterAll(() => fixture[Symbol.dispose]());

  const ours = async (query: LogQuery & { skip?: number; limit?: number }) =>
    (await history.log({ limit: 1e6, ...query })).map((node) => node.oid);
  const main = () => fixture.oid('main');

  test('whole log, every order', async () => {
    expect(await ours({ tips: [main()] })).toEqual(fixture.lines('rev-list', 'main'));
    expect(await ours({ tips: [main()], firstParent: true })).toEqual(
      fixture.lines('rev-list', '--first-parent', 'main'),
    );
    expect(await ours({ tips: [main()], order: 'topo' })).toEqual(
      fixture.lines('rev-list', '--topo-order', 'main'),
    );
  });

  test('all refs', async () => {
    const tips = fixture.lines('for-each-ref', '--format=%(objectname)', 'refs/heads') as Oid[];
    expect(await ours({ tips })).toEqual(fixture.lines('rev-list', '--branches'));
    expect(await ours({ tips, order: 'topo' })).toEqual(
      fixture.lines('rev-list', '--topo-order', '--branches'),
    );
  });

  test('pages', async () => {
    for (const skip of [0, 1, 7, 39, 100, 1000]) {
      const expected = fixture.lines('rev-list', `--skip=${skip}`, '--max-count=20', 'main');
      expect(await ours({ tips: [main()], skip, limit: 20 })).toEqual(expected);
    }
  });

  test('since and until', async () => {
    const dates = fixture.lines('log', '--format=%ct', 'main').map(Number);
    const pick = random(options.seed);
    for (let i = 0; i < 25; i++) {
      const since = dates[pick(dates.length)]!;
      const until = dates[pick(dates.length)]!;
      const args = [`--since=${since} +0000`, `--until=${until} +0000`];
      const wanted = pick(3);
      const chosen = wanted === 0 ? [args[0]!] : wanted === 1 ? [args[1]!] : args;
      const query = {
        ...(chosen.includes(args[0]!) ? { since } : {}),
        ...(chosen.includes(args[1]!) ? { until } : {}),
      };
      expect(await ours({ tips: [main()], ...query })).toEqual(fixture.lines('rev-list', ...chosen, 'main'));
      const path = ASKED_PATHS[pick(ASKED_PATHS.length)] as RawPath;
      const withPath = fixture.lines('rev-list', ...chosen, 'main', '--', path);
      if (/^[ -~]*$/.test(path)) expect(await ours({ tips: [main()], path, ...query })).toEqual(withPath);
    }
  });

  test('ranges', async () => {
    const pick = random(options.seed + 100);
    for (let i = 0; i < 40; i++) {
      const [from, to] = [oids[pick(oids.length)]!, oids[pick(oids.length)]!];
      const range = `${from}..${to}`;
      expect(await ours({ tips: [to], exclude: [from] })).toEqual(fixture.lines('rev-list', range));
      expect(await ours({ tips: [to], exclude: [from], order: 'topo' })).toEqual(
        fixture.lines('rev-list', '--topo-order', range),
      );
      expect(await ours({ tips: [to], exclude: [from], firstParent: true })).toEqual(
        fixture.lines('rev-list', '--first-parent', range),
      );
      expect(await history.count({ tips: [to], exclude: [from] }, 10_000)).toBe(
        Number(fixture.git('rev-list', '--count', range)),
      );
      const path = ['README', 'a', 'lib/deep'][pick(3)] as RawPath;
      expect(await ours({ tips: [to], exclude: [from], path })).toEqual(
        fixture.lines('rev-list', range, '--', path),
      );
    }
  });

  test('log of a path', async () => {
    for (const path of ASKED_PATHS as RawPath[]) {
      // Arguments cannot contain bytes that are not UTF-8: git reads those from its input.
      const log = (...args: string[]) =>
        fixture
          .feed(`main\n--\n${path}\n`, 'rev-list', ...args, '--stdin')
          .split('\n')
          .filter(Boolean);
      expect(await ours({ tips: [main()], path }), path).toEqual(log());
      expect(await ours({ tips: [main()], path, firstParent: true }), path).toEqual(log('--first-parent'));
      expect(await ours({ tips: [main()], path, order: 'topo' }), path).toEqual(log('--topo-order'));
      expect((await history.lastCommitForPath(main(), path))?.oid, path).toBe(log('-1')[0]);
    }
  });

  test('a walk throws at its limit', async () => {
    await expect(history.log({ tips: [main()], limit: 1e6 }, { maxCommits: 5 })).rejects.toThrow(
      'passed 5 commits',
    );
  });

  test('a walk can be aborted', async () => {
    const signal = AbortSignal.abort(new Error('gone'));
    await expect(history.log({ tips: [main()], limit: 10 }, { signal })).rejects.toThrow('gone');
  });
});
