/**
 * Matches names against a rule's name: equal, or a pattern in which each `*` stands for any text, including slashes
 * and the empty text. Linear time, without backtracking.
 */
export function patternMatcher(pattern: string): (name: string) => boolean {
  const [start = '', ...rest] = pattern.split('*');
  const end = rest.pop();
  if (end === undefined) return (name) => name === pattern;
  const middle = rest.filter((part) => part !== '');
  return (name) => {
    if (!name.startsWith(start) || !name.endsWith(end)) return false;
    // The earliest match of each part leaves the most room for the following ones.
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

/** Protection rules, looked up by the names they match. */
export class RuleSet<R extends { readonly name: string }> {
  readonly #named = new Map<string, R>();
  readonly #patterns: { readonly matches: (name: string) => boolean; readonly rule: R }[] = [];
  /** Cache of the last lookup: several checks of one name follow each other. */
  #last: { readonly name: string; readonly rules: readonly R[] } | undefined;

  constructor(rules: readonly R[]) {
    for (const rule of rules) {
      if (isPattern(rule.name)) this.#patterns.push({ matches: patternMatcher(rule.name), rule });
      else this.#named.set(rule.name, rule);
    }
  }

  /** All rules that match this branch or tag. */
  matching(name: string): readonly R[] {
    if (this.#last?.name === name) return this.#last.rules;
    const named = this.#named.get(name);
    const found = this.#patterns.filter(({ matches }) => matches(name)).map(({ rule }) => rule);
    const rules = named === undefined ? found : [named, ...found];
    this.#last = { name, rules };
    return rules;
  }
}
