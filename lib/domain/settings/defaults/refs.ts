/** Settings of branches and tags. A name or its comment gives the unit. */
export const refs = {
  /** See `DefaultBranchProtection` */
  default_branch_protection: 2 as 0 | 1 | 2 | 3,
};
