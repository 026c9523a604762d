/** Times in these records are ISO 8601. */
export interface SshKeyRecord {
  readonly id: number;
  readonly userId: number;
  readonly title: string;
  /** Type and base64, without a comment. */
  readonly key: string;
  /** `aa:bb:...` */
  readonly md5: string;
  /** Base64 without padding. */
  readonly sha256: string;
  readonly usage: SshKeyUsage;
  readonly createdAt: string;
  readonly expiresAt: string | null;
}

export const SSH_KEY_USAGES = ['auth', 'signing', 'auth_and_signing'] as const;

export type SshKeyUsage = (typeof SSH_KEY_USAGES)[number];

export interface GpgKeyRecord {
  readonly id: number;
  readonly userId: number;
  /** ASCII-armored, as uploaded. */
  readonly key: string;
  /** Upper-case hex. */
  readonly fingerprint: string;
  /** Signing subkeys; `id` is their public id. */
  readonly subkeys: readonly { readonly id: number; readonly keyId: string }[];
  readonly createdAt: string;
}
