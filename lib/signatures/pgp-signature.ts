import { createHash } from 'node:crypto';
import { asBuffer } from '../bytes/as-buffer.ts';
import { unarmored } from './armor.ts';
import { MalformedSignature, wellFormed } from './malformed.ts';
import type { PgpKeyMaterial } from './pgp-material.ts';
import {
  PACKET,
  type Packet,
  PgpReader,
  readPackets,
  readSubpackets,
  type Subpacket,
} from './pgp-packets.ts';
import { isSignedBy, type SignatureNumbers } from './public-keys.ts';

/** A signature packet of version 3 or 4 (RFC 9580 §5.2). */
export interface PgpSignature {
  readonly version: 3 | 4;
  /** §5.2.1: 0 bytes, 1 text, 0x10-0x13 user id, 0x18 subkey, 0x20 revocation, ... */
  readonly type: number;
  readonly algorithm: number;
  readonly hash: number;
  /** Seconds since 1970. */
  readonly created: number;
  /** Seconds of validity after its creation; 0 for no limit. */
  readonly lifetime: number;
  /** For a signature over a key: seconds of the key's validity after its creation; 0 for no limit. */
  readonly keyLifetime: number;
  /** §5.2.3.29; undefined when absent. */
  readonly keyFlags: number | undefined;
  /** §5.2.3.31; undefined when absent. */
  readonly revocationReason: number | undefined;
  /** The id of the key that made it: 16 digits of upper-case hex. */
  readonly issuer: string | undefined;
  /** That key's fingerprint, 40 digits. */
  readonly issuerFingerprint: string | undefined;
  /** An embedded signature: of a subkey over its primary key. */
  readonly embedded: PgpSignature | undefined;
  /** The bytes that are hashed after the signed bytes. */
  readonly trailer: Buffer;
  /** The first two bytes of the digest. */
  readonly left: Buffer;
  readonly numbers: SignatureNumbers;
  /** Whether all critical subpackets are known. Otherwise the signature must not be trusted. */
  readonly understood: boolean;
}

const PGP_LABEL = 'PGP SIGNATURE';

/**
 * The signatures in an armored text, usually one.
 * @returns undefined for any other text
 */
export function parsePgpSignatures(armored: string): readonly PgpSignature[] | undefined {
  return wellFormed(() => {
    // Older programs use the label of messages for signatures.
    const { label, data } = unarmored(armored);
    if (label !== PGP_LABEL && label !== 'PGP MESSAGE') throw new MalformedSignature('another kind of block');
    const packets = readPackets(data).filter(({ type }) => type !== PACKET.marker && type !== PACKET.padding);
    if (packets.length === 0 || packets.length > MAX_SIGNATURES) throw new MalformedSignature('no signature');
    return packets.map(readSignature);
  });
}

const MAX_SIGNATURES = 16;

/** @throws MalformedSignature */
export function readSignature({ type, body }: Packet, depth = 0): PgpSignature {
  if (type !== PACKET.signature) throw new MalformedSignature('another packet than a signature');
  const reader = new PgpReader(body);
  const version = reader.byte();
  if (version === 3) return readVersion3(reader);
  if (version !== 4) throw new MalformedSignature('a signature of another version');
  const [signatureType, algorithm, hash] = [reader.byte(), reader.byte(), reader.byte()];
  const hashed = reader.take(reader.number(2));
  const head = body.subarray(0, 6 + hashed.length);
  const unhashed = reader.take(reader.number(2));
  const left = reader.take(2);
  const numbers = readNumbers(reader, algorithm);
  const trusted = readSubpackets(hashed);
  // Unhashed subpackets are not signed: read only those that can be verified.
  const told = readSubpackets(unhashed);
  const fingerprint = issuerFingerprint(trusted) ?? issuerFingerprint(told);
  const id = find(trusted, SUB.issuer, 8) ?? find(told, SUB.issuer, 8);
  const inner = trusted.find(isEmbedded) ?? told.find(isEmbedded);
  const length = Buffer.alloc(6);
  length.writeUInt16BE(0x04ff);
  length.writeUInt32BE(head.length, 2);
  const created = find(trusted, SUB.created, 4);
  return {
    version: 4,
    type: signatureType,
    algorithm,
    hash,
    created: created?.readUInt32BE() ?? 0,
    lifetime: find(trusted, SUB.lifetime, 4)?.readUInt32BE() ?? 0,
    keyLifetime: find(trusted, SUB.keyLifetime, 4)?.readUInt32BE() ?? 0,
    keyFlags: trusted.find(({ type }) => type === SUB.keyFlags)?.body[0],
    revocationReason: trusted.find(({ type }) => type === SUB.revocationReason)?.body[0],
    issuer: fingerprint?.slice(-16) ?? hex(id),
    issuerFingerprint: fingerprint,
    embedded:
      inner === undefined || depth > 0
        ? undefined
        : wellFormed(() => readSignature({ type: PACKET.signature, body: inner.body }, depth + 1)),
    trailer: Buffer.concat([head, length]),
    left,
    numbers,
    understood: created !== undefined && trusted.every(({ type, critical }) => !critical || KNOWN.has(type)),
  };
}

/** Whether the key made this signature of these bytes. The caller checks type, times and the validity of the key. */
export function pgpSigned(
  signature: PgpSignature,
  key: PgpKeyMaterial,
  ...data: readonly Uint8Array[]
): boolean {
  const hash = HASHES[signature.hash];
  if (hash === undefined || key.numbers === undefined || !signature.understood) return false;
  if (!sameAlgorithm(signature.algorithm, key.algorithm)) return false;
  const { kind } = key.numbers;
  const bytes = Buffer.concat([...data, signature.trailer]);
  const digest = createHash(hash).update(bytes).digest();
  if (!digest.subarray(0, 2).equals(signature.left)) return false;
  // Edwards curves sign the digest as if it were the message (§5.2.3.2 to 5.2.3.5); the others hash by themselves.
  if (kind === 'ed25519' || kind === 'ed448') return isSignedBy(key.numbers, null, digest, signature.numbers);
  return isSignedBy(key.numbers, hash, bytes, signature.numbers);
}

/** Whether the hash is weak: SHA-1 counts only in signatures made before it was broken. */
export const isWeakHash = ({ hash, created }: PgpSignature): boolean =>
  hash === SHA1 && created >= SHA1_BROKEN;

/** The text form of a commit, for signatures of type 1: lines end in CRLF. */
export function asText(payload: Uint8Array): Buffer {
  const latin = asBuffer(payload).toString('latin1');
  return Buffer.from(latin.replace(/\r?\n/g, '\r\n'), 'latin1');
}

function readVersion3(reader: PgpReader): PgpSignature {
  if (reader.byte() !== 5) throw new MalformedSignature('a signature over more than a type and a time');
  const trailer = reader.take(5);
  const issuer = hex(reader.take(8));
  const [algorithm, hash] = [reader.byte(), reader.byte()];
  const left = reader.take(2);
  return {
    version: 3,
    type: trailer[0]!,
    algorithm,
    hash,
    created: trailer.readUInt32BE(1),
    lifetime: 0,
    keyLifetime: 0,
    keyFlags: undefined,
    revocationReason: undefined,
    issuer,
    issuerFingerprint: undefined,
    embedded: undefined,
    trailer,
    left,
    numbers: readNumbers(reader, algorithm),
    understood: true,
  };
}

function readNumbers(reader: PgpReader, algorithm: number): SignatureNumbers {
  switch (algorithm) {
    case 1:
    case 3:
      return { bytes: reader.integer() };
    case 17:
    case 19:
      return { r: reader.integer(), s: reader.integer() };
    case 22:
      return { r: reader.integer(), s: reader.integer() };
    case 27:
      return { bytes: reader.take(64) };
    case 28:
      return { bytes: reader.take(114) };
    default:
      throw new MalformedSignature('an algorithm nobody here knows');
  }
}

/** RSA has several algorithm numbers. */
const sameAlgorithm = (signature: number, key: number): boolean =>
  signature === key || (signature === 1 && key === 3) || (signature === 3 && key === 1);

const SUB = {
  created: 2,
  lifetime: 3,
  keyLifetime: 9,
  issuer: 16,
  keyFlags: 27,
  revocationReason: 29,
  embedded: 32,
  issuerFingerprint: 33,
} as const;

/** Subpackets that are evaluated, or can be ignored safely: preferences, trust, policy URLs. */
const KNOWN = new Set<number>([
  ...Object.values(SUB),
  4,
  5,
  7,
  11,
  21,
  22,
  23,
  24,
  25,
  26,
  28,
  30,
  34,
  35,
  39,
]);

const isEmbedded = ({ type }: Subpacket) => type === SUB.embedded;

const find = (subpackets: readonly Subpacket[], type: number, length: number): Buffer | undefined =>
  subpackets.find((one) => one.type === type && one.body.length === length)?.body;

/** The fingerprint of a version 4 key. */
function issuerFingerprint(subpackets: readonly Subpacket[]): string | undefined {
  const body = find(subpackets, SUB.issuerFingerprint, 21);
  return body?.[0] === 4 ? hex(body.subarray(1)) : undefined;
}

function hex(bytes: Buffer): string;
function hex(bytes: Buffer | undefined): string | undefined;
function hex(bytes: Buffer | undefined): string | undefined {
  return bytes?.toString('hex').toUpperCase();
}

const SHA1 = 2;
/** 2019-01-19: GnuPG rejects newer SHA-1 signatures by others. */
const SHA1_BROKEN = 1_547_856_000;

/** §9.5, without MD5 and RIPEMD-160. */
const HASHES: Readonly<Record<number, string>> = {
  [SHA1]: 'sha1',
  8: 'sha256',
  9: 'sha384',
  10: 'sha512',
  11: 'sha224',
  12: 'sha3-256',
  14: 'sha3-512',
};
