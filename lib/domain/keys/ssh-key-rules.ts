/** Restrictions of SSH keys by the instance settings. */
import { bitsOf } from '../../signatures/public-keys.ts';
import type { SshPublicKey } from '../../signatures/ssh-key.ts';
import { DAY_MS } from '../days.ts';
import type { InstanceSettings } from '../settings/current.ts';

const KINDS = ['rsa', 'dsa', 'ecdsa', 'ed25519'] as const;
type Kind = (typeof KINDS)[number];
const FORBIDDEN = -1;
const CONTACT = 'for SSH keys on this instance. Contact the instance administrator.';

/** Problems with a key's type and size. */
export function keyKindProblems(settings: InstanceSettings, { numbers }: SshPublicKey): string[] {
  const { kind, bits } = sizeOf(numbers);
  const minBits = settings[`${kind}_key_restriction`];
  if (minBits === FORBIDDEN) {
    const allowed = KINDS.filter((name) => settings[`${name}_key_restriction`] !== FORBIDDEN);
    return [`type is forbidden. Must be ${listed(allowed.map((name) => name.toUpperCase()))}`];
  }
  return bits < minBits ? [`must be at least ${minBits} bits`] : [];
}

/** Problems with a key's expiry date. */
export function keyExpiryProblems(
  settings: InstanceSettings,
  expiresAt: Date | undefined,
  now: Date,
): string[] {
  const days = settings.max_ssh_key_lifetime;
  if (days === null) return [];
  if (expiresAt === undefined)
    return [`has no expiration date but an expiration date is required ${CONTACT}`];
  return expiresAt.getTime() > now.getTime() + days * DAY_MS
    ? [`has greater than the maximum allowed lifetime ${CONTACT}`]
    : [];
}

function sizeOf(numbers: SshPublicKey['numbers']): { readonly kind: Kind; readonly bits: number } {
  switch (numbers.kind) {
    case 'rsa':
      return { kind: 'rsa', bits: bitsOf(numbers.n) };
    case 'dsa':
      return { kind: 'dsa', bits: bitsOf(numbers.p) };
    case 'ecdsa':
      // The largest curve has 521 bits in 66 bytes.
      return { kind: 'ecdsa', bits: Math.min(521, numbers.curve.size * 8) };
    default:
      return { kind: 'ed25519', bits: 256 };
  }
}

const listed = (words: readonly string[]): string =>
  words.length < 3 ? words.join(' or ') : `${words.slice(0, -1).join(', ')}, or ${words.at(-1)}`;
