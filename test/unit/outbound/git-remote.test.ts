import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import type { Oid } from '../../../lib/git/oid.ts';
import { WireError } from '../../../lib/git/wire/error.ts';
import { DELIM, FLUSH, PktReader, pkt } from '../../../lib/git/wire/pkt-line.ts';
import { parseAllowList } from '../../../lib/outbound/allow-list.ts';
import { GitRemote, type GitRemoteOptions } from '../../../lib/outbound/git-remote.ts';
import { GitRemoteError } from '../../../lib/outbound/git-remote-error.ts';
import { Listing, readGreeting, readLsRefs } from '../../../lib/outbound/remote-refs.ts';

const A = 'a'.repeat(40) as Oid;
const B = 'b'.repeat(40) as Oid;
const SERVICE = 'git-upload-pack';
const advertised = (...lines: (string | Uint8Array)[]) =>
  Buffer.concat([pkt(`# service=${SERVICE}\n`), FLUSH, ...lines.map((line) => pkt(line))]);
const V2 = Buffer.concat([advertised('version 2\n', 'ls-refs\n', 'fetch\n'), FLUSH]);

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

/** A fake server. @param answers in the order of requests: bytes, or a handler */
async function remote(answers: (Uint8Array | RequestListener)[], options: Partial<GitRemoteOptions> = {}) {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    const body: Buffer[] = [];
    for await (const piece of request) body.push(piece as Buffer);
    asked.push(`${request.method} ${request.url} ${Buffer.concat(body).toString('latin1')}`);
    const answer = answers[asked.length - 1];
    if (typeof answer === 'function') return answer(request, response);
    const kind = request.method === 'GET' ? 'advertisement' : 'result';
    response.setHeader('Content-Type', `application/x-${SERVICE}-${kind}`);
    response.end(answer);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const policy = { allow: parseAllowList(`127.0.0.1:${port}`) };
  const url = new URL(`http://127.0.0.1:${port}/a/b.git/`);
  const timing = { headMs: 300, idleMs: 300 };
  return { asked, git: new GitRemote(url, { policy, maxPackBytes: 1000, timing, ...options }) };
}

const failure = async (asked: Promise<unknown>): Promise<string> => {
  const error = await asked.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(GitRemoteError);
  return (error as GitRemoteError).failure;
};

async function packOf(git: GitRemote): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of git.pack([A])) pieces.push(Uint8Array.from(piece));
  return Buffer.concat(pieces).toString('latin1');
}

const band = (number: number, text: string) => pkt(Buffer.concat([Buffer.from([number]), Buffer.from(text)]));

describe('refs of a server', () => {
  test('version 2: requested by prefix, names parsed as bytes', async () => {
    const list = Buffer.concat([
      pkt(`${A} HEAD symref-target:refs/heads/main\n`),
      pkt(`${A} refs/heads/main\n`),
      pkt(Buffer.concat([Buffer.from(`${A} refs/heads/`), Buffer.from([0xe9, 0x74]), Buffer.from('\n')])),
      pkt(`${B} refs/heads/é\u00a0\n`),
      pkt(`${B} refs/tags/v1 peeled:${A}\n`),
      pkt(`${B} refs/pull/1/head\n`),
      ...[
        'refs/heads/../../x',
        'refs/heads/HEAD',
        'refs/heads/-x',
        'refs/heads/a.lock',
        `refs/heads/${'a'.repeat(251)}`,
        'refs/heads/',
        'refs/tags/a..b',
        'refs/heads/a\u0001b',
      ].map((name) => pkt(`${B} ${name}\n`)),
      FLUSH,
    ]);
    const { git, asked } = await remote([V2, list]);
    expect(await git.refs()).toMatchObject({
      head: 'refs/heads/main',
      headOid: A,
      refs: [
        { name: 'refs/heads/main', oid: A },
        { name: 'refs/heads/é\u00a0', oid: B },
        { name: 'refs/tags/v1', oid: B },
      ],
    });
    expect(asked[0]).toBe('GET /a/b.git/info/refs?service=git-upload-pack ');
    expect(asked[1]).toMatch(
      /^POST \/a\/b\.git\/git-upload-pack .*command=ls-refs.*ref-prefix refs\/heads\/\n/s,
    );
  });

  test('version 0, with capabilities after the first name', async () => {
    const { git } = await remote([
      Buffer.concat([
        advertised(`${A} HEAD\0 side-band-64k symref=HEAD:refs/heads/main\n`, `${A} refs/heads/main\n`),
        pkt(`${B} refs/tags/v1\n`),
        pkt(`${A} refs/tags/v1^{}\n`),
        FLUSH,
      ]),
      Buffer.concat([pkt('NAK\n'), band(2, 'progress'), band(1, 'PACK'), band(1, '...'), FLUSH]),
    ]);
    expect(await git.refs()).toMatchObject({
      head: 'refs/heads/main',
      refs: [
        { name: 'refs/heads/main', oid: A },
        { name: 'refs/tags/v1', oid: B },
      ],
    });
    expect(await packOf(git)).toBe('PACK...');
  });

  test('a server without side bands sends the pack unframed', async () => {
    const { git } = await remote([
      Buffer.concat([advertised(`${A} refs/heads/main\0 ofs-delta\n`), FLUSH]),
      Buffer.concat([pkt('NAK\n'), Buffer.from('PACK...')]),
    ]);
    expect((await git.refs()).head).toBeUndefined();
    expect(await packOf(git)).toBe('PACK...');
  });

  test.each<[string, string, Uint8Array | RequestListener, Uint8Array?]>([
    ['nothing', 'protocol', new Uint8Array(0)],
    ['half a line', 'protocol', Buffer.from('00')],
    ['another service', 'protocol', Buffer.concat([pkt('# service=git-receive-pack\n'), FLUSH])],
    ['a listing that breaks off', 'protocol', advertised(`${A} HEAD\0 x\n`, `${A} refs/heads/main\n`)],
    ['a listing of version 2 that breaks off', 'protocol', V2, pkt(`${A} refs/heads/main\n`)],
    [
      'a line in the middle of nothing',
      'protocol',
      V2,
      Buffer.concat([pkt(`${A} refs/heads/main\n`), DELIM, FLUSH]),
    ],
    ['no object name', 'protocol', V2, Buffer.concat([pkt('xyz refs/heads/main\n'), FLUSH])],
    ['SHA-256', 'object-format', Buffer.concat([advertised('version 2\n', 'object-format=sha256\n'), FLUSH])],
    ['an error of its own', 'refused', V2, pkt('ERR go away <script>\n')],
    [
      'too many refs',
      'too-many-refs',
      V2,
      Buffer.concat([...[1, 2, 3, 4].map((n) => pkt(`${A} refs/heads/${n}\n`)), FLUSH]),
    ],
    [
      'a web page',
      'not-a-repository',
      (_, response) => void response.setHeader('Content-Type', 'text/html').end('<html>'),
    ],
    ['401', 'unauthorized', (_, response) => void response.writeHead(401).end()],
    ['404', 'not-found', (_, response) => void response.writeHead(404).end()],
    ['500', 'refused', (_, response) => void response.writeHead(500).end('secret stack')],
    ['silence', 'timeout', () => {}],
    ['a redirect that is no repository', 'redirects', (_, response) => void response.writeHead(302).end()],
  ])('%s: %s', async (_what, told, ...answers) => {
    const { git } = await remote(
      answers.filter((one) => one !== undefined),
      { maxRefs: 3 },
    );
    expect(await failure(git.refs())).toBe(told);
  });
});

describe('the pack', () => {
  const listed = Buffer.concat([pkt(`${A} refs/heads/main\n`), FLUSH]);

  test.each<[string, string, Uint8Array]>([
    ['breaks off', 'protocol', Buffer.concat([pkt('packfile\n'), band(1, 'PACK')])],
    [
      'breaks off inside a line',
      'protocol',
      Buffer.concat([pkt('packfile\n'), band(1, 'PACK').subarray(0, 6)]),
    ],
    ['never begins', 'protocol', Buffer.concat([pkt('acknowledgments\n'), pkt('NAK\n'), FLUSH])],
    [
      'ends with a fatal message',
      'refused',
      Buffer.concat([pkt('packfile\n'), band(1, 'PACK'), band(3, 'out of memory')]),
    ],
    [
      'comes on a band that there is not',
      'protocol',
      Buffer.concat([pkt('packfile\n'), band(7, 'PACK'), FLUSH]),
    ],
    ['is refused', 'refused', pkt('ERR upload-pack: not our ref\n')],
    [
      'is too large',
      'too-large',
      Buffer.concat([pkt('packfile\n'), band(1, 'x'.repeat(600)), band(1, 'x'.repeat(600)), FLUSH]),
    ],
  ])('%s: %s', async (_what, told, answer) => {
    const { git } = await remote([V2, listed, answer]);
    await git.refs();
    expect(await failure(packOf(git))).toBe(told);
  });

  test('is requested with every wanted object, and done', async () => {
    const { git, asked } = await remote([
      V2,
      listed,
      Buffer.concat([pkt('packfile\n'), band(1, 'PACK'), FLUSH]),
    ]);
    await git.refs();
    expect(await packOf(git)).toBe('PACK');
    expect(asked[2]).toContain(`want ${A}\n0009done\n0000`);
  });
});

describe('any answer of a server', () => {
  const line = fc.oneof(
    fc.string().map((text) => pkt(text)),
    fc.constantFrom(
      FLUSH,
      DELIM,
      pkt('version 2\n'),
      pkt(`${A} HEAD\0symref=HEAD:`),
      pkt('# service=git-upload-pack\n'),
    ),
    fc
      .tuple(
        fc.constantFrom(A, 'unborn', '0'.repeat(40)),
        fc.constantFrom('HEAD', 'refs/heads/', 'refs/tags/'),
        fc.string(),
      )
      .map(([oid, prefix, rest]) => pkt(`${oid} ${prefix}${rest}\n`)),
    fc.uint8Array({ maxLength: 40 }).map((bytes) => pkt(bytes)),
    fc.uint8Array({ maxLength: 8 }),
  );

  test('gives refs with valid names, or a typed failure', async () => {
    const bodies = fc.array(line, { maxLength: 12 }).map((lines) => Buffer.concat(lines));
    await fc.assert(
      fc.asyncProperty(bodies, fc.integer({ min: 1, max: 9 }), async (bytes, size) => {
        async function* pieces() {
          for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
        }
        for (const read of [
          (listing: Listing) => readGreeting(new PktReader(pieces()), SERVICE, listing),
          (listing: Listing) => readLsRefs(new PktReader(pieces()), listing),
        ]) {
          const listing = new Listing(5);
          const error = await read(listing).then(
            () => undefined,
            (reason: unknown) => reason,
          );
          if (error !== undefined)
            expect(error instanceof GitRemoteError || error instanceof WireError).toBe(true);
          expect(listing.refs.length).toBeLessThanOrEqual(5);
          for (const { name, oid } of listing.refs) {
            expect(name).toMatch(/^refs\/(heads|tags)\/[^ ~^:?*[\\]+$/);
            expect(oid).toMatch(/^[0-9a-f]{40}$/);
          }
        }
      }),
      { numRuns: 500 },
    );
  });
});
