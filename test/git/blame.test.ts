import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KnownBlames } from '../../lib/git/blame/known-blames.ts';
import { type BlamedRange, type Span, splitSpans } from '../../lib/git/blame/spans.ts';
import { editsBetween } from '../../lib/git/blame/trimmed-diff.ts';
import { KnownHistory } from '../../lib/git/history/known.ts';
import { BlameLimit, History } from '../../lib/git/history.ts';
import type { Oid } from '../../lib/git/oid.ts';
import type { PackStore } from '../../lib/git/pack/store.ts';
import { parseCommitLinks } from '../../lib/git/parse.ts';
import { entryAtPath } from '../../lib/git/tree/entry.ts';
import type { RawPath } from '../../lib/git/tree/path.ts';
import { atOnce } from '../../lib/git/work.ts';
import { GitFixture, generateHistory, random } from './history-fixture.ts';

/** The commit of each line, by our blame. */
async function ours(
  store: PackStore,
  commit: Oid,
  path: string,
  lines?: { start: number; end: number },
  history = new History(store),
) {
  const entry = await store.run((objects) =>
    entryAtPath(objects, parseCommitLinks(objects.read(commit).data).tree, path as RawPath),
  );
  const file = { path: path as RawPath, entry: entry!, ...(lines ? { lines } : {}) };
  const ranges = await history.blame(commit, file);
  const found: Oid[] = [];
  let end = lines?.start ?? 0;
  for (const range of ranges) {
    expect(range.start).toBe(end);
    end = range.end;
    for (let line = range.start; line < range.end; line++) found.push(range.commit);
  }
  return found;
}

/** The same by git. */
const theirs = (fixture: GitFixture, commit: string, path: string): Oid[] =>
  fixture
    .lines('blame', '--porcelain', commit, '--', path)
    .flatMap((line) => /^([0-9a-f]{40}) \d+ \d+/.exec(line)?.[1] ?? []) as Oid[];

describe.each([
  { seed: 601, commits: 120, skew: false },
  { seed: 602, commits: 120, skew: true },
])('history $seed of few different lines, merged, moved and retyped', (options) => {
  const fixture = new GitFixture();
  let store: PackStore;
  beforeAll(async () => {
    generateHistory(fixture, options);
    ({ store } = await fixture.load());
  });
  afterAll(() => fixture[Symbol.dispose]());

  test('at least 99 % of lines have the commit of git blame, and kept answers change nothing', async () => {
    let total = 0;
    let same = 0;
    const known = new KnownHistory();
    const oldestFirst = new KnownHistory();
    const blamed: { commit: Oid; path: string; found: Oid[] }[] = [];
    for (const commit of fixture.lines('rev-list', '--all').slice(0, 40) as Oid[]) {
      const files = fixture
        .lines('ls-tree', '-r', '-z', '--full-tree', commit)
        .join('\n')
        .split('\0')
        .filter((row) => row !== '' && !row.startsWith('160000'));
      for (const row of files) {
        const path = row.slice(row.indexOf('\t') + 1);
        const text = Buffer.from(path, 'latin1').toString();
        // Arguments cannot contain bytes that are not UTF-8.
        if (text.includes('\ufffd')) continue;
        const expected = theirs(fixture, commit, text);
        const found = await ours(store, commit, path);
        expect(found.length, `${commit} ${path}`).toBe(expected.length);
        total += expected.length;
        same += found.filter((oid, i) => oid === expected[i]).length;
        const part = { start: 2, end: 5 };
        expect(await ours(store, commit, path, part, new History(store, known))).toEqual(found.slice(2, 5));
        expect(await ours(store, commit, path, undefined, new History(store, known))).toEqual(found);
        blamed.push({ commit, path, found });
      }
    }
    expect(total).toBeGreaterThan(600);
    expect(same / total).toBeGreaterThan(0.99);
    for (const { commit, path, found } of blamed.reverse())
      expect(await ours(store, commit, path, undefined, new History(store, oldestFirst))).toEqual(found);
  });
});

/** Builds a history from the versions of files, one commit after another. */
class Story {
  readonly fixture = new GitFixture();
  #stream = '';
  #marks = 0;

  /** @param files text by path; null deletes @param from marks of parents; the last commit when absent */
  commit(files: Readonly<Record<string, string | null>>, from?: readonly number[], mode = '100644'): number {
    const mark = ++this.#marks;
    const parents = from ?? (mark === 1 ? [] : [mark - 1]);
    this.#stream += `commit refs/heads/main\nmark :${mark}\n`;
    this.#stream += `committer C <c@example.com> ${1_700_000_000 + mark * 60} +0000\ndata 2\nc\n\n`;
    for (const [i, parent] of parents.entries()) this.#stream += `${i === 0 ? 'from' : 'merge'} :${parent}\n`;
    for (const [path, text] of Object.entries(files)) {
      this.#stream +=
        text === null ? `D ${path}\n` : `M ${mode} inline ${path}\ndata ${text.length}\n${text}\n`;
    }
    this.#stream += '\n';
    return mark;
  }

  async same(path: string, revision = 'main'): Promise<Oid[]> {
    this.fixture.feed(this.#stream, 'fast-import', '--quiet');
    const { store } = await this.fixture.load();
    const expected = theirs(this.fixture, revision, path);
    const found = await ours(store, this.fixture.oid(revision), path);
    expect(found).toEqual(expected);
    return found;
  }

  [Symbol.dispose](): void {
    this.fixture[Symbol.dispose]();
  }
}

const code = (pick: (below: number) => number, lines: number): string[] =>
  Array.from(
    { length: lines },
    () =>
      ['}', '', '  return x;', `  call(${pick(40)});`, `function f${pick(30)}() {`, '    // same', '  }'][
        pick(7)
      ]!,
  );

describe('every line has the commit of git blame', () => {
  test('in a long file with scattered edits', async () => {
    for (const seed of [1, 2, 3]) {
      using story = new Story();
      const pick = random(seed);
      const lines = code(pick, 900);
      story.commit({ f: lines.join('\n') });
      for (let n = 0; n < 40; n++) {
        lines.splice(pick(lines.length), pick(12), ...code(pick, pick(12)));
        story.commit({ f: `${lines.join('\n')}\n` });
      }
      expect(new Set(await story.same('f')).size).toBeGreaterThan(20);
    }
  });

  test('in a file that was moved, changed while moving, and moved back', async () => {
    using story = new Story();
    const lines = Array.from({ length: 60 }, (_, i) => `line ${i}`);
    const text = (...changed: number[]) =>
      `${lines.map((line, i) => (changed.includes(i) ? `${line} anew` : line)).join('\n')}\n`;
    story.commit({ a: text(), other: 'other\n' });
    story.commit({ a: text(3) });
    story.commit({ a: null, 'dir/b': text(3) });
    story.commit({ 'dir/b': null, 'dir/c': text(3, 40, 41) });
    story.commit({ 'dir/c': text(3, 40, 41, 7) });
    story.commit({ 'dir/c': null, a: text(3, 40, 41, 7) });
    expect(new Set(await story.same('a')).size).toBe(4);
  });

  test('for lines of branches, of merges, and of conflict resolutions', async () => {
    using story = new Story();
    const base = Array.from({ length: 30 }, (_, i) => `line ${i}`);
    const text = (changes: Record<number, string>) =>
      `${base.map((line, i) => changes[i] ?? line).join('\n')}\n`;
    const root = story.commit({ f: text({}) });
    const left = story.commit({ f: text({ 2: 'left' }) }, [root]);
    const right = story.commit({ f: text({ 20: 'right' }) }, [root]);
    const third = story.commit({ g: 'g\n' }, [root]);
    story.commit({ f: text({ 2: 'left', 20: 'right', 11: 'merge' }) }, [left, right, third]);
    expect(new Set(await story.same('f')).size).toBe(4);
  });

  test('in a file that only one side of a merge had, under another name', async () => {
    using story = new Story();
    const text = Array.from({ length: 30 }, (_, i) => `line ${i}\n`).join('');
    const root = story.commit({ old: text });
    const moved = story.commit({ old: null, f: `${text}more\n` }, [root]);
    const stayed = story.commit({ old: `first\n${text}` }, [root]);
    story.commit({ old: null, f: `first\n${text}more\n` }, [moved, stayed]);
    await story.same('f');
  });

  test('for repeated lines, where a change can slide', async () => {
    using story = new Story();
    const block = ['if (x) {', '  y();', '}', ''];
    story.commit({ f: `${[...block, ...block].join('\n')}\n` });
    story.commit({ f: `${[...block, ...block, ...block].join('\n')}\n` });
    story.commit({ f: `${[...block, 'if (z) {', '  y();', '}', '', ...block, ...block].join('\n')}\n` });
    await story.same('f');
  });

  test('in files without final newline, empty, with CRLF, or not UTF-8', async () => {
    using story = new Story();
    story.commit({ f: 'a\nb', empty: '', crlf: 'a\r\nb\r\n', bytes: '\xff\0\n\xfe' });
    story.commit({ f: 'a\nb\n', crlf: 'a\r\nc\r\n', bytes: '\xff\0\nx\n\xfe' });
    story.commit({ f: 'a\nb\nc' });
    await story.same('f');
    for (const path of ['empty', 'crlf', 'bytes']) await story.same(path);
  });

  test('in a symlink, and in a file that was a symlink', async () => {
    using story = new Story();
    story.commit({ l: 'target', f: 'text' }, undefined, '120000');
    story.commit({ f: 'text' });
    story.commit({ f: 'text\nmore\n' });
    await story.same('l');
    await story.same('f');
  });

  test('for lines that a merge brought in twice', async () => {
    using story = new Story();
    const text = Array.from({ length: 12 }, (_, i) => `line ${i}\n`).join('');
    const root = story.commit({ f: text });
    const one = story.commit({ f: `${text}one\n` }, [root]);
    const two = story.commit({ f: `two\n${text}` }, [root]);
    story.commit({ f: `${text}one\ntwo\n${text}` }, [one, two]);
    await story.same('f');
  });
});

describe('kept answers', () => {
  test('a later blame visits what was committed since then, whether that changed the file or not', async () => {
    using story = new Story();
    const lines = Array.from({ length: 30 }, (_, i) => `line ${i}`);
    const text = () => `${lines.join('\n')}\n`;
    for (let n = 0; n < 20; n++) {
      lines[n] = `changed ${n}`;
      story.commit({ f: text() });
    }
    for (let n = 0; n < 5; n++) story.commit({ other: `${n}\n` });
    const before = await story.same('f');
    const { store } = await story.fixture.load();
    const known = new KnownHistory();
    const blame = async (revision: string, maxCommits: number, of = { store, known }) => {
      const commit = story.fixture.oid(revision);
      const { tree } = parseCommitLinks((await of.store.read(commit)).data);
      const entry = await of.store.run((objects) => entryAtPath(objects, tree, 'f' as RawPath));
      const file = { path: 'f' as RawPath, entry: entry! };
      return new History(of.store, of.known).blame(commit, file, { maxCommits });
    };
    await expect(blame('main', 24)).rejects.toThrow('passed 24 commits');
    await blame('main', 25);
    // The same commit, and the one that changed the file last.
    await blame('main', 1);
    await blame('main~5', 1);
    await blame('main~3', 3);

    story.commit({ other: 'again\n' });
    lines[12] = 'changed again';
    story.commit({ f: text() });
    story.commit({ other: 'and again\n' });
    const after = await story.same('f');
    expect(after[12]).not.toBe(before[12]);
    const later = { store: (await story.fixture.load()).store, known };
    const ranges = await blame('main', 4, later);
    expect(ranges.flatMap(({ commit, start, end }) => Array(end - start).fill(commit))).toEqual(after);
  });

  test('are bounded in commits of a file and in ranges of a repository, without those of very many lines', () => {
    const oid = (number: number) => number.toString(16).padStart(40, '0') as Oid;
    const ranges = (count: number): BlamedRange[] =>
      Array.from({ length: count }, (_, i) => ({ commit: oid(i), start: i, end: i + 1 }));
    const known = new KnownBlames();
    for (let i = 0; i < 9; i++) known.add('a' as RawPath, oid(i), ranges(3));
    expect([...known.of('a' as RawPath)!.keys()]).toEqual([5, 6, 7, 8].map(oid));
    expect(known.size).toBe(16);
    known.add('a' as RawPath, oid(8), ranges(4));
    expect(known.size).toBe(17);
    known.add('long' as RawPath, oid(1), ranges(10_001));
    expect(known.of('long' as RawPath)).toBeUndefined();
    for (let i = 0; i < 7; i++) {
      known.add(`${i}` as RawPath, oid(1), ranges(9_000));
      expect(known.size).toBeLessThanOrEqual(50_000);
    }
    expect(known.of('a' as RawPath)).toBeUndefined();
    expect(known.of('1' as RawPath)).toBeUndefined();
    expect(known.of('2' as RawPath)!.get(oid(1))).toHaveLength(9_000);
  });

  test('are bounded in empty files and in the length of paths', () => {
    const commit = 'a'.repeat(40) as Oid;
    const known = new KnownBlames();
    for (let i = 0; i < 50_001; i++) known.add(`${i}` as RawPath, commit, []);
    expect([known.of('0' as RawPath), known.of('1' as RawPath)!.size]).toEqual([undefined, 1]);
    const long = '/'.repeat(6400);
    for (let i = 0; i < 500; i++) known.add(`${i}${long}` as RawPath, commit, []);
    expect([known.of(`0${long}` as RawPath), known.of('50000' as RawPath)]).toEqual([undefined, undefined]);
    expect(known.of(`499${long}` as RawPath)!.size).toBe(1);
  });
});

describe('bounds', () => {
  test('only a range of lines', async () => {
    using story = new Story();
    const lines = Array.from({ length: 50 }, (_, i) => `line ${i}`);
    for (let n = 0; n < 10; n++) {
      lines[n * 5] = `changed ${n}`;
      story.commit({ f: `${lines.join('\n')}\n` });
    }
    const all = await story.same('f');
    const { store } = await story.fixture.load();
    const commit = story.fixture.oid('main');
    expect(await ours(store, commit, 'f', { start: 7, end: 23 })).toEqual(all.slice(7, 23));
    expect(await ours(store, commit, 'f', { start: 45, end: 1000 })).toEqual(all.slice(45));
    expect(await ours(store, commit, 'f', { start: 50, end: 60 })).toEqual([]);
    expect(await ours(store, commit, 'f', { start: 5_000, end: 6_000 })).toEqual([]);
  });

  test('files without common lines reach the limit quickly', async () => {
    using story = new Story();
    const lines = (n: number) => Array.from({ length: 600_000 }, (_, i) => `${n} ${i}\n`).join('');
    story.commit({ f: lines(1) });
    story.commit({ f: lines(2) });
    await expect(story.same('f')).rejects.toThrow(BlameLimit);
  });
});

describe('parts', () => {
  const text = fc.array(fc.constantFrom('a\n', 'b\n', 'c\n', '\n', `${'long '.repeat(300)}\n`), {
    maxLength: 40,
  });

  test('edits turn the older text into the newer one, whatever they share', () => {
    fc.assert(
      fc.property(text, text, text, text, (head, older, newer, tail) => {
        const [a, b] = [
          [...head, ...older, ...tail],
          [...head, ...newer, ...tail],
        ];
        const edits = atOnce(editsBetween(Buffer.from(a.join('')), Buffer.from(b.join('')), { steps: 1e6 }))!;
        const made: string[] = [];
        let at = 0;
        for (const { oldStart, oldEnd, newStart, newEnd } of edits) {
          made.push(...a.slice(at, oldStart), ...b.slice(newStart, newEnd));
          at = oldEnd;
        }
        expect([...made, ...a.slice(at)]).toEqual(b);
      }),
    );
  });

  test('every line is either kept, at an equal line, or changed', () => {
    const span = fc.record({ source: fc.nat(30), count: fc.integer({ min: 1, max: 10 }) });
    fc.assert(
      fc.property(text, text, fc.array(span, { maxLength: 6 }), (older, newer, chosen) => {
        const edits = atOnce(
          editsBetween(Buffer.from(older.join('')), Buffer.from(newer.join('')), { steps: 1e6 }),
        )!;
        let final = 0;
        const spans: Span[] = [];
        for (const { source, count } of chosen.sort((a, b) => a.source - b.source)) {
          if (source + count > newer.length) continue;
          spans.push({ final, source, count });
          final += count;
        }
        const source = new Map(
          spans.flatMap((s) => Array.from({ length: s.count }, (_, i) => [s.final + i, s.source + i])),
        );
        const { kept, changed } = splitSpans(spans, edits);
        const seen = new Set<number>();
        for (const part of [...kept, ...changed]) {
          for (let i = 0; i < part.count; i++) seen.add(part.final + i);
        }
        expect(seen.size).toBe(final);
        expect([...kept, ...changed].reduce((sum, { count }) => sum + count, 0)).toBe(final);
        for (const part of kept) {
          for (let i = 0; i < part.count; i++) {
            expect(older[part.source + i]).toBe(newer[source.get(part.final + i)!]);
          }
        }
        for (const part of changed) expect(source.get(part.final)).toBe(part.source);
      }),
    );
  });
});
