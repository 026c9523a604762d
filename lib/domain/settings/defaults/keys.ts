/** Settings of keys. A name or its comment gives the unit. */
export const keys = {
  /** Days; null: unlimited */
  max_ssh_key_lifetime: null as number | null,
  /** Minimum size in bits; 0: any, -1: none of this kind */
  rsa_key_restriction: 0,
  dsa_key_restriction: 0,
  ecdsa_key_restriction: 0,
  ed25519_key_restriction: 0,
};
