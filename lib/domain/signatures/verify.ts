import { type Identity, parseCommit, parseTag } from '../../git/parse.ts';
import type { GpgKeyRecord, SshKeyRecord } from '../../records/keys.ts';
import type { UserRecord } from '../../records/users.ts';
import { type Certificate, CMS_LABELS, signerCertificate } from '../../signatures/certificate.ts';
import { keyOfSignature, type PgpPublicKey, parsePgpKey, pgpVouches } from '../../signatures/pgp-key.ts';
import { type PgpSignature, parsePgpSignatures } from '../../signatures/pgp-signature.ts';
import { signedCommit } from '../../signatures/signed-commit.ts';
import { signedTag } from '../../signatures/signed-tag.ts';
import { parseSshSignature, SSH_LABEL, sshSigned } from '../../signatures/ssh-signature.ts';
import { sameName } from '../../store/table/unique-names.ts';
import { isConfirmedEmail } from '../accounts/addresses.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../errors.ts';
import type { VerificationStatus } from './status.ts';

/** A signature of a commit or tag. */
export type Signature =
  | {
      readonly type: 'PGP';
      readonly status: VerificationStatus;
      /** 16 hex digits; the ID in the signature if no user has the key. */
      readonly primaryKeyId: string | null;
      readonly key?: GpgKeyRecord;
      readonly name: string | null;
      readonly email: string | null;
      readonly subkeyId: number | null;
    }
  | {
      readonly type: 'SSH';
      readonly status: VerificationStatus;
      readonly key?: SshKeyRecord;
      readonly user?: UserRecord;
    }
  | { readonly type: 'X509'; readonly status: 'unverified'; readonly certificate: Certificate };

/**
 * Verifies the signature of a commit, with the keys and addresses that users have now. The result is not stored.
 * @param bytes of the commit object
 * @throws `404 Signature Not Found` for a commit without a signature, or with one of an unknown kind
 */
export function signatureOfCommit(deps: Deps, bytes: Uint8Array): Promise<Signature> {
  return signatureOf(deps, { ...signedCommit(bytes), signer: parseCommit(bytes).committer });
}

/**
 * The same of a tag, which the tagger signs.
 * @param bytes of the tag object; undefined for a lightweight tag, which has no signature
 */
export async function signatureOfTag(deps: Deps, bytes: Uint8Array | undefined): Promise<Signature> {
  if (bytes === undefined) throw notFound('Signature');
  return signatureOf(deps, { ...signedTag(bytes), signer: parseTag(bytes).tagger });
}

async function signatureOf(
  deps: Deps,
  {
    signatures,
    payload,
    signer,
  }: { signatures: readonly string[]; payload: Uint8Array; signer: Identity | undefined },
): Promise<Signature> {
  const [text] = signatures;
  if (text === undefined) throw notFound('Signature');
  // Only tags of git's first months have no tagger; nobody's address is empty.
  const signed = { payload, email: signer?.email ?? '', several: signatures.length > 1 };
  const label = /^-----BEGIN ([A-Z0-9 ]+)-----/.exec(text)?.[1] ?? '';
  if (label.startsWith('PGP ')) return ofPgp(deps, text, signed);
  if (label === SSH_LABEL) return ofSsh(deps, text, signed);
  if (CMS_LABELS.includes(label)) {
    const certificate = signerCertificate(text);
    if (certificate !== undefined) return { type: 'X509', status: 'unverified', certificate };
  }
  throw notFound('Signature');
}

interface Signed {
  readonly payload: Uint8Array;
  /** Address of the committer or tagger. */
  readonly email: string;
  readonly several: boolean;
}

async function ofPgp(deps: Deps, text: string, signed: Signed): Promise<Signature> {
  const parsedSignatures = parsePgpSignatures(text);
  const signature = parsedSignatures?.[0];
  const unknown = { type: 'PGP', name: null, email: null, subkeyId: null } as const;
  if (parsedSignatures === undefined || signature?.issuer === undefined) {
    return { ...unknown, status: 'unverified', primaryKeyId: null };
  }
  const several = signed.several || parsedSignatures.length > 1;
  const owned = await ownerOf(deps, await deps.store.gpgKeys.bySigner(signature.issuer));
  const parsed = owned && parsePgpKey(owned.key.key);
  if (owned === undefined || parsed === undefined) {
    return {
      ...unknown,
      status: several ? 'multiple_signatures' : 'unknown_key',
      primaryKeyId: signature.issuer,
    };
  }
  const { key, user } = owned;
  const isTheirs = await isConfirmedEmail(deps, user);
  const named = parsed.userIds.find(({ email }) => isTheirs(email)) ?? parsed.userIds[0];
  return {
    type: 'PGP',
    status: several ? 'multiple_signatures' : pgpStatus(parsed, signature, signed, isTheirs, deps.now()),
    primaryKeyId: parsed.primary.material.id,
    key,
    name: named?.name || null,
    email: named?.email || null,
    subkeyId: key.subkeys.find(({ keyId }) => keyId === signature.issuer)?.id ?? null,
  };
}

function pgpStatus(
  key: PgpPublicKey,
  signature: PgpSignature,
  { payload, email: address }: Signed,
  isTheirs: (address: string) => boolean,
  now: Date,
): VerificationStatus {
  const confirmed = key.userIds.filter(({ email }) => isTheirs(email));
  if (confirmed.length === 0) return 'unverified_key';
  const signer = keyOfSignature(key, signature);
  if (signer === undefined || !pgpVouches(signer, signature, payload, now)) return 'unverified';
  if (confirmed.some(({ email }) => sameName(email, address))) return 'verified';
  return isTheirs(address) ? 'same_user_different_email' : 'other_user';
}

async function ofSsh(deps: Deps, text: string, { payload, email, several }: Signed): Promise<Signature> {
  const signature = parseSshSignature(text);
  if (signature === undefined) return { type: 'SSH', status: 'unverified' };
  const found = await deps.store.sshKeys.byFingerprint(signature.key.sha256);
  // A key for authentication only does not vouch for commits.
  const owned = await ownerOf(deps, found?.usage === 'auth' ? undefined : found);
  if (several) return { type: 'SSH', status: 'multiple_signatures', ...owned };
  if (owned === undefined) return { type: 'SSH', status: 'unknown_key' };
  if (signature.namespace !== 'git' || !sshSigned(signature, payload)) {
    return { type: 'SSH', status: 'unverified', ...owned };
  }
  const isTheirs = await isConfirmedEmail(deps, owned.user);
  return { type: 'SSH', status: isTheirs(email) ? 'verified' : 'other_user', ...owned };
}

async function ownerOf<K extends { readonly userId: number }>(
  { store }: Deps,
  key: K | undefined,
): Promise<{ readonly key: K; readonly user: UserRecord } | undefined> {
  const user = key && (await store.users.get(key.userId));
  return key === undefined || user === undefined ? undefined : { key, user };
}
