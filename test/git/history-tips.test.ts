import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { AuthorCount } from '../../lib/git/history.ts';
import type { Oid } from '../../lib/git/oid.ts';
import type { PackStore } from '../../lib/git/pack/store.ts';
import { GitRepository } from '../../lib/git/repository.ts';
import { GitFixture, generateHistory, random } from './history-fixture.ts';

describe.each([
  { seed: 301, commits: 150, skew: false },
  { seed: 302, commits: 150, skew: true },
])('history $seed, asked about several commits at once', (options) => {
  const fixture = new GitFixture();
  let git: GitRepository;
  let all: Oid[];

  beforeAll(async () => {
    generateHistory(fixture, options);
    fixture.git('tag', '-a', '-m', 'a tree', 'of-a-tree', 'main^{tree}');
    const { repository, store } = await fixture.load();
    git = new GitRepository({ objects: repository.objects, refs: repository.refs, store });
    all = fixture.lines('rev-list', '--all') as Oid[];
  });
  afterAll(() => fixture[Symbol.dispose]());

  test('refs that contain each commit are those of git for-each-ref --contains', async () => {
    const { refs } = await git.branches();
    const tags = (await git.tags()).refs;
    for (const commit of all) {
      const found = await git.containing([...refs, ...tags], commit);
      const names = (...of: string[]) =>
        fixture.lines('for-each-ref', `--contains=${commit}`, '--format=%(refname)', ...of);
      expect(found.map((ref) => ref.name)).toEqual([...names('refs/heads'), ...names('refs/tags')]);
    }
  });

  test('common ancestors of up to five commits are those of git merge-base --octopus', async () => {
    const pick = random(options.seed);
    let several = 0;
    for (let n = 0; n < 150; n++) {
      const commits = Array.from({ length: 1 + pick(5) }, () => all[pick(all.length)]!);
      const expected = octopus(commits);
      const found = (await git.history.commonAncestors(commits)).map((node) => node.oid);
      expect([...found].sort(), commits.join()).toEqual(expected.sort());
      if (expected.length > 1) several++;
    }
    expect(several).toBeGreaterThan(0);
    expect(await git.history.commonAncestors([])).toEqual([]);
  });

  const octopus = (commits: readonly Oid[]): string[] => {
    try {
      return fixture.lines('merge-base', '--octopus', '--all', ...commits);
    } catch {
      return [];
    }
  };
});

test('authors are those of git shortlog --no-merges, except for the case of addresses', async () => {
  using fixture = new GitFixture();
  const people = [
    ['Ann', 'ann@example.com'],
    ['Ann', 'Ann@Example.COM'],
    ['ann', 'ann@example.com'],
    ['Zo\xc3\xab', 'zoe@example.com'],
    ['Bob', 'ann@example.com'],
    ['', 'nobody@example.com'],
    ['B\xf6b', 'bob@example.com'],
  ];
  const pick = random(7);
  let stream = '';
  for (let n = 0; n < 120; n++) {
    const [name, email] = people[pick(people.length)]!;
    stream += `commit refs/heads/main\nmark :${n + 1}\nauthor ${name} <${email}> ${1e9 + n} +0000\n`;
    stream += `committer C <c@example.com> ${1e9 + n} +0000\n`;
    // A name in Latin-1, as its commit declares.
    if (name === 'B\xf6b') stream += 'encoding ISO-8859-1\n';
    stream += `data 1\nm\n${n === 0 ? '' : `from :${n}\n`}${n > 5 && pick(4) === 0 ? `merge :${1 + pick(n - 3)}\n` : ''}\n`;
  }
  fixture.feed(stream, 'fast-import', '--quiet');
  const { repository, store } = await fixture.load();
  const git = new GitRepository({ objects: repository.objects, refs: repository.refs, store });
  const all = fixture.lines('rev-list', '--reverse', 'main') as Oid[];
  const head = all.at(-1)!;
  // Each counts from what was counted before; some are no descendants of it.
  for (const tip of [all[20]!, all[20]!, all[21]!, all[90]!, all[60]!, head]) {
    const authors = await git.history.authors(tip);
    expect(byPerson(authors), tip).toEqual(shortlog(fixture, tip));
    const newest = fixture.git('log', '-1', '--no-merges', '--author=^Ann ', '--format=%ae', tip).trim();
    expect(authors.find((author) => author.name === 'Ann')?.email).toBe(newest);
  }
  expect(shortlog(fixture, head).size).toBe(people.length - 1);
  await expect(git.history.authors(all[100]!, { maxCommits: 50 })).rejects.toThrow('passed 50');
});

/** The commits without merges by author, as git counts them, for addresses in lower case. */
function shortlog(fixture: GitFixture, tip: Oid): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of fixture.lines('shortlog', '-sne', '--no-merges', tip)) {
    const [, count, name, email] = /^ *(\d+)\t(.*) ?<(.*)>$/.exec(line)!;
    const key = `${Buffer.from(name!.trim(), 'latin1').toString('utf8')} <${email!.toLowerCase()}>`;
    counts.set(key, (counts.get(key) ?? 0) + Number(count));
  }
  return counts;
}

const byPerson = (authors: readonly AuthorCount[]) =>
  new Map(authors.map(({ name, email, commits }) => [`${name} <${email.toLowerCase()}>`, commits]));

test('authors that were counted before are not counted again: only what a later commit adds is read', async () => {
  using fixture = new GitFixture();
  const person = (n: number) => `C <c@example.com> ${1e9 + n} +0000`;
  const commit = (n: number) => `commit refs/heads/main\ncommitter ${person(n)}\ndata 1\nm\n\n`;
  fixture.feed(Array.from({ length: 60 }, (_, n) => commit(n)).join(''), 'fast-import', '--quiet');
  const { repository, store } = await fixture.load();
  const reads = readsOf(store);
  const git = new GitRepository({ objects: repository.objects, refs: repository.refs, store });
  const [tip, before] = ['main', 'main~3'].map((name) => fixture.oid(name)) as [Oid, Oid];
  await git.history.authors(before);
  expect(reads()).toBeGreaterThan(50);
  await git.history.authors(before);
  expect(reads()).toBe(0);
  await git.history.authors(tip);
  expect(reads()).toBeLessThan(20);
});

test('a commit is read as often for forty refs to it as for one', async () => {
  using fixture = new GitFixture();
  generateHistory(fixture, { seed: 303, commits: 3, skew: false });
  for (let n = 0; n < 40; n++) fixture.git('branch', `same-${n}`, 'main');
  const { repository, store } = await fixture.load();
  const reads = readsOf(store);
  const git = new GitRepository({ objects: repository.objects, refs: repository.refs, store });
  const refs = (await git.branches()).refs.filter(({ name }) => name.startsWith('refs/heads/same-'));
  const readsOfTips = async (some: typeof refs) => {
    reads();
    const tips = await git.tips(some);
    expect(tips.map(({ ref, commit }) => [ref.name, commit.oid])).toEqual(
      some.map(({ name, oid }) => [name, oid]),
    );
    return reads();
  };
  expect(refs).toHaveLength(40);
  // What the first time fetches is read again then.
  await readsOfTips(refs.slice(0, 1));
  const one = await readsOfTips(refs.slice(0, 1));
  expect(one).toBeGreaterThan(0);
  expect(await readsOfTips(refs)).toBe(one);
});

/** Counts the objects that are read from the store: returns how many since it was last called. */
function readsOf(store: PackStore): () => number {
  let reads = 0;
  const run = store.run.bind(store);
  vi.spyOn(store, 'run').mockImplementation((read, ahead) =>
    run((objects) => {
      const { read: readOne } = objects;
      const counted = (oid: Oid) => {
        reads++;
        return readOne.call(objects, oid);
      };
      return read(
        Object.assign(Object.create(objects), { header: objects.header.bind(objects), read: counted }),
      );
    }, ahead),
  );
  return () => {
    const since = reads;
    reads = 0;
    return since;
  };
}
