import { createHash } from 'node:crypto';
import { MalformedSignature } from './malformed.ts';
import { type Packet, PgpReader } from './pgp-packets.ts';
import { CURVES, type PublicKeyNumbers, publicKeyOf } from './public-keys.ts';

/** A public key packet of version 4 (RFC 9580 §5.5.2): a key or a subkey. */
export interface PgpKeyMaterial {
  /** 40 digits of upper-case hex. */
  readonly fingerprint: string;
  /** The last 16 digits of the fingerprint. */
  readonly id: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly algorithm: number;
  /** Undefined for a key that cannot sign, or is invalid. */
  readonly numbers: PublicKeyNumbers | undefined;
  /** The bytes of the key that signatures over it hash. */
  readonly hashed: Buffer;
}

/** @throws MalformedSignature */
export function readKeyMaterial({ body }: Packet): PgpKeyMaterial {
  const reader = new PgpReader(body);
  if (reader.byte() !== 4) throw new MalformedSignature('a key of another version');
  const created = reader.number(4);
  const algorithm = reader.byte();
  const numbers = readNumbers(reader, algorithm);
  if (numbers !== undefined && !reader.ended) throw new MalformedSignature('there is more behind the key');
  if (body.length > 0xffff) throw new MalformedSignature('a key out of bounds');
  const head = Buffer.from([0x99, body.length >> 8, body.length & 0xff]);
  const hashed = Buffer.concat([head, body]);
  const fingerprint = createHash('sha1').update(hashed).digest('hex').toUpperCase();
  return {
    fingerprint,
    id: fingerprint.slice(-16),
    created,
    algorithm,
    numbers: numbers !== undefined && publicKeyOf(numbers) !== undefined ? numbers : undefined,
    hashed,
  };
}

function readNumbers(reader: PgpReader, algorithm: number): PublicKeyNumbers | undefined {
  switch (algorithm) {
    case 1:
    case 3:
      return { kind: 'rsa', n: reader.integer(), e: reader.integer() };
    case 17:
      return {
        kind: 'dsa',
        p: reader.integer(),
        q: reader.integer(),
        g: reader.integer(),
        y: reader.integer(),
      };
    case 19: {
      const oid = reader.take(reader.byte()).toString('hex');
      const point = reader.integer();
      const curve = CURVES.find((one) => one.oid === oid);
      return curve && { kind: 'ecdsa', curve, point };
    }
    case 22: {
      const kind = EDWARDS[reader.take(reader.byte()).toString('hex')];
      const point = reader.integer();
      // The first byte is the encoding of the point.
      return kind === undefined || point[0] !== 0x40 ? undefined : { kind, point: point.subarray(1) };
    }
    case 27:
      return { kind: 'ed25519', point: reader.take(32) };
    case 28:
      return { kind: 'ed448', point: reader.take(57) };
    default:
      return undefined;
  }
}

const EDWARDS: Readonly<Record<string, 'ed25519'>> = { '2b06010401da470f01': 'ed25519' };
