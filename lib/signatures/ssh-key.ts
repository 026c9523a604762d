import { createHash } from 'node:crypto';
import { MalformedSignature, wellFormed } from './malformed.ts';
import { bitsOf, type Curve, P256, P384, P521, type PublicKeyNumbers, publicKeyOf } from './public-keys.ts';
import { SshReader } from './ssh-wire.ts';

export interface SshPublicKey {
  /** `ssh-ed25519`, the first word of the line. */
  readonly type: string;
  readonly numbers: PublicKeyNumbers;
  /** For keys on a hardware token (`sk-`): the application that the token signs with each message. */
  readonly application?: Buffer;
  /** The key in the wire format. */
  readonly blob: Buffer;
  /** Type and base64, without a comment. */
  readonly line: string;
  /** `aa:bb:...` */
  readonly md5: string;
  /** Base64 without padding. */
  readonly sha256: string;
}

/** More than the longest RSA key with a comment. */
const MAX_SSH_KEY_LENGTH = 5_000;

/** Parses `type base64 comment`, as in `id_ed25519.pub`. Ignores line breaks in the base64, which mail programs add. */
export function parseSshKey(text: string): SshPublicKey | undefined {
  if (text.length > MAX_SSH_KEY_LENGTH) return undefined;
  const oneLine = text.trim().replace(/[\r\n]+/g, '');
  const [, type, base64] = /^([a-z0-9@.-]+)[ \t]+([A-Za-z0-9+/]+)={0,2}(?:[ \t].*)?$/.exec(oneLine) ?? [];
  if (type === undefined || base64 === undefined) return undefined;
  const blob = Buffer.from(base64, 'base64');
  // Accept only the canonical base64 of a key.
  if (blob.toString('base64').replace(/=+$/, '') !== base64) return undefined;
  const key = sshKeyOf(blob);
  return key?.type === type ? key : undefined;
}

/** Parses a key in the wire format (RFC 4253 §6.6, RFC 5656, RFC 8709, OpenSSH's PROTOCOL.u2f). */
export function sshKeyOf(blob: Buffer): SshPublicKey | undefined {
  return wellFormed(() => {
    const reader = new SshReader(blob);
    const type = reader.text();
    const read = Object.hasOwn(READERS, type) ? READERS[type] : undefined;
    if (read === undefined) throw new MalformedSignature('a key of another type');
    const facts = read(reader);
    if (!reader.ended) throw new MalformedSignature('there is more behind the key');
    if (publicKeyOf(facts.numbers) === undefined) throw new MalformedSignature('its numbers are no key');
    return {
      type,
      ...facts,
      blob,
      line: `${type} ${blob.toString('base64')}`,
      md5: createHash('md5')
        .update(blob)
        .digest('hex')
        .replace(/..(?=.)/g, '$&:'),
      sha256: createHash('sha256').update(blob).digest('base64').replace(/=+$/, ''),
    };
  });
}

type Facts = Pick<SshPublicKey, 'numbers' | 'application'>;

const ecdsa =
  (name: string, curve: Curve) =>
  (reader: SshReader): Facts => {
    if (reader.text() !== name) throw new MalformedSignature('a key on another curve');
    return { numbers: { kind: 'ecdsa', curve, point: reader.string() } };
  };

const ed25519 = (reader: SshReader): Facts => ({ numbers: { kind: 'ed25519', point: reader.string() } });

const onToken =
  (read: (reader: SshReader) => Facts) =>
  (reader: SshReader): Facts => ({
    ...read(reader),
    application: reader.string(),
  });

const READERS: Readonly<Record<string, (reader: SshReader) => Facts>> = {
  'ssh-rsa': (reader) => {
    const e = reader.number();
    return { numbers: { kind: 'rsa', e, n: reader.number() } };
  },
  'ssh-dss': (reader) => {
    const [p, q, g, y] = [reader.number(), reader.number(), reader.number(), reader.number()];
    // SSH hashes with SHA-1 and signs 160 bits (RFC 4253 §6.6).
    if (bitsOf(q) !== 160) throw new MalformedSignature('DSA of another size');
    return { numbers: { kind: 'dsa', p, q, g, y } };
  },
  'ecdsa-sha2-nistp256': ecdsa('nistp256', P256),
  'ecdsa-sha2-nistp384': ecdsa('nistp384', P384),
  'ecdsa-sha2-nistp521': ecdsa('nistp521', P521),
  'ssh-ed25519': ed25519,
  'sk-ecdsa-sha2-nistp256@openssh.com': onToken(ecdsa('nistp256', P256)),
  'sk-ssh-ed25519@openssh.com': onToken(ed25519),
};
