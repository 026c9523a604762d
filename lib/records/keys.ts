/** Times are ISO 8601 in all three. */
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
  /** Armored, as it was given. */
  readonly key: string;
  /** Upper-case hex. */
  readonly fingerprint: string;
  /** Those that sign, with ids of their own. */
  readonly subkeys: readonly { readonly id: number; readonly keyId: string }[];
  readonly createdAt: string;
}
