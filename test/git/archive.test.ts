import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync, inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import yauzl from 'yauzl';
import { parsePattern } from '../../lib/git/archive/pattern.ts';
import { writeZip } from '../../lib/git/archive/zip.ts';
import { type ArchiveFormat, archive } from '../../lib/git/archive.ts';
import type { Oid } from '../../lib/git/oid.ts';
import type { PackStore } from '../../lib/git/pack/store.ts';
import { REGULAR } from '../../lib/git/tree/entry.ts';
import type { RawPath } from '../../lib/git/tree/path.ts';
import { LimitExceeded } from '../../lib/git/work.ts';
import { GitFixture, generateHistory } from './history-fixture.ts';
import { collected, readZip } from './read-zip.ts';

const LONG = { l: 'l'.repeat(60), m: 'm'.repeat(60), n: 'n'.repeat(120), z: 'z'.repeat(130) };

/** Paths and modes that need special archive headers. */
const ODD: readonly (readonly [mode: string, path: string, data: string])[] = [
  ['100644', `${LONG.l}/${LONG.m}/file`, 'x'],
  ['100644', `${LONG.l}/${LONG.m}/${LONG.n}`, 'x'],
  ['120000', `${LONG.l}/${LONG.m}/o${LONG.n}`, LONG.z],
  ['100755', `${LONG.l}/${LONG.l}/${LONG.l}/${LONG.l}/deep`, 'x'],
  ['120000', 'longlink', LONG.z],
  ['120000', 'link', 'a/b'],
  ['120000', `link${'k'.repeat(94)}`, 'k'.repeat(100)],
  ['100644', `${'a'.repeat(99)}/${'b'.repeat(98)}`, ''],
  ['100644', 'c'.repeat(97), 'x'],
  ['100644', 'c'.repeat(98), 'x'],
  ['100644', `${'d'.repeat(99)}/e`, 'x'],
  ['100755', 'run.sh', '#!/bin/sh\n'],
  ['160000', 'sub/module', '1'.repeat(40)],
  ['100644', 'raw\xff\xfename', 'x'],
  ['100644', 'caf\xc3\xa9', 'x'],
  ['100644', 'exactly/a-block', 'b'.repeat(512)],
  ['100644', 'exactly/nothing', ''],
  ['100644', 'large', 'large '.repeat(200_000)],
];

const ATTRIBUTED: readonly (readonly [mode: string, path: string, data: string])[] = [
  [
    '100644',
    '.gitattributes',
    [
      '# what stays at home',
      '*.skip export-ignore',
      '/docs export-ignore',
      'build/ export-ignore',
      'a/*/c export-ignore',
      'deep/**/x export-ignore',
      'inside/** export-ignore',
      '"with space" export-ignore',
      'kept.skip -export-ignore',
      '[ab].bin export-ignore',
      'file[[:digit:]] export-ignore text',
      '!not export-ignore',
      'valued export-ignore=yes',
      'text text',
      'last.skip !export-ignore',
      '\\*star export-ignore',
      '*.crlf text eol=crlf',
      '*.eol eol=crlf',
      '*.auto text=auto eol=crlf',
      '*.lf text eol=lf',
      'no.crlf -text',
      'no.eol binary',
      'none.crlf !eol',
      '',
    ].join('\n'),
  ],
  ...[
    'one.skip',
    'kept.skip',
    'last.skip',
    'docs/a',
    'x/docs/a',
    'build/a',
    'x/build/b',
    'y/build',
    'a/b/c',
    'a/b/d/c',
    'a/c',
    'deep/x',
    'deep/1/x',
    'deep/1/2/x',
    'deep/1/2/y',
    'inside/a/b',
    'with space',
    'a.bin',
    'c.bin',
    'file1',
    'filex',
    'not',
    '!not',
    'valued',
    'text',
    '*star',
    'xstar',
    'only/these.skip',
    'over/one.skip',
    'over/mine',
    'over/sub/mine',
    'over/sub/yours',
  ].map((path) => ['100644', path, path] as const),
  ...['a.crlf', 'a.eol', 'a.auto', 'a.lf', 'no.crlf', 'no.eol', 'none.crlf'].map(
    (path) => ['100644', path, 'one\ntwo\n\nthree'] as const,
  ),
  ['100644', 'mixed.crlf', 'one\r\ntwo\n\r\n\rx\n'],
  ['100644', 'mixed.auto', 'one\r\ntwo\n'],
  ['100644', 'nul.auto', 'one\0\ntwo\n'],
  ['100644', 'nul.crlf', 'one\0\ntwo\n'],
  ['100644', 'control.auto', 'one\x01\ntwo\n'],
  ['100644', 'little.auto', `${'long '.repeat(40)}\x01\ntwo\n`],
  ['100644', 'dos.auto', 'text\b\t\f\x1b\n\x1a'],
  ['120000', 'link.crlf', 'one\ntwo'],
  ['100755', 'run.crlf', 'one\ntwo\n'],
  ['100644', 'over/.gitattributes', '*.skip -export-ignore\nmine export-ignore\n/sub/yours export-ignore\n'],
];

describe('archives, against git archive', () => {
  const fixture = new GitFixture();
  let store: PackStore;
  let commits: Oid[];

  beforeAll(async () => {
    generateHistory(fixture, { seed: 71, commits: 40, skew: false });
    commit('odd', ODD);
    commit('attributed', ATTRIBUTED);
    commit('nothing', []);
    ({ store } = await fixture.load());
    commits = fixture.lines('rev-list', '--all') as Oid[];
  });
  afterAll(() => fixture[Symbol.dispose]());

  function commit(branch: string, files: readonly (readonly [string, string, string])[]): void {
    let stream = `commit refs/heads/${branch}\ncommitter C <c@example.com> 1700000001 +0000\ndata 1\nm\n`;
    for (const [mode, path, data] of files) {
      stream +=
        mode === '160000'
          ? `M ${mode} ${data} ${path}\n`
          : `M ${mode} inline ${quoted(path)}\ndata ${data.length}\n${data}\n`;
    }
    fixture.feed(`${stream}\n`, 'fast-import', '--quiet');
  }
  const quoted = (path: string) => (path.includes(' ') || path.startsWith('"') ? `"${path}"` : path);

  const ours = async (commit: Oid, format: ArchiveFormat, path = '', prefix = 'p-1'): Promise<Buffer> => {
    const stream = await archive(store, { commit, path, prefix, format });
    return collected(stream!.read());
  };
  const theirs = (commit: Oid, format: string, path = '', prefix = 'p-1') =>
    Buffer.from(
      fixture.git(
        '--literal-pathspecs',
        'archive',
        `--format=${format}`,
        `--prefix=${prefix}/`,
        commit,
        ...(path === '' ? [] : [path]),
      ),
      'latin1',
    );

  test('tar archives of every commit are byte for byte those of git', async () => {
    for (const commit of commits) {
      expect((await ours(commit, 'tar')).equals(theirs(commit, 'tar')), commit).toBe(true);
    }
    const odd = fixture.oid('odd');
    for (let length = 90; length < 260; length += 5) {
      const prefix = 'q'.repeat(length);
      expect((await ours(odd, 'tar', '', prefix)).equals(theirs(odd, 'tar', '', prefix)), `${length}`).toBe(
        true,
      );
    }
  });

  test('archives of a directory, a file, a symlink, a submodule', async () => {
    const odd = fixture.oid('odd');
    for (const path of ['exactly', 'exactly/nothing', 'link', 'sub', 'sub/module', `${LONG.l}/${LONG.m}`]) {
      expect((await ours(odd, 'tar', path)).equals(theirs(odd, 'tar', path)), path).toBe(true);
    }
    expect((await ours(odd, 'tar', '/exactly/')).equals(theirs(odd, 'tar', 'exactly'))).toBe(true);
    for (const path of [
      'none',
      'exactly/none',
      'link/none',
      'sub/module/x',
      'exactly//nothing',
      'a\0b',
      '..',
    ]) {
      expect(await archive(store, { commit: odd, path, prefix: 'p', format: 'tar' }), path).toBeUndefined();
    }
  });

  test('export-ignore excludes the same paths as git', async () => {
    const commit = fixture.oid('attributed');
    const tar = await ours(commit, 'tar');
    expect(members(tar)).toEqual(members(theirs(commit, 'tar')));
    expect(tar.equals(theirs(commit, 'tar'))).toBe(true);
    for (const path of ['over', 'over/sub', 'deep', 'x', 'a/b']) {
      expect(members(await ours(commit, 'tar', path)), path).toEqual(members(theirs(commit, 'tar', path)));
    }
  });

  const members = (tar: Buffer) =>
    execFileSync('tar', ['tf', '-'], { input: tar, encoding: 'utf8' }).split('\n');

  test('gzip and bzip2 archives contain the same tar', async () => {
    for (const name of ['odd', 'nothing', 'main']) {
      const commit = fixture.oid(name);
      const tar = theirs(commit, 'tar');
      expect(gunzipSync(await ours(commit, 'tar.gz')).equals(tar)).toBe(true);
      const bz2 = await ours(commit, 'tar.bz2');
      expect(execFileSync('bzip2', ['-dc'], { input: bz2, maxBuffer: 1 << 28 }).equals(tar)).toBe(true);
    }
  });

  test('zip has the same members as git’s, with their modes, times and content', async () => {
    for (const name of ['odd', 'attributed', 'main', 'light']) {
      const commit = fixture.oid(`${name}^{commit}`);
      const zip = await ours(commit, 'zip');
      const expected = await readZip(theirs(commit, 'zip'));
      const found = await readZip(zip);
      expect(found.comment).toBe(commit);
      expect(found.comment).toBe(expected.comment);
      expect(found.entries.map(({ name }) => name)).toEqual(expected.entries.map(({ name }) => name));
      for (const [i, entry] of found.entries.entries()) {
        const other = expected.entries[i]!;
        expect(entry.data.equals(other.data), entry.name).toBe(true);
        expect([entry.name, entry.time]).toEqual([entry.name, other.time]);
        // git writes modes only for symlinks and executables.
        if (other.mode !== 0) expect([entry.name, entry.mode]).toEqual([entry.name, other.mode]);
      }
    }
  });

  test.each(['9', '0'])(
    'a zip of what is stored at compression level %s is sound and small',
    async (level) => {
      using repository = new GitFixture();
      repository.git('config', 'pack.compression', level);
      // Many are deltas, and there are more than are deflated ahead of the writer.
      const files = Array.from({ length: 60 }, (_, file) => {
        const content = Array.from({ length: 300 }, (_, line) => `line ${line * (1 + (file >> 1))}\n`).join(
          '',
        );
        return `M 100644 inline f${file}\ndata ${content.length + 3}\n${content}${file % 2}x\n`;
      });
      const head = 'commit refs/heads/main\ncommitter C <c@example.com> 1700000001 +0000\ndata 1\nm\n';
      repository.feed(`${head}${files.join('')}\n`, 'fast-import', '--quiet');
      repository.git('repack', '-adFq');
      const { store } = await repository.load();
      const commit = repository.oid('main');
      const zip = await collected((await archive(store, { commit, prefix: 'p', format: 'zip' }))!.read());
      const theirs = Buffer.from(repository.git('archive', '--format=zip', '--prefix=p/', commit), 'latin1');
      const [found, expected] = [await readZip(zip), await readZip(theirs)];
      expect(found.entries.map(({ name, data }) => [name, data])).toEqual(
        expected.entries.map(({ name, data }) => [name, data]),
      );
      expect(zip.length).toBeLessThan(1.05 * theirs.length);
    },
  );

  test('a file that Git LFS converts is what its pointer stands for, as git has it with a filter', async () => {
    using repository = new GitFixture();
    mkdirSync(join(repository.directory, 'lfs'));
    const pointers = new Map<string, string>();
    const objects = new Map<string, Buffer>();
    const kept = (name: string, bytes: Buffer) => {
      const oid = createHash('sha256').update(bytes).digest('hex');
      writeFileSync(join(repository.directory, 'lfs', oid), bytes);
      objects.set(oid, bytes);
      pointers.set(name, pointerOf(oid, bytes.length));
    };
    const pointerOf = (oid: string, size: number) =>
      `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${size}\n`;
    kept('small', Buffer.from('one\ntwo\n'));
    kept('none', Buffer.alloc(0));
    kept('middle', randomBytes(5 * 1024 * 1024));
    kept('large', randomBytes(9 * 1024 * 1024));
    pointers.set('lost', pointerOf('f'.repeat(64), 7));
    const files: (readonly [mode: string, path: string, data: string])[] = [
      [
        '100644',
        '.gitattributes',
        '*.bin filter=lfs diff=lfs merge=lfs -text\n*.ends filter=lfs text eol=crlf\n*.other filter=other\n',
      ],
      ...[...pointers].map(([name, pointer]) => ['100644', `${name}.bin`, pointer] as const),
      ['100755', 'run.bin', pointers.get('small')!],
      ['120000', 'link.bin', pointers.get('small')!],
      ['100644', 'small.ends', pointers.get('small')!],
      ['100644', 'large.ends', pointers.get('large')!],
      ['100644', 'lost.ends', pointers.get('lost')!],
      ['100644', 'small.txt', pointers.get('small')!],
      ['100644', 'small.other', pointers.get('small')!],
      ['100644', 'plain.bin', 'no pointer\n'],
      ['100644', 'long.bin', 'no pointer\n'.repeat(100)],
      ['100644', 'sub/.gitattributes', '*.bin !filter\n'],
      ['100644', 'sub/small.bin', pointers.get('small')!],
    ];
    const head = 'commit refs/heads/main\ncommitter C <c@example.com> 1700000001 +0000\ndata 1\nm\n';
    const changes = files.map(
      ([mode, path, data]) => `M ${mode} inline ${path}\ndata ${data.length}\n${data}\n`,
    );
    repository.feed(`${head}${changes.join('')}\n`, 'fast-import', '--quiet');
    writeFileSync(
      join(repository.directory, 'smudge'),
      'cat >in.$$; f=lfs/$(sed -n "s/^oid sha256:\\([0-9a-f]*\\).*/\\1/p" in.$$); [ -f "$f" ] && cat "$f" || cat in.$$; rm in.$$',
    );
    repository.git('config', 'filter.lfs.smudge', 'sh ./smudge');

    const { store } = await repository.load();
    const commit = repository.oid('main');
    const made = async (format: ArchiveFormat) => {
      const plan = (await archive(store, { commit, prefix: 'p', format }))!;
      expect([...plan.pointers.values()].map(({ size, files }) => [size, files]).toSorted()).toEqual(
        [
          [8, 3],
          [0, 1],
          [5 * 1024 * 1024, 1],
          [9 * 1024 * 1024, 2],
          [7, 2],
        ].toSorted(),
      );
      const others = [...plan.pointers].flatMap(([blob, { oid }]) => {
        const bytes = objects.get(oid);
        return bytes ? [[blob, { size: bytes.length, read: () => halves(bytes) }] as const] : [];
      });
      return collected(plan.read(new Map(others)));
    };
    const theirs = (format: string) =>
      Buffer.from(repository.git('archive', `--format=${format}`, '--prefix=p/', commit), 'latin1');
    expect((await made('tar')).equals(theirs('tar'))).toBe(true);
    const [found, expected] = [await readZip(await made('zip')), await readZip(theirs('zip'))];
    expect(found.entries.map(({ name }) => name)).toEqual(expected.entries.map(({ name }) => name));
    for (const [i, { name, data }] of found.entries.entries())
      expect(data.equals(expected.entries[i]!.data), name).toBe(true);
  });

  async function* halves(bytes: Buffer) {
    const middle = bytes.length >> 1;
    yield bytes.subarray(0, middle);
    yield bytes.subarray(middle);
  }

  test('a streamed member of 4 GiB or more has sizes of 64 bits in a zip', async () => {
    const size = 5 * 1024 ** 3;
    const entry = {
      path: 'far' as RawPath,
      mode: REGULAR,
      oid: 'a'.repeat(40) as Oid,
      data: Buffer.alloc(0),
    };
    const members = (async function* () {
      // The writer believes the size, and deflates what comes.
      yield { ...entry, large: { size, content: halves(Buffer.from('far away')) } };
      yield { ...entry, path: 'near' as RawPath, data: Buffer.from('near') };
    })();
    const zip = await collected(writeZip(members, { commit: entry.oid, time: 0 }));
    const listed = await promisify<Buffer, yauzl.Options, yauzl.ZipFile>(yauzl.fromBuffer)(zip, {});
    const entries: yauzl.Entry[] = [];
    listed.on('entry', (one) => entries.push(one));
    await once(listed, 'end');
    const [far, near] = entries;
    expect([far!.fileName, far!.uncompressedSize, far!.versionNeededToExtract]).toEqual(['far', size, 45]);
    expect([near!.fileName, near!.uncompressedSize]).toEqual(['near', 4]);
    // The local header, the content, and a descriptor of 24 bytes.
    const local = 30 + 'far'.length + zip.readUInt16LE(28);
    expect(zip.readUInt32LE(18)).toBe(0xffffffff);
    expect(near!.relativeOffsetOfLocalHeader).toBe(local + far!.compressedSize + 24);
    expect(zip.readBigUInt64LE(near!.relativeOffsetOfLocalHeader - 16)).toBe(BigInt(far!.compressedSize));
    expect(zip.readBigUInt64LE(near!.relativeOffsetOfLocalHeader - 8)).toBe(BigInt(size));
    expect(inflateRawSync(zip.subarray(local, local + far!.compressedSize)).toString()).toBe('far away');
  });

  test('errors are thrown before the first byte of an archive', async () => {
    // A tree of trees: few objects, a billion files.
    let tree = fixture.feed(
      `100644 blob ${fixture.feed('x', 'hash-object', '-w', '--stdin').trim()}\tf\n`,
      'mktree',
    );
    for (let depth = 0; depth < 9; depth++) {
      const rows = Array.from({ length: 10 }, (_, i) => `040000 tree ${tree.trim()}\t${i}\n`);
      tree = fixture.feed(rows.join(''), 'mktree');
    }
    const commit = fixture.git('commit-tree', '-m', 'm', tree.trim()).trim() as Oid;
    fixture.git('update-ref', 'refs/heads/bomb', commit);
    const { store: bombed } = await fixture.load();
    await expect(archive(bombed, { commit, prefix: 'p', format: 'tar' })).rejects.toThrow(LimitExceeded);
    using pointing = new GitFixture();
    const pointers = Array.from({ length: 10_001 }, (_, i) => {
      const oid = i.toString(16).padStart(64, '0');
      const text = `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize 1\n`;
      return `M 100644 inline ${i}\ndata ${text.length}\n${text}\n`;
    });
    const attributes = `M 100644 inline .gitattributes\ndata 12\n* filter=lfs\n`;
    const head = 'commit refs/heads/main\ncommitter C <c@example.com> 1700000001 +0000\ndata 1\nm\n';
    pointing.feed(`${head}${attributes}${pointers.join('')}\n`, 'fast-import', '--quiet');
    const { store: pointed } = await pointing.load();
    const asked = { commit: pointing.oid('main'), prefix: 'p', format: 'tar' } as const;
    await expect(archive(pointed, asked)).rejects.toThrow('more than 10000 objects of Git LFS');
    const missing = 'f'.repeat(40) as Oid;
    await expect(archive(store, { commit: missing, prefix: 'p', format: 'tar' })).rejects.toThrow('missing');
  });

  test('a consumer that stops early ends the reading', async () => {
    for (const format of ['tar', 'tar.gz', 'tar.bz2', 'zip'] as const) {
      const stream = (await archive(store, { commit: fixture.oid('odd'), prefix: 'p', format }))!.read();
      let pieces = 0;
      for await (const piece of stream) {
        expect(piece.length).toBeGreaterThan(0);
        if (++pieces === 1) break;
      }
      expect(pieces).toBe(1);
    }
  });
});

test('patterns match what git check-attr matches', () => {
  using fixture = new GitFixture();
  const piece = fc.constantFrom(
    'a',
    'b',
    '*',
    '?',
    '**',
    '[ab]',
    '[!a]',
    '[a-c]',
    '\\*',
    '.',
    '/',
    '/',
    '[',
    ']',
  );
  const name = fc.constantFrom(
    'a',
    'b',
    'c',
    'ab',
    'a/b',
    'b/a/c',
    'a/a/a/b',
    '.a',
    'a.b',
    '*',
    '[',
    'c/ab',
    'a]',
  );
  fc.assert(
    fc.property(
      fc.array(piece, { minLength: 1, maxLength: 7 }),
      fc.array(name, { minLength: 1 }),
      (parts, names) => {
        const text = parts.join('');
        fc.pre(!text.startsWith('!') && !text.startsWith('[attr]') && !text.startsWith('#'));
        const pattern = parsePattern(text);
        const attributes = fixture.feed(`${text} export-ignore\n`, 'hash-object', '-w', '--stdin').trim();
        const tree = fixture.feed(`100644 blob ${attributes}\t.gitattributes\n`, 'mktree').trim();
        const asked = names.map((path) => `${path}\0`).join('');
        fixture.git('--work-tree=.', 'read-tree', tree);
        const answers = fixture.feed(
          asked,
          '--work-tree=.',
          'check-attr',
          '--cached',
          '-z',
          '--stdin',
          'export-ignore',
        );
        const states = answers.split('\0').filter((_, i) => i % 3 === 2);
        expect([text, names, names.map((path) => pattern?.(path, false) ?? false)]).toEqual([
          text,
          names,
          states.map((state) => state === 'set'),
        ]);
      },
    ),
    {
      numRuns: 60,
      examples: [
        [
          ['/', 'a', '**'],
          ['a/a/a/b', 'a', 'ab', 'b'],
        ],
        [
          ['a', '**', '/', 'b'],
          ['ab', 'a/b', 'ab/b', 'a/a/b', 'b'],
        ],
        [
          ['a', '/', 'a', '**', 'b'],
          ['a/ab', 'a/a/b'],
        ],
      ],
    },
  );
});

// Trying every way to match would take longer than the universe has.
test('patterns with many wildcards are matched without trying every way', () => {
  const pattern = parsePattern(`${'*a'.repeat(40)}b`)!;
  const deep = parsePattern(`${'**/a/'.repeat(20)}b`)!;
  expect(pattern('a'.repeat(4000), false)).toBe(false);
  expect(deep('a/'.repeat(2000), false)).toBe(false);
});
