/**
 * Creates public keys from the numbers in SSH and OpenPGP keys, and verifies signatures with them. The cryptography is
 * Node's; this converts keys and signatures to its formats (RFC 5280 §4.1.2.7 and the RFCs of the algorithms).
 */
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { der, derBits, derInteger, derOid, TAG } from './der.ts';

export type PublicKeyNumbers =
  | { readonly kind: 'rsa'; readonly n: Uint8Array; readonly e: Uint8Array }
  | {
      readonly kind: 'dsa';
      readonly p: Uint8Array;
      readonly q: Uint8Array;
      readonly g: Uint8Array;
      readonly y: Uint8Array;
    }
  /** `point` is uncompressed: 04, x, y. */
  | { readonly kind: 'ecdsa'; readonly curve: Curve; readonly point: Uint8Array }
  | { readonly kind: 'ed25519' | 'ed448'; readonly point: Uint8Array };

/** The content of a signature: one byte string, or the two numbers of DSA and ECDSA. */
export type SignatureNumbers =
  | { readonly bytes: Uint8Array }
  | { readonly r: Uint8Array; readonly s: Uint8Array };

export interface Curve {
  /** The content of its object identifier, in hex. */
  readonly oid: string;
  /** Bytes of a coordinate. */
  readonly size: number;
}

export const P256: Curve = { oid: '2a8648ce3d030107', size: 32 };
export const P384: Curve = { oid: '2b81040022', size: 48 };
export const P521: Curve = { oid: '2b81040023', size: 66 };

/** The curves that OpenPGP implementations use. */
export const CURVES: readonly Curve[] = [
  P256,
  P384,
  P521,
  // secp256k1, and the three of Brainpool.
  { oid: '2b8104000a', size: 32 },
  { oid: '2b2403030208010107', size: 32 },
  { oid: '2b240303020801010b', size: 48 },
  { oid: '2b240303020801010d', size: 64 },
];

/** Verifying larger keys takes too long. */
const MAX_RSA_BITS = 16_384;
const MAX_DSA_BITS = 8_192;

export function bitsOf(number: Uint8Array): number {
  let at = 0;
  while (at < number.length && number[at] === 0) at++;
  return at === number.length ? 0 : (number.length - at) * 8 - (Math.clz32(number[at]!) - 24);
}

/** @returns undefined for an invalid key: a point not on the curve, an even modulus, a size out of bounds */
export function publicKeyOf(numbers: PublicKeyNumbers): KeyObject | undefined {
  if (!plausible(numbers)) return undefined;
  try {
    return createPublicKey({ key: spki(numbers), format: 'der', type: 'spki' });
  } catch {
    return undefined;
  }
}

/** @param hash Node's name: `sha256`; null for algorithms that include hashing */
export function isSignedBy(
  key: PublicKeyNumbers,
  hash: string | null,
  data: Uint8Array,
  signature: SignatureNumbers,
): boolean {
  const publicKey = publicKeyOf(key);
  const bytes = signatureBytes(key, signature);
  if (publicKey === undefined || bytes === undefined) return false;
  try {
    return verify(hash, data, { key: publicKey, dsaEncoding: 'ieee-p1363' }, bytes);
  } catch {
    return false;
  }
}

function plausible(numbers: PublicKeyNumbers): boolean {
  switch (numbers.kind) {
    case 'rsa': {
      const bits = bitsOf(numbers.n);
      const odd = (bytes: Uint8Array) => ((bytes.at(-1) ?? 0) & 1) === 1;
      return (
        bits >= 1024 &&
        bits <= MAX_RSA_BITS &&
        odd(numbers.n) &&
        odd(numbers.e) &&
        bitsOf(numbers.e) > 1 &&
        bitsOf(numbers.e) <= 64
      );
    }
    case 'dsa':
      return (
        bitsOf(numbers.p) >= 1024 &&
        bitsOf(numbers.p) <= MAX_DSA_BITS &&
        [160, 224, 256].includes(bitsOf(numbers.q)) &&
        bitsOf(numbers.g) > 1 &&
        bitsOf(numbers.g) <= bitsOf(numbers.p) &&
        bitsOf(numbers.y) > 1 &&
        bitsOf(numbers.y) <= bitsOf(numbers.p)
      );
    case 'ecdsa':
      return numbers.point.length === 1 + 2 * numbers.curve.size && numbers.point[0] === 4;
    case 'ed25519':
      return numbers.point.length === 32;
    case 'ed448':
      return numbers.point.length === 57;
  }
}

/** SubjectPublicKeyInfo. */
function spki(key: PublicKeyNumbers): Buffer {
  switch (key.kind) {
    case 'rsa':
      return info(
        [derOid('2a864886f70d010101'), der(0x05)],
        der(TAG.sequence, derInteger(key.n), derInteger(key.e)),
      );
    case 'dsa':
      return info(
        [
          derOid('2a8648ce380401'),
          der(TAG.sequence, derInteger(key.p), derInteger(key.q), derInteger(key.g)),
        ],
        derInteger(key.y),
      );
    case 'ecdsa':
      return info([derOid('2a8648ce3d0201'), derOid(key.curve.oid)], key.point);
    case 'ed25519':
      return info([derOid('2b6570')], key.point);
    case 'ed448':
      return info([derOid('2b6571')], key.point);
  }
}

const info = (algorithm: readonly Buffer[], key: Uint8Array): Buffer =>
  der(TAG.sequence, der(TAG.sequence, ...algorithm), derBits(key));

/** The signature in the format of `verify`: numbers of fixed length, concatenated. */
function signatureBytes(key: PublicKeyNumbers, signature: SignatureNumbers): Buffer | undefined {
  if ('bytes' in signature) {
    if (key.kind !== 'rsa')
      return key.kind === 'dsa' || key.kind === 'ecdsa' ? undefined : Buffer.from(signature.bytes);
    const size = Math.ceil(bitsOf(key.n) / 8);
    return padded(signature.bytes, size);
  }
  const sizes = {
    rsa: 0,
    dsa: key.kind === 'dsa' ? Math.ceil(bitsOf(key.q) / 8) : 0,
    ecdsa: key.kind === 'ecdsa' ? key.curve.size : 0,
    ed25519: 32,
    ed448: 57,
  };
  const size = sizes[key.kind];
  const [r, s] = [padded(signature.r, size), padded(signature.s, size)];
  return size === 0 || r === undefined || s === undefined ? undefined : Buffer.concat([r, s]);
}

/** @returns undefined when the number is longer than `size` */
function padded(number: Uint8Array, size: number): Buffer | undefined {
  let at = 0;
  while (at < number.length && number[at] === 0) at++;
  const digits = number.subarray(at);
  return digits.length > size ? undefined : Buffer.concat([Buffer.alloc(size - digits.length), digits]);
}
