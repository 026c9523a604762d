import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { keyOfSignature, parsePgpKey, pgpVouches } from '../../../lib/signatures/pgp-key.ts';
import { parsePgpSignatures } from '../../../lib/signatures/pgp-signature.ts';
import { signedCommit } from '../../../lib/signatures/signed-commit.ts';
import { parseSshSignature, sshSigned } from '../../../lib/signatures/ssh-signature.ts';
import fixtures from './fixtures.json' with { type: 'json' };

const bytes = (text: string) => Buffer.from(text, 'latin1');

test('commits signed by git: the payload is the commit without the signature header', () => {
  const pgp = signedCommit(bytes(fixtures.commits.pgp));
  const [signature] = parsePgpSignatures(pgp.signatures[0]!)!;
  const signer = keyOfSignature(parsePgpKey(fixtures.pgp.subkey.key)!, signature!)!;
  expect(pgpVouches(signer, signature!, pgp.payload, new Date('2024-01-01'))).toBe(true);
  const ssh = signedCommit(bytes(fixtures.commits.ssh));
  expect(sshSigned(parseSshSignature(ssh.signatures[0]!)!, ssh.payload)).toBe(true);
});

test('the payload of an unsigned commit is all of it, whatever its message contains', () => {
  const commit = bytes(`${fixtures.commits.unsigned}\ngpgsig -----BEGIN PGP SIGNATURE-----\n`);
  expect(signedCommit(commit)).toEqual({ signatures: [], payload: commit });
});

test('the signature for the other hash is not part of the payload', () => {
  const other = fixtures.commits.pgp.replace('\ngpgsig ', '\ngpgsig-sha256 -----BEGIN\n x\ngpgsig ');
  const digest = (text: string) =>
    createHash('sha1')
      .update(signedCommit(bytes(text)).payload)
      .digest('hex');
  expect(digest(other)).toBe(digest(fixtures.commits.pgp));
  expect(signedCommit(bytes(other)).signatures).toHaveLength(1);
});

test('arbitrary bytes: remaining headers keep their order', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('gpgsig a\n', ' b\n', 'tree c\n', '\n', 'd')), (parts) => {
      const text = parts.join('');
      const { payload, signatures } = signedCommit(bytes(text));
      expect(payload.length).toBeLessThanOrEqual(text.length);
      if (signatures.length === 0) expect(payload.toString()).toBe(text);
    }),
  );
});
