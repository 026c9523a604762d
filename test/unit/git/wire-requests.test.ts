import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Oid, ZERO_OID } from '../../../lib/git/oid.ts';
import { AGENT, parseCapabilities, protocolVersion } from '../../../lib/git/wire/capabilities.ts';
import { WireError } from '../../../lib/git/wire/error.ts';
import { parseLsRefs } from '../../../lib/git/wire/ls-refs.ts';
import { DELIM, FLUSH, PktReader, pkt } from '../../../lib/git/wire/pkt-line.ts';
import { ReceiveRequestError, readCommands } from '../../../lib/git/wire/receive-request.ts';
import { decodedBody } from '../../../lib/git/wire/request-body.ts';
import { parseFetch, readWants } from '../../../lib/git/wire/upload-request.ts';
import { readV2Request } from '../../../lib/git/wire/v2-request.ts';

const A = 'a'.repeat(40) as Oid;
const B = 'b'.repeat(40) as Oid;
const LIMITS = { maxCommands: 3, maxPushOptions: 2, maxPushOptionBytes: 20 };

describe('capabilities', () => {
  it('the agent contains the package version', () => {
    const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
    expect(AGENT).toBe(`lemnos/${version}`);
  });

  it.each([
    [undefined, 0],
    ['', 0],
    ['version=0', 0],
    ['version=1', 1],
    ['version=2', 2],
    ['version=1:version=2', 2],
    ['version=2:version=1', 2],
    ['version=3', 0],
    ['other=7:version=2', 2],
  ])('Git-Protocol: %s means version %i', (header, version) => {
    expect(protocolVersion(header)).toBe(version);
  });

  it('keep values with an equals sign whole', () => {
    expect([...parseCapabilities(' report-status agent=git/2.0 x=a=b')]).toEqual([
      ['report-status', ''],
      ['agent', 'git/2.0'],
      ['x', 'a=b'],
    ]);
  });
});

describe('the wants of versions 0 and 1', () => {
  it('have capabilities after the first', async () => {
    const section = await readWants(
      reader(
        pkt(`want ${A} multi_ack_detailed side-band-64k ofs-delta agent=git/2\n`),
        pkt(`want ${B}\n`),
        FLUSH,
      ),
    );
    expect(section).toMatchObject({
      wants: [A, B],
      multiAck: 'detailed',
      noDone: false,
      options: { sideBand: 'side-band-64k', ofsDelta: true, thinPack: false, progress: true },
    });
  });

  it('may limit the depth', async () => {
    const section = await readWants(
      reader(pkt(`want ${A} deepen-relative`), pkt(`shallow ${B}`), pkt('deepen 3'), FLUSH),
    );
    expect(section).toMatchObject({ shallow: [B], deepen: { kind: 'depth', depth: 3, relative: true } });
  });

  it('a flush alone has no wants', async () => {
    expect(await readWants(reader(FLUSH))).toBeUndefined();
    expect(await readWants(reader())).toBeUndefined();
  });

  it.each([
    ['a short id', [pkt('want abc\n'), FLUSH], 'request-malformed'],
    ['an upper-case id', [pkt(`want ${'A'.repeat(40)}\n`), FLUSH], 'request-malformed'],
    ['a have before the flush', [pkt(`want ${A}\n`), pkt(`have ${B}\n`), FLUSH], 'request-malformed'],
    ['no flush', [pkt(`want ${A}\n`)], 'truncated'],
    ['a filter nobody has', [pkt(`want ${A}\n`), pkt('filter sparse:oid=x\n'), FLUSH], 'unsupported'],
    ['SHA-256', [pkt(`want ${A} object-format=sha256\n`), FLUSH], 'unsupported'],
    ['a depth of -1', [pkt(`want ${A}\n`), pkt('deepen -1\n'), FLUSH], 'request-malformed'],
    [
      'two kinds of depth',
      [pkt(`want ${A}\n`), pkt('deepen 1\n'), pkt('deepen-since 5\n'), FLUSH],
      'request-malformed',
    ],
    ['bytes that are not UTF-8', [pkt(Buffer.from([0xff, 0xfe])), FLUSH], 'request-malformed'],
  ])('are refused with %s', async (_, parts, code) => {
    await expect(readWants(reader(...parts))).rejects.toMatchObject({ name: 'WireError', code });
  });
});

describe('version 2', () => {
  it('reads command, capabilities and arguments', async () => {
    const request = await readV2Request(
      reader(
        pkt('command=ls-refs\n'),
        pkt('agent=x'),
        pkt('server-option=a=b\n'),
        DELIM,
        pkt('peel\n'),
        FLUSH,
      ),
    );
    expect(request).toMatchObject({ command: 'ls-refs', serverOptions: ['a=b'], arguments: ['peel'] });
  });

  it.each([
    ['two commands', [pkt('command=fetch'), pkt('command=ls-refs'), FLUSH], 'request-malformed'],
    ['no command', [pkt('agent=x'), FLUSH], 'request-malformed'],
    ['an unknown capability', [pkt('command=fetch'), pkt('bogus=1'), FLUSH], 'unsupported'],
    ['two delimiters', [pkt('command=fetch'), DELIM, DELIM, FLUSH], 'request-malformed'],
    ['no flush', [pkt('command=fetch'), DELIM, pkt('done')], 'truncated'],
  ])('refuses %s', async (_, parts, code) => {
    await expect(readV2Request(reader(...parts))).rejects.toMatchObject({ name: 'WireError', code });
  });

  it('parses the arguments of fetch', () => {
    expect(
      parseFetch([`want ${A}`, `want ${A}`, `have ${B}`, 'thin-pack', 'no-progress', 'wait-for-done']),
    ).toEqual({
      wants: [A],
      haves: [B],
      shallow: [],
      deepen: undefined,
      filter: undefined,
      uriProtocols: [],
      done: false,
      waitForDone: true,
      options: {
        thinPack: true,
        ofsDelta: false,
        includeTag: false,
        progress: false,
        sideBand: 'side-band-64k',
      },
    });
    expect(parseFetch([`want ${A}`, 'packfile-uris https,http']).uriProtocols).toEqual(['https', 'http']);
    expect(() => parseFetch([`want ${A}`, 'packfile-urls https'])).toThrow(WireError);
  });

  it.each([
    ['blob:none', { blobLimit: 0 }],
    ['blob:limit=0', { blobLimit: 0 }],
    ['blob:limit=1024', { blobLimit: 1024 }],
    ['blob:limit=2k', { blobLimit: 2048 }],
    ['blob:limit=1M', { blobLimit: 1_048_576 }],
    ['tree:0', { treeDepth: 0 }],
    ['tree:1k', { treeDepth: 1024 }],
    ['object:type=tag', { treeDepth: 0, omit: new Set(['commit', 'tree', 'blob']) }],
    ['combine:blob:limit=9+blob:limit=7+tree:3', { blobLimit: 7, treeDepth: 3 }],
    ['combine:%62lob:none+combine%3Atree%3A3%2Btree%3A1', { blobLimit: 0, treeDepth: 1 }],
  ])('parses the filter %s', (spec, filter) => {
    expect(parseFetch([`filter ${spec}`]).filter).toEqual(filter);
  });

  it.each([
    '',
    'blob',
    'blob:limit',
    'blob:limit=-1',
    'tree:',
    'tree:x',
    'sparse:oid=a',
    'sparse:path=a',
    'object:type=x',
    'object:type=commit,tag',
    'combine:',
    'combine:blob:none+',
    'combine:blob:none++tree:1',
    'combine:blob:none+sparse%3Aoid=a',
    'combine:blob:none+tree:1 ',
    'combine:blob:none+tree:%',
    `${'combine:'.repeat(8000)}blob:none`,
  ])('refuses the filter %j', (spec) => {
    expect(() => parseFetch([`filter ${spec}`])).toThrow(/unsupported filter/);
  });

  it('refuses a second filter, as git does', () => {
    expect(() => parseFetch(['filter blob:none', 'filter tree:1'])).toThrow(/cannot be combined/);
  });

  it('parses the arguments of ls-refs', () => {
    expect(parseLsRefs(['peel', 'symrefs', 'ref-prefix refs/heads/'])).toEqual({
      peel: true,
      symrefs: true,
      unborn: false,
      prefixes: ['refs/heads/'],
    });
    expect(() => parseLsRefs(['want x'])).toThrow(WireError);
  });
});

describe('the commands of a push', () => {
  it('have capabilities after the first, and push options', async () => {
    const request = await readCommands(
      reader(
        pkt(`shallow ${A}`),
        pkt(
          `${ZERO_OID} ${A} refs/heads/main\0 report-status-v2 side-band-64k push-options atomic agent=git/2`,
        ),
        pkt(`${A} ${B} refs/heads/b`),
        FLUSH,
        pkt('ci.skip'),
        FLUSH,
        Buffer.from('PACK'),
      ),
      LIMITS,
    );
    expect(request).toMatchObject({
      commands: [
        { name: 'refs/heads/main', from: ZERO_OID, to: A },
        { name: 'refs/heads/b', from: A, to: B },
      ],
      report: 'report-status-v2',
      sideBand: 'side-band-64k',
      atomic: true,
      quiet: false,
      pushOptions: ['ci.skip'],
    });
  });

  const one = pkt(`${ZERO_OID} ${A} refs/heads/main\0 report-status`);
  const withOptions = pkt(`${ZERO_OID} ${A} refs/heads/main\0 report-status push-options`);
  it.each([
    ['a command cut short', [pkt(`${ZERO_OID} ${A}`), FLUSH], /expected old\/new\/ref/],
    ['one command too many', [one, one, one, one, FLUSH], /too many ref updates/],
    ['a push certificate', [pkt('push-cert\0report-status'), FLUSH], /signed pushes/],
    ['no flush', [one], /ends before/],
    ['a delimiter', [one, DELIM, FLUSH], /unexpected delim/],
    [
      'a push option too many',
      [withOptions, FLUSH, pkt('a'), pkt('b'), pkt('c'), FLUSH],
      /too many push opt/,
    ],
    ['push options too long', [withOptions, FLUSH, pkt('12345678901'), pkt('1234567890'), FLUSH], /too long/],
  ])('are refused with %s, and the form of the answer is still known', async (_, parts, message) => {
    const error = await readCommands(reader(...parts), LIMITS).then(
      () => undefined,
      (cause) => cause,
    );
    expect(error).toBeInstanceOf(ReceiveRequestError);
    expect(error.message).toMatch(message);
    if (parts[0] === one || parts[0] === withOptions) expect(error.partial.report).toBe('report-status');
  });
});

describe('parsers give a result or a typed error for any packets', () => {
  const word = fc.constantFrom(
    'want',
    'have',
    'shallow',
    'deepen',
    'done',
    'command=fetch',
    'ref-prefix',
    A,
    ZERO_OID,
  );
  const line = fc.oneof(
    fc.array(word, { maxLength: 4 }).map((words) => words.join(' ')),
    fc.string({ maxLength: 60 }),
  );
  const packet = fc.oneof(
    { weight: 6, arbitrary: line.map((text) => pkt(text)) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }).map((data) => pkt(data)) },
    { weight: 1, arbitrary: fc.constantFrom(FLUSH, DELIM) },
  );
  it.each([
    ['readWants', (input: PktReader) => readWants(input)],
    ['readV2Request', (input: PktReader) => readV2Request(input)],
    ['readCommands', (input: PktReader) => readCommands(input, LIMITS)],
  ])('%s', async (_, parse) => {
    await fc.assert(
      fc.asyncProperty(fc.array(packet, { maxLength: 12 }), async (packets) => {
        try {
          await parse(reader(...packets));
        } catch (error) {
          expect(error instanceof WireError || error instanceof ReceiveRequestError).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });
  it('parseFetch and parseLsRefs', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), (lines) => {
        for (const parse of [parseFetch, parseLsRefs]) {
          try {
            parse(lines);
          } catch (error) {
            expect(error).toBeInstanceOf(WireError);
          }
        }
      }),
    );
  });
});

describe('the body', () => {
  it('is decompressed, in pieces of any size', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 5000 }),
        fc.integer({ min: 1, max: 999 }),
        async (bytes, size) => {
          expect(await collected(decodedBody(pieces(gzipSync(bytes), size), 'gzip', 10_000))).toEqual(
            Buffer.from(bytes),
          );
        },
      ),
      { numRuns: 30 },
    );
  });

  it('stops a bomb at the limit', async () => {
    const bomb = gzipSync(Buffer.alloc(20_000_000));
    await expect(collected(decodedBody(pieces(bomb, 4096), 'gzip', 100_000))).rejects.toMatchObject({
      code: 'limit',
    });
  });

  it('stops a plain body at the limit, and a compressed one that is larger than its content', async () => {
    await expect(collected(decodedBody(pieces(Buffer.alloc(11), 4), undefined, 10))).rejects.toMatchObject({
      code: 'limit',
    });
    const empty = Buffer.concat(Array.from({ length: 100 }, () => gzipSync('')));
    await expect(collected(decodedBody(pieces(empty, 64), 'gzip', 200))).rejects.toMatchObject({
      code: 'limit',
    });
  });

  it.each([
    ['cut short', gzipSync('hello there').subarray(0, 15)],
    ['no gzip at all', Buffer.from('0000')],
  ])('%s is a typed error', async (_, bytes) => {
    await expect(collected(decodedBody(pieces(bytes, 4), 'gzip', 1000))).rejects.toMatchObject({
      code: 'encoding',
    });
  });

  it('passes on errors of its source', async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield gzipSync('hello').subarray(0, 5);
      throw new Error('connection reset');
    }
    await expect(collected(decodedBody(broken(), 'gzip', 1000))).rejects.toThrow('connection reset');
  });

  it('in another encoding is refused', () => {
    expect(() => decodedBody(pieces(Buffer.of(), 1), 'br', 10)).toThrow(WireError);
  });
});

function reader(...parts: Uint8Array[]): PktReader {
  return new PktReader(pieces(Buffer.concat(parts), 50));
}

async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function collected(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  return Buffer.concat(parts);
}
