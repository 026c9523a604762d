import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseSshKey } from '../../../lib/signatures/ssh-key.ts';
import { parseSshSignature, sshSigned } from '../../../lib/signatures/ssh-signature.ts';
import { sshString } from '../../../lib/signatures/ssh-wire.ts';
import { armored, binary } from './armored.ts';
import fixtures from './fixtures.json' with { type: 'json' };

// Made by ssh-keygen, see make-fixtures.ts.
const { ssh } = fixtures;
const payload = Buffer.from(fixtures.payload, 'latin1');

describe('keys and signatures of ssh-keygen', () => {
  test.each(Object.entries(ssh))('%s', (name, { key, signature, md5, sha256 }) => {
    const parsed = parseSshKey(key)!;
    expect(parsed).toMatchObject({ md5, sha256, line: key.split(' ').slice(0, 2).join(' ') });
    if (name === 'dsa') return;
    const one = parseSshSignature(signature)!;
    expect(one).toMatchObject({ namespace: 'git', key: { sha256 } });
    expect(sshSigned(one, payload)).toBe(true);
    expect(sshSigned(one, payload.subarray(1))).toBe(false);
    expect(sshSigned({ ...one, namespace: 'file' }, payload)).toBe(false);
  });

  test('a key on a hardware token, with and without user presence', () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const point = Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url');
    const blob = Buffer.concat(['sk-ssh-ed25519@openssh.com', point, 'ssh:'].map((part) => sshString(part)));
    expect(parseSshKey(`sk-ssh-ed25519@openssh.com ${blob.toString('base64')} token`)).toBeDefined();
    const digest = (name: string, data: string | Buffer) => createHash(name).update(data).digest();
    const signed = Buffer.concat([
      Buffer.from('SSHSIG'),
      ...['git', '', 'sha512', digest('sha512', payload)].map((part) => sshString(part)),
    ]);
    const signature = (flags: number) => {
      const token = Buffer.from([flags, 0, 0, 0, 7]);
      const data = Buffer.concat([digest('sha256', 'ssh:'), token, digest('sha256', signed)]);
      const inner = Buffer.concat([
        sshString('sk-ssh-ed25519@openssh.com'),
        sshString(sign(null, data, privateKey)),
        token,
      ]);
      const parts = [blob, 'git', '', 'sha512', inner].map((part) => sshString(part));
      return armored('SSH SIGNATURE', Buffer.concat([Buffer.from('SSHSIG\0\0\0\x01'), ...parts]));
    };
    expect(sshSigned(parseSshSignature(signature(1))!, payload)).toBe(true);
    expect(sshSigned(parseSshSignature(signature(0))!, payload)).toBe(false);
  });
});

describe('invalid keys', () => {
  const [type, base64] = ssh.ed25519.key.split(' ') as [string, string];
  const line = (name: string, ...parts: (string | Uint8Array)[]) =>
    `${name} ${Buffer.concat([name, ...parts].map((part) => sshString(part))).toString('base64')}`;
  test.each([
    ['nothing', ''],
    ['a type alone', 'ssh-rsa '],
    ['another type in front', `ssh-rsa ${base64}`],
    ['options in front', `command="x" ${type} ${base64}`],
    ['half of it', `${type} ${base64.slice(0, -8)}`],
    ['more behind it', `${type} ${base64}AAAA`],
    [
      'another spelling of its last byte',
      ssh.ecdsa256.key.replace(/.(?==)/, (last) => (last === 'B' ? 'C' : 'B')),
    ],
    ['RSA of 512 bits', line('ssh-rsa', Buffer.from([1, 0, 1]), Buffer.alloc(64, 0x55))],
    ['RSA of an even modulus', line('ssh-rsa', Buffer.from([1, 0, 1]), Buffer.alloc(256, 0x54))],
    ['RSA with the exponent 1', line('ssh-rsa', Buffer.from([1]), Buffer.alloc(256, 0x55))],
    ['a negative modulus', line('ssh-rsa', Buffer.from([1, 0, 1]), Buffer.alloc(256, 0xd5))],
    ['a point off its curve', line('ecdsa-sha2-nistp256', 'nistp256', Buffer.alloc(65, 4))],
    ['a point of another curve', line('ecdsa-sha2-nistp256', 'nistp384', Buffer.alloc(97, 4))],
    ['a short point', line('ssh-ed25519', Buffer.alloc(31, 1))],
    ['a type nobody knows', line('constructor', Buffer.alloc(31, 1))],
    ['too long', `${type} ${base64} ${'x'.repeat(5_000)}`],
  ])('%s', (_, text) => expect(parseSshKey(text)).toBeUndefined());

  test('a key with line breaks is accepted', () => {
    expect(parseSshKey(`\n${type} ${base64.slice(0, 20)}\r\n${base64.slice(20)}\n`)?.sha256).toBe(
      ssh.ed25519.sha256,
    );
  });
});

test('a changed byte anywhere never gives another valid signature, nor an error', () => {
  for (const { signature } of [ssh.ed25519, ssh.ecdsa256]) {
    const data = binary(signature);
    fc.assert(
      fc.property(fc.nat(data.length - 1), fc.integer({ min: 1, max: 255 }), (at, bits) => {
        const copy = Buffer.from(data);
        copy[at]! ^= bits;
        const parsed = parseSshSignature(armored('SSH SIGNATURE', copy));
        expect(parsed !== undefined && sshSigned(parsed, payload)).toBe(false);
      }),
      { numRuns: 200 },
    );
  }
});

test('arbitrary bytes give a key, a signature or undefined, never an error', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.string(), (bytes, text) => {
      parseSshKey(`ssh-rsa ${Buffer.from(bytes).toString('base64')}`);
      parseSshKey(text);
      parseSshSignature(armored('SSH SIGNATURE', Buffer.concat([Buffer.from('SSHSIG\0\0\0\x01'), bytes])));
      parseSshSignature(text);
    }),
  );
});
