import * as z from 'zod';
import { VERIFICATION_STATUSES } from '../../domain/signatures/status.ts';
import { shape } from '../../http/shape.ts';
import { sshKey } from '../keys/shapes.ts';

const common = () => ({ verification_status: z.enum(VERIFICATION_STATUSES) });
const ofCommit = () => ({ commit_source: z.literal('gitaly') });

const pgp = () =>
  z.object({
    signature_type: z.literal('PGP'),
    ...common(),
    gpg_key_id: z.int().nullable(),
    gpg_key_primary_keyid: z.string().nullable(),
    gpg_key_user_name: z.string().nullable(),
    gpg_key_user_email: z.string().nullable(),
    gpg_key_subkey_id: z.int().nullable(),
  });

const ssh = () =>
  z.object({
    signature_type: z.literal('SSH'),
    ...common(),
    key: sshKey().nullable(),
  });

const x509 = () =>
  z.object({
    signature_type: z.literal('X509'),
    ...common(),
    x509_certificate: z.object({
      id: z.null(),
      subject: z.string(),
      subject_key_identifier: z.string().nullable(),
      email: z.string().nullable(),
      serial_number: z
        .string()
        .describe('Decimal number as a string, since it can exceed the range of numbers'),
      certificate_status: z.literal('good'),
      x509_issuer: z.object({
        id: z.null(),
        subject: z.string(),
        subject_key_identifier: z.string().nullable(),
        crl_url: z.string().nullable(),
      }),
    }),
  });

export const commitSignature = shape(() =>
  z
    .union([pgp().extend(ofCommit()), ssh().extend(ofCommit()), x509().extend(ofCommit())])
    .meta({ id: 'CommitSignature' }),
);
export const tagSignature = shape(() => z.union([pgp(), ssh(), x509()]).meta({ id: 'TagSignature' }));
