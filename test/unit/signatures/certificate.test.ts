import fc from 'fast-check';
import { expect, test } from 'vitest';
import { signerCertificate } from '../../../lib/signatures/certificate.ts';
import { signedCommit } from '../../../lib/signatures/signed-commit.ts';
import { armored, binary } from './armored.ts';
import fixtures from './fixtures.json' with { type: 'json' };

const [signature] = signedCommit(Buffer.from(fixtures.commits.x509, 'latin1')).signatures;
const data = binary(signature!);

test('signatures of openssl: the certificate of the signer', () => {
  expect(signerCertificate(signature!)).toMatchObject({
    subject: 'CN=developer@example.com,OU=Example,O=World',
    email: 'developer@example.com',
    revocationListUrl: 'http://example.com/pki.crl',
  });
});

test('arbitrary and mutated bytes give a certificate or undefined, never an error', () => {
  fc.assert(
    fc.property(
      fc.nat(data.length - 1),
      fc.nat(255),
      fc.uint8Array({ maxLength: 100 }),
      (at, byte, bytes) => {
        const changed = Buffer.from(data);
        changed[at] = byte;
        signerCertificate(armored('SIGNED MESSAGE', changed));
        signerCertificate(armored('SIGNED MESSAGE', data.subarray(0, at)));
        signerCertificate(armored('SIGNED MESSAGE', bytes));
      },
    ),
    { numRuns: 500 },
  );
});
