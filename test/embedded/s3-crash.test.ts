import { spawn } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { GetObjectCommand, NoSuchKey } from '@aws-sdk/client-s3';
import { expect, it } from 'vitest';
import { openFixture } from './s3-fixture.ts';

const script = join(import.meta.dirname, 's3-crash-writer.ts');

/** The values that a key may have: the last acknowledged one, or the one of a write under way. */
interface History {
  acknowledged: string | undefined;
  /** `undefined` when a deletion was under way. */
  pending: string | undefined;
}

it('after kill -9 every acknowledged object is there, and no object is there in part', async () => {
  const dir = await mkdtemp(join(tmpdir(), 's3-crash-'));
  const histories = new Map<string, History>();
  for (let round = 0; round < 4; round++) {
    await writeAndKill(dir, round, 100 + round * 37, histories);
    await using fixture = await openFixture({ dir });
    expect(await readdir(join(dir, 'tmp'))).toEqual([]);
    for (const [Key, history] of histories) {
      const found = await fixture.client.send(new GetObjectCommand({ Bucket: 'crash', Key })).then(
        async ({ Body, Metadata }) => ({ body: await Body!.transformToString(), text: Metadata?.['text'] }),
        (error: unknown) => {
          if (error instanceof NoSuchKey) return undefined;
          throw error;
        },
      );
      expect([history.acknowledged, history.pending]).toContain(found?.text);
      // The body is that of one write; the SDK has verified its CRC.
      if (found) expect(new Set(found.body.trimEnd().split('\n'))).toEqual(new Set([found.text]));
      history.acknowledged = found?.text;
      history.pending = found?.text;
    }
  }
  expect(histories.size).toBe(20);
  await rm(dir, { recursive: true });
});

async function writeAndKill(
  dir: string,
  round: number,
  lines: number,
  histories: Map<string, History>,
): Promise<void> {
  const writer = spawn(process.execPath, [script, dir, String(round)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let count = 0;
  for await (const line of createInterface({ input: writer.stdout })) {
    if (++count === lines) writer.kill('SIGKILL');
    const [, event, key, text] = /^(\w+) ([^=]+)=(.*)$/.exec(line) ?? [];
    if (!event || !key) continue;
    const history = histories.get(key) ?? { acknowledged: undefined, pending: undefined };
    histories.set(key, history);
    // A write without an answer may have happened; every eleventh is a deletion.
    if (event === 'begin') history.pending = Number(text!.split(':')[2]) % 11 === 10 ? undefined : text;
    else history.acknowledged = history.pending = event === 'deleted' ? undefined : text;
  }
}
