/** Settings of tokens. A name or its comment gives the unit. */
export const tokens = {
  personal_access_token_prefix: 'glpat-' as string | null,
  /** Whether personal access tokens stop working at their expiry date */
  enforce_pat_expiration: true,
  /** Days; null: unlimited */
  max_personal_access_token_lifetime: null as number | null,
};
