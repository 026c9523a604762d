/** Keys that nobody has, for tests that need many. Those of real programs are in `unit/signatures/fixtures.json`. */
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { sshString } from '../../lib/signatures/ssh-wire.ts';

const newKey = () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  return { point: Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url'), privateKey };
};

/** The line of a `.pub` file. */
export function newSshKey(): string {
  const blob = Buffer.concat([sshString('ssh-ed25519'), sshString(newKey().point)]);
  return `ssh-ed25519 ${blob.toString('base64')}`;
}

/** An armored public key that certifies its own user id (RFC 9580). */
export function newPgpKey(email: string): string {
  const { point, privateKey } = newKey();
  const curve = Buffer.from('092b06010401da470f01', 'hex');
  const key = Buffer.concat([
    Buffer.from([4]),
    CREATED,
    Buffer.from([22]),
    curve,
    Buffer.from([1, 7, 0x40]),
    point,
  ]);
  const hashedKey = Buffer.concat([Buffer.from([0x99, 0, key.length]), key]);
  const id = createHash('sha1').update(hashedKey).digest().subarray(12);
  const user = Buffer.from(`Somebody <${email}>`);
  const subpackets = Buffer.concat([Buffer.from([5, 2]), CREATED, Buffer.from([2, 27, 3, 9, 16]), id]);
  const head = Buffer.concat([Buffer.from([4, 0x13, 22, 8, 0, subpackets.length]), subpackets]);
  const digest = createHash('sha256')
    .update(hashedKey)
    .update(Buffer.from([0xb4, 0, 0, 0, user.length]))
    .update(user)
    .update(head)
    .update(Buffer.from([4, 0xff, 0, 0, 0, head.length]))
    .digest();
  const signature = sign(null, digest, privateKey);
  const numbers = [signature.subarray(0, 32), signature.subarray(32)].map(integer);
  const self = Buffer.concat([head, Buffer.from([0, 0]), digest.subarray(0, 2), ...numbers]);
  const packets = Buffer.concat([packet(6, key), packet(13, user), packet(2, self)]);
  return `-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n${packets.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END PGP PUBLIC KEY BLOCK-----`;
}

/** 2023-11-14. */
const CREATED = Buffer.from([0x65, 0x53, 0xf1, 0]);

const packet = (type: number, body: Buffer): Buffer =>
  Buffer.concat([Buffer.from([0xc0 | type, body.length]), body]);

function integer(bytes: Buffer): Buffer {
  let at = 0;
  while (bytes[at] === 0) at++;
  const digits = bytes.subarray(at);
  const bits = digits.length * 8 - Math.clz32(digits[0]!) + 24;
  return Buffer.concat([Buffer.from([bits >> 8, bits & 0xff]), digits]);
}
