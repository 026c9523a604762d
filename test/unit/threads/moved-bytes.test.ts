import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { give } from '../../../lib/git/wire/given-bytes.ts';
import { arriving, movable } from '../../../local/threads/moved-bytes.ts';

test('bytes arrive as they were sent, and stay where they came from', async () => {
  const whole = new Uint8Array([1, 2, 3, 4, 5]);
  const chunks = [whole.subarray(1, 4), whole, Buffer.from('text'), new Uint8Array(0)];
  async function* sent() {
    yield* chunks;
  }
  expect(await buffer(arriving(movable(sent())))).toEqual(Buffer.concat(chunks));
  expect(whole).toEqual(new Uint8Array([1, 2, 3, 4, 5]));
});

test('bytes that were given away arrive, and are gone where they came from', async () => {
  const memory = new Uint8Array([1, 2, 3, 4, 5]);
  const chunk = give(memory.subarray(0, 3));
  async function* sent() {
    yield chunk;
  }
  expect(await buffer(arriving(movable(sent())))).toEqual(Buffer.from([1, 2, 3]));
  expect([chunk.length, memory.length]).toEqual([0, 0]);
});

test('what fails there fails here, with its name and code', async () => {
  async function* failing() {
    yield new Uint8Array(1);
    throw Object.assign(new TypeError('the disk is full'), { code: 'ENOSPC' });
  }
  const reader = arriving(movable(failing())).getReader();
  expect((await reader.read()).value).toHaveLength(1);
  await expect(reader.read()).rejects.toMatchObject({
    name: 'TypeError',
    message: 'the disk is full',
    code: 'ENOSPC',
  });
});

/** Bytes without an end, and how far they were read. */
function endless() {
  const state = { made: 0, ended: false };
  async function* bytes() {
    try {
      for (;;) {
        state.made++;
        yield new Uint8Array(1000);
      }
    } finally {
      state.ended = true;
    }
  }
  return { state, port: movable(bytes()) };
}

test('no more is made than a reader takes, and a little ahead', async () => {
  const { state, port } = endless();
  const reader = arriving(port).getReader();
  for (let i = 0; i < 10; i++) await reader.read();
  await delay(20);
  expect(state.made).toBeLessThan(16);
  await reader.cancel();
});

test('who stops reading ends what makes the bytes', async () => {
  const { state, port } = endless();
  const reader = arriving(port).getReader();
  await reader.read();
  await reader.cancel();
  await expect.poll(() => state.ended).toBe(true);
});

test('bytes from a thread that has gone end with an error', async () => {
  const { port } = endless();
  const reader = arriving(port).getReader();
  await reader.read();
  // As when the thread ends that has the other end.
  port.close();
  await expect(
    (async () => {
      for (;;) if ((await reader.read()).done) return;
    })(),
  ).rejects.toThrow('has ended');
});
