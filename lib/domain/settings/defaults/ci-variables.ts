/** Settings of the variables that jobs get. */
export const ciVariables = {
  /** Whether new variables are protected where a request does not say */
  protected_ci_variables: false,
};
