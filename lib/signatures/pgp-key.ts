import { unarmored } from './armor.ts';
import { MalformedSignature, wellFormed } from './malformed.ts';
import { type PgpKeyMaterial, readKeyMaterial } from './pgp-material.ts';
import { PACKET, type Packet, readPackets } from './pgp-packets.ts';
import { asText, isWeakHash, type PgpSignature, pgpSigned, readSignature } from './pgp-signature.ts';

/** A public key, as far as it is certified by its own signatures; ignores everything added by others. */
export interface PgpPublicKey {
  readonly primary: SigningKey;
  /** Subkeys that may sign, and that confirm by an embedded signature that they belong to this key. */
  readonly subkeys: readonly SigningKey[];
  readonly userIds: readonly PgpUserId[];
}

export interface PgpUserId {
  readonly name: string;
  readonly email: string;
}

export interface SigningKey {
  readonly material: PgpKeyMaterial;
  readonly maySign: boolean;
  /** Seconds since 1970 from which its signatures are not valid any more. */
  readonly endsAt: number;
}

/** Maximum length of an armored key; longer ones contain hundreds of signatures of others, or a photo. */
const MAX_PGP_KEY_LENGTH = 100_000;
const MAX_SUBKEYS = 20;
const MAX_USER_IDS = 100;
/** Self-signatures verified at most, because each verification is expensive. */
const MAX_CHECKS = 300;

/** Parses an armored text with one public key; undefined for anything else, no user id, or an invalid key. */
export function parsePgpKey(armored: string): PgpPublicKey | undefined {
  if (armored.length > MAX_PGP_KEY_LENGTH) return undefined;
  return wellFormed(() => {
    const { label, data } = unarmored(armored);
    if (label !== 'PGP PUBLIC KEY BLOCK') throw new MalformedSignature('another kind of block');
    const [first, ...others] = readPackets(data);
    if (first?.type !== PACKET.publicKey) throw new MalformedSignature('it does not begin with a key');
    const primary = readKeyMaterial(first);
    if (primary.numbers === undefined) throw new MalformedSignature('a key that signs nothing');
    return certified(primary, parts(others));
  });
}

/** The primary key or subkey that a signature names as its issuer. */
export function keyOfSignature(key: PgpPublicKey, signature: PgpSignature): SigningKey | undefined {
  return [key.primary, ...key.subkeys].find(
    ({ material }) =>
      material.id === signature.issuer &&
      (signature.issuerFingerprint === undefined || signature.issuerFingerprint === material.fingerprint),
  );
}

/** Whether this is a valid signature of these bytes, made while the key was valid. */
export function pgpVouches(
  key: SigningKey,
  signature: PgpSignature,
  payload: Uint8Array,
  now: Date,
): boolean {
  const seconds = now.getTime() / 1000;
  const { created, lifetime } = signature;
  if (!key.maySign || isWeakHash(signature)) return false;
  if (created < key.material.created || created >= key.endsAt || created > seconds + CLOCK_SKEW_SECONDS)
    return false;
  if (lifetime > 0 && created + lifetime <= seconds) return false;
  if (signature.type !== SIGNATURE.bytes && signature.type !== SIGNATURE.text) return false;
  return pgpSigned(signature, key.material, signature.type === SIGNATURE.text ? asText(payload) : payload);
}

const CLOCK_SKEW_SECONDS = 86_400;

const SIGNATURE = {
  bytes: 0x00,
  text: 0x01,
  /** 0x10 to 0x13, by how carefully the identity was checked. */
  certification: 0x10,
  subkey: 0x18,
  primary: 0x19,
  direct: 0x1f,
  revocation: 0x20,
  subkeyRevocation: 0x28,
  userIdRevocation: 0x30,
} as const;

const MAY_SIGN = 0x02;

interface Part {
  readonly packet: Packet;
  readonly signatures: readonly PgpSignature[];
}

/** The packets after the primary key, each with its signatures; `direct` are those over the primary key itself. */
function parts(packets: readonly Packet[]): { direct: readonly PgpSignature[]; parts: readonly Part[] } {
  const direct: PgpSignature[] = [];
  const found: { packet: Packet; signatures: PgpSignature[] }[] = [];
  for (const packet of packets) {
    switch (packet.type) {
      case PACKET.signature: {
        // Signatures of others may have any format; unreadable ones are ignored.
        const signature = wellFormed(() => readSignature(packet));
        if (signature !== undefined) (found.at(-1)?.signatures ?? direct).push(signature);
        break;
      }
      case PACKET.userId:
      case PACKET.userAttribute:
      case PACKET.publicSubkey:
        found.push({ packet, signatures: [] });
        break;
      case PACKET.marker:
      case PACKET.trust:
      case PACKET.padding:
        break;
      default:
        throw new MalformedSignature('a second key, or something else');
    }
  }
  return { direct, parts: found };
}

function certified(
  primary: PgpKeyMaterial,
  { direct, parts }: { direct: readonly PgpSignature[]; parts: readonly Part[] },
): PgpPublicKey {
  let checks = 0;
  const isOwn = (signature: PgpSignature, ...data: readonly Uint8Array[]) => {
    if (signature.issuer !== primary.id) return false;
    if (++checks > MAX_CHECKS) throw new MalformedSignature('too many signatures');
    return pgpSigned(signature, primary, ...data);
  };
  const ofType = (signatures: readonly PgpSignature[], type: number) =>
    signatures.filter((one) => one.type === type);

  const selves = ofType(direct, SIGNATURE.direct).filter((one) => isOwn(one, primary.hashed));
  const revocations = ofType(direct, SIGNATURE.revocation).filter((one) => isOwn(one, primary.hashed));
  const userIds: PgpUserId[] = [];
  for (const { packet, signatures } of parts) {
    if (packet.type !== PACKET.userId) continue;
    const hashed = userIdHashed(packet.body);
    const isAbout = (one: PgpSignature) => isOwn(one, primary.hashed, hashed);
    const certifications = signatures
      .filter((one) => (one.type & ~3) === SIGNATURE.certification)
      .filter(isAbout);
    const latest = newest(certifications);
    const withdrawn = newest(ofType(signatures, SIGNATURE.userIdRevocation).filter(isAbout));
    if (latest === undefined || (withdrawn !== undefined && withdrawn.created >= latest.created)) continue;
    selves.push(latest);
    const userId = parseUserId(packet.body);
    if (userId !== undefined && userIds.length < MAX_USER_IDS) userIds.push(userId);
  }
  if (userIds.length === 0) throw new MalformedSignature('nobody is named in it');

  const subkeys: SigningKey[] = [];
  for (const { packet, signatures } of parts) {
    if (packet.type !== PACKET.publicSubkey) continue;
    const material = wellFormed(() => readKeyMaterial(packet));
    if (material?.numbers === undefined || material.id === primary.id) continue;
    const isAbout = (one: PgpSignature) => isOwn(one, primary.hashed, material.hashed);
    const binding = newest(ofType(signatures, SIGNATURE.subkey).filter(isAbout));
    if (binding === undefined || ((binding.keyFlags ?? 0) & MAY_SIGN) === 0) continue;
    // Without the subkey's own signature, anyone could claim another person's key as a subkey.
    const back = binding.embedded;
    if (back?.type !== SIGNATURE.primary || !pgpSigned(back, material, primary.hashed, material.hashed))
      continue;
    if (subkeys.length === MAX_SUBKEYS) throw new MalformedSignature('too many subkeys');
    const withdrawn = ofType(signatures, SIGNATURE.subkeyRevocation).filter(isAbout);
    const endsAt = Math.min(
      ending(material, binding, withdrawn),
      ending(primary, newest(selves), revocations),
    );
    subkeys.push({ material, maySign: true, endsAt });
  }
  const latest = newest(selves);
  const maySign = latest?.keyFlags === undefined || (latest.keyFlags & MAY_SIGN) !== 0;
  return {
    primary: { material: primary, maySign, endsAt: ending(primary, latest, revocations) },
    subkeys,
    userIds,
  };
}

/** RFC 9580 §5.2.3.31: for retired or superseded keys, earlier signatures stay valid; else all become invalid. */
const RETIRED_REASONS = new Set([1, 3]);

function ending(
  { created }: PgpKeyMaterial,
  latest: PgpSignature | undefined,
  revocations: readonly PgpSignature[],
): number {
  const expiry = latest === undefined || latest.keyLifetime === 0 ? Infinity : created + latest.keyLifetime;
  const revoked = revocations.map((one) =>
    RETIRED_REASONS.has(one.revocationReason ?? 0) ? one.created : 0,
  );
  return Math.min(expiry, ...revoked);
}

const newest = (signatures: readonly PgpSignature[]): PgpSignature | undefined =>
  signatures.reduce<PgpSignature | undefined>(
    (best, one) => (best === undefined || one.created >= best.created ? one : best),
    undefined,
  );

function userIdHashed(body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head[0] = 0xb4;
  head.writeUInt32BE(body.length, 1);
  return Buffer.concat([head, body]);
}

/** `Name (comment) <address>`, or only an address. */
function parseUserId(body: Buffer): PgpUserId | undefined {
  if (body.length > 2_048) return undefined;
  const text = body.toString('utf8').trim();
  const [, name, address] = /^([^<>]*)<([^<>\s]+@[^<>\s]+)>$/.exec(text) ?? [];
  if (address !== undefined) return { name: name!.replace(/\s*\([^()]*\)\s*$/, '').trim(), email: address };
  if (/^[^<>\s]+@[^<>\s]+$/.test(text)) return { name: '', email: text };
  return text === '' ? undefined : { name: text, email: '' };
}
