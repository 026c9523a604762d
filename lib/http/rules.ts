/** Rules over several parameters. */

/**
 * A rule over several parameters. If it is violated, it returns the complete text, or the name of the parameter and the
 * text that follows it. `given` tells whether a parameter was sent, `value` has the valid ones.
 */
export type Rule = (
  given: (name: string) => boolean,
  value: Readonly<Record<string, unknown>>,
) => string | { readonly name: string; readonly text: string } | undefined;

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
      ? mutuallyExclusive(...names)(given, {})
      : `${names.join(', ')} are missing, exactly one parameter must be provided`;

export const allOrNoneOf =
  (...names: string[]): Rule =>
  (given) => {
    const count = names.filter(given).length;
    return count === 0 || count === names.length
      ? undefined
      : `${names.join(', ')} provide all or none of parameters`;
  };

/** `<name> is missing` if other parameters make it required: the content of a file that is created. */
export const requiredWhen =
  (name: string, needed: (value: Readonly<Record<string, unknown>>) => boolean): Rule =>
  (given, value) =>
    !given(name) && needed(value) ? { name, text: 'is missing' } : undefined;
