import { folded, type Key, wholeOrDigest } from './key.ts';

/** `identity`: who somebody is at a provider, `<provider>/<uid>`. */
export type NameKind = 'path' | 'email' | 'identity';

/** `path`: usernames, top-level names and full project paths, which share one space. */
export const nameKey = (kind: NameKind, name: string): Key => ({
  pk: `${kind.toUpperCase()}#${wholeOrDigest(folded(name))}`,
  sk: 'NAME',
});
