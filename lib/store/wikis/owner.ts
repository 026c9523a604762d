import type { RepositoryOwner } from '../../records/repository-owner.ts';
import { groupKey } from '../row-keys/groups.ts';
import { projectKey } from '../row-keys/projects.ts';
import { type Check, PRESENT } from '../table/write.ts';

/** For the first write of a wiki: refused as `owner` where its project or group is deleted. */
export const ownerLives = ({ kind, id }: RepositoryOwner): Check => ({
  check: kind === 'group-wiki' ? groupKey(id) : projectKey(id),
  if: `${PRESENT} AND attribute_type(#deletedAt, :null)`,
  values: { null: 'NULL' },
  reason: 'owner',
});
