import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { keyOfSignature, parsePgpKey, pgpVouches } from '../../../lib/signatures/pgp-key.ts';
import { parsePgpSignatures } from '../../../lib/signatures/pgp-signature.ts';
import { armored, binary } from './armored.ts';
import fixtures from './fixtures.json' with { type: 'json' };

// Made by gpg, see make-fixtures.ts.
const { pgp } = fixtures;
const payload = Buffer.from(fixtures.payload, 'latin1');
const LATER = new Date('2024-01-01');

function vouches(key: string, signature: string, data: Uint8Array = payload, now = LATER): boolean {
  const parsed = parsePgpKey(key)!;
  const [one] = parsePgpSignatures(signature)!;
  const signer = keyOfSignature(parsed, one!);
  return signer !== undefined && pgpVouches(signer, one!, data, now);
}

describe('keys and signatures of gpg', () => {
  test.each(Object.entries(pgp).filter(([name]) => name !== 'revoked' && name !== 'sha1'))(
    '%s',
    (_, { key, fingerprint, signature }) => {
      expect(parsePgpKey(key)?.primary.material.fingerprint).toBe(fingerprint);
      expect(vouches(key, signature)).toBe(true);
      expect(vouches(key, signature, Buffer.concat([payload, payload]))).toBe(false);
    },
  );

  test('a revoked key verifies nothing', () => {
    expect(vouches(pgp.revoked.key, pgp.revoked.signature)).toBe(false);
  });

  test('an expired key verifies what it signed before it expired', () => {
    const [signature] = parsePgpSignatures(pgp.expired.signature)!;
    const { primary } = parsePgpKey(pgp.expired.key)!;
    expect(primary.endsAt).toBe(primary.material.created + 1);
    expect(pgpVouches({ ...primary, endsAt: signature!.created }, signature!, payload, LATER)).toBe(false);
  });

  test('SHA-1 is refused for signatures made after it was broken', () => {
    expect(vouches(pgp.sha1.key, pgp.sha1.signature)).toBe(false);
  });

  test('a signature from the future is not valid yet', () => {
    expect(vouches(pgp.ed25519.key, pgp.ed25519.signature, payload, new Date('2023-01-01'))).toBe(false);
  });

  test('user ids: names without comments, without revoked ones', () => {
    expect(parsePgpKey(pgp.rsa.key)?.userIds).toEqual([{ name: 'Maker of rsa', email: 'rsa@example.com' }]);
    expect(parsePgpKey(pgp.subkey.key)?.userIds).toEqual([
      { name: 'Developer', email: 'developer@example.com' },
      { name: 'Dev at home', email: 'Second@Example.com' },
    ]);
  });

  test('a signing subkey is distinguished from a certification key and an encryption key', () => {
    const key = parsePgpKey(pgp.subkey.key)!;
    expect(key.primary.maySign).toBe(false);
    expect(key.subkeys).toHaveLength(1);
  });
});

describe('invalid keys', () => {
  const packets = binary(pgp.subkey.key);
  const block = (data: Uint8Array, label = 'PUBLIC KEY BLOCK') => armored(`PGP ${label}`, data);
  test.each([
    ['nothing', ''],
    ['words', 'my key'],
    ['a secret key', pgp.rsa.key.replaceAll('PUBLIC', 'PRIVATE')],
    ['a signature', pgp.rsa.signature],
    ['a wrong checksum', pgp.rsa.key.replace(/\n=.{4}\n/, '\n=AAAA\n')],
    ['two keys', block(Buffer.concat([packets, packets]))],
    ['two blocks', pgp.rsa.key + pgp.rsa.key],
    ['no user id', block(packets.subarray(0, packets.indexOf('Developer') - 2))],
    ['a changed user id', block(Buffer.from(packets.toString('latin1').replaceAll('>', ')'), 'latin1'))],
    ['a packet of indeterminate length', block(Buffer.from([0x9b, 4, 0, 0, 0, 0]))],
    ['far too much', block(Buffer.alloc(300_000, 0xb4))],
  ])('%s', (_, text) => expect(parsePgpKey(text)).toBeUndefined());

  test("another key's subkey, bound without its own signature", () => {
    // The unchanged packet and binding of the subkey, after a key that did not make the binding.
    const [other, mine] = [binary(pgp.ed25519.key), packets];
    const at = mine.lastIndexOf(Buffer.from([0xb8, 0x33]));
    expect(at).toBeGreaterThan(0);
    expect(parsePgpKey(block(Buffer.concat([other, mine.subarray(at)])))?.subkeys).toEqual([]);
  });
});

test('a changed byte anywhere never gives another valid key or signature, nor an error', () => {
  const key = binary(pgp.subkey.key);
  const signature = binary(pgp.subkey.signature);
  const before = parsePgpKey(pgp.subkey.key)!;
  const flipped = (data: Buffer, at: number, bits: number) => {
    const copy = Buffer.from(data);
    copy[at % copy.length]! ^= bits;
    return copy;
  };
  fc.assert(
    fc.property(fc.nat(), fc.integer({ min: 1, max: 255 }), (at, bits) => {
      const changed = parsePgpKey(armored('PGP PUBLIC KEY BLOCK', flipped(key, at, bits)));
      const names = (one: typeof before) => one.userIds.map(({ email }) => email);
      if (changed !== undefined) {
        // Its owner revoked one user id; a changed revocation is invalid.
        expect([...names(before), 'gone@example.com']).toEqual(expect.arrayContaining(names(changed)));
        expect([before.primary.material.fingerprint]).toContain(changed.primary.material.fingerprint);
      }
      const parsed = parsePgpSignatures(armored('PGP SIGNATURE', flipped(signature, at, bits)))?.[0];
      const signer = parsed && keyOfSignature(before, parsed);
      const stillGood = signer !== undefined && pgpVouches(signer, parsed!, payload, LATER);
      // The unhashed part may change, as long as the signature itself is unchanged.
      if (stillGood) expect(parsed!.numbers).toEqual(parsePgpSignatures(pgp.subkey.signature)![0]!.numbers);
    }),
    { numRuns: 300 },
  );
});

test('arbitrary bytes give a key, a signature or undefined, never an error', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.string(), (bytes, text) => {
      parsePgpKey(armored('PGP PUBLIC KEY BLOCK', bytes));
      parsePgpKey(text);
      parsePgpSignatures(armored('PGP SIGNATURE', bytes));
      parsePgpSignatures(text);
    }),
  );
});
