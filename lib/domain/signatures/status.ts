/** Results of a verification, the worst first. */
export const VERIFICATION_STATUSES = [
  /** The signature does not match the commit, or the key was not valid at the time. */
  'unverified',
  /** The key's owner has confirmed none of the key's addresses. */
  'unverified_key',
  /** No user has this key. */
  'unknown_key',
  'multiple_signatures',
  /** Valid, but the committer's address does not belong to the key's owner. */
  'other_user',
  /** Valid; the committer's address belongs to the owner, but is not in the key. */
  'same_user_different_email',
  'verified',
] as const;
export type VerificationStatus = (typeof VERIFICATION_STATUSES)[number];
