/** Rules over several parameters. */

/** A rule over several parameters; yields the whole text when it is broken. */
export type Rule = (given: (name: string) => boolean) => string | undefined;

export const mutuallyExclusive =
  (...names: string[]): Rule =>
  (given) => {
    const both = names.filter(given);
    return both.length > 1 ? `${both.join(', ')} are mutually exclusive` : undefined;
  };

export const atLeastOneOf =
  (...names: string[]): Rule =>
  (given) =>
    names.some(given)
      ? undefined
      : `${names.join(', ')} are missing, at least one parameter must be provided`;

export const exactlyOneOf =
  (...names: string[]): Rule =>
  (given) =>
    names.some(given)
      ? mutuallyExclusive(...names)(given)
      : `${names.join(', ')} are missing, exactly one parameter must be provided`;

export const allOrNoneOf =
  (...names: string[]): Rule =>
  (given) => {
    const count = names.filter(given).length;
    return count === 0 || count === names.length
      ? undefined
      : `${names.join(', ')} provide all or none of parameters`;
  };
