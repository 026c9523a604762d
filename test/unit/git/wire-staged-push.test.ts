import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseOid } from '../../../lib/git/oid.ts';
import { WireError } from '../../../lib/git/wire/error.ts';
import { FLUSH, PktReader, pkt } from '../../../lib/git/wire/pkt-line.ts';
import { readPushReport } from '../../../lib/git/wire/push-report.ts';
import { pushRequest } from '../../../lib/git/wire/push-request.ts';
import { readCommands } from '../../../lib/git/wire/receive-request.ts';
import { reportStatus } from '../../../lib/git/wire/report.ts';
import { onBand } from '../../../lib/git/wire/side-band.ts';

async function* stream(...pieces: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}

const oid = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes) => parseOid(Buffer.from(bytes).toString('hex'))!)
  .filter((id) => !/^0+$/.test(id));
const word = fc.stringMatching(/^[a-zA-Z0-9.+ü-]{1,40}$/);
const command = fc.record({ from: oid, to: oid, name: word.map((text) => `refs/heads/${text}`) });

test('a written push request round-trips', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(command, { minLength: 1, maxLength: 30 }),
      fc.boolean(),
      fc.array(word, { maxLength: 3 }),
      async (commands, atomic, pushOptions) => {
        const reader = new PktReader(stream(pushRequest({ commands, atomic, pushOptions })));
        const read = await readCommands(reader, {
          maxCommands: 100,
          maxPushOptions: 10,
          maxPushOptionBytes: 1000,
        });
        expect(read).toMatchObject({ commands, atomic, pushOptions, report: 'report-status' });
        expect((await reader.next()).kind).toBe('end');
      },
    ),
    { numRuns: 50 },
  );
});

test('a written report round-trips', async () => {
  const ref = fc.record({ name: word, reason: fc.option(word, { nil: undefined }) });
  await fc.assert(
    fc.asyncProperty(fc.array(ref, { maxLength: 2000 }), async (refs) => {
      const said = onBand('side-band-64k', 2, 'Indexing objects:  5% (1/20)\rwarning: odd\nCounting\n');
      const body = stream(...said, ...reportStatus('ok', refs, 'side-band-64k'), FLUSH);
      expect(await readPushReport(body)).toEqual({ unpack: 'ok', refs, messages: ['warning: odd'] });
    }),
    { numRuns: 30 },
  );
});

test('failures outside of the report are returned as the result of the pack', async () => {
  expect((await readPushReport(stream(pkt('ERR internal error\n')))).unpack).toBe('ERR internal error');
  const fatal = onBand('side-band-64k', 3, 'too long\n');
  expect((await readPushReport(stream(...fatal, FLUSH))).unpack).toBe('too long');
  expect((await readPushReport(stream())).unpack).toBe('no report');
});

test('a report of arbitrary bytes is read or refused', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
      for (const body of [bytes, ...onBand('side-band-64k', 1, bytes)]) {
        try {
          expect(typeof (await readPushReport(stream(body))).unpack).toBe('string');
        } catch (error) {
          expect(error).toBeInstanceOf(WireError);
        }
      }
    }),
    { numRuns: 200 },
  );
});
