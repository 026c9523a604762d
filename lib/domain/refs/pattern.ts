/**
 * Whether a name is meant by a rule's name: the same, or a pattern in which each `*` stands for any text, slashes and
 * nothing included. In time that grows with the length of the name, whatever the pattern.
 */
export function patternMatcher(pattern: string): (name: string) => boolean {
  const [start = '', ...rest] = pattern.split('*');
  const end = rest.pop();
  if (end === undefined) return (name) => name === pattern;
  const middle = rest.filter((part) => part !== '');
  return (name) => {
    if (!name.startsWith(start) || !name.endsWith(end)) return false;
    // The earliest place of each part leaves the most room for those behind it.
    let at = start.length;
    for (const part of middle) {
      const found = name.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return at <= name.length - end.length;
  };
}

const isPattern = (name: string): boolean => name.includes('*');

/** Rules by what they match. */
export class RuleSet<R extends { readonly name: string }> {
  readonly #named = new Map<string, R>();
  readonly #patterns: { readonly matches: (name: string) => boolean; readonly rule: R }[] = [];
  /** What was asked last: several questions about one name follow each other. */
  #last: { readonly name: string; readonly rules: readonly R[] } | undefined;

  constructor(rules: readonly R[]) {
    for (const rule of rules) {
      if (isPattern(rule.name)) this.#patterns.push({ matches: patternMatcher(rule.name), rule });
      else this.#named.set(rule.name, rule);
    }
  }

  /** Every rule that is about this branch or tag. */
  matching(name: string): readonly R[] {
    if (this.#last?.name === name) return this.#last.rules;
    const named = this.#named.get(name);
    const found = this.#patterns.filter(({ matches }) => matches(name)).map(({ rule }) => rule);
    const rules = named === undefined ? found : [named, ...found];
    this.#last = { name, rules };
    return rules;
  }
}
