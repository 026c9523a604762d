import { type Key, padded } from './key.ts';
import { projectKey } from './projects.ts';
import type { RowKind } from './row-kind.ts';

/** A user's star of this project. */
export const STAR = 'STAR#';

export const starKey = (projectId: number, userId: number): Key => ({
  pk: projectKey(projectId).pk,
  sk: `${STAR}${padded(userId)}`,
});

export const rowKinds = [
  { name: 'star', partitions: ['PROJECT#'], keys: { starKey }, of: ['project', 'user'] },
] as const satisfies readonly RowKind[];
