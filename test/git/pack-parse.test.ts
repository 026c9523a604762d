import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CorruptData } from '../../lib/git/corrupt-data.ts';
import type { Oid } from '../../lib/git/oid.ts';
import { PackStore } from '../../lib/git/pack/store.ts';
import {
  encodeCommit,
  encodeTag,
  encodeTree,
  hashObject,
  parseCommit,
  parseCommitLinks,
  parseIdentity,
  parseTag,
  parseTree,
} from '../../lib/git/parse.ts';
import { makeHistory, revList, revParse, scratch } from './pack-fixture.ts';
import { git, packsOf } from './repository-files.ts';

const home = scratch();
const history = join(home.path, 'history.git');
beforeAll(() => {
  makeHistory(history);
  git(history, ['repack', '-adq']);
});
afterAll(() => home[Symbol.dispose]());

describe('objects written by git', () => {
  it('commits: parsed as git shows them, and written again byte for byte', async () => {
    const store = new PackStore(packsOf(history));
    const fields = ['%H', '%T', '%P', '%an', '%ae', '%at', '%cn', '%ce', '%ct', '%B'].join('%x01');
    const log = git(history, ['log', '--all', '-z', '--encoding=UTF-8', '--date=raw', `--format=${fields}`]);
    let encoded = 0;
    for (const record of log.toString('utf8').split('\0').filter(Boolean)) {
      const [oid, tree, parents, , email, seconds, committer, committerEmail, committed, message] =
        record.split('\x01');
      const { data } = await store.read(oid as Oid);
      const commit = parseCommit(data);
      expect(commit.tree).toBe(tree);
      expect(commit.parents).toEqual(parents === '' ? [] : parents!.split(' '));
      expect([commit.author.email, commit.author.seconds]).toEqual([email, Number(seconds)]);
      expect([commit.committer.name, commit.committer.email, commit.committer.seconds]).toEqual([
        committer,
        committerEmail,
        Number(committed),
      ]);
      expect(commit.author.timezone).toBe(commit.author.name === 'C' ? '+0000' : '+0230');
      expect(commit.message.trimEnd()).toBe(message!.trimEnd());
      if (commit.encoding) {
        encoded++;
        expect(commit.message).toContain('café');
        expect(commit.author.name).toBe('Aé U Thor');
      }
      expect(parseCommitLinks(data)).toEqual({ tree, parents: commit.parents, committed: Number(committed) });
      if (commit.author.name === 'C') {
        expect(hashObject('commit', encodeCommit({ ...commit, message: commit.messageBytes }))).toBe(oid);
      }
    }
    expect(encoded).toBeGreaterThan(3);
  });

  it('trees: parsed as git lists them, and written again byte for byte', async () => {
    const store = new PackStore(packsOf(history));
    for (const oid of revList(history, [
      '--all',
      '--filter=object:type=tree',
      '--filter-provided-objects',
    ]) as Oid[]) {
      const { data, type } = await store.read(oid);
      if (type !== 'tree') continue;
      const entries = parseTree(data);
      const listed = git(history, ['ls-tree', '-z', oid]).toString('latin1').split('\0').filter(Boolean);
      expect(
        entries.map((entry) => {
          const kind = entry.mode === 0o040000 ? 'tree' : entry.mode === 0o160000 ? 'commit' : 'blob';
          return `${entry.mode.toString(8).padStart(6, '0')} ${kind} ${entry.oid}\t${Buffer.from(entry.nameBytes).toString('latin1')}`;
        }),
      ).toEqual(listed);
      const shuffled = [...entries]
        .reverse()
        .map(({ mode, nameBytes, oid: id }) => ({ mode, name: nameBytes, oid: id }));
      expect(hashObject('tree', encodeTree(shuffled))).toBe(oid);
    }
  });

  it('tags', async () => {
    const store = new PackStore(packsOf(history));
    const oid = revParse(history, 'refs/tags/v1-again');
    const { data } = await store.read(oid);
    const tag = parseTag(data);
    expect(tag).toMatchObject({
      object: revParse(history, 'v1'),
      type: 'tag',
      name: 'v1-again',
      message: 'a tag of a tag\n',
    });
    expect(tag.tagger).toEqual({
      name: 'C O Mitter',
      email: 'committer@example.com',
      seconds: 1700000000,
      timezone: '+0100',
    });
    expect(hashObject('tag', encodeTag({ ...tag, message: tag.messageBytes }))).toBe(oid);
  });
});

describe('objects written by us', () => {
  it('a commit with a signature, an encoding and odd names passes git fsck', () => {
    using dir = scratch();
    git(home.path, ['init', '-q', '--bare', dir.path]);
    const tree = git(dir.path, ['hash-object', '-w', '-t', 'tree', '--stdin'], Buffer.alloc(0))
      .toString()
      .trim() as Oid;
    const signature = '-----BEGIN PGP SIGNATURE-----\n\nabc\n-----END PGP SIGNATURE-----';
    const data = encodeCommit({
      tree,
      parents: [],
      author: { name: ' <Eve>\n ', email: 'e@x>', seconds: 1_000_000_000, timezone: '-0330' },
      committer: { name: '', email: '', seconds: 5, timezone: '+0000' },
      encoding: 'ISO-8859-1',
      extra: [{ name: 'gpgsig', value: signature }],
      message: Buffer.from('caf\xe9\n', 'latin1'),
    });
    const oid = git(dir.path, ['hash-object', '-w', '-t', 'commit', '--stdin'], data).toString().trim();
    git(dir.path, ['fsck', '--strict']);
    expect(oid).toBe(hashObject('commit', data));
    const shown = git(dir.path, ['log', '-1', '--format=%an|%ae|%ai|%s', oid]).toString().trim();
    const commit = parseCommit(data);
    expect(shown).toBe(`${commit.author.name}|${commit.author.email}|2001-09-08 22:16:40 -0330|café`);
    expect(commit.extra).toEqual([{ name: 'gpgsig', value: signature }]);
    expect(commit.message).toBe('café\n');
  });
});

describe('arbitrary bytes', () => {
  const pieces = fc.constantFrom(
    'tree ',
    'parent ',
    'author ',
    'committer ',
    'object ',
    'type blob\n',
    'tag x\n',
    'tagger ',
    '\n',
    ' ',
    'a'.repeat(40),
    '<',
    '>',
    '1 +0000',
    '\0',
    '100644 x\0',
  );
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((data) => Buffer.from(data)),
    fc.array(pieces, { maxLength: 20 }).map((parts) => Buffer.from(parts.join(''))),
  );
  it.each([
    ['parseCommit', parseCommit],
    ['parseCommitLinks', parseCommitLinks],
    ['parseTag', parseTag],
    ['parseTree', parseTree],
  ] as const)('are parsed or refused by %s', (_name, parse) => {
    fc.assert(
      fc.property(bytes, (data) => {
        try {
          parse(data);
        } catch (error) {
          expect(error).toBeInstanceOf(CorruptData);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('give an identity of some kind', () => {
    fc.assert(fc.property(bytes, (data) => Number.isFinite(parseIdentity(data).seconds)));
    expect(parseIdentity(Buffer.from('A <b> c> -5 +0100'))).toEqual({
      name: 'A',
      email: 'b> c',
      seconds: -5,
      timezone: '+0100',
    });
    expect(parseIdentity(Buffer.from('nobody'))).toEqual({
      name: 'nobody',
      email: '',
      seconds: 0,
      timezone: '+0000',
    });
  });
});
