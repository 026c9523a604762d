import { createHash, type Hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { S3Error } from './errors.ts';

/** The additional checksums of S3 that are supported; CRC64NVME is not. */
export const ALGORITHMS = ['CRC32', 'CRC32C', 'SHA1', 'SHA256'] as const;
export type Algorithm = (typeof ALGORITHMS)[number];

/** Base64 of the big-endian checksum, as in `x-amz-checksum-*`, by algorithm. */
export type Checksums = Partial<Record<Algorithm, string>>;

/** @throws S3Error NotImplemented for CRC64NVME, InvalidRequest for a name that S3 does not define */
export function parseAlgorithm(name: string): Algorithm {
  const upper = name.toUpperCase();
  const found = ALGORITHMS.find((algorithm) => algorithm === upper);
  if (found) return found;
  if (upper === 'CRC64NVME') throw new S3Error('NotImplemented', 'CRC64NVME is not implemented');
  throw new S3Error('InvalidRequest', 'Checksum algorithm provided is unsupported.');
}

export const checksumHeader = (algorithm: Algorithm): string => `x-amz-checksum-${algorithm.toLowerCase()}`;

/** A checksum under computation. */
export interface Digest {
  update(chunk: Uint8Array): void;
  base64(): string;
}

export function createDigest(algorithm: Algorithm): Digest {
  switch (algorithm) {
    case 'CRC32':
      return crcDigest(crc32);
    case 'CRC32C':
      return crcDigest(crc32c);
    case 'SHA1':
    case 'SHA256':
      return hashDigest(createHash(algorithm.toLowerCase()));
  }
}

function hashDigest(hash: Hash): Digest {
  return { update: (chunk) => void hash.update(chunk), base64: () => hash.digest('base64') };
}

function crcDigest(step: (chunk: Uint8Array, value: number) => number): Digest {
  let value = 0;
  return {
    update(chunk) {
      value = step(chunk, value);
    },
    base64() {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(value >>> 0);
      return bytes.toString('base64');
    },
  };
}

/** CRC by byte for the Castagnoli polynomial, reflected (RFC 3720, appendix B.4). */
const CASTAGNOLI = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0x82f63b78 : value >>> 1;
  return value;
});

function crc32c(chunk: Uint8Array, value: number): number {
  let crc = ~value;
  for (let i = 0; i < chunk.length; i++) crc = CASTAGNOLI[(crc ^ chunk[i]!) & 0xff]! ^ (crc >>> 8);
  return ~crc >>> 0;
}

/** The digests that a request declares for its body: they are verified when the body has been read. */
export interface Claims {
  md5?: string;
  sha256Hex?: string;
  /** Those sent in headers. */
  checksums: Checksums;
  /** The one announced by `x-amz-trailer`, which follows the body. */
  trailer?: Algorithm;
  /** Computed and stored although none was declared. */
  compute: Algorithm[];
}

/** Reads the declared digests from an upload's headers. */
export function readClaims(headers: Readonly<Record<string, string | undefined>>): Claims {
  const claims: Claims = { checksums: {}, compute: [] };
  const md5 = headers['content-md5'];
  if (md5 !== undefined) {
    if (Buffer.from(md5, 'base64').length !== 16) {
      throw new S3Error('InvalidDigest', 'The Content-MD5 you specified was invalid.');
    }
    claims.md5 = md5;
  }
  const sha256 = headers['x-amz-content-sha256'];
  if (sha256 !== undefined && /^[0-9a-f]{64}$/.test(sha256)) claims.sha256Hex = sha256;
  for (const [name, value] of Object.entries(headers)) {
    const algorithm = /^x-amz-checksum-(?!mode$|type$|algorithm$)(\w+)$/.exec(name)?.[1];
    if (algorithm !== undefined && value !== undefined) claims.checksums[parseAlgorithm(algorithm)] = value;
  }
  const trailer = headers['x-amz-trailer'];
  if (trailer !== undefined) {
    const algorithm = /^x-amz-checksum-(\w+)$/.exec(trailer.trim().toLowerCase())?.[1];
    if (algorithm === undefined) {
      throw new S3Error('InvalidRequest', 'The value specified in the x-amz-trailer header is not supported');
    }
    claims.trailer = parseAlgorithm(algorithm);
  }
  const requested = headers['x-amz-sdk-checksum-algorithm'] ?? headers['x-amz-checksum-algorithm'];
  if (requested !== undefined) claims.compute.push(parseAlgorithm(requested));
  return claims;
}

/** All digests of one body, computed while it streams through. */
export class BodyDigest {
  readonly #claims: Claims;
  readonly #md5 = createHash('md5');
  readonly #sha256: Hash | undefined;
  readonly #digests = new Map<Algorithm, Digest>();

  constructor(claims: Claims) {
    this.#claims = claims;
    if (claims.sha256Hex !== undefined) this.#sha256 = createHash('sha256');
    const claimed = Object.keys(claims.checksums) as Algorithm[];
    for (const algorithm of [...claimed, ...claims.compute, ...(claims.trailer ? [claims.trailer] : [])]) {
      if (!this.#digests.has(algorithm)) this.#digests.set(algorithm, createDigest(algorithm));
    }
  }

  update(chunk: Uint8Array): void {
    this.#md5.update(chunk);
    this.#sha256?.update(chunk);
    for (const digest of this.#digests.values()) digest.update(chunk);
  }

  /**
   * Compares with the declared digests, in the headers or the trailers.
   * @throws S3Error BadDigest, XAmzContentSHA256Mismatch
   */
  finish(trailers: ReadonlyMap<string, string>): { md5Hex: string; checksums: Checksums } {
    const { md5, sha256Hex, trailer } = this.#claims;
    const md5Bytes = this.#md5.digest();
    if (md5 !== undefined && md5Bytes.toString('base64') !== md5) {
      throw new S3Error('BadDigest', 'The Content-MD5 you specified did not match what we received.');
    }
    if (this.#sha256 !== undefined && this.#sha256.digest('hex') !== sha256Hex) {
      throw new S3Error(
        'XAmzContentSHA256Mismatch',
        "The provided 'x-amz-content-sha256' header does not match what was computed.",
      );
    }
    const claimed: Checksums = { ...this.#claims.checksums };
    if (trailer !== undefined) {
      const value = trailers.get(checksumHeader(trailer));
      if (value === undefined) throw new S3Error('InvalidRequest', 'The announced trailer is missing.');
      claimed[trailer] = value;
    }
    const checksums: Checksums = {};
    for (const [algorithm, digest] of this.#digests) {
      const value = digest.base64();
      if (claimed[algorithm] !== undefined && claimed[algorithm] !== value) {
        throw new S3Error('BadDigest', `The ${algorithm} you specified did not match what we received.`);
      }
      checksums[algorithm] = value;
    }
    return { md5Hex: md5Bytes.toString('hex'), checksums };
  }
}
