import { createHash } from 'node:crypto';
import { unarmored } from './armor.ts';
import { MalformedSignature, wellFormed } from './malformed.ts';
import { isSignedBy } from './public-keys.ts';
import { type SshPublicKey, sshKeyOf } from './ssh-key.ts';
import { SshReader, sshString } from './ssh-wire.ts';

/** A signature of `ssh-keygen -Y sign` (OpenSSH's PROTOCOL.sshsig). */
export interface SshSignature {
  readonly key: SshPublicKey;
  /** The purpose of the signature; `git` for commits. */
  readonly namespace: string;
  readonly hash: 'sha256' | 'sha512';
  readonly reserved: Buffer;
  readonly algorithm: string;
  readonly blob: Buffer;
  /** For a hardware token: flags and signature counter. */
  readonly token: Buffer | undefined;
}

export const SSH_LABEL = 'SSH SIGNATURE';

/** @param armored the text from `-----BEGIN SSH SIGNATURE-----` on */
export function parseSshSignature(armored: string): SshSignature | undefined {
  return wellFormed(() => {
    const { label, data } = unarmored(armored);
    if (label !== SSH_LABEL) throw new MalformedSignature('another kind of signature');
    const reader = new SshReader(data);
    if (reader.take(MAGIC.length).toString('latin1') !== MAGIC || reader.uint32() !== 1) {
      throw new MalformedSignature('another version');
    }
    const key = sshKeyOf(reader.string());
    if (key === undefined) throw new MalformedSignature('its key');
    const [namespace, reserved, hash] = [reader.string().toString(), reader.string(), reader.text()];
    if (hash !== 'sha256' && hash !== 'sha512') throw new MalformedSignature('another hash');
    const inner = new SshReader(reader.string());
    const [algorithm, blob] = [inner.text(), inner.string()];
    const token = key.application === undefined ? undefined : inner.take(5);
    if (!reader.ended || !inner.ended) throw new MalformedSignature('there is more behind it');
    return { key, namespace, hash, reserved, algorithm, blob, token };
  });
}

/** Whether the signature of these bytes was made by the key it contains. Does not check whose key that is. */
export function sshSigned(signature: SshSignature, payload: Uint8Array): boolean {
  const { key, namespace, reserved, hash, algorithm, blob, token } = signature;
  const signed = Buffer.concat([
    Buffer.from(MAGIC, 'latin1'),
    sshString(namespace),
    sshString(reserved),
    sshString(hash),
    sshString(createHash(hash).update(payload).digest()),
  ]);
  const data = token === undefined ? signed : tokenData(key, token, signed);
  if (data === undefined) return false;
  switch (key.numbers.kind) {
    case 'rsa': {
      // RSA with SHA-1 (`ssh-rsa`) is not allowed in this format.
      const digest = { 'rsa-sha2-256': 'sha256', 'rsa-sha2-512': 'sha512' }[algorithm];
      return digest !== undefined && isSignedBy(key.numbers, digest, data, { bytes: blob });
    }
    case 'ecdsa': {
      if (algorithm !== key.type) return false;
      const digest = ({ 32: 'sha256', 48: 'sha384', 66: 'sha512' } as const)[key.numbers.curve.size];
      const numbers = wellFormed(() => {
        const reader = new SshReader(blob);
        const pair = { r: reader.number(), s: reader.number() };
        if (!reader.ended) throw new MalformedSignature('there is more behind its numbers');
        return pair;
      });
      return digest !== undefined && numbers !== undefined && isSignedBy(key.numbers, digest, data, numbers);
    }
    case 'ed25519':
      return algorithm === key.type && isSignedBy(key.numbers, null, data, { bytes: blob });
    default:
      return false;
  }
}

const MAGIC = 'SSHSIG';
const USER_PRESENT = 0x01;

/** The data that a token signs: the digest of the message, and that the user touched the token. */
function tokenData(key: SshPublicKey, token: Buffer, signed: Buffer): Buffer | undefined {
  if (key.application === undefined || (token[0]! & USER_PRESENT) === 0) return undefined;
  const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest();
  return Buffer.concat([digest(key.application), token, digest(signed)]);
}
