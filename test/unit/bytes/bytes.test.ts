import { describe, expect, test } from 'vitest';
import { asBuffer } from '../../../lib/bytes/as-buffer.ts';

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
