import type { Oid } from '../../git/oid.ts';
import { branchRef } from '../../git/refname.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Deps } from '../deps.ts';
import { openRepository } from '../repository/open.ts';

/** The tip of a branch. */
export async function tipOf(
  deps: Deps,
  { project, prefetched }: ProjectAccess,
  branch: string,
): Promise<Oid | undefined> {
  const name = branchRef(branch);
  if (name === undefined) return undefined;
  return (await openRepository(deps, project, { prefetched }).refs.get([name])).get(name)?.oid;
}
