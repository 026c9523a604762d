import { folded, type Key, wholeOrDigest } from './key.ts';

/** `identity`: a user's identity at a provider, `<provider>/<uid>`. */
export type NameKind = 'path' | 'email' | 'identity';

/** `path`: usernames, group paths and project paths, which share one namespace. */
export const nameKey = (kind: NameKind, name: string): Key => ({
  pk: `${kind.toUpperCase()}#${wholeOrDigest(folded(name))}`,
  sk: 'NAME',
});
