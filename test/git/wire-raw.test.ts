import { createHash } from 'node:crypto';
import { deflateSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Oid, ZERO_OID } from '../../lib/git/oid.ts';
import { DELIM, FLUSH, PktReader, pkt } from '../../lib/git/wire/pkt-line.ts';
import { type Host, history, startHost, Workspace } from './wire-host.ts';

const A = 'a'.repeat(40) as Oid;

let host: Host;
let work: Workspace;

beforeEach(async () => {
  [host, work] = await Promise.all([startHost(), Workspace.create()]);
});

afterEach(async () => {
  await Promise.all([host.close(), work.remove()]);
  expect(host.errors).toEqual([]);
});

interface Answer {
  status: number;
  headers: Headers;
  body: Buffer;
  /** The packet lines of the body as text, split by side band. */
  lines: string[];
}

async function ask(path: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(`${host.url}/${path}`, init);
  const body = Buffer.from(await response.arrayBuffer());
  return { status: response.status, headers: response.headers, body, lines: await linesOf(body) };
}

function post(
  service: string,
  parts: readonly Uint8Array[],
  headers: Record<string, string> = {},
): Promise<Answer> {
  return ask(service, {
    method: 'POST',
    headers: { 'content-type': `application/x-${service}-request`, ...headers },
    body: new Uint8Array(Buffer.concat(parts)),
  });
}

async function linesOf(body: Buffer): Promise<string[]> {
  const lines: string[] = [];
  const reader = new PktReader(
    (async function* () {
      yield body;
    })(),
  );
  try {
    for (let one = await reader.next(); one.kind !== 'end'; one = await reader.next()) {
      lines.push(one.kind === 'data' ? Buffer.from(one.data).toString('latin1') : one.kind);
    }
  } catch {
    // Not packet lines.
  }
  return lines;
}

/** A pack of whole objects, and its ids. */
function packOf(...objects: { type: 1 | 2 | 3; data: string | Buffer }[]): { pack: Buffer; ids: Oid[] } {
  const header = Buffer.alloc(12);
  header.write('PACK');
  header.writeUInt32BE(2, 4);
  header.writeUInt32BE(objects.length, 8);
  const parts: Buffer[] = [header];
  const ids: Oid[] = [];
  for (const { type, data } of objects) {
    const content = Buffer.from(data);
    const head: number[] = [];
    let size = content.length >> 4;
    let byte = (type << 4) | (content.length & 15);
    for (; size > 0; size >>= 7) {
      head.push(byte | 0x80);
      byte = size & 0x7f;
    }
    head.push(byte);
    parts.push(Buffer.from(head), deflateSync(content));
    const name = ['', 'commit', 'tree', 'blob'][type];
    ids.push(createHash('sha1').update(`${name} ${content.length}\0`).update(content).digest('hex') as Oid);
  }
  const body = Buffer.concat(parts);
  return { pack: Buffer.concat([body, createHash('sha1').update(body).digest()]), ids };
}

const tree = { type: 2, data: '' } as const;
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

function commitOf(treeId: string, parent?: string): { type: 1; data: string } {
  const who = 'Ada <ada@example.org> 1700000000 +0000';
  const line = parent === undefined ? '' : `parent ${parent}\n`;
  return { type: 1, data: `tree ${treeId}\n${line}author ${who}\ncommitter ${who}\n\nmessage\n` };
}

function create(name: string, to: string, capabilities = 'report-status'): Uint8Array {
  return pkt(`${ZERO_OID} ${to} ${name}\0 ${capabilities}`);
}

async function nothingChanged(): Promise<void> {
  expect((await host.memory.refs.all()).refs).toEqual([]);
  expect(await host.memory.objects.listPacks()).toEqual([]);
}

describe('info/refs', () => {
  it('starts with the service line, and is not cacheable', async () => {
    const answer = await ask('info/refs?service=git-upload-pack');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/x-git-upload-pack-advertisement');
    expect(answer.headers.get('cache-control')).toBe('no-cache, max-age=0, must-revalidate');
    expect(answer.headers.get('pragma')).toBe('no-cache');
    expect(answer.headers.get('expires')).toBe('Fri, 01 Jan 1980 00:00:00 GMT');
    expect(answer.lines.slice(0, 2)).toEqual(['# service=git-upload-pack\n', 'flush']);
    expect(answer.lines[2]).toMatch(/^0{40} capabilities\^\{\}\0/);
  });

  it('for version 1, starts with the version', async () => {
    const answer = await ask('info/refs?service=git-receive-pack', {
      headers: { 'git-protocol': 'version=1' },
    });
    expect(answer.lines.slice(0, 3)).toEqual(['# service=git-receive-pack\n', 'flush', 'version 1\n']);
  });

  it('for version 2, lists capabilities only', async () => {
    const answer = await ask('info/refs?service=git-upload-pack', {
      headers: { 'git-protocol': 'version=2' },
    });
    expect(answer.lines).toEqual([
      'version 2\n',
      expect.stringMatching(/^agent=lemnos\/\d/),
      'ls-refs=unborn\n',
      'fetch=shallow wait-for-done filter\n',
      'server-option\n',
      'object-format=sha1\n',
      'flush',
    ]);
  });
});

describe('other requests', () => {
  it.each([
    ['GET', 'info/refs', {}, 403, /smart HTTP/],
    ['GET', 'info/refs?service=git-shell', {}, 403, /service/],
    ['GET', 'HEAD', {}, 403, /smart HTTP/],
    ['GET', 'objects/info/packs', {}, 403, /smart HTTP/],
    ['GET', 'config', {}, 404, /Not Found/],
    ['POST', 'info/refs?service=git-upload-pack', {}, 405, /Method/],
    ['GET', 'git-upload-pack', {}, 405, /Method/],
    ['PUT', 'git-receive-pack', {}, 405, /Method/],
    ['POST', 'git-upload-pack', { 'content-type': 'text/plain' }, 415, /Media Type/],
    [
      'POST',
      'git-receive-pack',
      { 'content-type': 'application/x-git-upload-pack-request' },
      415,
      /Media Type/,
    ],
    [
      'POST',
      'git-upload-pack',
      { 'content-type': 'application/x-git-upload-pack-request', 'content-encoding': 'br' },
      415,
      /encoding/,
    ],
  ])('%s %s %j answers %i', async (method, path, headers, status, message) => {
    const answer = await ask(path, { method, headers: headers as Record<string, string> });
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(answer.body.toString()).toMatch(message);
    if (status === 405) expect(answer.headers.get('allow')).toMatch(/^(POST|GET, HEAD)$/);
  });

  it('the probe before a large request gets an empty answer', async () => {
    for (const service of ['git-upload-pack', 'git-receive-pack']) {
      expect(await post(service, [FLUSH])).toMatchObject({ status: 200, lines: [] });
    }
  });
});

describe('malformed fetch requests', () => {
  it.each([
    ['a length that is none', [Buffer.from('zzzz')], {}, /^ERR bad packet line length/],
    ['a line cut short', [Buffer.from('0032want ')], {}, /^ERR the request ends inside a packet line/],
    [
      'a want that nobody has',
      [pkt(`want ${A}\n`), FLUSH, pkt('done\n')],
      {},
      /^ERR upload-pack: not our ref a{40}\n/,
    ],
    ['a have where wants are', [pkt(`have ${A}\n`), FLUSH], {}, /^ERR git upload-pack: protocol error/],
    ['no gzip', [FLUSH], { 'content-encoding': 'gzip' }, /^ERR the request body is not valid gzip data/],
    [
      'an unknown command',
      [pkt('command=rm\n'), FLUSH],
      { 'git-protocol': 'version=2' },
      /^ERR invalid command 'rm'/,
    ],
    [
      'a filter that is not supported',
      [pkt('command=fetch\n'), DELIM, pkt(`want ${A}\n`), pkt('filter sparse:oid=x\n'), FLUSH],
      { 'git-protocol': 'version=2' },
      /^ERR unsupported filter 'sparse:oid=x'/,
    ],
  ])('%s', async (_, parts, headers, message) => {
    const answer = await post('git-upload-pack', parts, headers as Record<string, string>);
    expect(answer.status).toBe(200);
    expect(answer.lines).toEqual([expect.stringMatching(message)]);
  });

  it('larger than the limit, also if compressed below it', async () => {
    host.options.maxFetchRequest = 50_000;
    const many = Buffer.concat(Array.from({ length: 5000 }, () => pkt(`want ${A}\n`)));
    const plain = await post('git-upload-pack', [many, FLUSH]);
    expect(plain.lines).toEqual([expect.stringMatching(/^ERR request exceeds maximum allowed size/)]);
    const packed = await post('git-upload-pack', [gzipSync(many)], { 'content-encoding': 'gzip' });
    expect(packed.lines).toEqual([expect.stringMatching(/^ERR request exceeds maximum allowed size/)]);
  });
});

describe('malformed push requests', () => {
  const good = packOf(tree, commitOf(EMPTY_TREE));
  const tip = good.ids[1]!;

  it('(a valid one, plain and compressed)', async () => {
    const answer = await post('git-receive-pack', [create('refs/heads/main', tip), FLUSH, good.pack]);
    expect(answer.lines).toEqual(['unpack ok\n', 'ok refs/heads/main\n', 'flush']);
    const again = Buffer.concat([create('refs/heads/b', tip), FLUSH, good.pack]);
    const packed = await post('git-receive-pack', [gzipSync(again)], { 'content-encoding': 'gzip' });
    expect(packed.lines).toEqual(['unpack ok\n', 'ok refs/heads/b\n', 'flush']);
  });

  const broken = Buffer.from(good.pack);
  broken[good.pack.length - 30]! ^= 0xff;
  it.each([
    ['no pack at all', [], /^unpack .+/],
    ['text for a pack', [Buffer.from('hello hello hello hello hello')], /^unpack .+/],
    ['a pack cut short', [good.pack.subarray(0, good.pack.length - 25)], /^unpack .+/],
    ['a pack without its checksum', [good.pack.subarray(0, good.pack.length - 20)], /^unpack .+/],
    ['a flipped bit', [broken], /^unpack .+/],
    ['something behind the pack', [good.pack, Buffer.from('more')], /^unpack .+/],
    ['a commit without its tree', [packOf(commitOf('b'.repeat(40))).pack], /^unpack (ok|.+)/],
  ])('%s', async (_, parts, message) => {
    const target =
      parts.length === 1 && parts[0]!.length < 150 ? packOf(commitOf('b'.repeat(40))).ids[0]! : tip;
    const answer = await post('git-receive-pack', [create('refs/heads/main', target), FLUSH, ...parts]);
    expect(answer.status).toBe(200);
    expect(answer.lines[0]).toMatch(message);
    expect(answer.lines.slice(1)).toEqual([expect.stringMatching(/^ng refs\/heads\/main .+\n/), 'flush']);
    await nothingChanged();
  });

  it.each([
    ['a tip that is not in the pack', A, good.pack, /missing necessary objects/],
    [
      'a parent that nobody has',
      undefined,
      packOf(tree, commitOf(EMPTY_TREE, A)),
      /missing necessary objects/,
    ],
    ['a tree as a branch', EMPTY_TREE, good.pack, /non-commit object to branch/],
  ])('%s', async (_, to, brought, message) => {
    const pack = Buffer.isBuffer(brought) ? brought : brought.pack;
    const target = to ?? (brought as { ids: Oid[] }).ids[1]!;
    const answer = await post('git-receive-pack', [create('refs/heads/main', target), FLUSH, pack]);
    expect(answer.lines).toEqual(['unpack ok\n', expect.stringMatching(message), 'flush']);
    await nothingChanged();
  });

  it.each([
    'HEAD',
    'refs/heads',
    'refs/heads/',
    'refs/heads/a..b',
    'refs/heads/a.lock',
    'refs/heads/.a',
    'refs/heads/-a',
    'refs/heads/HEAD',
    'refs/heads/a b',
    'refs/heads/a\u0001b',
    'refs/x',
    '../../etc/passwd',
    `refs/heads/${'x'.repeat(2000)}`,
  ])('the name %j', async (name) => {
    const answer = await post('git-receive-pack', [create(name, tip), FLUSH, good.pack]);
    expect(answer.lines).toEqual(['unpack ok\n', expect.stringMatching(/^ng .* funny refname\n$/), 'flush']);
    await nothingChanged();
  });

  it('a name with a part that no file with its lock can have', async () => {
    const refused = [`refs/heads/${'x'.repeat(251)}`, `refs/notes/a/${'ü'.repeat(126)}/b`];
    for (const name of refused) {
      const answer = await post('git-receive-pack', [create(name, tip), FLUSH, good.pack]);
      expect(answer.lines[1]).toMatch(/^ng .* failed to update ref: a part of its name exceeds 250 bytes\n$/);
    }
    await nothingChanged();
  });

  it('refused at the first line is still read to the end', async () => {
    const large = Buffer.alloc(30_000_000, 'x');
    for (const name of ['HEAD', '..']) {
      const answer = await post('git-receive-pack', [create(name, tip), FLUSH, large]);
      expect(answer.lines[1]).toBe(`ng ${name} funny refname\n`);
    }
    const fetched = await post('git-upload-pack', [pkt('nonsense'), large]);
    expect(fetched.lines[0]).toMatch(/^ERR /);
    await nothingChanged();
  });

  it('two values for one ref', async () => {
    const answer = await post('git-receive-pack', [
      create('refs/heads/main', tip),
      pkt(`${ZERO_OID} ${A} refs/heads/main`),
      FLUSH,
      good.pack,
    ]);
    expect(answer.lines).toEqual([
      'unpack ok\n',
      'ng refs/heads/main multiple updates for ref not allowed\n',
      'ng refs/heads/main multiple updates for ref not allowed\n',
      'flush',
    ]);
    await nothingChanged();
  });

  it('20,001 commands', async () => {
    const line = (i: number) => pkt(`${ZERO_OID} ${tip} refs/heads/${i}`);
    const parts = [
      create('refs/heads/main', tip),
      ...Array.from({ length: 20_000 }, (_, i) => line(i)),
      FLUSH,
    ];
    const answer = await post('git-receive-pack', [...parts, good.pack]);
    expect(answer.lines[0]).toBe('unpack too many ref updates in one push (at most 20000)\n');
    expect(answer.lines[1]).toBe('ng refs/heads/main unpacker error\n');
    await nothingChanged();
  });

  it.each([
    ['a push certificate', [pkt('push-cert\0 report-status')], 'ERR signed pushes are not supported\n'],
    ['a line cut short', [Buffer.from('00ffaaaa')], 'ERR the request ends inside a packet line\n'],
    [
      'SHA-256',
      [create('refs/heads/main', tip, 'object-format=sha256'), FLUSH],
      "ERR unsupported object format 'sha256'\n",
    ],
  ])('%s', async (_, parts, line) => {
    expect((await post('git-receive-pack', parts)).lines).toEqual([line]);
    await nothingChanged();
  });

  it('the report is sent in the side band if negotiated', async () => {
    const answer = await post('git-receive-pack', [
      create('refs/heads/main', A, 'report-status-v2 side-band-64k quiet'),
      FLUSH,
      good.pack,
    ]);
    expect(answer.lines).toEqual([
      '\u0001000eunpack ok\n0031ng refs/heads/main missing necessary objects\n0000',
      'flush',
    ]);
  });
});

it('a client that disconnects in the middle of a push leaves nothing behind, and the next one is served', async () => {
  await work.git('.', ['init', '-q', '--bare', '-b', 'main', 'source.git']);
  await work.git('source.git', ['fast-import', '--quiet'], history(50));
  const stop = new AbortController();
  async function* body(): AsyncGenerator<Uint8Array> {
    yield create('refs/heads/main', A);
    yield FLUSH;
    yield Buffer.from('PACK');
    stop.abort();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await expect(
    fetch(`${host.url}/git-receive-pack`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-git-receive-pack-request' },
      body: body() as unknown as BodyInit,
      duplex: 'half',
      signal: stop.signal,
    } as RequestInit),
  ).rejects.toThrow();
  await nothingChanged();
  await work.git('source.git', ['push', '-q', host.url, 'main']);
  host.errors.length = 0;
});
