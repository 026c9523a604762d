import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { isDotGit, isDotGitmodules } from '../../lib/git/dotgit.ts';
import { Fsck } from '../../lib/git/fsck.ts';
import type { ObjectType } from '../../lib/git/objects.ts';
import { type Oid, oidBytes } from '../../lib/git/oid.ts';
import { typeCode } from '../../lib/git/pack/entry.ts';
import { hashObject } from '../../lib/git/parse.ts';
import { atOnce } from '../../lib/git/work.ts';
import { scratch } from './pack-fixture.ts';
import { ENVIRONMENT, git } from './repository-files.ts';

const blob = Buffer.from('content');
const blobOid = hashObject('blob', blob);
const emptyTree = hashObject('tree', Buffer.alloc(0));
const id = 'A <a@b> 1700000000 +0000';

const tree = (...entries: [string, string, Oid?][]) =>
  Buffer.concat(
    entries.flatMap(([mode, name, oid = mode.endsWith('40000') ? emptyTree : blobOid]) => [
      Buffer.from(`${mode} ${name}\0`, 'utf8'),
      oidBytes(oid),
    ]),
  );
const commit = (text: string) => Buffer.from(text.replaceAll('TREE', `tree ${emptyTree}`), 'latin1');
const tag = (text: string) => Buffer.from(text.replaceAll('OBJECT', `object ${blobOid}`), 'latin1');

const OBJECTS: [string, ObjectType, Buffer][] = [
  [
    'a good tree',
    'tree',
    tree(['100644', 'a'], ['100644', 'a.b'], ['40000', 'a0'], ['100755', 'b'], ['120000', 'c']),
  ],
  ['directory order', 'tree', tree(['100644', 'a.b'], ['40000', 'a'], ['100644', 'a0'])],
  ['unsorted', 'tree', tree(['100644', 'b'], ['100644', 'a'])],
  ['directory sorted as a file', 'tree', tree(['40000', 'a'], ['100644', 'a.b'])],
  ['a name twice', 'tree', tree(['100644', 'a'], ['100644', 'a'])],
  ['file and directory of one name', 'tree', tree(['100644', 'a'], ['40000', 'a'])],
  ['file and directory of one name, apart', 'tree', tree(['100644', 'a'], ['100644', 'a.b'], ['40000', 'a'])],
  [
    'file and directory of one name, far apart',
    'tree',
    tree(['100644', 'a'], ['100644', 'a-'], ['100644', 'a-b'], ['100644', 'a.b'], ['40000', 'a']),
  ],
  [
    'prefixes that are no duplicates',
    'tree',
    tree(['100644', 'a'], ['100644', 'a-'], ['40000', 'a-b'], ['40000', 'ab']),
  ],
  ['empty name', 'tree', tree(['100644', ''])],
  ['full path', 'tree', tree(['100644', 'a/b'])],
  ['dot', 'tree', tree(['100644', '.'])],
  ['dot dot', 'tree', tree(['40000', '..'])],
  ['.git', 'tree', tree(['40000', '.git'])],
  ['.GIT', 'tree', tree(['40000', '.GiT'])],
  ['git~1', 'tree', tree(['100644', 'GIT~1'])],
  ['.git with a trailing dot', 'tree', tree(['100644', '.git. '])],
  ['.git stream', 'tree', tree(['100644', '.git::$INDEX_ALLOCATION'])],
  ['.git behind a backslash', 'tree', tree(['100644', 'x\\.git\\config'])],
  ['.git with an ignored code point', 'tree', tree(['100644', '.g\u200cit'])],
  ['.git with one in front', 'tree', tree(['100644', '\ufeff.git'])],
  [
    'names near .git',
    'tree',
    tree(['100644', '.gitX'], ['100644', '.gitattributes'], ['100644', '.gitignore'], ['100644', 'git~2']),
  ],
  ['.gitmodules as a link', 'tree', tree(['120000', '.gitmodules'])],
  ['.gitmodules as a link, on NTFS', 'tree', tree(['120000', 'GITMOD~1'])],
  ['.gitmodules as a link, by hash', 'tree', tree(['120000', 'gi7eba~1'])],
  ['.gitmodules as a link, on HFS', 'tree', tree(['120000', '.gitmod\u200dules'])],
  ['.git behind a name like .gitignore', 'tree', tree(['100644', '.gitignore\\.git\\config'])],
  ['a path behind a name like .gitignore', 'tree', tree(['100644', '.gita/../../x'])],
  ['a path behind .g', 'tree', tree(['100644', '.gxyi/x'])],
  ['.gitattributes as a link', 'tree', tree(['120000', '.gitattributes'])],
  ['.gitattributes as a link, on NTFS', 'tree', tree(['120000', 'GITATT~1'])],
  ['.gitattributes as a link, by hash', 'tree', tree(['120000', 'gi7d29~1'])],
  ['.gitattributes as a link, on HFS', 'tree', tree(['120000', '.gitattri\u200dbutes'])],
  ['.gitignore as a link', 'tree', tree(['120000', '.gitignore'])],
  ['.gitignore as a link, by hash', 'tree', tree(['120000', 'GI250A~1'])],
  ['.mailmap as a link', 'tree', tree(['120000', '.mailmap'])],
  ['.mailmap as a link, by hash', 'tree', tree(['120000', 'maba30~1'])],
  ['zero padded mode', 'tree', tree(['0100644', 'a'])],
  ['zero padded directory', 'tree', tree(['040000', 'a'])],
  ['odd mode', 'tree', tree(['100600', 'a'])],
  ['null id', 'tree', tree(['100644', 'a', '0'.repeat(40) as Oid])],
  ['cut short', 'tree', tree(['100644', 'a']).subarray(0, -3)],
  ['no end of name', 'tree', Buffer.from('100644 abc')],
  ['bad mode', 'tree', Buffer.concat([Buffer.from('10x644 a\0'), oidBytes(blobOid)])],

  ['a good commit', 'commit', commit(`TREE\nauthor ${id}\ncommitter ${id}\n\nmessage\n`)],
  ['a commit without a message', 'commit', commit(`TREE\nauthor ${id}\ncommitter ${id}\n`)],
  ['no tree', 'commit', commit(`author ${id}\ncommitter ${id}\n\n`)],
  ['bad tree', 'commit', commit(`tree 123\nauthor ${id}\ncommitter ${id}\n\n`)],
  ['bad parent', 'commit', commit(`TREE\nparent 123\nauthor ${id}\ncommitter ${id}\n\n`)],
  ['no author', 'commit', commit(`TREE\ncommitter ${id}\n\n`)],
  ['two authors', 'commit', commit(`TREE\nauthor ${id}\nauthor ${id}\ncommitter ${id}\n\n`)],
  ['no committer', 'commit', commit(`TREE\nauthor ${id}\n\n`)],
  ['no header end', 'commit', commit(`TREE\nauthor ${id}\ncommitter ${id}`)],
  ['NUL in the header', 'commit', commit(`TREE\nauthor A\0 <a@b> 1 +0000\ncommitter ${id}\n\n`)],
  ['NUL in the message', 'commit', commit(`TREE\nauthor ${id}\ncommitter ${id}\n\na\0b`)],
  ...(
    [
      ['no name', '<a@b> 1 +0000'],
      ['no mail', 'A 1 +0000'],
      ['no space before mail', 'A<a@b> 1 +0000'],
      ['bad name', 'A> <a@b> 1 +0000'],
      ['bad mail', 'A <a@b 1 +0000'],
      ['bracket in mail', 'A <a<b> 1 +0000'],
      ['no space before date', 'A <a@b>1 +0000'],
      ['bad date', 'A <a@b> yesterday +0000'],
      ['no date', 'A <a@b> +0000'],
      ['date without zone', 'A <a@b> 1'],
      ['zero padded date', 'A <a@b> 01 +0000'],
      ['date zero', 'A <a@b> 0 +0000'],
      ['huge date', 'A <a@b> 99999999999999999999 +0000'],
      ['zone without sign', 'A <a@b> 1 0000'],
      ['long zone', 'A <a@b> 1 +00000'],
      ['empty name, with its space', ' <a@b> 1 +0000'],
      ['empty mail', 'A <> 1 +0000'],
    ] as const
  ).map(([name, who]): [string, ObjectType, Buffer] => [
    name,
    'commit',
    commit(`TREE\nauthor ${who}\ncommitter ${id}\n\n`),
  ]),

  ['a good tag', 'tag', tag(`OBJECT\ntype blob\ntag v1\ntagger ${id}\n\nmessage\n`)],
  ['no object', 'tag', tag(`type blob\ntag v1\ntagger ${id}\n\n`)],
  ['bad object', 'tag', tag(`object 1\ntype blob\ntag v1\ntagger ${id}\n\n`)],
  ['no type', 'tag', tag(`OBJECT\ntag v1\ntagger ${id}\n\n`)],
  ['bad type', 'tag', tag(`OBJECT\ntype blub\ntag v1\ntagger ${id}\n\n`)],
  ['no tag', 'tag', tag(`OBJECT\ntype blob\ntagger ${id}\n\n`)],
  ['bad tag name', 'tag', tag(`OBJECT\ntype blob\ntag a..b\ntagger ${id}\n\n`)],
  ['no tagger', 'tag', tag('OBJECT\ntype blob\ntag v1\n\n')],
  ['bad tagger', 'tag', tag('OBJECT\ntype blob\ntag v1\ntagger A\n\n')],
];

let gitFindings: Map<string, Set<string>>;
let gitUnparsed: Set<string>;

beforeAll(() => {
  using dir = scratch();
  git(tmpdir(), ['init', '-q', '--bare', dir.path]);
  git(dir.path, ['hash-object', '-w', '--stdin'], blob);
  git(dir.path, ['hash-object', '-w', '-t', 'tree', '--stdin'], Buffer.alloc(0));
  for (const [, type, data] of OBJECTS) {
    git(dir.path, ['hash-object', '-w', '--literally', '-t', type, '--stdin'], data);
  }
  const out = spawnSync('git', ['-C', dir.path, 'fsck', '--strict', '--no-dangling'], { env: ENVIRONMENT });
  gitFindings = new Map();
  gitUnparsed = new Set();
  for (const [, oid] of `${out.stderr}`.matchAll(/^error: ([0-9a-f]{40}): object could not be parsed/gm))
    gitUnparsed.add(oid!);
  for (const [, oid, found] of `${out.stdout}\n${out.stderr}`.matchAll(
    /(?:in|object) \w+ ([0-9a-f]{40}): (\w+):/g,
  )) {
    gitFindings.set(oid!, (gitFindings.get(oid!) ?? new Set()).add(found!));
  }
});

describe('findings are git fsck --strict’s', () => {
  it.each(OBJECTS)('%s', (_name, type, data) => {
    const oid = hashObject(type, data);
    const fsck = new Fsck();
    fsck.check(typeCode(type), data, oidBytes(oid), 0);
    const found = [...fsck.errors, ...fsck.warnings];
    expect(found.every((finding) => finding.oid === oid)).toBe(true);
    // Objects that git cannot parse are refused without a message id.
    if (gitUnparsed.has(oid)) expect(fsck.errors).not.toEqual([]);
    else expect(new Set(found.map((finding) => finding.id))).toEqual(gitFindings.get(oid) ?? new Set());
  });
});

describe('names that a file system treats as special ones', () => {
  it.each([
    '.git',
    '.GIT',
    'git~1',
    'GiT~1',
    '.git ',
    '.git...',
    '.git:x',
    'a\\.git',
    '.git\\x',
    '.gi\u200ct',
  ])('%j is .git', (name) => expect(isDotGit(Buffer.from(name))).toBe(true));
  it.each(['.gitx', 'git', 'git~2', 'git~10', '.git x', 'a.git', '..git', '.github', '.git-blame'])(
    '%j is not',
    (name) => expect(isDotGit(Buffer.from(name))).toBe(false),
  );
  it.each([
    '.gitmodules',
    '.GITMODULES ',
    'gitmod~4',
    'GI7EBA~1',
    'gi7eba~9',
    'gi7eb~10',
    'gi7e~123',
    'gi7~1000',
  ])('%j is .gitmodules', (name) => expect(isDotGitmodules(Buffer.from(name))).toBe(true));
  it.each(['gitmod~5', '.gitmodulesx', 'gi7eba~0', 'gi7d29~1', 'xgitmodules'])('%j is not', (name) =>
    expect(isDotGitmodules(Buffer.from(name))).toBe(false),
  );
});

describe('.gitattributes', () => {
  it.each([
    ['plain', '*.c text\n', []],
    ['a line as long as may be', `*.c ${'a'.repeat(2043)}\n*.h text`, []],
    ['a longer line', `*.h text\n*.c ${'a'.repeat(2044)}\n`, ['gitattributesLineLength']],
    ['a longer last line', `*.c ${'a'.repeat(2044)}`, ['gitattributesLineLength']],
  ] as const)('%s', (_name, text, ids) => {
    const data = Buffer.from(text);
    const oid = hashObject('blob', data);
    const fsck = new Fsck();
    atOnce(fsck.gitattributes(oid, data));
    expect(fsck.errors.map((finding) => finding.id)).toEqual(ids);
    expect(gitFindingsIn('.gitattributes', data)).toEqual(ids);
  });

  it('that is too large is reported without reading its content', () => {
    const fsck = new Fsck();
    atOnce(fsck.gitattributes(blobOid, undefined));
    expect(fsck.errors).toMatchObject([{ oid: blobOid, id: 'gitattributesLarge' }]);
  });
});

/** git's findings for a blob that a tree names so. */
function gitFindingsIn(name: string, data: Buffer): (string | undefined)[] {
  using dir = scratch();
  git(tmpdir(), ['init', '-q', '--bare', dir.path]);
  git(dir.path, ['hash-object', '-w', '--stdin'], data);
  git(dir.path, ['mktree'], `100644 blob ${hashObject('blob', data)}\t${name}\n`);
  const out = spawnSync('git', ['-C', dir.path, 'fsck', '--strict', '--no-dangling'], { env: ENVIRONMENT });
  return [...`${out.stdout}\n${out.stderr}`.matchAll(/in blob [0-9a-f]{40}: (\w+):/g)].map(
    (match) => match[1],
  );
}

describe('.gitmodules', () => {
  const section = (text: string) => `[submodule "s"]\n${text}\n`;
  const cases: [string, string, string[]][] = [
    ['plain', section('path = s\nurl = https://example.com/s.git'), []],
    ['relative', section('url = ../sibling.git'), []],
    ['scp', section('url = git@example.com:a/b.git'), []],
    ['option as URL', section('url = -u./payload'), ['gitmodulesUrl']],
    ['option as path', section('path = -x'), ['gitmodulesPath']],
    ['command', section('update = !touch x'), ['gitmodulesUpdate']],
    ['line end in URL', section('url = "https://example.com%0aother/x"'), ['gitmodulesUrl']],
    ['line end in relative URL', section('url = "./%0a"'), ['gitmodulesUrl']],
    ['climbs to another host', section('url = ../../../../:other/x'), ['gitmodulesUrl']],
    ['no host', section('url = http:///one.example.com/foo.git'), ['gitmodulesUrl']],
    ['name climbs', '[submodule "../x"]\n\tpath = x\n', ['gitmodulesName']],
    ['name climbs inside', '[submodule "a/../../x"]\npath = x\n', ['gitmodulesName']],
    ['name with dots', '[submodule "a..b"]\npath = x\n', []],
    ['other sections', '[core]\n\tsshCommand = -x\n', []],
    ['quoted, with comments', section('url = "-x" ; comment'), ['gitmodulesUrl']],
    ['continued', section('url = \\\n-x'), ['gitmodulesUrl']],
    ['continued often', section(`url = ${'\\\n'.repeat(20)}-x`), ['gitmodulesUrl']],
    ['continued within quotes', section('url = "\\\n-x"'), ['gitmodulesUrl']],
    ['not continued', section('path = x\\\\\nurl = -x'), ['gitmodulesUrl']],
    ['lines that end as on Windows', section('path = x\\\r\n-x\r\nurl = -x\r'), ['gitmodulesUrl']],
    ['what comes before an error', section('url = -x\nurl = "x'), ['gitmodulesUrl', 'gitmodulesParse']],
    ['a key without a section', 'hello\n', []],
    ['not a configuration', '[submodule\n', ['gitmodulesParse']],
    ['open quote', section('url = "x'), ['gitmodulesParse']],
    ['a comment that ends as if it went on', section('path = x # \\\nurl = -x'), ['gitmodulesUrl']],
    ['spaces before what goes on', section('url = \\\n  -x'), ['gitmodulesUrl']],
    ['spaces behind empty quotes', section('url = "" -x'), ['gitmodulesUrl']],
    ['going on at the very end', '[submodule "s"]\nurl = -x\\', ['gitmodulesUrl']],
    ['sections on one line', '[core][submodule "s"]url = -x\n', ['gitmodulesUrl']],
    ['a section without a name', '[]\n[submodule "s"]\nurl = -x\n', ['gitmodulesParse']],
    ['a section of quotes alone', '[ "x"]\n[submodule "s"]\nurl = -x\n', ['gitmodulesUrl']],
    ['a name in both ways', '[submodule.a "b"]\nurl = -x\n', ['gitmodulesUrl']],
    ['a name without quotes', '[Submodule.A]\nURL = -x\n', ['gitmodulesUrl']],
    ['an empty name', '[submodule.]\npath = x\n', ['gitmodulesName']],
    ['no name', '[submodule]\nurl = -x\n', []],
    ['escapes in a name', '[submodule "\\a\\\u2028\\\r"]\nurl = -x\n', ['gitmodulesUrl']],
    ['a zero in a name', '[submodule "s.url\0"]\na = -x\n', ['gitmodulesUrl']],
    ['a zero in a URL', section('url = https://\0example.com'), ['gitmodulesUrl']],
    ['a byte order mark later', '\n\ufeff[submodule "s"]\nurl = -x\n', ['gitmodulesParse']],
    ['a comment behind a key', section('path # x\nurl = -x'), ['gitmodulesParse']],
    ['a key alone', section('url\npath'), []],
    ['another sign behind a key', section('path: x\nurl = -x'), ['gitmodulesParse']],
    ['an unknown escape', section('path = \\x\nurl = -x'), ['gitmodulesParse']],
    ['line end beside what is no UTF-8', section('url = "https://example.com/%0a%ff"'), ['gitmodulesUrl']],
    ['line end in a URL of git', section('url = "git://example.com/\\n"'), ['gitmodulesUrl']],
    ['no URL behind a helper', section('url = https::example.com/foo.git'), ['gitmodulesUrl']],
    ['a user without a host', section('url = https://user@/foo.git'), ['gitmodulesUrl']],
    ['a user with a host', section('url = https://user:word@example.com:8443/foo.git'), []],
    ['an address', section('url = http::http://[::1]:80/foo.git'), []],
  ];
  it.each(cases)('%s', (_name, text, ids) => {
    const data = Buffer.from(text);
    const oid = hashObject('blob', data);
    const fsck = new Fsck();
    atOnce(fsck.gitmodules(oid, data));
    expect([...fsck.errors, ...fsck.warnings].map((finding) => finding.id)).toEqual(ids);
    expect(gitFindingsIn('.gitmodules', data)).toEqual(ids);
  });

  it.each([
    ['a byte order mark', '\u00ef\u00bb\u00bf[submodule "s"]\nurl = -x\n'],
    ['the byte 255', '[submodule "s"]\npath = \u00ff\nurl = -x\n'],
  ])('%s ends nothing: clients read files differently from what fsck has in memory', (_name, text) => {
    const fsck = new Fsck();
    atOnce(fsck.gitmodules(blobOid, Buffer.from(text, 'latin1')));
    expect(fsck.errors.map(({ id }) => id)).toEqual(['gitmodulesUrl']);
  });

  const stopsFor = (text: string) => {
    const fsck = new Fsck();
    const steps = fsck.gitmodules(blobOid, Buffer.from(text));
    let stops = 0;
    while (!steps.next().done) stops++;
    return { stops, errors: fsck.errors.map(({ id }) => id) };
  };

  it.each([
    ['lines', 'a=b\n'],
    ['empty lines', '\n'],
    ['sections', '[submodule "s"]\n'],
    ['settings of a long name', 'a\n', `[submodule "${'/'.repeat(60_000)}"]\n`],
  ])('a megabyte of %s is read beside other work', (_, unit, before = section('url = ')) => {
    const { stops, errors } = stopsFor(before.trimEnd() + unit.repeat(2 ** 20 / unit.length));
    expect(errors).toEqual([]);
    expect(stops).toBeGreaterThan(50);
  });

  it('a megabyte of settings of a long name that is refused is read at once', () => {
    const fsck = new Fsck();
    const text = `[submodule "${'../'.repeat(20_000)}"]\n${'a\n'.repeat(2 ** 19)}`;
    const split = vi.spyOn(String.prototype, 'split');
    atOnce(fsck.gitmodules(blobOid, Buffer.from(text)));
    const looks = split.mock.calls.length;
    split.mockRestore();
    expect(fsck.errors.map(({ id }) => id)).toEqual(['gitmodulesName']);
    expect(looks).toBeLessThan(10);
  });

  it.each([
    ['a line', `url = ${'x'.repeat(70_000)}`],
    ['what goes on in many lines', `url = ${'x\\\n'.repeat(70_000)}`],
  ])('%s that is longer than any URL is refused', (_, text) => {
    expect(stopsFor(section(text)).errors).toEqual(['gitmodulesLarge']);
  });
});
