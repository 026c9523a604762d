/** A semantic version: https://semver.org, "Semantic Versioning Specification". */
export interface Version {
  /** Major, minor and patch, as digits. */
  readonly numbers: readonly [string, string, string];
  /** Pre-release identifiers; empty for a stable version. */
  readonly pre: readonly string[];
  /** Build metadata; empty if there is none. */
  readonly meta: string;
}

/** At most 255 characters, with or without a leading `v`. */
export const VERSION =
  /^(?=.{1,255}$)v?(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$/;

/** @returns undefined if it is not a semantic version */
export function parseVersion(text: string): Version | undefined {
  const match = VERSION.exec(text);
  if (match === null) return undefined;
  const [, major = '', minor = '', patch = '', pre, meta = ''] = match;
  return { numbers: [major, minor, patch], pre: pre?.split('.') ?? [], meta };
}

/**
 * Negative if `a` precedes `b` (section 11). Build metadata has no precedence by the specification; here it only breaks
 * ties.
 */
export function compareVersions(a: Version, b: Version): number {
  for (const [i, number] of a.numbers.entries()) {
    const order = compareDigits(number, b.numbers[i]!);
    if (order !== 0) return order;
  }
  if (a.pre.length === 0 || b.pre.length === 0) {
    const order = Number(b.pre.length > 0) - Number(a.pre.length > 0);
    return order === 0 ? compareText(a.meta, b.meta) : order;
  }
  for (let i = 0; i < a.pre.length && i < b.pre.length; i++) {
    const order = compareIdentifiers(a.pre[i]!, b.pre[i]!);
    if (order !== 0) return order;
  }
  return a.pre.length - b.pre.length || compareText(a.meta, b.meta);
}

function compareIdentifiers(a: string, b: string): number {
  const [aIsNumber, bIsNumber] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (aIsNumber && bIsNumber) return compareDigits(a, b);
  return aIsNumber === bIsNumber ? compareText(a, b) : aIsNumber ? -1 : 1;
}

/** Any length, leading zeros allowed: the match of a tag pattern need not be a semantic version. */
function compareDigits(a: string, b: string): number {
  const [x, y] = [a.replace(/^0+/, ''), b.replace(/^0+/, '')];
  return x.length - y.length || compareText(x, y);
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
