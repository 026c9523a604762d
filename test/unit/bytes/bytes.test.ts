import { describe, expect, test } from 'vitest';
import { asBuffer } from '../../../lib/bytes/as-buffer.ts';
import { whole } from '../../../lib/bytes/whole.ts';

describe('asBuffer', () => {
  test('a part of an array is the same bytes in the same memory', () => {
    const memory = new Uint8Array([1, 2, 3, 4, 5]);
    const buffer = asBuffer(memory.subarray(1, 4));
    memory[2] = 9;
    expect(Buffer.isBuffer(buffer)).toBe(true);
    expect([...buffer]).toEqual([2, 9, 4]);
  });

  test('a Buffer is given back as it is', () => {
    const buffer = Buffer.from('bytes');
    expect(asBuffer(buffer)).toBe(buffer);
  });
});

describe('whole', () => {
  async function* pieces(...texts: string[]) {
    for (const text of texts) yield new TextEncoder().encode(text);
  }

  test('pieces are put together in their order', async () => {
    expect((await whole(pieces('one', '', 'two'))).toString()).toBe('onetwo');
  });

  test('one piece, and none', async () => {
    expect((await whole(pieces('one'))).toString()).toBe('one');
    expect(await whole(pieces())).toHaveLength(0);
  });

  test('what breaks off is an error, not a shorter whole', async () => {
    async function* broken() {
      yield* pieces('one');
      throw new Error('it broke off');
    }
    await expect(whole(broken())).rejects.toThrow('it broke off');
  });
});
