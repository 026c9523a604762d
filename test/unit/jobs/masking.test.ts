import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hide } from '../../../lib/domain/job-requests/masking.ts';

/** The trace that pieces add up to. */
function traceOf(pieces: readonly string[], secrets: readonly string[]): string {
  let begun: readonly number[] = [];
  const shown = pieces.map((piece) => {
    const hidden = hide(
      Buffer.from(piece),
      secrets.map((each) => Buffer.from(each)),
      begun,
    );
    begun = hidden.begun;
    return Buffer.from(hidden.bytes).toString();
  });
  return shown.join('');
}

test.each([
  [['a secret-value b'], 'a xxxxxxxxxxxx b'],
  [['secret-valuesecret-value'], 'x'.repeat(24)],
  [['a secret', '-value b'], 'a xxxxxxxxxxxx b'],
  [['a secret', ' other'], 'a xxxxxx other'],
  [['a secr', 'et-va', 'lue b'], 'a xxxxxxxxxxxx b'],
  // Three bytes may be any text.
  [['a sec', 'ret-value b'], 'a secxxxxxxxxx b'],
  [['a sec', 'ond'], 'a second'],
  [['s', 'e', 'c', 'r', 'e', 't', '-', 'v', 'a', 'l', 'u', 'e', '!'], 'secxxxxxxxxx!'],
  [['secret-valu', '', 'e!'], 'xxxxxxxxxxxx!'],
])('%j is stored as %s', (pieces, expected) => {
  expect(traceOf(pieces, ['secret-value'])).toBe(expected);
});

test('no secret is seen wherever the trace is divided, and nothing else than secrets and their begins is hidden', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 8, maxLength: 12 });
  const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 60 });
  fc.assert(
    fc.property(fc.array(letters, { maxLength: 3 }), text, fc.array(fc.nat(60)), (secrets, whole, cuts) => {
      const places = [
        ...new Set([0, ...cuts.map((cut) => Math.min(cut, whole.length)), whole.length]),
      ].toSorted((a, b) => a - b);
      const pieces = places.slice(1).map((end, i) => whole.slice(places[i]!, end));
      const stored = traceOf(pieces, secrets);
      expect(stored.length).toBe(whole.length);
      for (const secret of secrets) expect(stored).not.toContain(secret);
      for (const [i, letter] of [...stored].entries()) if (letter !== 'x') expect(letter).toBe(whole[i]);
    }),
    { numRuns: 1000 },
  );
});
