import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { openFixture } from './sqs-fixture.ts';

const script = join(import.meta.dirname, 'sqs-crash-worker.ts');

it('kill -9 loses no acknowledged message', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'sqs-crash-'));
  const sent = new Set<string>();
  const consumed = new Set<string>();
  for (let round = 0; round < 4; round++) {
    const worker = spawn(process.execPath, [script, dir, String(round)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let lines = 0;
    for await (const line of createInterface({ input: worker.stdout })) {
      if (++lines === 60 + round * 17) worker.kill('SIGKILL');
      const [event, body] = line.split(' ');
      (event === 'sent' ? sent : consumed).add(body!);
    }
  }
  await using fixture = await openFixture({ dir });
  const queue = await fixture.create('crash');
  const remaining = new Set<string>();
  for (let messages = await fixture.receive(queue); messages.length > 0; ) {
    for (const { body } of messages) remaining.add(body);
    messages = await fixture.receive(queue);
  }
  expect([...sent].filter((body) => !remaining.has(body) && !consumed.has(body))).toEqual([]);
  expect(sent.size).toBeGreaterThan(100);
  await rm(dir, { recursive: true });
});
