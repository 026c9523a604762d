import { folded, type Key, wholeOrDigest } from './key.ts';
import type { RowKind } from './row-kind.ts';

/**
 * `path`: usernames, group paths and project paths, which share one namespace. `identity`: a user's identity at a
 * provider, `<provider>/<uid>`. `projectname` and `groupname`: `<id of the namespace>/<name>`, for which case counts.
 * `topicname`: names of topics.
 */
export type NameKind = 'path' | 'email' | 'identity' | 'projectname' | 'groupname' | 'topicname';

const EXACT: ReadonlySet<NameKind> = new Set(['projectname', 'groupname']);

export const nameKey = (kind: NameKind, name: string): Key => ({
  pk: `${kind.toUpperCase()}#${wholeOrDigest(EXACT.has(kind) ? name : folded(name))}`,
  sk: 'NAME',
});

export const rowKinds = [
  { name: 'path', partitions: ['PATH#'], keys: { nameKey }, of: ['project', 'group', 'user'] },
  { name: 'project-name', partitions: ['PROJECTNAME#'], keys: { nameKey }, of: ['project'] },
  { name: 'group-name', partitions: ['GROUPNAME#'], keys: { nameKey }, of: ['group'] },
  { name: 'email', partitions: ['EMAIL#'], keys: { nameKey }, of: ['user'] },
  { name: 'identity', partitions: ['IDENTITY#'], keys: { nameKey }, of: ['user'] },
  { name: 'topic-name', partitions: ['TOPICNAME#'], keys: { nameKey }, of: ['instance'] },
] as const satisfies readonly RowKind[];
