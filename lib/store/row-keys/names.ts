import { folded, type Key, wholeOrDigest } from './key.ts';
import type { RowKind } from './row-kind.ts';

/** `identity`: a user's identity at a provider, `<provider>/<uid>`. */
export type NameKind = 'path' | 'email' | 'identity';

/** `path`: usernames, group paths and project paths, which share one namespace. */
export const nameKey = (kind: NameKind, name: string): Key => ({
  pk: `${kind.toUpperCase()}#${wholeOrDigest(folded(name))}`,
  sk: 'NAME',
});

export const rowKinds = [
  { name: 'path', partitions: ['PATH#'], keys: { nameKey }, of: ['project', 'group', 'user'] },
  { name: 'email', partitions: ['EMAIL#'], keys: { nameKey }, of: ['user'] },
  { name: 'identity', partitions: ['IDENTITY#'], keys: { nameKey }, of: ['user'] },
] as const satisfies readonly RowKind[];
