import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../harness/service.ts';
import { GitCli, withToken } from './git-cli.ts';

const git = new GitCli();
let service: Service;
let token: string;
let url: string;
let main: string;
let clone: string;
beforeAll(async () => {
  service = await startService();
  token = (await service.user('ada')).token;
  const made = await service.call('POST', '/projects', {
    token,
    json: { name: 'target', visibility: 'public' },
  });
  const json = { branch: 'main', commit_message: 'm', content: 'x' };
  await service.call('POST', `/projects/${made.body.id}/repository/files/f`, { token, json });
  url = `${service.url}/ada/target.git`;
  clone = await git.clone(url, 'target');
  main = await git.ok(clone, 'rev-parse', 'main');
});
afterAll(async () => {
  await service.stop();
  git[Symbol.dispose]();
});

const pkt = (text: string) => Buffer.from((text.length + 4).toString(16).padStart(4, '0') + text, 'latin1');
const FLUSH = Buffer.from('0000');

async function push(
  commands: readonly string[],
  pack: Uint8Array,
  capabilities = 'report-status',
): Promise<{ status: number; text: string }> {
  const lines = commands.map((line, index) => pkt(index === 0 ? `${line}\0${capabilities}` : line));
  const response = await fetch(`${url}/git-receive-pack`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/x-git-receive-pack-request',
      Authorization: `Basic ${Buffer.from(`x:${token}`).toString('base64')}`,
    },
    body: new Uint8Array(Buffer.concat([...lines, FLUSH, pack])),
  });
  return { status: response.status, text: Buffer.from(await response.arrayBuffer()).toString('latin1') };
}

/** One entry of a pack: type, claimed size, body. */
function entry(type: number, size: number, body: Uint8Array): Buffer {
  const head = [(type << 4) | (size & 15)];
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    head[head.length - 1]! |= 0x80;
    head.push(rest & 127);
  }
  return Buffer.concat([Buffer.from(head), body]);
}

function packOf(entries: readonly Uint8Array[], { count = entries.length, version = 2 } = {}): Buffer {
  const head = Buffer.alloc(12);
  head.write('PACK');
  head.writeUInt32BE(version, 4);
  head.writeUInt32BE(count, 8);
  const content = Buffer.concat([head, ...entries]);
  return Buffer.concat([content, createHash('sha1').update(content).digest()]);
}

const idOf = (type: string, data: Buffer) =>
  createHash('sha1').update(`${type} ${data.length}\0`).update(data).digest('hex');
const COMMIT = 1;
const TREE = 2;
const BLOB = 3;

/** A commit of one blob on top of main, and the pack of it. */
function good(text: string) {
  const blob = Buffer.from(text);
  const tree = Buffer.concat([Buffer.from('100644 n\0'), Buffer.from(idOf('blob', blob), 'hex')]);
  const commit = Buffer.from(
    `tree ${idOf('tree', tree)}\nparent ${main}\nauthor A <a@b> 1700000000 +0000\ncommitter A <a@b> 1700000000 +0000\n\n${text}\n`,
  );
  const entries = [
    entry(COMMIT, commit.length, deflateSync(commit)),
    entry(TREE, tree.length, deflateSync(tree)),
    entry(BLOB, blob.length, deflateSync(blob)),
  ];
  return { id: idOf('commit', commit), commit, tree, blob, entries };
}

const flipped = (pack: Buffer, at: number) => {
  const copy = Buffer.from(pack);
  copy[at]! ^= 0xff;
  return copy;
};
const resealed = (content: Buffer) => Buffer.concat([content, createHash('sha1').update(content).digest()]);

test('a valid pack is accepted: the malformed ones differ from it in one thing', async () => {
  const made = good('sound');
  const answer = await push([`${main} ${made.id} refs/heads/main`], packOf(made.entries));
  expect([answer.status, answer.text]).toEqual([
    200,
    expect.stringMatching(/unpack ok\n.*ok refs\/heads\/main/s),
  ]);
  main = made.id;
});

const BROKEN: Record<string, (made: ReturnType<typeof good>) => Buffer> = {
  'no pack at all': () => Buffer.alloc(0),
  'cut in the header': (made) => packOf(made.entries).subarray(0, 10),
  'cut in an entry': (made) => packOf(made.entries).subarray(0, 60),
  'cut in the checksum': (made) => packOf(made.entries).subarray(0, -1),
  'wrong checksum': (made) => flipped(packOf(made.entries), packOf(made.entries).length - 5),
  'a byte changed on the way': (made) => flipped(packOf(made.entries), 40),
  'a byte changed, checksum made to fit': (made) =>
    resealed(flipped(packOf(made.entries), 40).subarray(0, -20)),
  'more objects promised': (made) => packOf(made.entries, { count: 4 }),
  'fewer objects promised': (made) => packOf(made.entries, { count: 2 }),
  'billions of objects promised': (made) => packOf(made.entries, { count: 0xffffffff }),
  'another version': (made) => packOf(made.entries, { version: 9 }),
  'no pack but text': () => Buffer.from('GIF89a and nothing more, really nothing, just text here'),
  'bytes behind the end': (made) => Buffer.concat([packOf(made.entries), Buffer.from('more')]),
  'a size told too small': ({ entries, blob }) =>
    packOf([entries[0]!, entries[1]!, entry(BLOB, blob.length - 1, deflateSync(blob))]),
  'a size told too large': ({ entries, blob }) =>
    packOf([entries[0]!, entries[1]!, entry(BLOB, blob.length + 1, deflateSync(blob))]),
  'a size beyond all memory': ({ entries, blob }) =>
    packOf([entries[0]!, entries[1]!, entry(BLOB, 2 ** 48, deflateSync(blob))]),
  'a bomb under a small size': ({ entries }) =>
    packOf([entries[0]!, entries[1]!, entry(BLOB, 10, deflateSync(Buffer.alloc(50_000_000)))]),
  'a delta without its base': ({ entries }) =>
    packOf([
      entries[0]!,
      entries[1]!,
      entry(7, 3, Buffer.concat([Buffer.alloc(20, 7), deflateSync(Buffer.from([1, 1, 1]))])),
    ]),
  'a delta onto itself': ({ entries }) =>
    packOf([
      entries[0]!,
      entries[1]!,
      entry(6, 3, Buffer.concat([Buffer.from([0]), deflateSync(Buffer.from([1, 1, 1]))])),
    ]),
  'an unknown type': ({ entries }) =>
    packOf([entries[0]!, entries[1]!, entry(5, 3, deflateSync(Buffer.from('abc')))]),
  'the blob left out': ({ entries }) => packOf(entries.slice(0, 2)),
  'the tree left out': ({ entries }) => packOf([entries[0]!, entries[2]!]),
  'the commit left out': ({ entries }) => packOf(entries.slice(1)),
  'a tree with .git in it': ({ blob }) => {
    const tree = Buffer.concat([Buffer.from('100644 .GIT\0'), Buffer.from(idOf('blob', blob), 'hex')]);
    return packOf([entry(TREE, tree.length, deflateSync(tree)), entry(BLOB, blob.length, deflateSync(blob))]);
  },
};

test.each(Object.keys(BROKEN))(
  'a malformed push changes nothing and gets a readable line: %s',
  async (name) => {
    const made = good(name);
    const before = await git.ok(git.home, 'ls-remote', url);
    const answer = await push(
      [`${main} ${made.id} refs/heads/main`, `${'0'.repeat(40)} ${made.id} refs/heads/new`],
      BROKEN[name]!(made),
    );
    expect(answer.status).toBe(200);
    expect(answer.text).toMatch(/unpack (?!ok)[\x20-\x7e]+\n|ng refs\/heads\/main [\x20-\x7e]+\n/);
    expect(answer.text).not.toMatch(
      /ok refs\/heads|internal error|undefined|TypeError|RangeError| at .*\.ts/,
    );
    expect(await git.ok(git.home, 'ls-remote', url)).toBe(before);
    // What was refused left nothing behind that could be asked for.
    const asked = await service.call('GET', `/projects/ada%2Ftarget/repository/commits/${made.id}`, {
      token,
    });
    expect(asked.status).toBe(404);
  },
);

test('malformed push commands are refused', async () => {
  const zero = '0'.repeat(40);
  for (const [commands, wanted] of [
    [[`${zero} ${main} refs/heads/a..b`], /ng refs\/heads\/a\.\.b /],
    [[`${zero} ${main} HEAD`], /ng HEAD /],
    [[`${zero} ${main} heads/x`], /ng heads\/x /],
    [[`${zero} ${main} refs/heads/\u0001x`], /ng /],
    [[`${zero} ${'5'.repeat(40)} refs/heads/x`], /ng refs\/heads\/x |unpack (?!ok)/],
    [[`${'5'.repeat(40)} ${main} refs/heads/main`], /ng refs\/heads\/main /],
    [[`${zero} ${main} refs/heads/main`], /ng refs\/heads\/main /],
    [[`${main} ${zero} refs/heads/main`], /ng refs\/heads\/main /],
    [[`${zero} ${main} refs/heads/x`, `${zero} ${main} refs/heads/x`], /ng refs\/heads\/x /],
    [['nonsense'], /./],
  ] as const) {
    const before = await git.ok(git.home, 'ls-remote', url);
    const answer = await push(commands, packOf([]), 'report-status delete-refs');
    expect([commands, answer.text]).toEqual([commands, expect.stringMatching(wanted)]);
    expect(answer.text).not.toMatch(/internal error|undefined|TypeError| at .*\.ts/);
    expect(await git.ok(git.home, 'ls-remote', url)).toBe(before);
  }
});

test('a refusal has the words of git itself', async () => {
  const dangling = (
    await git.run(['hash-object', '-t', 'tree', '-w', '--literally', '--stdin'], {
      cwd: clone,
      input: Buffer.concat([Buffer.from('100644 ../x\0'), Buffer.alloc(20, 1)]),
    })
  ).stdout
    .toString()
    .trim();
  const bad = (await git.run(['commit-tree', '-m', 'bad', dangling], { cwd: clone })).stdout
    .toString()
    .trim();
  const pushed = await git.run(
    ['push', withToken(service.url, 'ada/target', token), `${bad}:refs/heads/bad`],
    { cwd: clone },
  );
  expect(pushed.code).not.toBe(0);
  expect(await git.ok(git.home, 'ls-remote', url)).not.toContain('refs/heads/bad');
});

/** The pack of a commit without a parent, with these trees. */
function odd(tree: string, trees: readonly Buffer[]) {
  const commit = Buffer.from(
    `tree ${tree}\nauthor A <a@b> 1700000000 +0000\ncommitter A <a@b> 1700000000 +0000\n\nodd\n`,
  );
  const entries = [
    entry(COMMIT, commit.length, deflateSync(commit)),
    ...trees.map((data) => entry(TREE, data.length, deflateSync(data))),
  ];
  return { id: idOf('commit', commit), pack: packOf(entries) };
}

test('a tree that names as something else what the push does not bring is read without a failure of ours', async () => {
  const blob = await git.ok(clone, 'rev-parse', 'main:f');
  const named = (mode: string, name: string, id: string) =>
    Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')]);
  const tree = Buffer.concat([named('100644', 'c', main), named('40000', 'd', blob)]);
  const { id, pack } = odd(idOf('tree', tree), [tree]);
  const { text } = await push([`${'0'.repeat(40)} ${id} refs/heads/odd`], pack);
  expect(text).toContain('ok refs/heads/odd');
  const failed: string[] = [];
  for (const path of [
    'tree?ref=odd',
    'tree?ref=odd&recursive=true',
    'tree?ref=odd&path=d',
    'tree?ref=odd&path=c',
    'files/c?ref=odd',
    'files/c/raw?ref=odd',
    'files/c/blame?ref=odd',
    'files/d%2Fx?ref=odd',
    'archive.tar.gz?sha=odd',
    'archive.zip?sha=odd&path=d',
    'commits?ref_name=odd&path=d%2Fx',
    'commits?ref_name=odd&with_stats=true',
    `commits/${id}`,
    `commits/${id}/diff`,
    'compare?from=main&to=odd',
    `blobs/${main}`,
    `blobs/${main}/raw`,
  ]) {
    const answer = await service.call('GET', `/projects/ada%2Ftarget/repository/${path}`, { token });
    if (answer.status >= 500) failed.push(`${path}: ${answer.status}`);
  }
  expect(failed).toEqual([]);
  expect((await push([`${id} ${'0'.repeat(40)} refs/heads/odd`], Buffer.alloc(0))).text).toContain(
    'ok refs/heads/odd',
  );
});
