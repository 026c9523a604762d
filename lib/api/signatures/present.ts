import type { Signature } from '../../domain/signatures/verify.ts';
import { sshKey } from '../keys/present.ts';

/** Clients expect the storage that the commit was read from: `gitaly` is their name for a Git repository. */
export const commitSignature = (found: Signature, baseUrl: string) => ({
  ...signature(found, baseUrl),
  commit_source: 'gitaly',
});

export function signature(found: Signature, baseUrl: string) {
  const common = { signature_type: found.type, verification_status: found.status };
  switch (found.type) {
    case 'PGP':
      return {
        ...common,
        gpg_key_id: found.key?.id ?? null,
        gpg_key_primary_keyid: found.primaryKeyId,
        gpg_key_user_name: found.name,
        gpg_key_user_email: found.email,
        gpg_key_subkey_id: found.subkeyId,
      };
    case 'SSH': {
      const { key, user } = found;
      return { ...common, key: key && user ? sshKey(key, user, baseUrl) : null };
    }
    case 'X509': {
      const { certificate } = found;
      return {
        ...common,
        x509_certificate: {
          id: null,
          subject: certificate.subject,
          subject_key_identifier: certificate.subjectKeyId ?? null,
          email: certificate.email ?? null,
          serial_number: certificate.serialNumber,
          certificate_status: 'good',
          x509_issuer: {
            id: null,
            subject: certificate.issuer,
            subject_key_identifier: certificate.issuerKeyId ?? null,
            crl_url: certificate.revocationListUrl ?? null,
          },
        },
      };
    }
  }
}
