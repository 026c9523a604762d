import fc from 'fast-check';
import { expect, test } from 'vitest';
import { seal, unseal } from '../../../lib/outbound/seal.ts';

test('a sealed text can be read with its key only', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(), (text, at) => {
      const [one, other] = [seal(text), seal(text)];
      expect(unseal(one)).toBe(text);
      expect(one.key).not.toBe(other.key);
      if (text.length > 3) expect(Buffer.from(one.bytes).includes(text)).toBe(false);
      expect(() => unseal({ key: other.key, bytes: one.bytes })).toThrow();
      const changed = Uint8Array.from(one.bytes);
      changed[at % changed.length]! ^= 1;
      expect(() => unseal({ key: one.key, bytes: changed })).toThrow();
      expect(() => unseal({ key: one.key, bytes: one.bytes.subarray(0, at % one.bytes.length) })).toThrow();
    }),
  );
});
