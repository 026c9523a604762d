/** A full ref name that passes `git check-ref-format`: `refs/heads/main`. */
export type RefName = string & { readonly __brand: 'RefName' };

// git-check-ref-format: no control characters, space, ~ ^ : ? * [ \, DEL, "..", "@{", "//"
const FORBIDDEN = /[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\//;
const MAX_BYTES = 1024;
/** Of a part between slashes: with `.lock` behind it, the longest name of a file. */
const MAX_PART_BYTES = 250;

/**
 * @returns the name, or undefined when git would refuse it (git-check-ref-format, at least one slash)
 * or when it is longer than 1,024 bytes.
 */
export function parseRefName(text: string): RefName | undefined {
  if (!text.includes('/') || text.startsWith('/') || text.endsWith('/') || text.endsWith('.'))
    return undefined;
  if (FORBIDDEN.test(text) || Buffer.byteLength(text) > MAX_BYTES || !text.isWellFormed()) return undefined;
  for (const component of text.split('/')) {
    if (component.startsWith('.') || component.endsWith('.lock')) return undefined;
  }
  return text as RefName;
}

/**
 * Whether git can store the name in a file beside its lock. Those who have a clone could not fetch another one: git ends
 * with an error.
 */
export const fitsFile = (name: string): boolean =>
  name.split('/').every((part) => Buffer.byteLength(part) <= MAX_PART_BYTES);

/** Full ref names. As short names they would make `refs/heads/refs/heads/main`, which is never intended. */
const QUALIFIED = /^refs\/(heads|tags|remotes)\//;

/**
 * `main` → `refs/heads/main`. Refuses `HEAD` and names that start with `-`, as `git branch` does, and full ref names.
 */
export function branchRef(name: string): RefName | undefined {
  if (name === 'HEAD' || name === '@' || name.startsWith('-') || QUALIFIED.test(name)) return undefined;
  return parseRefName(`refs/heads/${name}`);
}

export function tagRef(name: string): RefName | undefined {
  if (name === 'HEAD' || name.startsWith('-') || QUALIFIED.test(name)) return undefined;
  return parseRefName(`refs/tags/${name}`);
}

/** The ref of a branch that is to be made: see {@link fitsFile}. There may be others, which are found and deleted as ever. */
export const newBranchRef = (name: string): RefName | undefined =>
  fitsFile(name) ? branchRef(name) : undefined;
/** Likewise of a tag. */
export const newTagRef = (name: string): RefName | undefined => (fitsFile(name) ? tagRef(name) : undefined);

/** A whole name, or its first part, that reads as an object id: 40 hexadecimal digits, or 64. */
const OID_LIKE = /^(?:[0-9a-f]{40}|[0-9a-f]{64})(?:\/|$)/i;

/** Whether a short name may be taken for an object id: a request that names a commit by its id could get another one. */
export const isOidLike = (name: string): boolean => OID_LIKE.test(name);

/** `refs/heads/a/b` → `a/b`; other names unchanged. */
export function shortName(ref: RefName): string {
  return ref.replace(/^refs\/(heads|tags)\//, '');
}

/** Branches, or tags. */
export type RefSpace = 'heads' | 'tags';

export const spacePrefix = (space: RefSpace): string => `refs/${space}/`;

export function spaceOf(name: string): RefSpace | undefined {
  if (name.startsWith('refs/heads/')) return 'heads';
  return name.startsWith('refs/tags/') ? 'tags' : undefined;
}
