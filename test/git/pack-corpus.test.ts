/**
 * Packs that once were, or could be, a problem: `corpus/<ok or the error's code>--<description>.pack`. Each gives the
 * result in its name, however it is received, and also with git. Random mutations never crash the parser.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CorruptData } from '../../lib/git/corrupt-data.ts';
import { indexPack } from '../../lib/git/pack/index-pack.ts';
import { generator, pieces, scratch } from './pack-fixture.ts';
import { ENVIRONMENT, git } from './repository-files.ts';

const folder = join(import.meta.dirname, 'corpus');
const corpus = readdirSync(folder).map((name) => ({
  name,
  verdict: name.slice(0, name.indexOf('--')),
  bytes: readFileSync(join(folder, name)),
}));
/** Packs that git accepts: it has no such limit, or does not detect the problem. */
const ONLY_OURS = new Set(['pack-entry--object-twice.pack', 'pack-trailing--more.pack']);

const home = scratch();
beforeAll(() => git(home.path, ['init', '-q', '--bare', '.']));
afterAll(() => home[Symbol.dispose]());

const judged = (input: Iterable<Uint8Array>, limits = {}) =>
  indexPack(input, { limits }).then(
    () => 'ok',
    (error: unknown) => {
      if (error instanceof CorruptData) return error.code;
      throw error;
    },
  );

describe('the corpus', () => {
  it.each(corpus)('$name', async ({ name, verdict, bytes }) => {
    for (const most of [1, 7, 100_000]) {
      expect(await judged(pieces(bytes, generator(most), most)), `pieces of ${most}`).toBe(verdict);
    }
    // As a large pack on disk, and with every blob hashed while it is received.
    expect(await judged([bytes], { memoryPackBytes: 0, wholeBlobSize: 0 })).toBe(verdict);
    if (ONLY_OURS.has(name)) return;
    const theirs = spawnSync('git', ['index-pack', '--stdin', '--strict'], {
      cwd: home.path,
      env: ENVIRONMENT,
      input: bytes,
    });
    expect(theirs.status === 0, String(theirs.stderr)).toBe(verdict === 'ok');
  });
});

describe('random mutations of the corpus', () => {
  it('are accepted or refused, quickly', async () => {
    const random = generator(20_261_120);
    const mended = (body: Buffer) => Buffer.concat([body, createHash('sha1').update(body).digest()]);
    const verdicts = new Map<string, number>();
    for (let round = 0; round < 1500; round++) {
      const one = corpus[random(corpus.length)]!.bytes;
      const other = corpus[random(corpus.length)]!.bytes;
      let bytes = Buffer.from(one.subarray(0, Math.max(0, one.length - 20)));
      const cut = 12 + random(Math.max(1, bytes.length - 12));
      const kind = random(4);
      if (kind === 0) bytes = bytes.subarray(0, cut);
      else if (kind === 1)
        bytes = Buffer.concat([bytes.subarray(0, cut), other.subarray(random(other.length + 1))]);
      else
        for (let hits = random(4); hits >= 0 && bytes.length > 0; hits--)
          bytes[random(bytes.length)] = random(256);
      const verdict = await judged(pieces(mended(bytes), random, 1 + random(400)), {
        maxInflatedBytes: 2 ** 26,
      });
      verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1);
    }
    expect(verdicts.size).toBeGreaterThan(8);
  });
});
