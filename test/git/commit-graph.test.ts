/** Commit-graph files are byte for byte those of git. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ALWAYS, bloomFilter } from '../../lib/git/commit-graph/bloom.ts';
import { commitGraphBuilder } from '../../lib/git/commit-graph/build.ts';
import { CommitGraphFile } from '../../lib/git/commit-graph/read.ts';
import { sealDerived } from '../../lib/git/derived.ts';
import { UNFINISHED } from '../../lib/git/maintenance/due.ts';
import { MemoryRepository } from '../../lib/git/memory.ts';
import { type Oid, ZERO_OID } from '../../lib/git/oid.ts';
import type { Unpacked } from '../../lib/git/pack/build-pack.ts';
import { PackStore } from '../../lib/git/pack/store.ts';
import { encodeCommit, encodeTree, hashObject } from '../../lib/git/parse.ts';
import type { RefName } from '../../lib/git/refname.ts';
import { buildPack } from '../harness/build-pack.ts';
import { GitFixture, generateHistory } from './history-fixture.ts';

const FOREVER = Number.POSITIVE_INFINITY;

async function build(repository: MemoryRepository, deadline = FOREVER) {
  const store = new PackStore(repository.objects);
  const made = (await commitGraphBuilder.build({
    store,
    refs: repository.refs,
    packs: [],
    deadline,
    stopsAt: FOREVER,
  }))!;
  if (made.content.kind !== 'bytes') throw new Error('not in memory');
  return { ...made, bytes: made.content.bytes.subarray(0, made.content.size) };
}

const fileOf = (fixture: GitFixture) => join(fixture.directory, 'objects/info/commit-graph');

/** The file git writes for the repository in its current state. */
function gits(fixture: GitFixture): Buffer {
  rmSync(fileOf(fixture), { force: true });
  fixture.git('commit-graph', 'write', '--reachable', '--changed-paths', '--no-progress');
  return readFileSync(fileOf(fixture));
}

describe.each([
  { seed: 21, commits: 80, skew: false },
  { seed: 22, commits: 300, skew: true },
])('the graph of a generated history $seed', (options) => {
  const fixture = new GitFixture();
  let repository: MemoryRepository;
  beforeAll(async () => {
    generateHistory(fixture, options);
    repository = (await fixture.load()).repository;
  });
  afterAll(() => fixture[Symbol.dispose]());

  test("is byte for byte git's", async () => {
    const { bytes, note } = await build(repository);
    expect(note).toBe('');
    expect(Buffer.from(bytes).equals(gits(fixture))).toBe(true);
  });

  test('built from a previous one is the same, filters included', async () => {
    const before = await build(repository);
    await repository.storeDerived('commit-graph', sealDerived(before.bytes), {
      packs: [],
      objects: 0,
      note: '',
    });
    expect(await build(repository)).toEqual(before);
  });

  test('has the commits that git reads', async () => {
    const { bytes } = await build(repository);
    await repository.storeDerived('commit-graph', sealDerived(bytes), { packs: [], objects: 0, note: '' });
    const store = new PackStore(repository.objects);
    const format = '--format=%H %T %ct %P';
    for (const line of fixture.lines('log', format, '--all')) {
      const [oid, tree, date, ...parents] = line.split(' ').filter(Boolean) as [Oid, Oid, string, ...Oid[]];
      await store.run((objects) => {
        const graph = objects.derived('commit-graph')!.parsed((file) => new CommitGraphFile(file));
        const commit = graph.commit(graph.find(oid));
        expect(commit).toMatchObject({ tree, date: Number(date) });
        expect(commit.parents.map((parent) => graph.oid(parent))).toEqual(parents);
        for (const parent of commit.parents)
          expect(commit.generation).toBeGreaterThan(graph.commit(parent).generation);
      });
    }
    await store.run((objects) => {
      const graph = objects.derived('commit-graph')!.parsed((file) => new CommitGraphFile(file));
      expect(graph.find('0'.repeat(40) as Oid)).toBe(-1);
      expect(graph.find('f'.repeat(40) as Oid)).toBe(-1);
    });
  });
});

test("commits with very many changes, none, and deep folders have git's filters", async () => {
  using fixture = new GitFixture();
  const commit = (files: string, mark: number) =>
    `commit refs/heads/main\nmark :${mark}\ncommitter C <c@example.com> ${1_700_000_000 + mark} +0000\ndata 0\n${
      mark > 1 ? `from :${mark - 1}\n` : ''
    }${files}\n`;
  const put = (path: string, text: string) => `M 644 inline ${path}\ndata ${text.length}\n${text}\n`;
  const many = (count: number, text: string, folder = 'f') =>
    Array.from({ length: count }, (_, i) => put(`${folder}/${i}`, text)).join('');
  const steps = [
    many(510, 'a'),
    many(511, 'b'),
    many(512, 'c'),
    many(513, 'd'),
    '',
    put('a/b/c/d/e/f/g/h', 'x'),
    'M 755 inline a/b/c/d/e/f/g/h\ndata 1\nx\n',
    'D a/b\n',
    put('a', 'now a file'),
    `D a\n${put('a/was/file', 'x')}`,
    Array.from({ length: 300 }, (_, i) => put(`deep/${i}/x`, 'x')).join(''),
  ];
  fixture.feed(steps.map((files, i) => commit(files, i + 1)).join(''), 'fast-import', '--quiet');
  const { repository } = await fixture.load();
  expect(Buffer.from((await build(repository)).bytes).equals(gits(fixture))).toBe(true);
});

test('dates after 2106 and large generation offsets are represented', async () => {
  using fixture = new GitFixture();
  const dates = [2 ** 34 - 1, 5, 2 ** 32 + 7, 0, 9];
  const stream = dates.map(
    (date, i) =>
      `commit refs/heads/main\nmark :${i + 1}\ncommitter C <c@example.com> ${date} +0000\ndata 0\n${
        i > 0 ? `from :${i}\n` : ''
      }M 644 inline f\ndata 1\n${i}\n\n`,
  );
  fixture.feed(stream.join(''), 'fast-import', '--quiet');
  const { repository } = await fixture.load();
  expect(Buffer.from((await build(repository)).bytes).equals(gits(fixture))).toBe(true);
});

test('a commit whose date does not fit is left out with its descendants', async () => {
  using fixture = new GitFixture();
  const dates = [1, 2 ** 34, 3];
  const stream = dates.map(
    (date, i) =>
      `commit refs/heads/main\nmark :${i + 1}\ncommitter C <c@example.com> ${date} +0000\ndata 0\n${
        i > 0 ? `from :${i}\n` : ''
      }M 644 inline f\ndata 1\n${i}\n\n`,
  );
  fixture.feed(stream.join(''), 'fast-import', '--quiet');
  const { repository } = await fixture.load();
  const { bytes } = await build(repository);
  mkdirSync(join(fixture.directory, 'objects/info'), { recursive: true });
  writeFileSync(fileOf(fixture), bytes);
  fixture.git('commit-graph', 'verify');
  expect(fixture.lines('log', '--format=%ct')).toEqual(['3', String(2 ** 34), '1']);
});

test('an empty repository, and one without commits, have an empty graph', async () => {
  using fixture = new GitFixture();
  const blob = fixture.feed('x', 'hash-object', '-w', '--stdin').trim();
  fixture.git('update-ref', 'refs/tags/blob', blob);
  const { repository } = await fixture.load();
  const { bytes } = await build(repository);
  expect(bytes.length).toBeLessThan(1300);
});

test('a commit whose tree names a file as a tree may have changed any path, and others have their filters', async () => {
  const repository = new MemoryRepository();
  const objects: Unpacked[] = [];
  const put = (type: Unpacked['type'], data: Uint8Array): Oid => {
    objects.push({ type, data });
    return hashObject(type, data);
  };
  const by = { name: 'A', email: 'a@example.com', seconds: 1_700_000_000, timezone: '+0000' };
  const file = put('blob', Buffer.from('file'));
  const commit = (mode: number, ...parents: Oid[]) => {
    const tree = put('tree', encodeTree([{ mode, name: 'd', oid: file }]));
    return put('commit', encodeCommit({ tree, parents, author: by, committer: by, message: 'change' }));
  };
  const usual = commit(0o100644);
  const odd = commit(0o040000, usual);
  const { content, objectCount } = buildPack(objects);
  const pack = await repository.objects.newPack(content, { source: 'receive', objectCount });
  const main = { name: 'refs/heads/main' as RefName, from: ZERO_OID, to: odd };
  await repository.refs.compareAndSwap([main], { packs: [pack] });
  const { content: made, note } = await build(repository);
  expect(note).toBe('');
  await repository.storeDerived('commit-graph', made, { packs: [], objects: 0, note });
  const filters = await new PackStore(repository.objects).run((reader) => {
    const graph = reader.derived('commit-graph')!.parsed((stored) => new CommitGraphFile(stored));
    return [odd, usual].map((oid) => graph.filter(graph.find(oid)));
  });
  expect(filters).toEqual([ALWAYS, bloomFilter(['d'])].map((filter) => Buffer.from(filter)));
});

test('filters that miss the deadline are noted, and computed the next time', async () => {
  using fixture = new GitFixture();
  generateHistory(fixture, { seed: 23, commits: 60, skew: true });
  const { repository } = await fixture.load();
  let now = Date.now();
  const clock = Date.now;
  // Each reading of the clock advances it by six seconds, so the ten seconds for filters pass soon.
  Date.now = () => (now += 6000);
  let first: Awaited<ReturnType<typeof build>>;
  try {
    first = await build(repository, 0);
  } finally {
    Date.now = clock;
  }
  expect(first.note).toMatch(new RegExp(`^${UNFINISHED}, \\d+ filters$`));
  await repository.storeDerived('commit-graph', sealDerived(first.bytes), {
    packs: [],
    objects: 0,
    note: '',
  });
  const second = await build(repository);
  expect(second.note).toBe('');
  expect(Buffer.from(second.bytes).equals(gits(fixture))).toBe(true);
});
